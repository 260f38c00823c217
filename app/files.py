"""Files made by this process and served by Panel's own component route, so that a plain `panel serve` has them.

Panel serves what a component class lists, from the folder of the class's module.  The class here lives in
a module without a file of its own whose folder is a temporary one.  Names carry the content's hash, so a
browser may keep a file for ever and two versions of the program never mix.
"""

from __future__ import annotations

import atexit
import hashlib
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import ClassVar

MODULE = "explorer_files"

_folder = tempfile.TemporaryDirectory(prefix="explorer-")
atexit.register(_folder.cleanup)


class Published:
    """What may be fetched: Panel reads the list `_resources`-like attribute `_js`."""

    _js: ClassVar[list[str]] = []


_module = ModuleType(MODULE, __doc__)
_module.__file__ = str(Path(_folder.name) / "files.py")
_module.Published = Published
Published.__module__ = MODULE
sys.modules[MODULE] = _module


def folder() -> Path:
    """Where published files lie."""
    return Path(_folder.name)


def list_file(name: str) -> str:
    """Let a file of the folder be fetched; its address relative to a page."""
    if name not in Published._js:
        Published._js.append(name)
    return f"components/{MODULE}/Published/_js/{name}"


def publish(stem: str, suffix: str, content: str, most: int = 0) -> str:
    """Write the content once and return its address relative to a page.

    most: how many files of this suffix are kept, the oldest goes first; 0 keeps all.  Those in folders do not count.
    """
    digest = hashlib.sha256(content.encode()).hexdigest()[:16]
    name = f"{stem}-{digest}{suffix}"
    if name in Published._js:
        Published._js.remove(name)  # it is the newest again
    else:
        (folder() / name).write_text(content, encoding="utf-8")
    list_file(name)
    kept = [other for other in Published._js if other.endswith(suffix) and "/" not in other]
    for old in kept[:-most] if most else ():
        Published._js.remove(old)
        (folder() / old).unlink(missing_ok=True)
    return f"{list_file(name)}?v={digest}"
