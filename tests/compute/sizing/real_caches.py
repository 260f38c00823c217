"""Caches made by transformers' own model classes, put in the words of a bill."""

import inspect
import sys
from collections import Counter

import pytest
import torch

from compute.sizing import bill
from compute.sizing.families import Both, Latent, NoCache, Softmax
from compute.sizing.states import GatedRecurrence, Mamba1, Mamba2, MatrixLSTM, MatrixState, Rwkv4, ShortConv

BATCH = 2
KERNELS = ("fla", "causal_conv1d", "mamba_ssm")
"""Packages that model classes take their kernels from once these are importable; on a CPU the kernels do not run."""

PARTS = ("state", "conv", "token")

# What transformers 5.24 does where engines differ, as options of `bill`.  Two conventions have no option because a
# bill shares them: a window keeps W - 1 tokens, and RecurrentGemma keeps k - 1 columns of its convolution.
CONVENTION = {
    "kv_dtype": "bfloat16",
    "state_dtype": "float32",
    "conv_dtype": "bfloat16",
    "conv_columns": "k",
    "mla": "latent",
}
UNLIKE = {
    "lightning": {"state_dtype": "bfloat16"},  # MiniMax's released code keeps float32
    "xlstm": {"state_dtype": "bfloat16"},  # although inference_state_dtype says float32
}
"""Kinds of layers whose state the package keeps in the model's dtype."""


def transformers():
    """The package, or a skip."""
    reason = "transformers 5.24 or later is not installed (extra `outside`)"
    return pytest.importorskip("transformers", minversion="5.24", reason=reason)


def configured(file):
    """transformers' own reading of a config.json: the language model's part of it.  A skip if it has no such class."""
    package = transformers()
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES  # without what others registered

    name = file["model_type"]
    if name not in CONFIG_MAPPING_NAMES:
        pytest.skip(f"transformers has no model type {name}")
    return getattr(package, CONFIG_MAPPING_NAMES[name]).from_dict(file).get_text_config(decoder=True)


def built(config, device):
    """The real model class in bfloat16.  Its weights are one constant, or nothing at all on the device "meta"."""
    package = transformers()
    from transformers.initialization import no_init_weights

    if type(config) not in package.MODEL_MAPPING:
        pytest.skip(f"transformers has no text-only class for {config.model_type}")
    with pytest.MonkeyPatch.context() as patch, torch.device(device), no_init_weights():
        for name in KERNELS:
            patch.setitem(sys.modules, name, None)
        model = package.AutoModel.from_config(config, dtype=torch.bfloat16).eval()
    for weight in model.parameters():
        torch.nn.init.constant_(weight, 0.01)
    return model


@torch.no_grad()
def run(model, tokens, cache=None):
    """The cache after so many more tokens."""
    name = "state" if "state" in inspect.signature(type(model).forward).parameters else "cache"
    if model.config.model_type == "recurrent_gemma" and cache is None:
        cache = transformers().DynamicCache(config=model.config)  # the one class that does not hand its cache back
    ids = torch.ones((BATCH, tokens), dtype=torch.long, device=model.device)
    out = model(ids, use_cache=True, **({} if cache is None else {name: cache}))
    return getattr(out, name, cache)


def layers(model, cache):
    """Per layer: {part of the bill: its tensors}."""
    match type(cache).__name__:
        case "list":  # RWKV-4: five tensors with the layers on the last axis
            each = [[tensor[..., i] for tensor in cache] for i in range(model.config.num_hidden_layers)]
            return [_parts(state=five[2:], conv=five[:2]) for five in each]
        case "xLSTMCache":
            return [_parts(state=state) for state in cache.rnn_state.values()]
        case "MiniMaxCache":
            kept = [_plain(layer) for layer in cache.layers] + [_parts()] * (len(cache) - len(cache.layers))
            rows = zip(kept, cache.linear_cache + [[]] * len(kept), strict=False)
            return [_parts(state=[linear], token=layer["token"]) if len(linear) else layer for layer, linear in rows]
    if model.config.model_type == "recurrent_gemma":
        blocks = [block.temporal_block for block in model.layers]
        return [_on_module(block) or _plain(layer) for block, layer in zip(blocks, cache.layers, strict=True)]
    return [_plain(layer) for layer in cache.layers]


