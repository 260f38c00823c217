"""Byte-exact decode memory of any config.json: a frozen shape, and its bill with the arithmetic visible."""

from .bill import Bill, BillRow, bill
from .compact import from_text, to_text
from .crossings import (
    DecodeStep,
    LayerCrossing,
    ModelCrossings,
    decode_step,
    layer_crossings,
    longest_context,
    model_crossings,
    sequences_that_fit,
    tokens_per_row,
    tokens_per_second_bound,
)
from .dtypes import DTYPES
from .engine import Reservation, reserve
from .errors import ConfigError
from .models import Model, load_model, model_config, models
from .options import Options
from .rates import Rates, rates
from .reader import read_config
from .shape import LayerGroup, ModelShape
from .twins import all_softmax_twin, normaliser_numbers, with_feature_map
from .units import human_bytes, kv_cache_tokens, taylor_state_bytes

__all__ = [
    "DTYPES",
    "Bill",
    "BillRow",
    "ConfigError",
    "DecodeStep",
    "LayerCrossing",
    "LayerGroup",
    "Model",
    "ModelCrossings",
    "ModelShape",
    "Options",
    "Rates",
    "Reservation",
    "all_softmax_twin",
    "bill",
    "decode_step",
    "from_text",
    "human_bytes",
    "kv_cache_tokens",
    "layer_crossings",
    "load_model",
    "longest_context",
    "model_config",
    "model_crossings",
    "models",
    "normaliser_numbers",
    "rates",
    "read_config",
    "reserve",
    "sequences_that_fit",
    "taylor_state_bytes",
    "to_text",
    "tokens_per_row",
    "tokens_per_second_bound",
    "with_feature_map",
]
