"""The house around the code: what is written beside it is true, and the deployed command line does what it says."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from urllib.request import urlopen

import panel as pn
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect
from visiting import finished

from app.page import NOTES, OVERVIEW, pages, views_of
from app.tables import FILES, TABLES, filled

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WEB = re.search(r"^web: *(.*)$", (ROOT / "Procfile").read_text(encoding="utf-8"), re.MULTILINE)[1]
ORIGINS = "BOKEH_ALLOW_WS_ORIGIN"

every_text = pytest.mark.parametrize("name", (*FILES, "CHANGELOG.md"))


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


# What is written


@pytest.mark.parametrize("name", FILES)
def test_the_tables_say_what_the_code_says(name):
    assert read(name) == filled(read(name)), "python -m app.tables writes them anew"


def test_every_table_stands_somewhere():
    text = "".join(map(read, FILES))
    for name in TABLES:
        assert text.count(f"<!-- {name} -->") == text.count(f"<!-- /{name} -->") == 1


def test_a_table_that_fell_behind_is_noticed():
    text = read("README.md")
    assert filled(text.replace("`/memory`", "`/memories`")) == text != text.replace("`/memory`", "`/memories`")


@every_text
def test_what_a_text_links_to_is_there(name):
    links = re.findall(r"\]\(([^)#]+)", read(name))
    assert not [link for link in links if "://" not in link and not (ROOT / link).exists()]


@every_text
def test_the_files_that_a_text_names_are_there(name):
    named = re.findall(r"`((?:app|assets|benchmarks|components|compute|tests|docs|\.ci)/[\w./-]+)", read(name))
    assert not [path for path in named if not (ROOT / path).exists() and not re.search("NAME|VIEW", path)]


def test_the_tests_that_pin_private_parts_are_there():
    pins = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", read("CONTRIBUTING.md"))
    assert len(pins) >= 5
    assert not [test for path, test in pins if f"def {test}(" not in read(path)]


def test_the_python_that_make_asks_for_is_the_one_declared():
    least = re.search(r"sys\.version_info < \((\d+), (\d+)\)", read("Makefile"))
    assert SpecifierSet(PROJECT["requires-python"]) == SpecifierSet(f">={least[1]}.{least[2]}")


# What is installed


def test_every_dependency_is_pinned_at_a_version_that_it_allows():
    pinned = dict(line.split("==") for line in read("constraints.txt").splitlines() if not line.startswith("#"))
    assert pinned["torch"] == "2.13.0"
    extras = PROJECT["optional-dependencies"].values()
    for need in map(Requirement, (*PROJECT["dependencies"], *(line for extra in extras for line in extra))):
        assert need.specifier.contains(pinned[need.name])


def test_an_old_python_is_refused_in_one_sentence(tmp_path):
    command = ["make", "-f", str(ROOT / "Makefile"), "PYTHON=false", ".venv/python.stamp"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode and done.stderr.startswith("Python 3.11 or newer is needed")
    assert not (tmp_path / ".venv").exists()


def test_the_script_of_ci_is_one_that_bash_can_run():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    subprocess.run(["bash", "-n", ROOT / ".ci" / "run"], check=True, timeout=120)
    assert "set -euo pipefail" in read(".ci/run")


# What is deployed


def option(name: str) -> str:
    words = shlex.split(WEB)
    return words[words.index(f"--{name}") + 1]


def test_there_is_one_process_and_its_limits_are_stated():
    assert [line.partition(":")[0] for line in read("Procfile").splitlines()] == ["web"]
    assert int(option("keep-alive")) < 55_000  # a router closes a socket that is silent for 55 s
    assert int(option("unused-session-lifetime")) >= 90_000  # a browser tries to come back for about a minute
    assert int(option("check-unused-sessions")) < int(option("unused-session-lifetime"))
    assert int(option("session-token-expiration")) >= 3_600  # a laptop that slept may come back to its page
    assert {"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "BOKEH_VALIDATE_DOC=no"} < set(shlex.split(WEB))
    # an answer's arrays come from memory that is kept, and no more is kept than a few answers need
    assert {"MALLOC_MMAP_THRESHOLD_=2097152", "MALLOC_TRIM_THRESHOLD_=6291456"} < set(shlex.split(WEB))


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BOKEH_") and name != "ADDRESS"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return kept | {"PATH": path, "EXPLORER_COPIES": "no"} | more


@pytest.mark.parametrize("origins", ["*", "explorer.example.org,*:443"])
def test_an_origin_list_that_lets_every_site_in_ends_the_start(origins):
    given = environment(PORT="1", **{ORIGINS: origins})
    done = subprocess.run(["sh", "-c", WEB], cwd=ROOT, env=given, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1 and f"{ORIGINS} must name the hosts" in done.stderr


class Web:
    """The deployed command on a free port, ready as soon as it has said so."""

    def __init__(self, **more: str):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.host = f"localhost:{self.port}"
        self.process = subprocess.Popen(
            ["sh", "-c", WEB], cwd=ROOT, env=environment(PORT=str(self.port), EXPLORER_SAY="it answers", **more),
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.said = []
        watch = threading.Timer(300, self.process.kill)
        watch.start()
        for line in self.process.stdout:
            self.said.append(line)
            if line == "it answers\n":
                watch.cancel()
                return
        watch.cancel()
        self.process.stdout.close()
        self.process.wait(60)
        raise RuntimeError("".join(self.said))

    def get(self, path: str):
        return urlopen(f"http://{self.host}{path}", timeout=60)

    def text(self, path: str) -> str:
        return self.get(path).read().decode()

    def first_message(self, origin: str) -> str:
        """What the server sends first to a page of this origin that opens its session."""

        async def talk() -> str:
            token = re.search(r'"token":"([^"]+)"', self.text("/sharpness"))[1]
            request = HTTPRequest(f"ws://{self.host}/sharpness/ws", headers={"Origin": origin})
            connection = await websocket_connect(request, subprotocols=["bokeh", token])
            try:
                return await asyncio.wait_for(connection.read_message(), 60)
            finally:
                connection.close()
                while await connection.read_message() is not None:
                    pass

        return finished(talk())

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        with self.process.stdout:
            self.said += self.process.stdout.readlines()
        return self.process.wait(60)


@pytest.fixture(scope="module")
def web():
    server = Web()
    yield server
    if server.process.poll() is None:
        server.end()


def test_the_server_answers_when_it_says_so(web):
    with web.get("/liveness") as answer:
        assert answer.status == 200


def test_the_root_is_the_overview_without_a_redirect(web):
    with web.get("/") as answer:
        page = answer.read().decode()
        assert answer.status == 200 and answer.url == f"http://{web.host}/"
    assert re.findall(r'data-view="(\w+)"', page) == [view.word for view in views_of(OVERVIEW)]


def test_every_link_of_the_navigation_leads_to_a_page(web):
    links = re.findall(r'href="([^"]*)" data-page', web.text("/"))
    assert {*pages(), NOTES} <= set(links)
    for link in set(links):
        with web.get(f"/{link}") as answer:
            holds = "<table" if link == NOTES else "data-figure="
            assert answer.status == 200 and holds in answer.read().decode()


def test_the_figures_that_a_page_names_can_be_fetched(web):
    address = re.search(r'"figures": "([^"]+)"', web.text("/"))[1]
    with web.get(f"/{address}") as answer:
        assert answer.status == 200 and answer.headers["Content-Type"].startswith("application/json")


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_a_page_of_this_machine_opens_its_session(web, host):
    assert '"ACK"' in web.first_message(f"http://{host}:{web.port}")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "http://localhost",
        "http://localhost:{}.evil.example",
        "http://localhost.evil.example:{}",
        "null",
    ],
)
def test_a_page_of_another_site_opens_none(web, origin):
    with pytest.raises(HTTPClientError, match="403"):
        web.first_message(origin.format(web.port))


def test_behind_a_proxy_the_named_hosts_and_no_other_open_a_session(tmp_path):
    server = Web(TMPDIR=str(tmp_path), **{ORIGINS: "explorer.example.org,lab.example.org:8443"})
    try:
        for origin in ("https://explorer.example.org", "https://lab.example.org:8443"):
            assert '"ACK"' in server.first_message(origin)
        for host in ("explorer.example.org.evil.example", "lab.example.org", "evil-explorer.example.org"):
            with pytest.raises(HTTPClientError, match="403"):
                server.first_message(f"https://{host}")
        assert list(tmp_path.iterdir())
    finally:
        ended = server.end()
    assert ended == 0 and not list(tmp_path.iterdir())  # ends at once when told to, and leaves no file behind


# What we rely on without having been promised it


def test_panel_still_delays_a_widget_by_an_attribute_that_can_be_set_to_nothing():
    """Our widgets set `_debounce` to 0; if Panel drops the attribute they would silently wait again."""
    assert pn.reactive.Syncable._debounce == 50
    assert "_debounce" in pn.reactive.Syncable._server_change.__code__.co_names