def _plain(layer):
    token = [getattr(layer, name, None) for name in ("keys", "values", "indexer_keys")]
    return _parts(getattr(layer, "recurrent_states", {}).values(), getattr(layer, "conv_states", {}).values(), token)


def _on_module(block):
    if not hasattr(block, "rg_lru"):
        return None
    return _parts([block.rg_lru.recurrent_states], [block.conv1d_state])


def _parts(state=(), conv=(), token=()):
    given = zip(PARTS, (state, conv, token), strict=True)
    return {part: [tensor for tensor in tensors if tensor is not None] for part, tensors in given}


def held_bytes(thing):
    """Bytes of every floating-point tensor that can be reached: integers are positions and counters."""
    if isinstance(thing, torch.Tensor):
        return thing.nbytes if thing.is_floating_point() else 0
    if hasattr(thing, "__dict__"):
        thing = vars(thing)
    inside = thing.values() if isinstance(thing, dict) else thing if isinstance(thing, list | tuple) else ()
    return sum(held_bytes(part) for part in inside)


def look(layer):
    """Shape and dtype of every tensor of a layer, part by part."""
    return tuple(tuple((tuple(t.shape), str(t.dtype).removeprefix("torch.")) for t in layer[part]) for part in PARTS)


def expected_look(family, tokens, options):
    """What the tensors of a layer must look like, from the fields of its family."""
    state, conv, token = _shapes(family, tokens)
    dtypes = (options["state_dtype"], options["conv_dtype"], options["kv_dtype"])
    pairs = zip((state, conv, token), dtypes, strict=True)
    return tuple(tuple(((BATCH, *shape), dtype) for shape in shapes) for shapes, dtype in pairs)


def _shapes(family, T):
    match family:
        case NoCache():
            return [], [], []
        case Both(attention=attention, recurrent=recurrent):
            return *_shapes(recurrent, T)[:2], _shapes(attention, T)[2]
        case Softmax(kv_heads=heads, d_k=d_k, d_v=d_v, window=window):
            kept = T if window is None else min(T, window - 1)
            return [], [], [(heads, kept, d_k), (heads, kept, d_v)]
        case Latent(rank=rank, rope=rope, index=index):
            return [], [], [(1, T, rank), (1, T, rope)] + [(T, index)] * bool(index)
        case MatrixState(heads=heads, d_k=d_k, d_v=d_v):
            return [(heads, d_k, d_v)], _window(family), []
        case Mamba1(inner=inner, N=N):
            return [(inner, N)], _window(family), []
        case Mamba2(heads=heads, width=width, N=N):
            return [(heads, width, N)], _window(family), []
        case GatedRecurrence(width=width, hidden=hidden, kernel=kernel):
            return [(width,)], [(hidden, kernel - 1)], []
        case ShortConv():
            return [], _window(family), []
        case MatrixLSTM(heads=heads, d_k=d_k, d_v=d_v):
            return [(heads, d_k, d_v), (heads, d_k), (heads, 1)], [], []
        case Rwkv4(hidden=hidden, attention=attention):
            return [(attention,)] * 3, [(hidden,)] * 2, []
    raise AssertionError(f"no real cache is known for {family}")


def _window(family):
    return [(run.value // family.kernel, family.kernel) for run in family.conv("k")]


def assert_bill_is_exact(shape, model, cache, tokens):
    """Every tensor has the shape and dtype that its layer is billed for, and every row of the bill its exact bytes."""
    options = CONVENTION | next((UNLIKE[group.kind] for group in shape.layers if group.kind in UNLIKE), {})
    real = layers(model, cache)
    looks = {look(layer): layer for layer in real}
    expected = [expected_look(group.family, tokens, options) for group in shape.layers]
    counted = Counter()
    for group, want in zip(shape.layers, expected, strict=True):
        counted[want] += group.count
    assert list(Counter(map(look, real)).items()) == list(counted.items())  # in the order of first appearance

    made = bill(shape, tokens, batch=BATCH, **options)
    for row, want in zip(made.layers, expected, strict=True):
        weighed = [row.count * sum(tensor.nbytes for tensor in looks[want][part]) for part in PARTS]
        assert [row.state_bytes, row.conv_bytes, row.kv_bytes + row.window_bytes] == weighed
    on_modules = model.config.model_type == "recurrent_gemma" and made.fixed_bytes
    assert made.total_bytes == held_bytes(cache) + on_modules
