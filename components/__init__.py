"""Views of the Linear Attention Explorer.  In a notebook: `import components; components.show("memory")`."""

from __future__ import annotations

from typing import Any

NOTEBOOK = ("show", "frame")
"""Loaded from `components.notebook` when they are first asked for: the package itself imports nothing."""


def __getattr__(name: str) -> Any:
    if name in NOTEBOOK:
        from components import notebook

        return getattr(notebook, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *NOTEBOOK])
