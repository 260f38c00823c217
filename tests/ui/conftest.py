"""A real server, a real Chromium, and tabs that must stay silent."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from driving import Tab

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(item.path).parent == Path(__file__).parent:
            item.add_marker(pytest.mark.ui)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of the browser.  Without one the tests skip, and fail where one was promised."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        import playwright  # noqa: F401

        missing = "" if found else f"none of {', '.join(BROWSERS)} is on the PATH"
    except ImportError:
        missing = "the Python package playwright is not installed"
    if missing:
        say = pytest.fail if os.environ.get("CI_REQUIRES_BROWSER") == "1" else pytest.skip
        say(f"The browser tests need Chromium: {missing}.")
    return found


@pytest.fixture(scope="session")
def server(chromium, tmp_path_factory) -> str:
    """Address of the web process of the Procfile, with Bokeh's document validation on.  Its log must stay clean."""
    (line,) = (row for row in (ROOT / "Procfile").read_text(encoding="utf-8").splitlines() if row.startswith("web:"))
    command = line.removeprefix("web:").strip().replace("BOKEH_VALIDATE_DOC=no", "BOKEH_VALIDATE_DOC=yes")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PORT": str(port),
        "ADDRESS": "127.0.0.1",
        "BOKEH_PY_LOG_LEVEL": "warning",
        "PYTHONWARNINGS": "default",
        "EXPLORER_CACHE": str(tmp_path_factory.mktemp("sweeps")),  # nothing is known from an earlier run
        "EXPLORER_COPIES": "no",  # a minute of computing beside every test
    }
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with log.open("w") as out:
        process = subprocess.Popen(["sh", "-c", command], cwd=ROOT, env=environment, stdout=out, stderr=out)
    address = f"http://127.0.0.1:{port}"
    try:
        _wait_until_alive(process, address, log)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)
    told = [row for row in log.read_text().splitlines() if row.strip()]
    assert not [
        row for row in told if any(bad in row for bad in ("Traceback", "ERROR", "WARNING", "Warning", "W-10", "E-10"))
    ], "\n".join(told)


def _wait_until_alive(process, address, log):
    for _ in range(1_500):  # five minutes: a busy machine starts it slowly
        assert process.poll() is None, log.read_text()
        try:
            with urllib.request.urlopen(f"{address}/liveness", timeout=1) as answer:
                assert answer.status == 200
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(log.read_text())


@pytest.fixture(scope="session")
def browser(chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


@pytest.fixture
def tab(browser, server):
    """A fresh visitor at 1440 × 900.  Whatever the test did, console, network and dialogs must have been silent."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    tab = Tab(context.new_page(), server)
    yield tab
    context.close()
    assert not tab.complaints


@pytest.fixture
def share(browser, server):
    """A visitor who may use the clipboard."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, permissions=["clipboard-read", "clipboard-write"]
    )
    tab = Tab(context.new_page(), server)
    yield tab
    context.close()
    assert not tab.complaints


def pytest_generate_tests(metafunc):
    if "name" in metafunc.fixturenames:
        from app.page import pages

        metafunc.parametrize("name", pages())


@pytest.fixture(scope="session")
def reveal(tmp_path_factory) -> Path:
    """The package that the sample deck is made with: where the example installed it, else installed for these tests."""
    example = ROOT / "examples" / "lecture"
    if not (example / "node_modules").is_dir():
        if not shutil.which("npm"):
            pytest.skip(
                "reveal.js comes from npm, which is not on the PATH; `npm install` in examples/lecture brings it"
            )
        folder = tmp_path_factory.mktemp("npm")
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(example / name, folder)
        command = ["npm", "ci", "--fetch-retries=0", "--loglevel=error"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180)
        if done.returncode:
            pytest.skip(f"reveal.js could not be installed: {done.stderr.strip()[:200]}")
        example = folder
    return example / "node_modules" / "reveal.js"
