"""Whether element types are those that an opcode takes and gives, in modules that no compiler has rewritten.

The TPU compiler mixes element types inside instructions of optimized dumps, where only its own
backend has to understand them. Source: xla/service/shape_inference.cc, stablehlo/dialect/StablehloOps.td.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.layout import ArrayShape, ElementType, Shape, TupleShape
from dialect_utils.opcodes import ALL_OPERANDS, Trait, by_opcode, has, named, opcode_of

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


# opcodes -> what their first operand's elements may be, and how that is called.
_TAKEN: tuple[tuple[str, Kind, str], ...] = (
    ("and or xor not", _is_logical, "integers or truth values"),
    ("shift-left shift-right-arithmetic shift-right-logical popcnt count-leading-zeros mulhi", _is_integer, "integers"),
    ("ceil floor round-nearest-afz round-nearest-even is-finite reduce-precision erf", _is_float, "floats"),
    (
        "cbrt cosine exponential exponential-minus-one log log-plus-one logistic rsqrt sine sqrt tan tanh atan2 fft",
        _is_inexact,
        "floats or complex numbers",
    ),
    ("complex cholesky triangular-solve", _is_inexact, "floats or complex numbers"),
    ("power subtract negate", _is_number, "numbers"),
    ("remainder", _is_real, "real numbers"),
)
_KINDS = by_opcode({name: (kind, told) for names, kind, told in _TAKEN for name in names.split()})
_CHOOSING = named("sort select-and-scatter")
_REDUCING = named("reduce reduce-window")
# opcode -> the first operand that is a token.
_AFTER = by_opcode({"after-all": 0, "add-dependency": 1})
_TRUTHS = named("compare is-finite")
_REAL_PARTS = named("real imag abs")
_NUMBERS_OF_DEVICE = named("partition-id replica-id")


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
    yield from _region_problems(instruction)
    if opcode in _AFTER and any(kind is not None for kind in kinds[_AFTER[opcode] :]):
        yield f"{opcode} waits for tokens, found {instruction.operands[-1].shape}"
    if not isinstance(shape, ArrayShape):
        return
    yield from _taken_problems(opcode, kinds)
    yield from _same_problems(opcode, shape.element_type, kinds)
    yield from _given_problems(opcode, shape.element_type, kinds)


def _tuple_copy_problems(source: Shape, shape: TupleShape) -> Iterator[str]:
    """Yields where a copy of a tuple, which XLA has besides those of arrays, gives another one."""
    if source.without_layout != shape.without_layout:
        yield f"copy of {source.without_layout} cannot give {shape.without_layout}"


def _taken_problems(opcode: str, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    if opcode in _KINDS and kinds and kinds[0] is not None:
        is_taken, told = _KINDS[opcode]
        if not is_taken(kinds[0]):
            yield f"{opcode} takes {told}, found {kinds[0]}"
    first_index, last_index = opcode_of(opcode).indices or (len(kinds), None)
    for kind in kinds[first_index:last_index]:
        if kind is not None and not kind.is_integral:
            yield f"{opcode} takes integers as indices, found {kind}"
    if opcode == "select" and kinds and kinds[0] is not None and kinds[0].name != "pred":
        yield f"select chooses by truth values, found {kinds[0]}"
    if opcode == "compare" and len(set(kinds)) > 1:
        yield f"compare of {' and '.join(map(str, kinds))}"


def _same_problems(opcode: str, given: ElementType, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    positions = opcode_of(opcode).typed
    same = range(len(kinds)) if positions == ALL_OPERANDS else [each for each in positions if each < len(kinds)]
    for position in same:
        kind = kinds[position]
        if kind is not None and kind != given:
            yield f"operand {position} of {opcode} is {kind}, but the result {given}"
            return


def _given_problems(opcode: str, given: ElementType, kinds: Sequence[ElementType | None]) -> Iterator[str]:
    if opcode in _TRUTHS and given.name != "pred":
        yield f"{opcode} gives pred, but the result is {given}"
    if opcode in _REAL_PARTS and given.is_complex:
        yield f"{opcode} gives real numbers, but the result is {given}"
    if opcode == "complex" and not given.is_complex:
        yield f"complex gives complex numbers, but the result is {given}"
    if opcode == "iota" and given.name == "pred":
        yield "iota gives numbers, but the result is pred"
    if opcode in _NUMBERS_OF_DEVICE and not given.is_integral:
        yield f"{opcode} gives an integer, but the result is {given}"
    if opcode == "set-dimension-size" and kinds[1:] and str(kinds[1]) != "s32":
        yield f"set-dimension-size takes s32, found {kinds[1]}"
    if opcode == "stochastic-convert" and kinds[1:] and kinds[1] is not None and not kinds[1].is_unsigned:
        yield f"stochastic-convert takes random bits that are unsigned, found {kinds[1]}"
    if opcode == "get-dimension-size" and given.name != "s32":
        yield f"get-dimension-size gives s32, but the result is {given}"
    if opcode == "rng" and any(kind is not None and kind != given for kind in kinds):
        yield f"rng of {' and '.join(map(str, kinds))} cannot give {given}"


def _region_problems(instruction: Instruction) -> Iterator[str]:
    """Yields where what an embedded computation gives is not what is done with it."""
    opcode, called = instruction.opcode, instruction.called
    if opcode in _CHOOSING and called:
        root = called[0].root.shape
        if not isinstance(root, ArrayShape) or root.rank or root.element_type.name != "pred":
            yield f"{opcode} chooses by %{called[0].name}, which gives {root} where pred[] is needed"
    if opcode in _REDUCING and called and len(instruction.operands) % 2 == 0:
        values = [operand.shape for operand in instruction.operands[len(instruction.operands) // 2 :]]
        given = list(called[0].root.shape.arrays())
        results = [each.element_type for each in instruction.shape.arrays()]
        begun = [_scalar(value) for value in values]
        if begun != [_scalar(each) for each in given] or begun != results:
            told = ", ".join(str(each) for each in given)
            yield f"{opcode} begins with {', '.join(map(str, values))}, but %{called[0].name} gives {told}"


def _scalar(shape: object) -> ElementType | None:
    return shape.element_type if isinstance(shape, ArrayShape) and shape.rank == 0 else None
