"""A visitor's own model: the shape read from a pasted config, and its text for the address."""

from __future__ import annotations

from dataclasses import dataclass, field

from compute.sizing import ConfigError, ModelShape, read_config
from compute.sizing.compact import from_text, to_text
from compute.sizing.guard import MAX_BYTES, too_large


@dataclass(frozen=True)
class Own:
    """What was pasted.  `text` is its address word; None when it is too long for a link."""

    shape: ModelShape
    text: str | None = field(compare=False)

    @property
    def name(self) -> str:
        return f"Your {self.shape.model_type} model"


def paste(text: str) -> Own:
    """The model behind a pasted config.json.  ConfigError, one sentence, on anything that cannot be billed."""
    return Own(read_config(text), to_text(text))


def refusal(error: ConfigError) -> str:
    """What a visitor reads of a config that was not taken."""
    return f"{error}. The page still shows the model before."


TOO_LARGE = refusal(too_large())


def read_own(text: str) -> Own | None:
    """The model behind an address word; ConfigError if the word is damaged."""
    return Own(read_config(from_text(text)), text) if text else None


def write_own(own: Own | None) -> str:
    return (own and own.text) or ""


__all__ = ["MAX_BYTES", "TOO_LARGE", "ConfigError", "Own", "paste", "read_own", "refusal", "write_own"]
