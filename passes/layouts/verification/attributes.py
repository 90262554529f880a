"""Whether an instruction has the attributes that its opcode needs, with values that it knows, and no others.

Source: xla/hlo/parser/hlo_parser.cc.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from math import prod

from dialect_utils.hlo import Instruction
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import GENERAL_ATTRIBUTES, by_opcode, named, opcode_of
from dialect_utils.text import nearest

# Without these XLA's parser or verifier refuses the opcode.
_NEEDED = by_opcode(
    {
        **dict.fromkeys(
            ("batch-norm-grad", "batch-norm-inference", "batch-norm-training"), ("epsilon", "feature_index")
        ),
        "collective-permute": ("source_target_pairs",),
        "compare": ("direction",),
        "convolution": ("dim_labels",),
        "custom-call": ("custom_call_target",),
        "domain": ("domain",),
        "dynamic-slice": ("dynamic_slice_sizes",),
        "fft": ("fft_type", "fft_length"),
        "gather": ("offset_dims", "collapsed_slice_dims", "start_index_map", "index_vector_dim", "slice_sizes"),
        "get-dimension-size": ("dimensions",),
        "get-tuple-element": ("index",),
        "iota": ("iota_dimension",),
        "reduce": ("dimensions",),
        "reduce-precision": ("exponent_bits", "mantissa_bits"),
        "reduce-window": ("window",),
        "reverse": ("dimensions",),
        "rng": ("distribution",),
        "rng-bit-generator": ("algorithm",),
        "rng-get-and-update-state": ("delta",),
        "scatter": ("update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "index_vector_dim"),
        "set-dimension-size": ("dimensions",),
        "sort": ("dimensions",),
        "triangular-solve": ("transpose_a",),
    }
)
_VALUES = {
    ("compare", "direction"): frozenset(["EQ", "NE", "GE", "GT", "LE", "LT"]),
    ("compare", "type"): frozenset(["FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"]),
    ("fft", "fft_type"): frozenset(["FFT", "IFFT", "RFFT", "IRFFT"]),
    ("fusion", "kind"): frozenset(["kLoop", "kInput", "kOutput", "kCustom"]),
    ("rng", "distribution"): frozenset(["rng_uniform", "rng_normal"]),
    ("rng-bit-generator", "algorithm"): frozenset(["rng_default", "rng_three_fry", "rng_philox"]),
    ("triangular-solve", "transpose_a"): frozenset(["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]),
}
_FLAGS = frozenset(["true", "false"])
_ACCURACY_MODE = re.compile(r"mode=(\w+)")
_ACCURACIES = ("default", "highest")
# These number one dimension, though they are written as a list of them.
_SINGLE = named("concatenate get-dimension-size set-dimension-size sort")
# `devices=[2,1]0,1` and `devices=[2,1]<=[2]`, the last dimensions being subgroups.
_TILES = re.compile(r"devices=\[(?P<sizes>[\d,]+)\](?:(?P<listed>\d+(?:,\d+)*)|<=\[(?P<iota>[\d,]+)\])?")
_SHARDING = re.compile(r"\{\s*(?:replicated|manual|maximal|devices=|unknown|unreduced|\{|/\*|mesh|\}|last_tile)")


@cache
def _allowed(opcode: str) -> frozenset[str]:
    return frozenset(attribute.name for attribute in (*GENERAL_ATTRIBUTES, *opcode_of(opcode).attributes))


def find_unknown_attributes(instruction: Instruction) -> Iterator[str]:
    """Yields the attributes that the instruction's opcode does not have."""
    allowed = _allowed(instruction.opcode)
    for name in instruction.attributes:
        if name not in allowed:
            close = nearest(name, allowed)
            yield f"{instruction.opcode} has no attribute {name}" + (f"; did you mean {close}?" if close else "")


def find_attribute_problems(instruction: Instruction) -> Iterator[str]:
    """Yields the attributes that are missing, and values that mean nothing."""
    opcode = instruction.opcode
    for name in _NEEDED.get(opcode, ()):
        if instruction.attribute(name) is None:
            yield f"{opcode} needs the attribute {name}"
    for name, text in instruction.attributes.items():
        known = _known_values(opcode, name)
        if known and text not in known:
            yield f"the {name} of {opcode} is {text}, which is none of {', '.join(sorted(known))}"
    if opcode == "reduce-precision" and (instruction.ints("exponent_bits") or (0,))[0] < 1:
        yield "reduce-precision keeps no bit of the exponent"
    if opcode == "reduce-precision" and (instruction.ints("mantissa_bits") or (0,))[0] < 0:
        yield "reduce-precision keeps fewer than 0 bits of the mantissa"
    dimensions = instruction.ints("dimensions") or ()
    if opcode in _SINGLE and len(dimensions) != 1:
        yield f"{opcode} takes one dimension, found {list(dimensions)}"
    if opcode in ("reduce", "reverse") and len(set(dimensions)) < len(dimensions):
        yield f"{opcode} names a dimension twice: {list(dimensions)}"
    accuracy = _ACCURACY_MODE.search(instruction.attribute("result_accuracy") or "")
    if accuracy is not None and accuracy[1].lower() not in _ACCURACIES:
        yield f"the mode of result_accuracy is {accuracy[1]}, which is none of {', '.join(_ACCURACIES)}"
    yield from _sharding_problems(instruction)


@cache
def _known_values(opcode: str, name: str) -> frozenset[str] | None:
    attribute = opcode_of(opcode).attribute(name)
    if attribute is not None and attribute.kind == "flag":
        return _FLAGS
    return _VALUES.get((opcode, name))


def _sharding_problems(instruction: Instruction) -> Iterator[str]:
    text, shape = instruction.attribute("sharding"), instruction.shape
    if text is None or not isinstance(shape, ArrayShape):
        return
    if not _SHARDING.match(text):
        yield f"the sharding {text} is none"
        return
    found = _TILES.search(text)
    if found is None:
        return
    sizes = [int(size) for size in found["sizes"].split(",") if size]
    rank = len(sizes) - _subgroups(text)
    if rank != shape.rank:
        yield f"the sharding {text} is one of rank {rank}, but {shape} has rank {shape.rank}"
    listed = found["listed"]
    if prod(sizes) == 1 or any(size < 1 for size in sizes):
        yield f"the sharding {text} is one of fewer than two devices"
    if listed is not None and prod(sizes) != len(listed.split(",")):
        yield f"the sharding {text} has {prod(sizes)} tiles for {len(listed.split(','))} devices"


def _subgroups(text: str) -> int:
    """Returns how many of the last dimensions of a sharding are no dimensions of the array."""
    named = re.search(r"last_tile_dims=\{([^}]*)\}", text)
    if named is not None:
        return len([name for name in named[1].split(",") if name.strip()])
    return 1 if "last_tile_dim_replicate" in text else 0
