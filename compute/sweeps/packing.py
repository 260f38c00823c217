"""Arrays and their description as bytes: an .npz without pickle whose last 64 characters are its checksum.

The checksum stands in the comment of the zip archive, so the file opens with `numpy.load` like any other.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from typing import Any

import numpy as np

from compute.sweeps.base import Arrays, Result

DESCRIPTION = "about"
DIGEST = 64
LARGEST = 64 << 20
"""Bytes of arrays that are unpacked at most."""


class Corrupt(ValueError):
    """The bytes are not what was packed."""


def pack(arrays: Arrays, about: dict[str, Any]) -> bytes:
    """ValueError where an array holds Python objects: nothing here is ever pickled."""
    text = json.dumps(about, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
    members = {**arrays, DESCRIPTION: np.frombuffer(text, dtype=np.uint8)}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, a in members.items():
            info = zipfile.ZipInfo(f"{name}.npy")  # a fixed date: the same arrays are the same bytes
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w") as member:
                np.lib.format.write_array(member, np.asarray(a, order="C"), allow_pickle=False)
        archive.comment = b"0" * DIGEST
    body = stream.getvalue()[:-DIGEST]
    return body + hashlib.sha256(body).hexdigest().encode()


def unpack(data: bytes) -> tuple[Arrays, dict[str, Any]]:
    """What was packed; `Corrupt` if a single bit differs, or if the arrays would not fit `LARGEST`."""
    body, digest = data[:-DIGEST], data[-DIGEST:]
    if hashlib.sha256(body).hexdigest().encode() != digest:
        raise Corrupt("the checksum does not fit")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if sum(info.file_size for info in archive.infolist()) > LARGEST:
                raise Corrupt("the arrays are too large")
        with np.load(io.BytesIO(data), allow_pickle=False) as members:
            arrays = {name: members[name] for name in members.files}
        about = json.loads(arrays.pop(DESCRIPTION).tobytes())
    except (KeyError, ValueError, OSError, zipfile.BadZipFile) as error:
        raise Corrupt(str(error)) from None
    return arrays, about


def pack_result(result: Result) -> bytes:
    return pack(result.arrays, result.about)


def unpack_result(data: bytes) -> Result:
    return Result(*unpack(data))


def rounded(a: np.ndarray, bits: int = 12) -> np.ndarray:
    """float32 with `bits` bits of mantissa: four digits at 12, and far fewer bytes once packed."""
    raw = np.ascontiguousarray(a, dtype=np.float32).view(np.uint32).astype(np.uint64)
    drop = 23 - bits
    half = np.uint64(1 << (drop - 1))
    kept = np.where(np.isfinite(a), (raw + half) >> np.uint64(drop) << np.uint64(drop), raw)
    return kept.astype(np.uint32).view(np.float32)
