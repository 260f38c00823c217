"""Which device computes, what that is said to cost, and how the two processes talk."""

from __future__ import annotations

import importlib.util
import io

import pytest

from compute.sweeps import places
from compute.sweeps.base import Work
from compute.sweeps.frames import read_frame, write_frame
from compute.sweeps.places import Place, estimate, find, said, seconds, wish
from compute.sweeps.registry import SWEEPS

CPU, CUDA, MPS = Place("cpu", "numpy", "a core"), Place("cuda", "torch", "a card"), Place("mps", "torch", "a chip")


@pytest.mark.parametrize(
    "there, needs_float64, best",
    [
        ((CPU,), False, "cpu"), ((CPU, MPS), False, "mps"), ((CPU, MPS), True, "cpu"),
        ((CPU, MPS, CUDA), False, "cuda"), ((CPU, CUDA), True, "cuda"),
    ],
)  # fmt: skip
def test_cuda_comes_first_then_mps_unless_it_takes_float64_then_the_cpu(there, needs_float64, best, monkeypatch):
    monkeypatch.setattr(places, "_devices", lambda: {place.kind: place for place in there})
    assert find("auto", needs_float64=needs_float64).kind == best


def test_a_device_that_was_named_but_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(places, "_devices", lambda: {"cpu": CPU, "mps": MPS})
    with pytest.raises(ValueError, match=r"^device cuda is not there$"):
        find("cuda")
    with pytest.raises(ValueError, match=r"^device mps is not there, or cannot do float64$"):
        find("mps", needs_float64=True)
    assert find("mps").kind == "mps"


def test_the_variable_decides_unless_somebody_asks_for_another(monkeypatch):
    monkeypatch.delenv("EXPLORER_DEVICE", raising=False)
    assert wish() == "auto"
    monkeypatch.setenv("EXPLORER_DEVICE", "cpu")
    assert wish() == "cpu" and wish("cuda") == "cuda"
    monkeypatch.setenv("EXPLORER_DEVICE", "abacus")
    with pytest.raises(ValueError, match=r"^EXPLORER_DEVICE must be one of auto, cpu, cuda, mps"):
        wish()


def test_without_torch_there_is_still_a_cpu(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert find("auto").library == "numpy"


def test_a_broken_driver_leaves_the_cpu(monkeypatch):
    torch = pytest.importorskip("torch")

    def broken(*_, **__):
        raise RuntimeError("CUDA driver version is insufficient")

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch, "zeros", broken)
    assert find("auto").kind == "cpu"


def test_an_estimate_takes_the_slower_of_arithmetic_and_traffic():
    rates = places.RATES["cpu"]
    assert seconds(Work(flops=rates.flops, bytes=rates.bytes / 2), "cpu") == pytest.approx(1)
    assert seconds(Work(flops=rates.flops / 2, bytes=3 * rates.bytes, steps=1 / rates.step), "cpu") == pytest.approx(4)
    assert seconds(Work(seconds=2.0), "cuda") == 2.0


def test_what_a_kind_of_device_leaves_out_costs_next_to_nothing_there():
    work = Work(seconds=2.0, compiling=30.0, left_out=("cpu",))
    assert seconds(work, "cpu") < 0.01 and seconds(work, "cuda") == 32.0


def test_measured_times_are_estimated_for_the_forms_that_run_there():
    """Of 168 points a CPU measures 49: no kernel of flash-linear-attention, and no context that takes too long."""
    sweep = SWEEPS["times"]
    question = sweep.question()
    counted = [p for p in sweep.points(question) if seconds(sweep.work(question, p), "cpu") > 0.01]
    assert len(counted) == 49 and not any(form.startswith("fla") for form, *_ in counted)
    assert estimate(sweep, question, "cpu") < 15 < estimate(sweep, question, "cuda")


@pytest.mark.parametrize(
    "time, text", [(0.1, "about a second"), (40, "about 40 s"), (89, "about 89 s"), (200, "about 3 min")]
)
def test_durations_are_said_as_exactly_as_they_deserve(time, text):
    assert said(time) == text


def test_messages_arrive_as_they_were_sent():
    stream = io.BytesIO()
    write_frame(stream, {"is": "point", "run": 3}, b"\x00\xff")
    write_frame(stream, {"is": "done"})
    stream.seek(0)
    assert read_frame(stream) == ({"is": "point", "run": 3}, b"\x00\xff")
    assert read_frame(stream) == ({"is": "done"}, b"")
    assert read_frame(stream) is None


def test_half_a_message_and_one_without_end_are_no_messages():
    stream = io.BytesIO()
    write_frame(stream, {"is": "done"}, b"abc")
    for end in (3, 9, len(stream.getvalue()) - 1):
        with pytest.raises(EOFError):
            read_frame(io.BytesIO(stream.getvalue()[:end]))
    with pytest.raises(ValueError, match="too long"):
        read_frame(io.BytesIO(b"\xff" * 8))
