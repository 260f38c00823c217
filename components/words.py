"""The address words: one table from which reading, writing, help and the hostile-input test are made.

A *server* word changes what is computed and lives in the Lesson.  A *browser* word is a position on a
reel or a setting of the page; Python reads it once, afterwards the browser owns it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from components.gpus import gpus
from components.legal import Refused, brief, number, one_of, origin, some_of, whole_of
from components.own import Own, read_own, write_own
from components.teaching import preset_words
from compute.feature_maps import FEATURE_MAPS, read_member, spell
from compute.keys import KEY_MAKERS
from compute.memory import WRITE_RULES
from compute.pair_streams import STREAMS
from compute.rank import PRECISIONS
from compute.sizing import DTYPES, ConfigError, models
from compute.sizing.options import ARITHMETIC, COLUMNS, ENGINES, MLA

SHOWN = 40
"""Characters of a refused value that the notice repeats."""


@dataclass(frozen=True)
class Word:
    """One name in the address: how its text is read, what it is by default, what it means.

    longest: characters; a longer value is refused unread.
    """

    name: str
    default: Any
    meaning: str
    legal: str
    read: Callable[[str], Any]
    write: Callable[[Any], str] = str
    server: bool = True
    longest: int = 200


def read_phi(text: str) -> str:
    if text == SOFTMAX:
        return text
    try:
        return spell(read_member(text))
    except ValueError as error:
        raise Refused(f"is no feature map: {error}") from None


def _read_own(text: str) -> Own | None:
    try:
        return read_own(text)
    except ConfigError as error:
        raise Refused(f"cannot be read: {error}") from None


def _read_compare(text: str) -> str:
    words = [word for word in text.split(",") if word]
    if len(words) > 3:
        raise Refused("names more than three models")
    for word in words:
        if word not in models():
            raise Refused("names a model that is not here")
    return ",".join(dict.fromkeys(words))


def _read_preset(text: str) -> str:
    if text and text not in preset_words():
        raise Refused("is no preset of any page")
    return text


def read_row(text: str) -> int | None:
    return None if text == "" else number(0, 255, int)[1](text)


SOFTMAX = "softmax"
"""The selector's word for no feature map at all: the exponential kernel."""

HIDDEN = ("controls", "side", "below", "head", "rail")
"""Parts of a page that an embedding page may leave out; `below` is what stands under the figures."""

REVEALS = ("open", "locked")
SEEDS = 100
"""Random draws that are offered, from 0."""

WIDTHS = (4, 8, 16, 32, 64)
HEADS = (16, 32, 64, 128, 256)
VALUE_WIDTHS = (1, 4, 8, 32, 128)
EXAMPLES = ("hand", "random")
PITFALLS = ("none", "one_summary", "read_first", "transposed", "feature_sum", "eps_inside", "bf16")
WAYS = ("sum", "mlstm", "retnet", "transnormer", "lightning")
KEYS = (*KEY_MAKERS, "phi")
PHIS = (SOFTMAX, *FEATURE_MAPS)


def _word(name: str, default: Any, how: tuple[str, Callable], meaning: str, **more: Any) -> Word:
    return Word(name, default, meaning, how[0], how[1], **more)


