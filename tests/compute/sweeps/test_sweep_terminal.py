"""`python -m compute.sweeps`."""

from __future__ import annotations

import json

import numpy as np
import pytest

from compute.sweeps.__main__ import main
from compute.sweeps.packing import unpack_result
from compute.sweeps.registry import SWEEPS

SMALL = ["--set", "widths=[8]", "--set", "values=[8]", "--set", "pairs=[4, 8]", "--set", "trials=8"]


def test_the_list_names_every_sweep_with_its_cost(capsys):
    assert main(["list"]) == 0
    told = capsys.readouterr().out
    for word, sweep in SWEEPS.items():
        assert f"{word}: {sweep.title}" in told
    assert main(["list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["sweep"] for row in rows] == list(SWEEPS)
    assert all(row["estimates"]["cpu"]["quick"] > 0 for row in rows)


def test_a_run_writes_its_arrays_and_says_how_they_were_made(tmp_path, capsys):
    out = tmp_path / "recall.npz"
    assert main(["run", "recall", "--quick", "--device", "cpu", "--out", str(out), "--json", *SMALL]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["arrays"]["recall"] == [5, 1, 1, 2] and told["device"]["kind"] == "cpu"
    result = unpack_result(out.read_bytes())
    assert result.complete and result.about["question"]["trials"] == 8
    assert np.isfinite(result.arrays["recall"]).all()


def test_a_run_without_a_file_prints_ranges(capsys):
    assert main(["run", "recall", "--quick", "--device", "cpu", *SMALL]) == 0
    told = capsys.readouterr()
    assert "recall [rule 5, d_phi 1, d_v 1, n 2]" in told.out
    assert "about a second" in told.err


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["run", "recall", "--set", "trials=1"], "trials must be from 8"),
        (["run", "recall", "--set", "trials"], "set must be SETTING=JSON"),
        (["run", "recall", "--set", "trials=x"], "set must be SETTING=JSON"),
        (["run", "recall", "--set", "fire=1"], "fire is no setting"),
    ],
)
def test_what_cannot_be_taken_is_one_sentence(arguments, said, capsys):
    assert main(arguments) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1


def test_an_unknown_sweep_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["run", "nonsense"])


def test_a_shipped_file_holds_four_digits_and_how_it_was_made(tmp_path, capsys):
    assert main(["ship", str(tmp_path), "recall", "--device", "cpu", *SMALL]) == 0
    result = unpack_result((tmp_path / "recall.npz").read_bytes())
    assert result.complete and result.about["digits"] == 4 and result.about["device"]["versions"].startswith("NumPy")
    assert not (result.arrays["recall"].view(np.uint32) & 0x7FF).any()
