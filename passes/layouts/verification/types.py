"""Whether element types are those that an opcode takes and gives, in modules that no compiler has rewritten.

The TPU compiler mixes element types inside instructions of optimized dumps, where only its own
backend has to understand them. Source: xla/service/shape_inference.cc, stablehlo/dialect/StablehloOps.td.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.layout import ArrayShape, ElementType, Shape, TokenShape, TupleShape
from dialect_utils.ops import ALL_OPERANDS, Trait, by_opcode, has, named, opcode_of
from passes.layouts.verification.inferred import type_problem
from passes.layouts.verification.regions import find_region_problems

Kind = Callable[[ElementType], bool]

_COMPILED = named("fusion bitcast")


def _is_float(kind: ElementType) -> bool:
    return kind.is_floating


def _is_inexact(kind: ElementType) -> bool:
    return kind.is_floating or kind.is_complex


def _is_integer(kind: ElementType) -> bool:
    return kind.is_integral


def _is_logical(kind: ElementType) -> bool:
    return kind.is_integral or kind.name == "pred"


def _is_number(kind: ElementType) -> bool:
    return kind.name != "pred"


def _is_real(kind: ElementType) -> bool:
    return kind.is_floating or kind.is_integral


def _is_signed(kind: ElementType) -> bool:
    return kind.is_signed if kind.is_integral else _is_inexact(kind)


def _is_part(kind: ElementType) -> bool:
    return kind.name in ("f32", "f64")


def _is_transformed(kind: ElementType) -> bool:
    return kind.name in ("f32", "f64", "c64", "c128")


# opcodes -> what their first operand's elements may be, and how that is called.
_TAKEN: tuple[tuple[str, Kind, str], ...] = (
    ("and or xor not", _is_logical, "integers or truth values"),
    ("shift-left shift-right-arithmetic shift-right-logical popcnt count-leading-zeros mulhi", _is_integer, "integers"),
    ("ceil floor round-nearest-afz round-nearest-even is-finite reduce-precision erf", _is_float, "floats"),
    ("batch-norm-grad batch-norm-inference batch-norm-training stochastic-convert", _is_float, "floats"),
    (
        "cbrt cosine exponential exponential-minus-one log log-plus-one logistic rsqrt sine sqrt tan tanh atan2 "
        "acos acosh asin asinh atanh cosh sinh",
        _is_inexact,
        "floats or complex numbers",
    ),
    ("real imag cholesky triangular-solve", _is_inexact, "floats or complex numbers"),
    ("fft", _is_transformed, "f32, f64, c64 or c128"),
    ("complex", _is_part, "f32 or f64"),
    ("abs sign", _is_signed, "signed numbers"),
    ("divide power subtract negate", _is_number, "numbers"),
    ("remainder", _is_real, "real numbers"),
)
_KINDS = by_opcode({name: (kind, told) for names, kind, told in _TAKEN for name in names.split()})
# opcode -> the first operand that is a token.
_AFTER = by_opcode({"after-all": 0, "add-dependency": 1})
# What is inferred for them is not all they may give: wider sums, forms of old or in place.
_WIDENING = named("broadcast collective-permute convolution dot ragged-dot scaled-dot")


def has_plain_types(module: HloModule) -> bool:
    """Is true where no compiler has rewritten a module: it is not scheduled, fused or tiled."""
    if module.attributes.get("is_scheduled") == "true":
        return False
    instructions = (item for computation in module.computations for item in computation.instructions)
    return not any(
        item.opcode in _COMPILED or any(leaf.is_tiled for leaf in item.shape.arrays()) for item in instructions
    )


def find_type_problems(instruction: Instruction) -> Iterator[str]:
    """Yields where operands or the result have another element type than the opcode takes or gives."""
    opcode, shape = instruction.opcode, instruction.shape
    arrays = [operand.shape for operand in instruction.operands]
    kinds = [array.element_type if isinstance(array, ArrayShape) else None for array in arrays]
    if opcode == "copy" and isinstance(shape, TupleShape):
        yield from _tuple_copy_problems(instruction.operands[0].shape, shape)
        return
    if has(opcode, Trait.ELEMENTWISE) and (None in kinds or not isinstance(shape, ArrayShape)):
        yield f"{opcode} is for arrays"
        return
    yield from find_region_problems(instruction)
    if opcode in _AFTER and not all(isinstance(shape, TokenShape) for shape in arrays[_AFTER[opcode] :]):
        yield f"{opcode} waits for tokens, found {instruction.operands[-1].shape}"
    problems = [*_taken_problems(opcode, kinds)]
    if opcode in _OWN:
        problems += _OWN[opcode](instruction, kinds)
    if isinstance(shape, ArrayShape):
        problems += [
            *_same_problems(opcode, shape.element_type, kinds),
            *_given_problems(opcode, shape.element_type, kinds),
        ]
    yield from problems or _inferred_problems(instruction)


def _inferred_problems(instruction: Instruction) -> Iterator[str]:
    """Yields where the result has another type than operands and attributes give."""
    shapes = [operand.shape for operand in instruction.operands]
    is_static = all(leaf.is_static for shape in (instruction.shape, *shapes) for leaf in shape.arrays())
    if instruction.opcode not in _WIDENING and is_static:
        problem = type_problem(instruction, instruction.shape, shapes)
        if problem is not None:
            yield problem


def _tuple_copy_problems(source: Shape, shape: TupleShape) -> Iterator[str]:
    """Yields where a copy of a tuple, which XLA has besides those of arrays, gives another one."""
    if source.without_layout != shape.without_layout:
        yield f"copy of {source.without_layout} cannot give {shape.without_layout}"


def _taken_problems(opcode: str, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    if opcode == "get-dimension-size" and kinds[0] is None:
        yield "get-dimension-size is for arrays"
    if opcode in _KINDS and kinds and kinds[0] is not None:
        is_taken, told = _KINDS[opcode]
        if not is_taken(kinds[0]):
            yield f"{opcode} takes {told}, found {kinds[0]}"
    first_index, last_index = opcode_of(opcode).indices or (len(kinds), None)
    if opcode == "scatter":
        # It has several arrays before its indices, or one.
        first_index, last_index = len(kinds) // 2, len(kinds) // 2 + 1
    for kind in kinds[first_index:last_index]:
        if kind is not None and not kind.is_integral:
            yield f"{opcode} takes integers as indices, found {kind}"
    if opcode == "select" and kinds and kinds[0] is not None and kinds[0].name != "pred":
        yield f"select chooses by truth values, found {kinds[0]}"


def _same_problems(opcode: str, given: ElementType, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    positions = opcode_of(opcode).typed
    same = range(len(kinds)) if positions == ALL_OPERANDS else [each for each in positions if each < len(kinds)]
    for position in same:
        kind = kinds[position]
        if kind is not None and kind != given:
            yield f"operand {position} of {opcode} is {kind}, but the result {given}"
            return


def _given_problems(opcode: str, given: ElementType, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    if opcode == "iota" and given.name == "pred":
        yield "iota gives numbers, but the result is pred"
    if opcode == "set-dimension-size" and kinds[1:] and str(kinds[1]) != "s32":
        yield f"set-dimension-size takes s32, found {kinds[1]}"
    if opcode == "stochastic-convert" and kinds[1:] and kinds[1] is not None and not kinds[1].is_unsigned:
        yield f"stochastic-convert takes random bits that are unsigned, found {kinds[1]}"
    if opcode == "stochastic-convert" and not (given.is_integral and given.is_signed):
        yield f"stochastic-convert gives signed integers, but the result is {given}"
    if opcode == "rng" and any(kind is not None and kind != given for kind in kinds):
        yield f"rng of {' and '.join(map(str, kinds))} cannot give {given}"


def _compared(instruction: Instruction, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    kind, written = kinds[0], instruction.attribute("type")
    if len(set(kinds)) > 1:
        yield f"compare of {' and '.join(map(str, kinds))}"
    elif kind is not None and written is not None and written not in _comparisons(kind):
        yield f"compare of {kind} has the type {' or '.join(_comparisons(kind))}, found {written}"


def _comparisons(kind: ElementType) -> tuple[str, ...]:
    if kind.is_integral or kind.name == "pred":
        return ("SIGNED" if kind.is_signed else "UNSIGNED",)
    return ("FLOAT", "TOTALORDER")


def _exchanged(instruction: Instruction, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    given = [leaf.element_type for leaf in instruction.shape.arrays()]
    if given != list(kinds):
        told = [", ".join(map(str, each)) for each in (kinds, given)]
        yield f"{instruction.opcode} of {told[0]} cannot give {told[1]}"


def _reduced(instruction: Instruction, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    floats = {kind for kind in kinds if kind is not None and kind.is_floating}
    if len(floats) > 1:
        yield f"{instruction.opcode} of floats of several precisions: {', '.join(sorted(map(str, floats)))}"


def _transformed(instruction: Instruction, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    name = instruction.attribute("fft_type")
    wanted = "real" if name == "RFFT" else "complex"
    if kinds[0] is not None and kinds[0].is_complex != (wanted == "complex"):
        yield f"fft of type {name} takes {wanted} numbers, found {kinds[0]}"


def _random(instruction: Instruction, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    name = instruction.attribute("distribution")
    is_taken = _is_float if name == "rng_normal" else _is_real
    if kinds and kinds[0] is not None and not is_taken(kinds[0]):
        yield f"rng of {kinds[0]} has no distribution {name}"


def _random_bits(instruction: Instruction, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    state, shape = instruction.operands[0].shape.without_layout, instruction.shape
    if isinstance(shape, TupleShape) and (len(shape.elements) != 2 or shape.elements[0].without_layout != state):
        yield f"rng-bit-generator of the state {state} gives it and numbers, but the shape is {shape}"
    elif not all(_is_real(leaf.element_type) for leaf in shape.arrays()):
        yield f"rng-bit-generator gives real numbers, but the shape is {shape}"


def _random_state(instruction: Instruction, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    if str(instruction.shape.without_layout) != "u64[2]":
        yield f"rng-get-and-update-state gives u64[2], but the shape is {instruction.shape}"


# Rules that look at more than the types of operands and result.
_OWN: Mapping[str, Callable[[Instruction, Sequence[ElementType | None]], Iterator[str]]] = by_opcode(
    {
        **dict.fromkeys(("all-gather", "all-reduce", "all-to-all", "reduce-scatter"), _exchanged),
        "compare": _compared,
        "fft": _transformed,
        "reduce": _reduced,
        "rng": _random,
        "rng-bit-generator": _random_bits,
        "rng-get-and-update-state": _random_state,
    }
)
