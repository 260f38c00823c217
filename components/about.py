"""What this program is called, and which version runs: pyproject.toml states both."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

NAME = "Linear Attention Explorer"
DISTRIBUTION = "linear-attention-explorer"


@cache
def running_version() -> str:
    """The version of the checkout that runs, else of the installed package."""
    project = Path(__file__).resolve().parent.parent / "pyproject.toml"
    if project.exists():
        return tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"]
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:
        return "unknown"
