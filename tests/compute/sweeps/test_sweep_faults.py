"""Memory that runs out and devices that are lost, on purpose."""

from __future__ import annotations

import numpy as np
import pytest

from compute.sweeps import workbench
from compute.sweeps.faults import DeviceLost, Faults, OutOfMemoryError, device_lost, out_of_memory
from compute.sweeps.places import CPU, Place
from compute.sweeps.registry import SWEEPS
from compute.sweeps.running import run

TORCH = Place("cpu", "torch", "a device")
RECALL = SWEEPS["recall"]


def differs(a, b) -> float:
    return max(float(np.nanmax(np.abs(x - b.arrays[name]))) for name, x in a.arrays.items())


@pytest.mark.parametrize("at", [1, 2, 7])
def test_out_of_memory_at_one_allocation_means_smaller_pieces_and_the_same_numbers(at):
    # Pieces of at least two lots, so that there is something to halve.
    question = type(RECALL.quick).read({**RECALL.quick.told(), "trials": 64})
    told = run(RECALL, question, TORCH, injected=True, faults=Faults.read(f"memory:{at}"))
    assert differs(told, run(RECALL, question)) < 1e-5
    assert any(note.startswith("out of memory") for note in told.about["notes"])


def test_out_of_memory_that_does_not_end_means_the_cpu_and_the_same_numbers():
    told = run(RECALL, RECALL.quick, TORCH, injected=True, faults=Faults.read("memory:1-9999"))
    assert differs(told, run(RECALL, RECALL.quick)) < 1e-5
    assert any("done on the CPU" in note for note in told.about["notes"])


def test_a_point_that_moves_to_the_cpu_keeps_the_draws_of_its_device():
    told = run(RECALL, RECALL.quick, TORCH, faults=Faults.read("memory:1-9999"))
    assert differs(told, run(RECALL, RECALL.quick, TORCH)) < 1e-5
    assert differs(told, run(RECALL, RECALL.quick)) > 1e-3


def test_a_device_without_room_for_draws_leaves_those_to_the_cpu_too_and_says_so(monkeypatch):
    def full(*_):
        raise OutOfMemoryError("no room")

    monkeypatch.setattr(workbench, "torch_lot", full)
    told = run(RECALL, RECALL.quick, TORCH)
    assert differs(told, run(RECALL, RECALL.quick)) < 1e-5
    assert "no room on cpu for draws: other ones, made on the CPU" in told.about["notes"]


def test_a_cpu_without_memory_says_so():
    with pytest.raises(MemoryError, match="not enough memory"):
        run(RECALL, RECALL.quick, CPU, faults=Faults.read("memory:1-9999"))


def test_a_lost_device_is_not_taken_for_missing_memory():
    with pytest.raises(DeviceLost):
        run(RECALL, RECALL.quick, TORCH, faults=Faults.read("device:2"))


def test_errors_of_torch_are_told_apart():
    class OutOfMemoryError(RuntimeError):
        pass

    assert out_of_memory(OutOfMemoryError()) and out_of_memory(MemoryError())
    assert device_lost(RuntimeError("CUDA error: an illegal memory access was encountered"))
    assert not out_of_memory(RuntimeError("CUDA error")) and not device_lost(OutOfMemoryError())
    assert not device_lost(ValueError("CUDA error"))


def test_without_the_variable_nothing_fails_and_nonsense_is_refused(monkeypatch):
    monkeypatch.delenv("EXPLORER_FAULT", raising=False)
    assert Faults.read().planned == ()
    monkeypatch.setenv("EXPLORER_FAULT", "memory:2 device:4-6")
    assert Faults.read().planned == (("memory", 2, 2), ("device", 4, 6))
    for word in ("memory", "memory:x", "fire:1", "memory:1-x"):
        with pytest.raises(ValueError, match=r"^EXPLORER_FAULT "):
            Faults.read(word)
