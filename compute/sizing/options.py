"""The switches of a bill, checked once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from compute.scalars import one_of, whole

from .dtypes import DTYPES

COLUMNS = ("k", "k-1")
MLA = ("latent", "decompressed")
ARITHMETIC, PAGED, PREFIX = ENGINES = ("arithmetic", "vllm-0.33", "vllm-0.33-prefix")


@dataclass(frozen=True)
class Options:
    """How a shape is billed.

    batch: sequences.  kv_dtype, state_dtype, conv_dtype: words of `DTYPES`.
    conv_columns: "k" as transformers keeps the convolution window, "k-1" as serving engines do.
    mla: "latent", or "decompressed" heads as older engines cached them.
    tp: tensor-parallel ranks; the bill is then that of one rank, the fullest.
    engine: "arithmetic", or the pages that an engine sets aside, "-prefix" with its prefix caching.  vLLM keeps latents
    and k - 1 convolution columns, whatever conv_columns and mla say.
    """

    batch: int = 1
    kv_dtype: str = "bfloat16"
    state_dtype: str = "float32"
    conv_dtype: str = "bfloat16"
    conv_columns: str = "k"
    mla: str = "latent"
    tp: int = 1
    engine: str = ARITHMETIC

    def __post_init__(self):
        for name in ("batch", "tp"):
            object.__setattr__(self, name, whole(name, getattr(self, name), 1))
        for name in ("kv_dtype", "state_dtype", "conv_dtype"):
            one_of(name, getattr(self, name), DTYPES)
        one_of("conv_columns", self.conv_columns, COLUMNS)
        one_of("mla", self.mla, MLA)
        one_of("engine", self.engine, ENGINES)

    @property
    def counted(self) -> Options:
        """The options as they count: an engine leaves the form of latents and convolution windows no choice."""
        return self if self.engine == ARITHMETIC else replace(self, conv_columns="k-1", mla="latent")
