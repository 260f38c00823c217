"""Static copies of every page, made once beside the server: a hall of any size may open them without a session.

They are exported by a process of their own at the lowest priority, half a minute after the start at the earliest, and
linked from the pages as soon as all are there.  EXPLORER_COPIES=no leaves them out.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import sys
from pathlib import Path

from app.files import folder, list_file

ASKED = "EXPLORER_COPIES"
NAME = "lecture"
WAIT = 30
"""Seconds after the start: the first visitors come first."""

COMMAND = (sys.executable, "-m", "app.export", "all", "--out")

LOG = logging.getLogger(__name__)
_addresses: dict[str, str] = {}


def copy_of(page: str) -> str:
    """The address of a page's static copy; empty until there is one."""
    return _addresses.get(page, "")


def wanted() -> bool:
    return os.environ.get(ASKED, "no") != "no"


async def make_copies(wait: float = WAIT) -> None:
    """Export all pages into the published folder and list them.  A failure is logged; the pages go on without."""
    await asyncio.sleep(wait)
    target = folder() / NAME
    process = await asyncio.create_subprocess_exec(
        *(["nice", "-n", "19"] if os.name == "posix" else []),
        *(*COMMAND, str(target)),
        cwd=Path(__file__).resolve().parent.parent,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    atexit.register(_end, process)
    _, said = await process.communicate()
    if process.returncode:
        LOG.warning("no static copies: %s", said.decode(errors="replace").strip()[-500:])
        return
    for path in sorted(target.glob("*.html")):
        page = "explorer" if path.stem == "index" else path.stem
        _addresses[page] = list_file(f"{NAME}/{path.name}")


def _end(process: asyncio.subprocess.Process) -> None:
    """The server ends: so do its copies, whose folder goes with it."""
    if process.returncode is None:
        process.kill()
