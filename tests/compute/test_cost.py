"""Counts of FLOPs, bytes and steps, against the published figures and brute force."""

from fractions import Fraction
from inspect import signature

import pytest

from compute import cost
from compute.attention import FORMS, delta_attention_chunkwise
from compute.cost import attention_flops, crossover_T
from compute.cost_tables import LAYERS, layers, modes

COUNTS = [
    cost.attention_flops,
    cost.crossover_T,
    cost.saving,
    cost.normaliser_flops,
    cost.intermediate_bytes,
    cost.chunkwise_flops,
    cost.delta_chunkwise_flops,
    cost.decode_flops,
    cost.softmax_decode_flops,
    cost.state_numbers,
    cost.cache_numbers,
    cost.decode_bytes,
    cost.softmax_decode_bytes,
    cost.tokens_to_fill_state,
    cost.prefix_comparisons,
    cost.training_state_bytes,
    modes,
    layers,
]


def test_a_long_head_of_128():
    """T = 65,536, d = 128: 2.2e12 against 4.3e9 FLOPs, a factor of exactly 512."""
    assert attention_flops(65536, 128, 128, "left") == 2 * 65536**2 * 256 == 2_199_023_255_552
    assert attention_flops(65536, 128, 128, "right") == 4_294_967_296
    assert cost.saving(65536, 128, 128) == 512


@pytest.mark.parametrize("d_phi, d_v, T", [(128, 128, 129), (32, 32, 33), (1, 1, 2), (273, 64, 104), (2, 3, 3)])
def test_crossovers_by_hand(d_phi, d_v, T):
    assert crossover_T(d_phi, d_v) == T


@pytest.mark.parametrize("d_phi", [1, 2, 5, 16, 37])
@pytest.mark.parametrize("d_v", [1, 3, 8, 40])
def test_the_crossover_is_the_first_strictly_cheaper_length(d_phi, d_v):
    cheaper = lambda T: attention_flops(T, d_phi, d_v, "right") < attention_flops(T, d_phi, d_v, "left")  # noqa: E731
    assert crossover_T(d_phi, d_v) == next(T for T in range(1, 1000) if cheaper(T))


def test_flops_count_every_multiply_and_add_of_the_products():
    """Counted by doing the products on objects that count."""

    class Counting:
        done = 0

        def __mul__(self, other):
            Counting.done += 1
            return self

        __add__ = __mul__

    def product(A, B):
        # One addition per term: the first onto zero, as the convention 2mkn has it.
        return [[_dot(row, [b[j] for b in B]) for j in range(len(B[0]))] for row in A]

    def _dot(row, column):
        total = Counting()
        for a, b in zip(row, column):
            total = total + a * b
        return total

    matrix = lambda m, n: [[Counting() for _ in range(n)] for _ in range(m)]  # noqa: E731
    T, d_phi, d_v = 7, 3, 2
    product(product(matrix(T, d_phi), matrix(d_phi, T)), matrix(T, d_v))
    left, Counting.done = Counting.done, 0
    product(matrix(T, d_phi), product(matrix(d_phi, T), matrix(T, d_v)))
    assert (left, Counting.done) == tuple(attention_flops(T, d_phi, d_v, order) for order in cost.ORDERS)


def test_counts_stay_exact_beyond_floating_point():
    T = 2**40 + 1
    assert attention_flops(T, 3, 5, "left") == 16 * T * T
    assert attention_flops(T, 3, 5, "left") % 32 == 16
    assert isinstance(cost.saving(T, 3, 5), Fraction)


def test_the_normaliser_is_of_lower_order():
    for order in cost.ORDERS:
        assert cost.normaliser_flops(4096, 64, order) * 32 < attention_flops(4096, 64, 64, order)
    assert cost.normaliser_flops(10, 4, "left") == 100


def test_what_stands_between_the_products():
    assert cost.intermediate_bytes(2**15, 128, 128, "left") == 4 * 2**30
    assert cost.intermediate_bytes(2**15, 128, 128, "right") == 64 * 2**10


def test_decoding_at_128():
    """A state of 16,512 numbers is this head's cache after 64.5 tokens, so token 65 fills it."""
    assert cost.state_numbers(128, 128) == 16_512
    assert Fraction(16_512, cost.cache_numbers(1, 128, 128)) == Fraction(129, 2)
    assert cost.tokens_to_fill_state(128, 128, 128) == 65
    assert cost.tokens_to_fill_state(2, 2, 1) == 2
    assert cost.decode_flops(128, 128) == 65_536
    assert cost.softmax_decode_flops(1000, 128, 128) == 512_000
    assert cost.decode_bytes(128, 128) == 2 * 4 * 16_512
    assert cost.softmax_decode_bytes(1000, 128, 128) == 512_000


