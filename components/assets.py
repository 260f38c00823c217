"""Where all that is not code lies: styles, scripts, texts, and numbers that were computed once."""

from __future__ import annotations

from pathlib import Path

ASSETS = Path(__file__).resolve().parent.parent / "assets"
