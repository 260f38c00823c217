"""The badge in the page's frame: which device computes sweeps here, and what a quick one costs, before it starts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from app import device
from compute.sweeps.places import RATES, estimate, processor, said
from compute.sweeps.registry import SWEEPS

ROOT = Path(__file__).resolve().parents[2]
CROSSTALK, RANK, TRAINED = SWEEPS["crosstalk"], SWEEPS["rank"], SWEEPS["trained-recall"]


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    """A machine with torch and without a GPU, on which nobody has asked yet."""
    device.runner.cache_clear()
    monkeypatch.delenv("EXPLORER_DEVICE", raising=False)
    monkeypatch.delenv("EXPLORER_DASK", raising=False)
    monkeypatch.setattr(device, "NVIDIA", tmp_path / "nvidia0")
    monkeypatch.setattr(device, "has_torch", lambda: True)


class Queue:
    def __init__(self, kind: str = "", name: str = ""):
        self.place, self.woken = {"kind": kind, "name": name} if kind else None, 0

    def wake(self):
        self.woken += 1

    def estimate_s(self, sweep, question):
        return 77.0


@pytest.fixture
def asked(monkeypatch):
    """A queue that has been made, and knows its device if one is given."""

    def make(*place: str) -> Queue:
        queue = Queue(*place)
        runner = lambda: queue  # noqa: E731
        runner.cache_info = lambda: SimpleNamespace(currsize=1)
        monkeypatch.setattr(device, "runner", runner)
        return queue

    return make


def test_without_a_gpu_it_is_the_cpu_and_no_process_is_started():
    told = device.badge("memory")
    assert told["text"] == "CPU" and device.runner.cache_info().currsize == 0
    cost = said(RATES["cpu"].start + estimate(CROSSTALK, CROSSTALK.quick, "cpu"))
    assert told["title"].endswith(f"{CROSSTALK.title}: {cost} on {processor()}.")


def test_every_sweep_of_a_page_is_priced_and_a_page_without_one_has_no_badge():
    assert len(device.badge("recall")["title"].splitlines()) == 3
    assert device.badge("sizing") is None and device.badge("explorer") is None


@pytest.mark.parametrize(
    ("wanted", "cluster", "badge", "name"),
    [
        ("cuda", "", "NVIDIA GPU", "an NVIDIA GPU"),
        ("mps", "", "Apple GPU", "Apple's GPU"),
        ("cpu", "tcp://x:1", "Dask cluster", "a Dask cluster"),
        ("abacus", "", "no device", "EXPLORER_DEVICE must be one of auto, cpu, cuda, mps, got 'abacus'"),
    ],
)
def test_what_was_asked_for_is_named_before_any_process_starts(wanted, cluster, badge, name, monkeypatch):
    monkeypatch.setenv("EXPLORER_DEVICE", wanted)
    monkeypatch.setenv("EXPLORER_DASK", cluster)
    assert device.device()[1:] == (badge, name)
    assert device.cost(CROSSTALK).endswith(f" on {name}") and device.runner.cache_info().currsize == 0


def test_where_there_may_be_a_gpu_the_process_that_computes_is_asked_once_and_says_its_name(asked, monkeypatch):
    device.NVIDIA.touch()
    queue = asked()
    assert device.badge("memory")["text"] == "NVIDIA GPU" and queue.woken == 1
    queue = asked("cuda", "NVIDIA H200")
    assert device.badge("memory")["text"] == "NVIDIA H200" and queue.woken == 0
    assert device.cost(CROSSTALK) == "about 77 s on NVIDIA H200"
    queue = asked("cpu", "one core of a mill")  # a broken driver
    assert device.badge("memory")["text"] == "CPU" and queue.woken == 0


def test_apples_gpu_leaves_float64_to_the_cpu(asked):
    asked("mps", "arm64 GPU (MPS)")
    assert device.device(RANK).kind == "cpu" and device.device(CROSSTALK).kind == "mps"


def test_without_torch_the_badge_says_so_and_what_cannot_run_is_not_offered(monkeypatch):
    monkeypatch.setattr(device, "has_torch", lambda: False)
    device.NVIDIA.touch()
    assert device.device().badge == "CPU, no torch"
    assert device.lacks(TRAINED) and device.lacks(TRAINED) in device.badge("recall")["title"]
    assert not device.lacks(CROSSTALK)
    monkeypatch.setenv("EXPLORER_DASK", "tcp://x:1")
    assert not device.lacks(TRAINED)


def test_asking_for_the_badge_imports_no_torch():
    code = "import sys; from app.device import badge; print(bool(badge('recall')), 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["True", "False"], done.stderr