def test_prefix_decoding_counts_up():
    assert [cost.prefix_comparisons(T) for T in (1, 2, 1000)] == [1, 3, 500_500]


def test_storing_every_state_for_autograd():
    assert cost.training_state_bytes(8192, 128, 128) == 512 * 2**20


def test_chunks_lie_between_the_two_orders():
    T, d_phi, d_v = 1000, 16, 8
    assert cost.chunkwise_flops(T, d_phi, d_v, 64) == sum(
        attention_flops(C, d_phi, d_v, order) for C in [64] * 15 + [40] for order in cost.ORDERS
    )
    assert cost.chunkwise_flops(T, d_phi, d_v, 5000) == sum(
        attention_flops(T, d_phi, d_v, order) for order in cost.ORDERS
    )


@pytest.mark.parametrize("T, d_k, d_v, chunk", [(256, 32, 32, 64), (512, 16, 48, 64), (128, 128, 64, 32)])
def test_chunks_of_the_delta_rule_are_counted_as_torch_counts_what_runs(T, d_k, d_v, chunk):
    torch = pytest.importorskip("torch")
    from torch.utils.flop_counter import FlopCounterMode

    Q, K, V = (0.1 * torch.randn(T, d, dtype=torch.float64) for d in (d_k, d_k, d_v))
    with FlopCounterMode(display=False) as counted:
        delta_attention_chunkwise(Q, K, V, 0.5, chunk=chunk)
    assert cost.delta_chunkwise_flops(T, d_k, d_v, chunk) == pytest.approx(counted.get_total_flops(), rel=0.03)


def test_a_rest_of_the_delta_rule_is_a_smaller_chunk():
    whole, rest = cost.delta_chunkwise_flops(64, 8, 4, 64), cost.delta_chunkwise_flops(36, 8, 4, 64)
    assert cost.delta_chunkwise_flops(100, 8, 4, 64) == whole + rest
    assert cost.delta_chunkwise_flops(1, 8, 4, 64) == 2 * (3 * 8 + 2 * 4) + 6 * 8 * 4


def test_the_modes_are_the_forms_that_exist():
    rows = {m.word: m for m in modes(65536, 128, 128, 128)}
    assert list(rows) == list(FORMS)
    assert rows["recurrent"].steps == 65536 and rows["parallel"].steps == 1 and rows["chunkwise"].steps == 512
    assert rows["parallel"].numbers == 65536**2
    assert rows["recurrent"].flops < rows["chunkwise"].flops < rows["parallel"].flops
    assert modes(65, 4, 4, 64)[2].steps == 2


def test_the_layers_beside_each_other():
    rows = {r.word: r for r in layers(2**16)}
    assert list(rows) == list(LAYERS)
    assert rows["based"].numbers == cost.state_numbers(273, 64) + 64 * 128
    assert rows["elu"].numbers == rows["decayed"].numbers == 64 * 65
    assert rows["favor"].decode_flops == 4 * 256 * 64
    assert rows["softmax"].numbers == 2**16 * 128
    assert rows["hybrid"].flops == (rows["softmax"].flops + 3 * rows["elu"].flops) // 4
    later = {r.word: r for r in layers(2**17)}
    constant = {word for word in rows if rows[word].numbers == later[word].numbers}
    assert constant == {"elu", "favor", "based", "decayed"}
    short = {r.word: r for r in layers(8)}
    assert short["based"].numbers - cost.state_numbers(273, 64) == short["softmax"].numbers


@pytest.mark.parametrize("count", COUNTS, ids=lambda f: f.__name__)
def test_every_count_refuses_by_name_and_says_what_it_is(count):
    names = list(signature(count).parameters)
    good = {name: "left" if name == "order" else 3 for name in names}
    count(**good)
    for name in names:
        for bad in (0, -1, 2.0, True, "three", None):
            with pytest.raises(ValueError, match=f"^{name} "):
                count(**{**good, name: bad})
    assert count.__doc__ and count.__doc__.strip()[0].isupper()


@pytest.mark.parametrize(
    "count", [f for f in COUNTS if {"T", "t"} & set(signature(f).parameters)], ids=lambda f: f.__name__
)
def test_every_count_is_exact_where_a_float_no_longer_is(count):
    """Lengths near 2⁶⁰ · 12: a few tokens more are counted, and as polynomials of the length grow, to the last unit."""

    def at(T):
        told = count(**{name: {"order": "left", "T": T, "t": T}.get(name, 3) for name in signature(count).parameters})
        return [told] if not isinstance(told, tuple) else [row.flops for row in told]

    for told in zip(*(at(12 * (2**60 + i)) for i in range(4))):
        assert all(isinstance(n, int | Fraction) for n in told)
        assert told[1] - told[0] > 0 or count is cost.saving
        assert told[3] - 3 * told[2] + 3 * told[1] - told[0] == 0
