"""What the server does before its first visitor: `panel serve … --setup app/warm.py`.

Every page is drawn now, not while somebody waits, and a list of origins that lets every site in ends the start.
"""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from contextlib import suppress

from tornado.ioloop import IOLoop

from app.copies import make_copies, wanted
from app.nodelay import send_at_once
from app.notes import body
from app.page import warm
from app.session import AHEAD

ORIGINS = "BOKEH_ALLOW_WS_ORIGIN"
"""Bokeh's own variable: hosts, separated by commas, whose pages may open a session here."""

SAY = "EXPLORER_SAY"
"""A sentence to print as soon as the server answers; `make serve` puts the address into it."""

if "*" in os.environ.get(ORIGINS, ""):
    sys.exit(f"{ORIGINS} must name the hosts that visitors see, such as explorer.example.org; * would let any site in.")

send_at_once()
warm()
body()

# What stands now stays: a full collection would walk its 300,000 objects, for 0.16 s, while visitors wait.
gc.collect()
gc.freeze()
with suppress(TypeError, OSError, AttributeError):  # glibc's own; elsewhere memory goes back by itself, or stays
    ctypes.CDLL(None).malloc_trim(0)  # 4 MB that only the start has used
AHEAD.on = True

if wanted():
    IOLoop.current().add_callback(make_copies)

if SAY in os.environ:  # said by the loop, which runs when the port is bound
    IOLoop.current().add_callback(print, os.environ[SAY], flush=True)
