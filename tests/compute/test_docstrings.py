"""What the docstrings of `compute` say, walked like the doors: everything has one, and none leaves an argument out."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import pytest
from public_calls import public

import compute

PUBLIC = public()
MODULES = [
    importlib.import_module(info.name)
    for info in pkgutil.walk_packages(compute.__path__, "compute.")
    if info.name.rpartition(".")[2] != "__main__" and not info.name.startswith("compute.sweeps")
]
every_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
every_function = pytest.mark.parametrize("function", PUBLIC.values(), ids=PUBLIC)

NO_SOURCE = {
    "compute.agreement", "compute.arrays", "compute.examples", "compute.families", "compute.read_weights",
    "compute.scalars", "compute.streams", "compute.toys", "compute.triangular", "compute.attention.doors",
    "compute.attention.half", "compute.feature_maps", "compute.feature_maps.base",
}  # fmt: skip
"""Doors, registries, toy vectors, and arithmetic that is nobody's finding."""

NEVER = {
    "query_states", "kernel_fn", "fmap", "act", "head_dim", "feature_dim", "seq_len", "l", "BT", "bsz", "h", "kv",
    "denom", "k_cum", "y", "lookup", "g", "lr", "eta", "dt", "tiny", "temp", "attn", "probs", "num_features", "proj",
    "mode", "impl", "backend", "kv_size", "cfg", "params", "result",
}  # fmt: skip
"""Other names of things that the glossary gives one name."""


def text(function) -> str:
    """The docstring of a function; of a member that is called, what its class and its call say."""
    if inspect.isroutine(function):
        return inspect.getdoc(function) or ""
    kind = type(function)
    family = "\n".join(base.__doc__ or "" for base in kind.__mro__[:-1])
    return f"{family}\n{inspect.getdoc(kind.__call__) or ''}"


def said(function, seen: frozenset = frozenset()) -> str:
    """Its docstring, its module's, and that of every function that it names in backticks, for what is said there."""
    module = inspect.getmodule(function if inspect.isroutine(function) else type(function).__call__)
    own = f"{text(function)}\n{module.__doc__}"
    named = {PUBLIC.get(name.rpartition(".")[2]) for name in re.findall(r"`([\w.]+)", own)} - {None, function} - seen
    return "\n".join([own, *(said(other, seen | named | {function}) for other in named)])


def public_parts(module) -> Iterator[tuple[str, object]]:
    """Functions, classes and their methods and properties, by name; members of a family inherit what its base says."""
    for name, thing in vars(module).items():
        if name.startswith("_") or getattr(thing, "__module__", None) != module.__name__:
            continue
        if inspect.isclass(thing):
            yield name, thing
            for part, method in vars(thing).items():
                if not part.startswith("_") and (inspect.isfunction(method) or isinstance(method, property)):
                    yield f"{name}.{part}", getattr(thing, part)
        elif inspect.isfunction(thing) and not (module.__name__.startswith("compute.claims") and takes_nothing(thing)):
            yield name, thing  # what finds a claim's value is named by a sentence, and the ledger says the rest


def takes_nothing(function) -> bool:
    return not inspect.signature(function).parameters


@every_module
def test_everything_public_says_what_it_is(module):
    assert module.__doc__ or not inspect.getsource(module).strip()
    assert [name for name, thing in public_parts(module) if not inspect.getdoc(thing)] == []


@every_module
def test_mathematics_names_its_source(module):
    text = inspect.getsource(module)
    mathematics = module.__name__ not in NO_SOURCE and "def " in text
    if mathematics and not module.__name__.startswith(("compute.claims", "compute.sizing")):
        assert re.search(r"arXiv:|Sources?:", text)


@every_function
def test_every_argument_is_spoken_of_and_so_are_errors(function):
    parameters = inspect.signature(function).parameters
    assert [name for name in parameters if not re.search(rf"\b{name}\b", said(function))] == []
    if parameters:
        assert re.search(r"ValueError|refuses", said(function))


@every_function
def test_arrays_have_their_shapes_written(function):
    annotations = " ".join(str(p.annotation) for p in inspect.signature(function).parameters.values())
    if re.search(r"Array|ndarray", annotations):
        assert re.search(r"\[(\*|[A-Za-z_]+,? ?)", said(function))


@every_function
def test_arguments_have_the_glossary_s_names(function):
    assert not NEVER & set(inspect.signature(function).parameters)
