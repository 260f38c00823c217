"""The table of address words: everything legal is read and written back, everything else refused word by word."""

from __future__ import annotations

import re

import pytest
from asked import BAD, MARKUP, examples, outside
from hypothesis import given
from hypothesis import strategies as st

from components.lesson import SERVER, Lesson, Question
from components.words import SHOWN, WIDTHS, WORDS, read_address, written

every_word = pytest.mark.parametrize("word", WORDS.values(), ids=WORDS)


def read(**words: str | bytes):
    return read_address({name: [text if isinstance(text, bytes) else text.encode()] for name, text in words.items()})


def test_most_words_have_more_than_one_example():
    """Else the walk over the table would try the defaults only."""
    assert sum(len(examples(word)) > 1 for word in WORDS.values()) > 0.9 * len(WORDS)


@every_word
def test_a_word_reads_its_own_written_default(word):
    assert word.read(word.write(word.default)) == word.default
    assert type(word.read(word.write(word.default))) is type(word.default)


@every_word
def test_every_legal_value_is_read_and_written_back(word):
    for text in examples(word):
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
    if word.name in values:  # legal after all, such as a seed of 16 or v = 1
        assert text.isascii() and word.write(values[word.name]) == text
    else:
        (sentence,) = refused
        assert sentence.startswith(f"{word.name} ")
    assert values[other] == 0.75


@every_word
def test_a_value_just_outside_is_refused_and_not_clamped(word):
    for text in outside(word):
        values, refused = read(**{word.name: text})
        assert values == {} and len(refused) == 1 and refused[0].startswith(f"{word.name} ")


@every_word
def test_an_empty_value_is_legal_only_where_the_table_says_so(word):
    values, refused = read(**{word.name: ""})
    assert (word.name in values) == ("" in examples(word)) and len(refused) == (word.name not in values)


@every_word
def test_a_repeated_word_counts_once_and_is_named(word):
    first, second = word.write(word.default).encode(), examples(word)[-1].encode()
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


@given(
    st.dictionaries(
        st.one_of(st.sampled_from(list(WORDS)), st.text(max_size=8)),
        st.lists(st.binary(max_size=30), min_size=1, max_size=3),
        max_size=4,
    )
)
def test_any_address_at_all_is_read(arguments):
    values, refused = read_address(arguments)
    assert set(values) <= set(WORDS) and all(isinstance(sentence, str) for sentence in refused)
    assert written(values).keys() <= set(WORDS)


@given(st.sampled_from(list(WORDS)), st.text(max_size=220))
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
    for text in (*BAD.values(), *outside(WORDS[name])):
        lesson = Lesson()
        if not lesson.take({name: text}):
            assert WORDS[name].write(getattr(lesson, name)) == text
        else:
            assert getattr(lesson, name) == WORDS[name].default
    assert lesson.take({name: outside(WORDS[name])[0]})[0].startswith(f"{name} ")
    assert lesson.take({name: examples(WORDS[name])[-1]}) == []
    assert WORDS[name].write(getattr(lesson, name)) == examples(WORDS[name])[-1]


@pytest.mark.parametrize("d_k", WIDTHS)
def test_words_that_do_not_go_together_fall_back_to_what_does(d_k):
    """DPFP has at most 2·d_k − 1 shifts."""
    lesson = Lesson()
    lesson.take({"phi": "dpfp~nu~31", "d_k": str(d_k)})
    assert lesson.phi == ("dpfp~nu~31" if d_k > 15 else "dpfp") and lesson.d_k == d_k
    lesson.take({"phi": "dpfp~nu~31", "d_k": "64"})
    lesson.take({"d_k": str(d_k)})
    assert lesson.question.map.d_phi(d_k)


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
