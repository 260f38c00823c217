"""What a point is given to work with: arrays on a device, draws, pieces that fit into memory, and a way to be stopped.

Draws come in lots of a fixed size, each with a seed of its own, so numbers depend neither on the size of the pieces
nor on who computes them.  `injected` draws are made by NumPy and brought to the device: CPU and GPU then agree.
"""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from compute.attention.replay import forget
from compute.sweeps.base import Arrays
from compute.sweeps.draws import lot_seed, numpy_lot, torch_lot
from compute.sweeps.faults import Faults, out_of_memory
from compute.sweeps.places import CPU, Place

ROOM = {"cpu": 256 << 20, "mps": 1 << 30, "cuda": 1 << 30}
"""Bytes that a piece of work may take; on CUDA at least that, and `SHARE` of what is free."""

SHARE = 0.25
"""What a piece takes is estimated, and its neighbours on the card may grow."""

PIECE_S = {"cpu": 0.25, "mps": 0.25, "cuda": 0.5}
"""Pieces are cut so that one takes about this long: progress is told, and a stop is heeded, between pieces."""


class Stopped(Exception):
    """Whoever asked does not want the answer any more."""


class NoRoom(Exception):
    """Not even the smallest piece fits into memory."""


class Bench:
    """One point's workplace.

    draws_on: the place whose generator draws; expected_s: estimated seconds of the point; `tick(fraction)` is called
    with the share of the point that is done and may raise `Stopped`; `say(text)` passes on what went otherwise than
    planned.
    """

    def __init__(
        self,
        place: Place = CPU,
        *,
        seed: int = 0,
        injected: bool = False,
        draws_on: Place | None = None,
        expected_s: float = 0.0,
        tick: Callable[[float], None] = lambda fraction: None,
        say: Callable[[str], None] = lambda text: None,
        faults: Faults | None = None,
    ):
        self.place, self.xp, self.seed = place, place.xp, seed
        self.device = place.kind if place.library == "torch" else "cpu"
        self.draws_on = CPU if injected else draws_on or place
        self.expected_s, self.tick, self.say = expected_s, tick, say
        self.faults = Faults() if faults is None else faults

    def array(self, values: Any, dtype: str = "float32") -> Any:
        """NumPy values as an array on the device."""
        values = np.asarray(values)
        return self.xp.asarray(values if values.flags.writeable else values.copy(), dtype=getattr(self.xp, dtype),
                               device=self.device)  # fmt: skip

    def numpy(self, a: Any) -> np.ndarray:
        return a.cpu().numpy() if self.place.library == "torch" else np.asarray(a)

    def normal(
        self, first: int, last: int, lot: int, shape: tuple[int, ...], key: tuple, dtype: str = "float32"
    ) -> Any:
        """Standard normals `[last − first, *shape]` for items first…last−1; key tells draws of one sweep apart.

        first is a multiple of lot; last is too, or is the end.
        """
        return self._lots("normal", first, last, lot, shape, key, dtype, None)

    def gamma(self, first: int, last: int, lot: int, shape: tuple[int, ...], key: tuple, of: float) -> Any:
        """Draws from the gamma distribution with shape parameter `of`, in float32, as `normal` gives them."""
        return self._lots("gamma", first, last, lot, shape, key, "float32", of)

    def _lots(self, kind: str, first: int, last: int, lot: int, shape: tuple, key: tuple, dtype: str, of: Any) -> Any:
        parts = []
        for start in range(first, last, lot):
            told = kind, (min(lot, last - start), *shape), lot_seed(self.seed, kind, *key, start // lot), dtype, of
            part = numpy_lot(*told) if self.draws_on.library == "numpy" else torch_lot(*told, self.draws_on.kind)
            if self.draws_on != self.place:
                part = self.array(part.cpu().numpy() if self.draws_on.library == "torch" else part, dtype)
            parts.append(part)
        return parts[0] if len(parts) == 1 else self.xp.concat(parts, axis=0)

    def over(self, total: int, lot: int, each: float, work: Callable[[int, int], Arrays]) -> Arrays:
        """`work(first, last)` over items 0…total−1 in pieces that fit, their arrays joined along the first axis.

        The arrays stay on the device.

        each: bytes that one item takes.  Pieces are whole lots.  Out of memory halves the pieces; `NoRoom` where a
        single lot does not fit.  Pieces take about `PIECE_S` seconds: by the estimate, and on a GPU by what was
        measured; on a CPU they are always the same, so that results are, to the last bit.
        """
        most = min(max(lot, int(self.room() / max(each, 1)) // lot * lot), -(-total // lot) * lot)
        size = min(most, max(lot, int(total * PIECE_S[self.place.kind] / max(self.expected_s, 1e-6)) // lot * lot))
        start, done = 0, []
        self.tick(0.0)
        while start < total:
            began, full = time.monotonic(), False
            try:
                self.faults.allocation()
                told = work(start, min(start + size, total))
            except Exception as error:
                if not out_of_memory(error):
                    raise
                full = True
            if full:  # outside `except`: its traceback would keep alive what must be let go
                self.let_go()
                if size <= lot:
                    raise NoRoom
                most = size = max(lot, size // 2 // lot * lot)
                self.say(f"out of memory on {self.place.kind}: smaller pieces")
                continue
            done.append(told)
            start = min(start + size, total)
            self.tick(start / total)
            if self.place.kind == "cpu":
                continue
            took = max(time.monotonic() - began, 1e-4)
            size = min(most, max(lot, int(size * min(4.0, PIECE_S[self.place.kind] / took)) // lot * lot))
        if len(done) == 1:
            return done[0]
        return {name: self.xp.concat([told[name] for told in done], axis=0) for name in done[0]}

    def room(self) -> int:
        """Bytes that a piece may take now."""
        room = ROOM[self.place.kind]
        if self.place.kind == "cuda":
            import torch

            free = torch.cuda.mem_get_info()[0] + torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
            room = max(room, int(SHARE * free))
        return room

    def let_go(self) -> None:
        """Give memory that is not needed any more back to the device."""
        if self.place.kind == "cuda":
            import torch

            forget()
            gc.collect()
            with contextlib.suppress(RuntimeError):
                torch.cuda.empty_cache()
