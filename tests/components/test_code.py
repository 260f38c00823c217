"""Copy as code: every script runs, and prints what its view shows at the same state."""

from __future__ import annotations

import ast
import subprocess
import sys
from dataclasses import replace

import pytest
from asked import VIEWS
from copied import CHECKS, Page, parsed, printed_by
from copied_states import CASES, OWN, STATES

from components.code import script
from components.lesson import Question

LONGEST, WIDEST = {False: 22, True: 34}, 120
"""Lines of a script, its first line with the state included, by `plain`; and characters of a line."""


def compared(view: str, question: Question, at: dict, plain: bool) -> None:
    text = script(view, question, at, plain)
    lines = text.splitlines()
    assert len(lines) <= LONGEST[plain] and max(map(len, lines[1:])) <= WIDEST
    CHECKS[view](printed_by(text), Page(view, question, at), plain)


@pytest.mark.parametrize("view", STATES)
@pytest.mark.parametrize("plain", [False, True], ids=["compute", "plain"])
def test_every_script_prints_the_numbers_of_its_view(view, plain):
    for question, at in [(Question(), {}), *STATES[view]]:
        try:
            compared(view, question, at, plain)
        except Exception as error:
            error.add_note(f"{view} {at} {question}\n{script(view, question, at, plain)}")
            raise


BY_ITSELF = [(view, states[-1]) for view, states in STATES.items()]


@pytest.mark.parametrize("view, state", BY_ITSELF, ids=[view for view, _ in BY_ITSELF])
def test_the_plain_script_runs_where_the_package_is_not(view, state, tmp_path):
    """Our packages are hidden, wherever they are installed; what is left is Python and NumPy."""
    hidden = "class Hidden:\n    def find_spec(self, name, *_):\n        assert name.partition('.')[0] not in "
    hidden += "('compute', 'components', 'app')\nimport sys\nsys.meta_path.insert(0, Hidden())\n"
    file = tmp_path / "copied.py"
    file.write_text(hidden + script(view, *state, plain=True), encoding="utf-8")
    done = subprocess.run([sys.executable, "-I", str(file)], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    CHECKS[view](parsed(done.stdout), Page(view, *state), True)


@pytest.mark.parametrize("plain, allowed", [(False, {"numpy", "compute"}), (True, {"numpy", "fractions", "bisect"})])
def test_a_script_imports_nothing_else(plain, allowed):
    for view, question, at in CASES:
        tree = ast.parse(script(view, question, at, plain))
        names = {node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
                 for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)}  # fmt: skip
        assert {name.partition(".")[0] for name in names} <= allowed, (view, question)


def test_every_view_has_a_script():
    assert set(STATES) == set(VIEWS)


def test_a_position_between_stops_moves_to_the_nearest_and_a_missing_one_to_its_default():
    assert script("sharpness", Question(), {"c": 1.61}) == script("sharpness", Question(), {})
    assert script("sharpness", Question(), {"c": 4.0, "n": 3}) != script("sharpness", Question(), {})


def test_a_view_without_a_script_is_refused_by_name():
    with pytest.raises(ValueError, match=r"view must be one of .*sizing.*, got 'nonsense'"):
        script("nonsense", Question(), {})


def test_a_pasted_model_too_long_for_a_link_is_read_from_its_file():
    assert 'open("config.json")' in script("sizing", Question(own=replace(OWN, text=None)), {})