WORDS: dict[str, Word] = {
    word.name: word
    for word in (
        _word("phi", "elu", (" | ".join(PHIS) + ", then ~knob~value", read_phi), "feature map φ"),
        _word("d_k", 16, whole_of(WIDTHS), "width of queries and keys"),
        _word("seed", 0, number(0, SEEDS - 1, int), "which random draw"),
        _word(
            "row",
            None,
            ("0 … 255 or empty", read_row),
            "row of the kernel matrix used as sharpness' query",
            write=lambda row: "" if row is None else str(row),
        ),
        _word("match", 1.0, number(0, 1), "how strongly sharpness' query matches its key, ρ", write=brief),
        _word("single", 0, number(0, 10, int), "one draw of random features instead of the median of ten, which is 0"),
        _word("rule", "additive", one_of(WRITE_RULES), "write rule of the memory"),
        _word("keys", "random", one_of(KEYS), "keys that the memory stores"),
        _word("rho", 0.5, number(0, 0.95), "share of the common direction in correlated keys", write=brief),
        _word("alpha", 0.98, number(0.5, 1), "fraction a decaying memory keeps per write", write=brief),
        _word("beta", 0.5, number(0, 1), "write strength of the delta rules", write=brief),
        _word("stream", "plain", one_of(STREAMS), "order in which keys come back, and which pairs are still wanted"),
        _word("duel", "none", one_of(("none", *WRITE_RULES)), "second write rule on the same pairs"),
        _word("d_v", 32, whole_of(VALUE_WIDTHS), "width of the values that the memory stores"),
        _word("pair", 20, number(1, 256, int), "stored pair whose read is taken apart"),
        _word("mask", "none", one_of(("none", "causal")), "mask on the kernel matrix"),
        _word("precision", "float64", one_of(PRECISIONS), "dtype of the matrix whose rank is counted"),
        _word("model", "minimax-01", one_of(models()), "model whose bytes are counted"),
        _word(
            "own",
            None,
            ("the compact text of a pasted config", _read_own),
            "a model of your own",
            write=write_own,
            longest=2_000,
        ),
        _word(
            "compare",
            "",
            ("up to three model words, comma between", _read_compare),
            "models drawn beside the chosen one",
        ),
        _word("batch", 1, number(1, 4096, int), "sequences held at once"),
        _word("kv", "bfloat16", one_of(DTYPES), "dtype of the cache"),
        _word("state", "float32", one_of(DTYPES), "dtype of the state"),
        _word("conv", "bfloat16", one_of(DTYPES), "dtype of the convolution window"),
        _word("columns", "k", one_of(COLUMNS), "columns of the convolution window that are kept"),
        _word("mla", "latent", one_of(MLA), "form in which latent attention is cached"),
        _word("tp", 1, number(1, 64, int), "tensor-parallel ranks; the bill is one rank's"),
        _word("exact", 0, number(0, 10_000_000, int), "a context length of your own, in tokens; 0 for none"),
        _word("engine", ARITHMETIC, one_of(ENGINES), "what is counted: the arithmetic, or the pages of an engine"),
        _word("gpu", "h200", one_of(gpus()), "accelerator that the model is fitted into"),
        _word("gib", 0, number(0, 100_000, int), "GiB free for caches and states; 0 is all of the accelerator"),
        _word("head", 128, whole_of(HEADS), "width of a head, where its cost or its error is counted"),
        _word("example", "hand", one_of(EXAMPLES), "tokens that the three forms are run on"),
        _word("chunk", 16, number(1, 64, int), "tokens per chunk"),
        _word("pitfall", "none", one_of(PITFALLS), "mistake made on purpose in the recurrent form"),
        _word(
            "way", "sum", one_of(WAYS), "what a read is brought to size by: the sum of κ, or what a layer has instead"
        ),
        _word("c", 1.6, number(0.25, 16), "sharpness: the query is c·q", write=brief, server=False),
        _word("n", 128, number(0, 256, int), "pairs written", server=False),
        _word("N", 256, number(16, 256, int), "queries and keys of the kernel matrix", server=False),
        _word(
            "rtol",
            10.0,
            number(1, 13),
            "tolerance of the numerical rank, as a power: 10 to minus this",
            write=brief,
            server=False,
        ),
        _word("T", 2**20, number(1, 10_000_000, int), "context length in tokens", server=False),
        _word("t", 2, number(0, 63, int), "token that is being read", server=False),
        _word("r", 2.828, number(0.25, 8), "length ‖q+k‖ of query plus key", write=brief, server=False),
        _word("tokens", 256, number(1, 4096, int), "tokens seen so far", server=False),
        _word("pairs", 64, number(4, 1024, int), "pairs that are to be told apart", server=False),
        _word("theme", "light", one_of(("light", "dark")), "palette of the page", server=False),
        _word("embed", "0", one_of(("0", "1")), "1 drops the frame round the view", server=False),
        _word("hide", "", some_of(HIDDEN), "parts of the page that are left out, comma between", server=False),
        _word(
            "preset",
            "",
            (" | ".join(("", *preset_words())), _read_preset),
            "state that a page starts from; other words of the address come on top",
            server=False,
        ),
        _word(
            "reveal",
            "open",
            one_of(REVEALS),
            "locked: answers to the question stay shut until the host page opens them",
            server=False,
        ),
        _word(
            "host",
            "",
            ("https://host[:port] of the page around it", origin),
            "page that may drive this one by messages",
            server=False,
        ),
        _word("v", "1", one_of(("1",)), "set of defaults that the address was written against", server=False),
    )
}


def read_address(arguments: dict[str, list[bytes]]) -> tuple[dict[str, Any], list[str]]:
    """Words of a query string, read one by one: the good values, and a sentence for each refusal.

    A repeated word keeps its first value if that is legal.  Nothing is clamped.
    """
    values: dict[str, Any] = {}
    refused: list[str] = []
    for name, given in arguments.items():
        word = WORDS.get(name)
        if word is None:
            refused.append(f"{_shown(name)} is not a word of this address")
            continue
        try:
            text = given[0].decode()
            if len(text) > word.longest:
                raise Refused(f"is {len(text):,} characters long")
            values[name] = word.read(text)
        except UnicodeDecodeError:
            refused.append(f"{name} is not readable text")
        except Refused as reason:
            refused.append(f"{name} = {_shown(text)} {reason}")
        if len(given) > 1:
            refused.append(f"{name} stands {len(given)} times; the first counts")
    return values, refused


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


def written(values: dict[str, Any]) -> dict[str, str]:
    """Address text of the words that differ from their default, in the order of the table."""
    return {
        name: word.write(values[name])
        for name, word in WORDS.items()
        if name in values and values[name] != word.default
    }
