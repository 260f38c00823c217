"""Results on disk: one file per question and version of the code, checked when read, replaced in one step when written.

A file that is not what was written is set aside and the answer computed again.  Where nothing can be read or written,
nothing is kept: computing goes on, and the log says so once a minute.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import tempfile
import time
from pathlib import Path

from compute.sweeps.base import Question, Result, Sweep
from compute.sweeps.packing import Corrupt, pack_result, unpack_result
from compute.sweeps.version import code_version

LOG = logging.getLogger(__name__)

VARIABLE = "EXPLORER_CACHE"
FULL = 512 << 20
"""Bytes of results that are kept; beyond them those go first that were written longest ago."""

QUIET_S = 60.0
LARGEST_FILE = 64 << 20


def key(sweep: Sweep, question: Question, device: str = "") -> str:
    """Names a question under this version of the code.  device: for sweeps that measure one."""
    told = {"sweep": sweep.word, "question": question.told(), "version": code_version(), "device": device}
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    return f"{sweep.word}-{hashlib.sha256(text.encode()).hexdigest()[:32]}"


class Store:
    """A folder of results; several processes may share it."""

    def __init__(self, folder: str | os.PathLike | None = None):
        self.folder = Path(folder or os.environ.get(VARIABLE) or _usual_folder())
        self._said = -QUIET_S

    def path(self, key: str) -> Path:
        return self.folder / f"{key}.npz"

    def load(self, key: str) -> Result | None:
        """None if there is nothing, or nothing that can be trusted."""
        path = self.path(key)
        try:
            if not path.is_symlink() and not path.exists():
                return None
            if path.is_symlink() or path.stat().st_size > LARGEST_FILE:
                raise Corrupt("it is no file of ours")
            result = unpack_result(path.read_bytes())
            if result.about.get("key") != key:
                raise Corrupt("it answers another question")
        except FileNotFoundError:
            return None
        except OSError as error:
            self._say(f"results are not read from {self.folder}: {error.strerror or error}")
            return None
        except Corrupt as error:
            self._set_aside(path, str(error))
            return None
        return result

    def save(self, key: str, result: Result) -> bool:
        """Whether it was written.  An incomplete result is not."""
        if not result.complete:
            return False
        data = pack_result(Result(result.arrays, {**result.about, "key": key}))
        temporary = None
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(prefix=".writing-", dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path(key))
        except OSError as error:
            if temporary:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
            self._say(f"results are not kept in {self.folder}: {error.strerror or error}")
            return False
        self._make_room()
        return True

    def _set_aside(self, path: Path, why: str) -> None:
        LOG.warning("%s is set aside: %s", path.name, why)
        with contextlib.suppress(OSError):
            os.replace(path, path.with_suffix(".corrupt"))

    def _make_room(self) -> None:
        with contextlib.suppress(OSError):
            entries = [(path.stat(), path) for path in self.folder.iterdir() if path.suffix in (".npz", ".corrupt")]
            size = sum(stat.st_size for stat, _ in entries)
            for stat, path in sorted(entries, key=lambda entry: entry[0].st_mtime):
                if size <= FULL:
                    break
                path.unlink(missing_ok=True)
                size -= stat.st_size

    def _say(self, text: str) -> None:
        now = time.monotonic()
        if now - self._said >= QUIET_S:
            self._said = now
            LOG.warning(text)


def _usual_folder() -> Path:
    """Where the system keeps what can be computed again; the folder for temporary files without a home."""
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    with contextlib.suppress(RuntimeError):
        return (Path(base) if base else Path.home() / ".cache") / "linear-attention-explorer"
    return Path(tempfile.gettempdir()) / "linear-attention-explorer"
