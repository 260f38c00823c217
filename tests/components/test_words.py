"""The table of address words: everything legal is read and written back, everything else refused word by word."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.lesson import SERVER, Lesson, Question
from components.words import LONGEST_VALUE, SHOWN, WORDS, read_address, written
from compute.feature_maps import FEATURE_MAPS

MARKUP = "<img src=x onerror=alert(1)>"
BAD = {
    "markup": MARKUP,
    "the end of a script": "</script><script>alert(1)</script>",
    "ten kilobytes": "9" * 10_000,
    "a NUL": "\0",
    "a NUL after a number": "1\0",
    "a word": "nonsense",
    "Arabic digits": "٣",
    "full-width digits": "１６",
    "a superscript": "²",
    "not a number": "nan",
    "infinity": "inf",
    "an exponent": "1e1",
    "an underscore": "1_6",
    "a plus": "+16",
    "blanks": " 16 ",
    "a line break": "16\n",
    "two signs": "--1",
    "two points": "1.2.3",
    "a point alone": ".",
    "a sign alone": "-",
    "far above": "99999999",
    "far below": "-99999999",
    "a JSON list": '["elu"]',
    "an unknown knob": "favor~q~1",
    "a knob without a value": "favor~m",
    "a knob beyond its offer": "favor~m~1000000",
    "a default spelled out twice": "favor~m~16~m~16",
}
OUTSIDE = {
    "phi": "dpfp~nu~0", "d_k": "5", "seed": "100", "row": "256", "rule": "Additive", "keys": "orthonormal ", "rho": "0.96",
    "alpha": "0.49", "beta": "1.01", "model": "gpt-5", "c": "16.1", "n": "257", "N": "15", "T": "10000001", "theme": "Dark",
    "embed": "2", "hide": "all", "v": "0",
}  # fmt: skip
LEGAL = {
    "phi": ["softmax", *FEATURE_MAPS, "favor~m~64", "trig~seed~5", "taylor~symmetric~true", "dpfp~nu~1"],
    "d_k": ["4", "64"], "seed": ["0", "99"], "row": ["", "0", "255"], "rule": ["gated_delta"], "keys": ["phi", "correlated"],
    "rho": ["0", "0.95", "0.5"], "alpha": ["0.5", "1", "0.98"], "beta": ["1", "0.05"], "model": ["llama-3.1-8b"],
    "c": ["0.25", "16", "1.6"], "n": ["0", "256"], "N": ["16", "256"], "T": ["1", "10000000"], "theme": ["dark"],
    "embed": ["1"], "hide": ["controls"], "v": ["1"],
}  # fmt: skip

every_word = pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)


def read(**words: str | bytes):
    return read_address({name: [text if isinstance(text, bytes) else text.encode()] for name, text in words.items()})


def test_the_lists_here_name_every_word():
    assert set(OUTSIDE) == set(WORDS) == set(LEGAL)


@every_word
def test_a_word_reads_its_own_written_default(word):
    assert word.read(word.write(word.default)) == word.default
    assert type(word.read(word.write(word.default))) is type(word.default)


@every_word
def test_every_legal_value_is_read_and_written_back(word):
    for text in LEGAL[word.name]:
        values, refused = read(**{word.name: text})
        assert not refused
        assert word.write(values[word.name]) == text


@every_word
def test_the_meaning_of_a_word_is_told(word):
    assert word.meaning and word.legal and word.name == re.sub(r"\W", "", word.name)


def test_a_spelled_out_default_is_written_short():
    assert read(phi="favor~m~256")[0] == {"phi": "favor"}


@every_word
@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_a_bad_value_is_refused_by_name_and_the_rest_of_the_address_holds(word, text):
    other = "beta" if word.name != "beta" else "alpha"
    values, refused = read(**{word.name: text, other: "0.75"})
    if text in ("٣", "１６", "²") or word.name not in values:
        assert word.name not in values
        (sentence,) = refused
        assert sentence.startswith(f"{word.name} ")
    else:  # legal after all, such as v = 1 or a seed of digits
        assert word.write(values[word.name]) == text
    assert values[other] == 0.75


@every_word
def test_a_value_just_outside_is_refused_and_not_clamped(word):
    values, refused = read(**{word.name: OUTSIDE[word.name]})
    assert values == {} and len(refused) == 1 and refused[0].startswith(f"{word.name} ")


@every_word
def test_an_empty_value_is_legal_only_where_the_table_says_so(word):
    values, refused = read(**{word.name: ""})
    assert (word.name in values) == (word.name in ("row", "hide")) and len(refused) == (word.name not in values)


@every_word
def test_a_repeated_word_counts_once_and_is_named(word):
    first, second = word.write(word.default).encode(), LEGAL[word.name][0].encode()
    values, refused = read_address({word.name: [first, second, b"<b>"]})
    assert values == {word.name: word.default}
    assert len(refused) == 1 and refused[0].startswith(f"{word.name} stands 3 times")


@every_word
def test_bytes_that_are_no_text_are_refused(word):
    values, refused = read(**{word.name: b"\xff\xfe"})
    assert values == {} and len(refused) == 1 and refused[0].startswith(word.name)


@pytest.mark.parametrize("name", [MARKUP, "x" * 10_000, "PHI", "phi ", "__class__", "", "\0", "d_k[]"])
def test_an_unknown_word_is_named_shortly(name):
    values, refused = read_address({name: [b"1"], "n": [b"3"]})
    assert values == {"n": 3}
    (sentence,) = refused
    assert "is not a word" in sentence and len(sentence) < SHOWN + 60


@every_word
def test_a_refusal_repeats_no_more_than_a_glance_of_what_was_given(word):
    for text in BAD.values():
        for sentence in read(**{word.name: text})[1]:
            assert len(sentence) <= 700, sentence[:80]  # the names of all models
            assert sentence.count("9") <= SHOWN + 5


@given(st.dictionaries(st.one_of(st.sampled_from(list(WORDS)), st.text(max_size=8)), st.lists(st.binary(max_size=30), min_size=1, max_size=3), max_size=4))
def test_any_address_at_all_is_read(arguments):
    values, refused = read_address(arguments)
    assert set(values) <= set(WORDS) and all(isinstance(sentence, str) for sentence in refused)
    assert written(values).keys() <= set(WORDS)


@given(st.sampled_from(list(WORDS)), st.text(max_size=LONGEST_VALUE + 20))
def test_what_is_read_is_read_again_from_what_is_written(name, text):
    """Such as 0.50, which is written 0.5: one state, one address."""
    values, _ = read_address({name: [text.encode("utf-8", "surrogatepass")]})
    if name in values:
        word = WORDS[name]
        assert word.read(word.write(values[name])) == values[name]


def test_defaults_are_left_out_of_the_address():
    assert written({name: word.default for name, word in WORDS.items()}) == {}
    assert written({"n": 3, "phi": "relu", "seed": 0}) == {"phi": "relu", "n": "3"}


# The lesson


def test_a_question_has_one_field_for_each_server_word():
    assert list(Question.__dataclass_fields__) == list(SERVER)
    assert all(getattr(Question(), name) == word.default for name, word in SERVER.items())
    assert Lesson().question == Question() and hash(Lesson().question) == hash(Question())


@pytest.mark.parametrize("name", SERVER)
def test_a_lesson_takes_checked_texts_only(name):
    lesson = Lesson()
    for text in (*BAD.values(), OUTSIDE[name]):
        if not lesson.take({name: text}):
            assert WORDS[name].write(getattr(lesson, name)) == text
    assert lesson.take({name: OUTSIDE[name]})[0].startswith(f"{name} ")
    assert lesson.take({name: LEGAL[name][-1]}) == []
    assert WORDS[name].write(getattr(lesson, name)) == LEGAL[name][-1]


def test_one_refused_text_does_not_stop_the_others():
    lesson = Lesson()
    refused = lesson.take({"phi": MARKUP, "d_k": "4", "T": "7", "seed": "3"})
    assert [sentence.split()[0] for sentence in refused] == ["phi", "T"]
    assert lesson.question == Question(d_k=4, seed=3)


def test_a_lesson_tells_its_watchers_once_for_several_words():
    lesson, heard = Lesson(), []
    lesson.param.watch(lambda *events: heard.append(len(events)), list(SERVER))
    lesson.take({"phi": "relu", "d_k": "4", "seed": "3"})
    assert heard == [3]
