"""Sweeps on a Dask cluster: every point is a task of its own.

`EXPLORER_DASK` names the scheduler, such as `tcp://host:8786`; its workers need this package.  What travels is JSON one
way and packed arrays the other, never a pickled question or result.  A scheduler that is not there, or is lost, costs
two seconds at most: the rest is computed on this machine, and the cluster is used again when it is back.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import json
import os
import threading
import time
import uuid
from typing import Any

from compute.sweeps.local import Heard
from compute.sweeps.packing import Corrupt, pack, unpack
from compute.sweeps.places import find, wish
from compute.sweeps.registry import find_sweep
from compute.sweeps.running import compute
from compute.sweeps.workbench import Stopped

VARIABLE = "EXPLORER_DASK"
PATIENCE_S = 1.5
"""A scheduler that does not answer for so long is lost."""

PING_S, RETRY_S, ASK_S = 0.3, 5.0, 0.5
LOST = "the cluster is out of reach: the rest on this machine"
DROPPED = "tasks of the cluster were lost: the rest on this machine"


def configured() -> tuple[type, ...]:
    """Backends besides this machine: the cluster that `EXPLORER_DASK` names, if it does."""
    return (DaskCluster,) if os.environ.get(VARIABLE) else ()


class DaskCluster:
    """A backend like `LocalWorker`: `give`, `stop`, `kill`, `close`; says the same things to `heard`."""

    kind = "dask"

    def __init__(self, heard: Heard, address: str | None = None):
        self.heard, self.address = heard, address or os.environ[VARIABLE]
        self.client: Any = None
        self.futures: list[Any] = []
        self.run: int | None = None
        self.name, self.generation, self.closed = uuid.uuid4().hex, 0, False
        self.left: set[int] = set()
        self.lock, self.made = threading.Lock(), time.monotonic()
        self.tried = threading.Event()
        threading.Thread(target=self._watch, daemon=True, name="sweeps-cluster").start()

    def undecided(self) -> bool:
        """Whether it is not known yet if the scheduler answers; for two seconds at most."""
        return not self.tried.is_set() and time.monotonic() - self.made < PATIENCE_S

    def available(self) -> bool:
        return self.client is not None

    def give(self, order: dict[str, Any]) -> None:
        client, run = self.client, order["run"]
        self.run, self.left = run, set(order["points"])
        if client is None:
            self._gone()
            return
        text = json.dumps({**order, "stopped": self._flag(run)})
        try:
            self.futures = [client.submit(point_of, text, i, pure=False, retries=1) for i in order["points"]]
        except Exception:
            self._gone()
            return
        for i, future in zip(order["points"], self.futures):
            future.add_done_callback(lambda future, i=i: self._told(run, i, future))

    def stop(self, run: int) -> None:
        """Tasks that wait are withdrawn; those that run ask every half second whether they are still wanted."""
        client, futures = self.client, self.futures
        self.run, self.futures = None, []

        def withdraw() -> None:
            with contextlib.suppress(Exception):
                client.set_metadata(self._flag(run), True)
                client.cancel(futures)

        if client is not None:
            threading.Thread(target=withdraw, daemon=True).start()
        self._say({"is": "stopped", "run": run})

    def kill(self) -> None:
        self._gone()

    def close(self) -> None:
        self.closed, client, self.client = True, self.client, None
        if client is not None:
            with contextlib.suppress(Exception):
                client.close(timeout=1)

    def _flag(self, run: int) -> list[str]:
        return ["sweeps", self.name, f"stopped-{run}"]

    def _say(self, told: dict[str, Any], payload: bytes = b"") -> None:
        self.heard({**told, "process": self.generation, "elsewhere": True}, payload)

    def _gone(self, text: str = LOST) -> None:
        """Nothing more of this run comes.  Out of reach means at once, and until `_watch` has connected anew."""
        if text == LOST:
            self.client = None
        self.run, self.futures = None, []
        self._say({"is": "gone", "text": text})

    def _told(self, run: int, i: int, future: Any) -> None:
        """A task has ended; called in a thread of the client's."""
        if run != self.run:
            return
        if future.status != "finished":
            error = future.exception(timeout=1) if future.status == "error" else None
            if isinstance(error, (ValueError, MemoryError)):
                self.run = None
                self._say({"is": "failed", "run": run, "text": str(error)})
            else:
                # A client whose scheduler is lost gives its tasks up as well, now before and now after the next ping.
                text = DROPPED if self._answers(self.client) else LOST
                if run == self.run:
                    self._gone(text)
            return
        try:
            data = future.result(timeout=PATIENCE_S)
            about = unpack(data)[1]
        except (Corrupt, Exception):
            self._gone()
            return
        with self.lock:
            first = len(self.left) == len(self.futures)
            self.left.discard(i)
            done = not self.left
        if first:
            self._say(
                {"is": "place", "run": run, **about["place"], "name": f"a Dask cluster: {about['place']['name']}"}
            )
        for text in about["notes"]:
            self._say({"is": "note", "run": run, "text": text})
        self._say({"is": "point", "run": run, "point": i}, data)
        if done:
            self.run, self.futures = None, []
            self._say({"is": "done", "run": run})

    def _watch(self) -> None:
        """Connects, asks the scheduler again and again whether it is there, and connects anew when it was lost."""
        for attempt in itertools.count():
            if self.closed:
                return
            if attempt:
                time.sleep(RETRY_S)
            try:
                distributed = importlib.import_module("distributed")
                client = distributed.Client(
                    self.address, timeout=PATIENCE_S, set_as_default=False, name="explorer", heartbeat_interval="1s"
                )
            except Exception:
                self.tried.set()
                continue
            self.generation += 1
            self.client = client
            self.tried.set()
            while not self.closed and self.client is client and self._answers(client):
                time.sleep(PING_S)
            self.client = None
            if self.run is not None:
                self._gone()
            with contextlib.suppress(Exception):
                client.close(timeout=1)

    @staticmethod
    def _answers(client: Any) -> bool:
        try:
            return bool(client.sync(client.scheduler.identity, callback_timeout=PATIENCE_S)["workers"] is not None)
        except Exception:
            return False


def point_of(text: str, i: int) -> bytes:
    """The task: one point of an order, packed, with the place where it was computed and notes."""
    order = json.loads(text)
    sweep = find_sweep(order["sweep"])
    question = sweep.question.read(order["question"])
    place = find(wish(order.get("device")), needs_float64=sweep.needs_float64)
    notes: list[str] = []
    asked = time.monotonic()

    def tick(_: int, fraction: float) -> None:
        nonlocal asked
        if time.monotonic() - asked > ASK_S:
            asked = time.monotonic()
            if _stopped(order["stopped"]):
                raise Stopped

    injected = order.get("injected", False)
    for _, arrays in compute(sweep, question, [i], place, tick, notes.append, injected=injected):
        return pack(arrays, {"place": place.told(), "notes": notes})
    raise RuntimeError("there was no such point")


def _stopped(flag: list[str]) -> bool:
    with contextlib.suppress(Exception):
        return bool(importlib.import_module("distributed").get_client().get_metadata(flag, default=False))
    return False
