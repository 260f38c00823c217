"""A queue with a folder of its own, on the CPU."""

import pytest

from compute.sweeps.runner import Runner
from compute.sweeps.store import Store


@pytest.fixture
def runner(tmp_path):
    made = Runner(Store(tmp_path), environ={"EXPLORER_DEVICE": "cpu"})
    yield made
    made.close()
