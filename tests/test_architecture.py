"""The house: who may import whom, and what no file of ours may hold."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("compute", "components", "app")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
ABOVE = {
    "compute": {"panel", "param", "holoviews", "bokeh", "tornado", "components", "app"},
    "components": {"app"},
    "app": set(),
}
DISTRIBUTION = {"array_api_compat": "array-api-compat"}
"""Where a package's name differs from that of its distribution."""

every_module = pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))


def imports(tree: ast.AST, *, when_loaded: bool = False) -> Iterator[str]:
    """First part of every absolute import; `when_loaded` leaves out functions and what the type checker alone sees."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]
        elif (when_loaded and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)) or (
            when_loaded and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        ):
            continue
        else:
            yield from imports(node, when_loaded=when_loaded)


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def package_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


WALKED = """
import a.b
try:
    from c.d import e
except ImportError:
    pass
class F:
    import g
def h():
    import i
from . import j
"""


def test_the_walk_sees_every_kind_of_import():
    assert list(imports(ast.parse(WALKED))) == ["a", "c", "g", "i"]
    assert list(imports(ast.parse(WALKED), when_loaded=True)) == ["a", "c", "g"]


@every_module
def test_imports_point_from_app_to_components_to_compute(path):
    assert not set(imports(parsed(path))) & ABOVE[package_of(path)]


@every_module
def test_compute_loads_nothing_but_numpy_the_array_api_and_the_standard_library(path):
    if package_of(path) == "compute":
        known = {"numpy", "array_api_compat", "compute", *sys.stdlib_module_names}
        assert set(imports(parsed(path), when_loaded=True)) <= known


@every_module
def test_torch_is_imported_inside_functions_of_compute_only(path):
    assert "torch" not in set(imports(parsed(path), when_loaded=True))
    assert package_of(path) == "compute" or "torch" not in set(imports(parsed(path)))


@every_module
def test_what_is_imported_is_a_declared_dependency(path):
    declared = {re.match(r"[\w-]+", line)[0].lower() for line in PROJECT["project"]["dependencies"]}
    outside = set(imports(parsed(path))) - set(sys.stdlib_module_names) - set(PACKAGES)
    assert {DISTRIBUTION.get(name, name) for name in outside} <= declared


def test_the_pages_are_drawn_and_answer_in_a_process_that_cannot_import_torch():
    """The web process: any attempt to import torch or a test's library ends it."""
    code = """
import sys

class Guard:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "scipy", "hypothesis", "pytest"):
            print("imported", name)
            sys.stdout.flush()
            __import__("os")._exit(3)

sys.meta_path.insert(0, Guard())
import runpy
from app.notes import body
from app.page import figures_of, pages, view, views_of
from app.session import answers
from components.lesson import Question
from components.words import KEYS, PHIS, WIDTHS
from compute.memory import WRITE_RULES
from compute.sizing.models import models

for name in pages():
    assert figures_of(name).json
    for phi in PHIS:
        answers(views_of(name), Question(phi=phi))
    for rule in WRITE_RULES:
        answers(views_of(name), Question(rule=rule))
for model in models():
    view("sizing").answer(Question(model=model))
assert body()
print("drawn", *pages())
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.split()[0] == "drawn"


def test_the_folder_of_pages_holds_pages_only():
    """A package there would be taken for a page, and a page is two or three lines."""
    pages = sorted((ROOT / "app" / "pages").iterdir())
    assert not [path.name for path in pages if path.suffix != ".py" and path.name != "__pycache__"]
    for path in (path for path in pages if path.suffix == ".py"):
        assert path.stem != "__init__"
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith('"""')]
        views = ["from app.page import serve", f'serve("{path.stem}")']
        claims = ["from app.notes import serve", "serve()"]
        assert lines == (claims if path.stem == "notes" else views)


def test_every_package_is_installed():
    """A folder that is not listed is missing from an installed copy."""
    found = {".".join(path.parent.relative_to(ROOT).parts) for path in MODULES if path.name == "__init__.py"}
    listed = PROJECT["tool"]["setuptools"]["packages"]
    if isinstance(listed, list):
        assert found == set(listed)
    else:
        assert {"compute", "compute.*"} <= set(listed["find"]["include"])


def our_files(*suffixes: str) -> list[Path]:
    folders = ("app", "components", "compute", "assets", "benchmarks", "examples", ".ci")
    inside = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    files = [path for path in (*inside, *ROOT.glob("*")) if path.is_file() and "__pycache__" not in path.parts]
    return [path for path in files if path.suffix in suffixes]


def test_no_file_of_ours_names_a_host_that_serves_libraries_or_fonts():
    hosts = re.compile(
        r"\bcdn\.|\bcdnjs|unpkg\.|jsdelivr|googleapis|gstatic|esm\.sh|typekit|bootstrapcdn", re.IGNORECASE
    )
    texts = our_files(".py", ".html", ".css", ".js", ".json", ".toml", ".md", ".txt", "")
    assert len(texts) > 60
    assert not [
        str(path.relative_to(ROOT)) for path in texts if hosts.search(path.read_text(encoding="utf-8", errors="ignore"))
    ]


def test_page_and_scripts_name_no_other_host_at_all():
    """What a browser is given: only names of XML dialects look like addresses there."""
    given = [path for path in our_files(".html", ".css", ".js") if ROOT / "assets" in path.parents]
    assert given
    for path in given:
        found = re.findall(r"(?:https?:)?//[\w.-]+\.[a-z]{2,}", path.read_text(encoding="utf-8"))
        assert set(found) <= {"http://www.w3.org"}, path.name


@pytest.mark.parametrize("path", our_files(".py", ".js", ".css", ".html"), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_short_enough_to_be_read_at_once(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) < 300


def test_the_reel_script_is_short_and_holds_no_mathematics():
    script = (ROOT / "assets" / "reel.js").read_text(encoding="utf-8")
    assert len(script.splitlines()) < 200
    assert set(re.findall(r"Math\.(\w+)", script)) <= {"min", "max", "round", "floor"}
