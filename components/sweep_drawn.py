"""The pictures of all shipped sweeps, drawn in a process of their own.

HoloViews draws them once and is then in nobody's way: the web process keeps its 60 MB and the second that its import
takes.  What comes back is Bokeh's JSON; ids are unique across processes, since a page puts the figures beside its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from bokeh.core.json_encoder import serialize_json
from bokeh.document import Document

from components.sweep_picture import draw
from components.sweep_pictures import PICTURES
from compute.sweeps.shipped import shipped

if TYPE_CHECKING:
    from bokeh.plotting import figure

ROOT = Path(__file__).resolve().parent.parent


@cache
def start() -> subprocess.Popen:
    """The process that draws; who needs the figures soon starts it early."""
    environment = {**os.environ, "BOKEH_SIMPLE_IDS": "no", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "components.sweep_drawn"]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


@cache
def _drawn() -> str:
    told, _ = start().communicate()
    if start().returncode:
        raise RuntimeError(f"the pictures of the sweeps could not be drawn: exit code {start().returncode}")
    return told


def drawn(names: tuple[str, ...]) -> list[figure]:
    """Fresh figures of these pictures, in their order; those without a shipped result are left out."""
    document = Document.from_json(json.loads(_drawn()))
    roots = {root.name: root for root in document.roots}
    for root in roots.values():
        document.remove_root(root)
    return [roots[name] for name in names if name in roots]


def main() -> None:
    document = Document()
    for picture in PICTURES.values():
        if result := shipped(picture.sweep):
            document.add_root(draw(picture, result))
    print(serialize_json(document.to_json(deferred=False)))


if __name__ == "__main__":
    main()
