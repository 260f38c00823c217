"""Where a visitor asks for a sweep.  The web process hands it on and says how far it is; it computes nothing.

Progress arrives in the runner's thread; models are written in session callbacks only.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from bokeh.document import Document

from app.device import device, lacks, runner
from components.reel import Columns
from components.sweep_columns import columns
from components.sweep_pictures import PICTURES
from components.sweep_shown import finding, said
from compute.sweeps.places import said as duration
from compute.sweeps.registry import SWEEPS
from compute.sweeps.runner import ONE_AT_A_TIME
from compute.sweeps.shipped import shipped
from compute.sweeps.tickets import Progress, Refused, Ticket

LOG = logging.getLogger(__name__)
Send = Callable[[str, Columns], None]


class Desk:
    """One visitor's sweep: at most one at a time."""

    def __init__(self, document: Document, send: Send, visitor: str):
        self.document, self.send_columns, self.visitor = document, send, visitor
        self.ticket: Ticket | None = None
        self.name = ""

    def ask(self, name: Any, do: Any) -> None:
        """Of a picture's sweep: `run` the quick question, `cancel` it, or go `back` to the shipped result."""
        if not isinstance(name, str) or name not in PICTURES:
            return
        if do == "run":
            self._run(name)
        elif do == "cancel" and self.ticket:
            self.leave()
        elif do == "back" and not self.ticket and (result := shipped(PICTURES[name].sweep)):
            self.name = name
            self._show(result, "shipped")

    def leave(self) -> None:
        """Let the run go; what it has finished is shown and labelled."""
        ticket, self.ticket = self.ticket, None
        if ticket and ticket.cancel():
            partial_result = ticket.partial
            if partial_result is not None and partial_result.about["finished"]:
                self._show(partial_result, "cancelled")
            else:
                self._say("idle", 0.0, "Cancelled before the first point was finished.")

    def _run(self, name: str) -> None:
        if self.ticket:  # another one in hand, known or not, would leave nobody to hear of this one, or to cancel it
            if name != self.name:
                self._say("idle", 0.0, ONE_AT_A_TIME, name)
            return
        sweep = SWEEPS[PICTURES[name].sweep]
        if reason := lacks(sweep):
            self._say("idle", 0.0, f"This sweep cannot run: {reason}.", name)
            return
        try:
            ticket = runner().submit(sweep, sweep.quick, visitor=self.visitor)
        except Refused as reason:
            self._say("idle", 0.0, str(reason), name)
            return
        self.name, self.ticket = name, ticket
        self._say("running", 0.0, "Asking for a place …")
        ticket.on_progress(lambda progress: self._soon(self._progress, ticket, progress))
        ticket.add_done_callback(lambda done: self._soon(self._done, done))

    def _soon(self, what: Callable[..., None], *given: Any) -> None:
        """From any thread: in the session's own turn.  A session that has gone is not told."""
        if self.document.session_context is not None and not getattr(self.document.session_context, "destroyed", False):
            self.document.add_next_tick_callback(partial(what, *given))

    def _progress(self, ticket: Ticket, progress: Progress) -> None:
        if ticket is not self.ticket or ticket.done():
            return
        if progress.position:
            text = f"Waiting, {progress.position} ahead; {duration(progress.left_s)} left."
        else:
            text = f"{progress.fraction:.0%} on {progress.place or 'its way'}; {duration(progress.left_s)} left."
        self._say("running", progress.fraction, " ".join((text, *progress.notes)))

    def _done(self, ticket: Ticket) -> None:
        if ticket is not self.ticket:
            return
        self.ticket = None
        if ticket.cancelled():
            self._say("idle", 0.0, "The run was ended.")
        elif error := ticket.exception():
            LOG.warning("sweep of %s: %s", self.name, error)
            self._say("idle", 0.0, f"The run failed: {error}")
        else:
            self._show(ticket.result(), "done")

    def _show(self, result: Any, state: str) -> None:
        picture = PICTURES[self.name]
        try:
            told, text = columns(picture, result), said(result)
            found = finding(result, picture) or " "  # a picture too small for a sentence clears the one before
        except Exception:  # whatever it is: the bar must not go on as if something still ran
            LOG.exception("picture of %s", self.name)
            self._say("idle", 0.0, "The run is over, but its picture could not be made; the one before stays.")
            return
        for name, sent in told.items():
            self.send_columns(name, sent)
        fraction = 1.0 if result.complete else result.about["finished"] / result.about["points"]
        self._say(state, fraction, text, found=found)

    def _say(self, state: str, fraction: float, text: str, name: str = "", found: str = "") -> None:
        told = {"name": [name or self.name], "state": [state], "fraction": [fraction], "text": [text]}
        told |= {"device": [device().badge], "finding": [found]}
        self.send_columns("page.sweep", told)
