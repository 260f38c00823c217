"""The server as it is deployed: the web line of the Procfile, in its own process, watched through /proc."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
PROCFILE = ROOT / "Procfile"
PAGES = {
    "" if path.stem == "explorer" else path.stem: "overview" if path.stem == "explorer" else path.stem
    for path in sorted((ROOT / "app" / "pages").glob("*.py"))
    if path.stem != "notes"  # a page of text: nothing on it is drawn
}
"""Address of every page that draws, and what it is called in the tables: the folder is the list."""

STARTED_WITHIN = 90
"""Seconds; a warm start draws every page first."""


@dataclass(frozen=True)
class Server:
    """Address of a running server, and the process that listens there."""

    url: str
    pid: int

    def cpu(self) -> float:
        """Seconds of processor time spent so far by all threads, to the nanosecond (/proc/*/stat counts 10 ms)."""
        told = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                told += int((task / "schedstat").read_text().split()[0])
            except FileNotFoundError:  # a thread that has just ended
                continue
        return told / 1e9

    def memory(self) -> float:
        """Resident memory now, in MB of 10⁶ bytes."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) * 1024 / 1e6


def web_command(procfile: Path) -> str:
    """The command of the one web process."""
    told = re.search(r"^web:\s*(.+)$", procfile.read_text(encoding="utf-8"), re.MULTILINE)
    if not told:
        raise ValueError(f"procfile must have a line `web: …`, {procfile} has none")
    return told[1]


@contextmanager
def serving(command: str, *options: str) -> Iterator[Server]:
    """Run a shell command with a free $PORT until the block ends.  Options are added to the command and win over it."""
    port = _free_port()
    environment = {**os.environ, "PORT": str(port), "PYTHONPATH": str(ROOT), "EXPLORER_COPIES": "no"}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            ["sh", "-c", " ".join([command, *map(shlex.quote, options)])],
            cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
        try:
            yield Server(f"http://localhost:{port}", _listening(process, port, log))
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _listening(process: subprocess.Popen, port: int, log) -> int:
    """Wait until the server answers; the process of our own group that holds its port."""
    until = time.monotonic() + STARTED_WITHIN
    while time.monotonic() < until and process.poll() is None:
        try:
            with urlopen(f"http://localhost:{port}/liveness", timeout=5):
                return _holder(port)
        except (URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    log.seek(0)
    raise RuntimeError(f"the server did not start:\n{log.read()[-4000:]}")


def _holder(port: int) -> int:
    sockets = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            cells = line.split()
            if cells[3] == "0A" and int(cells[1].rpartition(":")[2], 16) == port:
                sockets.add(f"socket:[{cells[9]}]")
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if os.readlink(link) in sockets:
                return int(link.parts[2])
        except OSError:
            continue
    raise RuntimeError(f"no process of this user listens on port {port}")
