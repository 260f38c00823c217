"""Bytes of stored numbers, exact, block scales included."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Dtype:
    """A storage format: every started block of `block` numbers takes `block_bytes` bytes.

    llama.cpp's quantised rows carry one 2-byte scale per 32 numbers: q8_0 takes 34 bytes for them, q4_0 takes 18.
    """

    word: str
    block: int
    block_bytes: int

    def bytes(self, numbers: int) -> int:
        """Bytes of one contiguous run of numbers."""
        return -(-numbers // self.block) * self.block_bytes

    @property
    def text(self) -> str:
        """Bytes per number as it stands in a bill."""
        return f"{self.block_bytes} B" if self.block == 1 else f"{self.block_bytes}/{self.block} B"


DTYPES = {
    d.word: d
    for d in (
        Dtype("float32", 1, 4),
        Dtype("bfloat16", 1, 2),
        Dtype("float16", 1, 2),
        Dtype("fp8", 1, 1),
        Dtype("int8", 1, 1),
        Dtype("int4", 2, 1),
        Dtype("q8_0", 32, 34),
        Dtype("q4_0", 32, 18),
    )
}

SPELLINGS = {
    "fp32": "float32",
    "float": "float32",
    "bf16": "bfloat16",
    "fp16": "float16",
    "half": "float16",
    "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8",
}
"""Other spellings seen in configs."""


def dtype_word(text: str) -> str | None:
    """Our word for a dtype as a config spells it, or None if it is none of ours."""
    word = text.strip().lower().removeprefix("torch.")
    word = SPELLINGS.get(word, word)
    return word if word in DTYPES else None
