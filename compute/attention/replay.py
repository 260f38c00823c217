"""Work on a CUDA device that is sent as one launch from the third time on that its shapes come.

A device that computes faster than its host can ask waits: ten launches for a few thousand tokens take an H200's host
several times as long as the device.  They are recorded as a CUDA graph, which is replayed on new inputs.

Only on the default stream, where no two replays run at once, and only while the process has no other thread (a notebook
has): CUDA refuses a thread that waits for the whole device while something is recorded, whoever records it.
Source: Nguyen et al. 2021, Accelerating PyTorch with CUDA Graphs, pytorch.org/blog.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

if TYPE_CHECKING:
    from torch import Tensor

Work = Callable[..., "tuple[Tensor | None, ...]"]
"""A function of tensors, and of options that are none, that never waits for what it computes."""

KEPT = 4
"""Sets of shapes remembered.  A recording holds its inputs, its outputs and whatever is needed in between."""

SEEN = 2
"""Times that the work is done as it is written.  Recording it takes as long as hundreds of replays."""


class Recording:
    """Work on tensors of certain shapes, recorded; RuntimeError where that fails."""

    def __init__(self, work: Work, tensors: tuple[Tensor, ...], options: dict[str, Any]) -> None:
        import torch

        self.graph = torch.cuda.CUDAGraph()
        # Tensors made in inference mode could not be written to outside of it.
        with torch.cuda.device(tensors[0].device), torch.inference_mode(False), torch.no_grad():
            self.inputs = [torch.empty_like(x) for x in tensors]
            # A thread that is not Python's may go on asking the device for memory meanwhile.  A recording that fails
            # leaves its own stream the current one, hence the outer context.
            recorded = torch.cuda.graph(self.graph, capture_error_mode="thread_local")
            with torch.cuda.stream(torch.cuda.current_stream()), recorded:
                self.outputs = work(*self.inputs, **options)

    def replay(self, tensors: tuple[Tensor, ...]) -> tuple[Tensor | None, ...]:
        """The outputs for other tensors of the same shapes, in memory of their own."""
        import torch

        with torch.no_grad():
            torch._foreach_copy_(self.inputs, tensors)
            self.graph.replay()
            return tuple(None if x is None else x.clone() for x in self.outputs)

    def end(self) -> None:
        """Gives the memory back, once all that was sent is done."""
        import torch

        torch.cuda.default_stream(self.inputs[0].device).synchronize()
        self.graph.reset()


@dataclass
class Shapes:
    """How often these shapes came, whether a recording was tried, and the recording: None where it failed."""

    times: int = 0
    tried: bool = False
    recording: Any = None


class Replayed:
    """Work, with what was recorded of it.  Several threads may call it.

    work: what is to be done.  record: makes the recording, with a `replay` and an `end`.
    """

    def __init__(self, work: Work, record: Callable[[Work, tuple, dict], Any] = Recording) -> None:
        self.work, self.record = work, record
        self.lock = threading.Lock()
        self.met: OrderedDict[Hashable, Shapes] = OrderedDict()
        """The last met at the end."""
        _every.add(self)

    def __call__(self, *tensors: Tensor, **options: Any) -> tuple[Tensor | None, ...]:
        """What the work gives; all tensors on one device."""
        if recorded_now(tensors[0]) or unusual(tensors[0]):
            return self.work(*tensors, **options)
        key = (tensors[0].device, *((x.dtype, x.shape) for x in tensors), *options.items())
        # What is sent to one stream within the lock follows one another: no other call's inputs come in between.
        with self.lock:
            shapes = self.met.setdefault(key, Shapes())
            self.met.move_to_end(key)
            shapes.times += 1
            if shapes.times > SEEN and not shapes.tried and threading.active_count() == 1:
                shapes.tried = True
                # Too little memory, say: the work as it is written does with less, or says so itself.
                with suppress(RuntimeError):
                    shapes.recording = self.record(self.work, tensors, options)
            if len(self.met) > KEPT and (oldest := self.met.popitem(last=False)[1].recording):
                oldest.end()
            if shapes.recording:
                return shapes.recording.replay(tensors)
        return self.work(*tensors, **options)

    def forget(self) -> None:
        """Gives all memory back."""
        with self.lock:
            for shapes in self.met.values():
                if shapes.recording:
                    shapes.recording.end()
            self.met.clear()


_every: WeakSet[Replayed] = WeakSet()


def forget() -> None:
    """Gives back the memory of all recordings, for who finds too little on the device."""
    for replayed in list(_every):
        replayed.forget()


def recorded_now(x: Tensor) -> bool:
    """Whether what is done with this tensor is being recorded, here or by the caller: what is made then belongs to the
    recording, and holds numbers only after a replay."""
    import torch

    return x.is_cuda and torch.cuda.is_current_stream_capturing()


def unusual(x: Tensor) -> bool:
    """Whether work on this tensor is to be as it is written: off the device's default stream, where two replays at once
    would share what the products of all recordings work in, or where torch chooses other dtypes by itself."""
    import torch

    if not x.is_cuda:
        return False
    aside = torch.cuda.current_stream(x.device) != torch.cuda.default_stream(x.device)
    return aside or torch.is_autocast_enabled("cuda")
