"""Results on disk: whatever happens to a file, an answer is right or computed again."""

from __future__ import annotations

import logging
import os
import random
import threading

import numpy as np
import pytest

from compute.sweeps.packing import Corrupt, pack, pack_result, rounded, unpack, unpack_result
from compute.sweeps.registry import SWEEPS
from compute.sweeps.running import run
from compute.sweeps.store import Store, key

SWEEP = SWEEPS["recall"]
QUESTION = type(SWEEP.quick)(widths=(8,), values=(8,), pairs=(4, 8), trials=8)
NAME = key(SWEEP, QUESTION)


@pytest.fixture(scope="module")
def result():
    return run(SWEEP, QUESTION)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def same(a, b) -> bool:
    return all(np.array_equal(x, b.arrays[name], equal_nan=True) for name, x in a.arrays.items())


def test_what_was_saved_is_loaded(store, result):
    assert store.load(NAME) is None
    assert store.save(NAME, result)
    assert same(result, store.load(NAME))
    assert store.load(NAME).about["question"] == QUESTION.told()


def test_a_stored_file_opens_with_numpy_and_without_pickle(store, result):
    store.save(NAME, result)
    with np.load(store.path(NAME), allow_pickle=False) as members:
        assert np.array_equal(members["recall"], result.arrays["recall"])


@pytest.mark.parametrize("shape", [(), (1,), (3, 2), (2, 0)])
def test_an_array_comes_back_in_its_shape_and_so_does_a_number(shape):
    (told, _) = unpack(pack({"a": np.full(shape, 1.5, dtype=np.float32)}, {}))
    assert told["a"].shape == shape and told["a"].dtype == np.float32


def test_an_array_of_columns_comes_back_as_it_was():
    a = np.arange(6.0).reshape(2, 3).T
    assert np.array_equal(unpack(pack({"a": a}, {}))[0]["a"], a)


def test_objects_are_never_packed():
    with pytest.raises(ValueError):
        pack({"a": np.array([{}], dtype=object)}, {})


def test_a_flipped_bit_anywhere_is_noticed(result):
    data = pack_result(result)
    rng = random.Random(0)
    for _ in range(200):
        broken = bytearray(data)
        broken[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        with pytest.raises(Corrupt):
            unpack_result(bytes(broken))
    for end in (0, 1, 63, 64, 65, len(data) // 2, len(data) - 1):
        with pytest.raises(Corrupt):
            unpack(data[:end])


def test_arrays_too_large_to_be_ours_are_not_unpacked(monkeypatch):
    data = pack({"a": np.zeros(1 << 20)}, {})
    monkeypatch.setattr("compute.sweeps.packing.LARGEST", 1 << 20)
    with pytest.raises(Corrupt, match="too large"):
        unpack(data)


def test_a_corrupt_file_is_set_aside_and_can_be_written_anew(store, result, caplog):
    store.save(NAME, result)
    store.path(NAME).write_bytes(store.path(NAME).read_bytes()[:-70])
    assert store.load(NAME) is None
    assert store.path(NAME).with_suffix(".corrupt").exists() and not store.path(NAME).exists()
    assert "set aside" in caplog.text
    store.save(NAME, result)
    assert same(result, store.load(NAME))


def test_a_file_that_answers_another_question_is_not_believed(store, result):
    store.save(NAME, result)
    other = f"{NAME[:-1]}{'0' if NAME[-1] != '0' else '1'}"
    os.rename(store.path(NAME), store.path(other))
    assert store.load(other) is None


def test_a_link_is_not_followed(store, result, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(pack_result(result))
    store.path(NAME).symlink_to(elsewhere)
    assert store.load(NAME) is None
    assert elsewhere.exists()


def test_half_an_answer_is_not_kept(store, result):
    assert not store.save(NAME, SWEEP.result(QUESTION, {}))
    assert store.load(NAME) is None


def test_no_room_means_no_cache_and_one_line_a_minute(store, result, caplog, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with caplog.at_level(logging.WARNING):
        assert not any(store.save(NAME, result) for _ in range(20))
    assert caplog.text.count("No space left") == 1
    assert list(store.folder.iterdir()) == []


def test_a_folder_that_is_none_means_no_cache(tmp_path, result):
    (tmp_path / "file").write_text("in the way")
    store = Store(tmp_path / "file")
    assert not store.save(NAME, result)
    assert store.load(NAME) is None


def test_old_results_make_room_for_new_ones(store, result, monkeypatch):
    monkeypatch.setattr("compute.sweeps.store.FULL", 2 * len(pack_result(result)) + 500)
    for i in range(4):
        store.save(f"recall-{i}", result)
        os.utime(store.path(f"recall-{i}"), (i, i))
    store.save("recall-9", result)
    kept = sorted(path.stem for path in store.folder.iterdir())
    assert "recall-9" in kept and "recall-0" not in kept and len(kept) <= 3


def test_two_that_write_the_same_never_show_half_a_file(store, result):
    def write():
        for _ in range(40):
            store.save(NAME, result)

    writers = [threading.Thread(target=write) for _ in range(2)]
    store.save(NAME, result)
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert same(result, store.load(NAME))
    assert not list(store.folder.glob("*.corrupt"))


def test_rounding_keeps_four_digits_and_what_is_no_number():
    a = np.array([1.23456789, -3.3e-20, 1e30, 0.0, np.nan, np.inf, -np.inf], dtype=np.float32)
    told = rounded(a)
    np.testing.assert_allclose(told, a, rtol=1.3e-4)
    raw = told[:4].view(np.uint32)
    assert not (raw & 0x7FF).any()
