"""Whether the shape of an HLO instruction is what its operands and attributes give.

Only dimensions count, and only static ones: the TPU compiler mixes element types where other
backends do not. Source: xla/service/shape_inference.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dialect_utils.elementwise import ELEMENTWISE, scalar_operands
from dialect_utils.hlo import Instruction
from dialect_utils.layout import (
    ArrayShape,
    BitcastConvert,
    Pad,
    Shape,
    TupleShape,
    array_leaves,
    map_arrays,
    step_result,
)
from dialect_utils.layout.sizes import byte_size

# Instructions of a fixed number of operands; the others take any number, or several forms exist.
_NO_OPERANDS = "constant iota parameter partition-id replica-id"
_ONE_OPERAND = (
    "abs bitcast bitcast-convert broadcast cbrt ceil cholesky convert copy copy-done copy-start cosine "
    "count-leading-zeros erf exponential exponential-minus-one fft floor get-dimension-size get-tuple-element imag "
    "is-finite log log-plus-one logistic negate not popcnt real reduce-precision reshape reverse rng-bit-generator "
    "round-nearest-afz round-nearest-even rsqrt sign sine slice sqrt tan tanh transpose while"
)
_TWO_OPERANDS = (
    "add and atan2 compare complex convolution divide dot gather maximum minimum multiply or pad power remainder "
    "set-dimension-size shift-left shift-right-arithmetic shift-right-logical subtract triangular-solve xor"
)
_THREE_OPERANDS = "clamp select select-and-scatter"
_OPERAND_COUNTS = {
    opcode: count
    for count, opcodes in enumerate((_NO_OPERANDS, _ONE_OPERAND, _TWO_OPERANDS, _THREE_OPERANDS))
    for opcode in opcodes.split()
}


def is_same_type(first: Shape, second: Shape) -> bool:
    """Is true where two shapes agree in all but their layouts."""
    return _bare(first) == _bare(second)


def find_shape_problems(instruction: Instruction) -> Iterator[str]:
    """Yields what is wrong with an instruction's operand count or shape."""
    opcode, operands = instruction.opcode, instruction.operands
    count = _OPERAND_COUNTS.get(opcode, len(operands))
    if len(operands) != count:
        yield f"{opcode} takes {_counted(count, 'operand')}, found {len(operands)}"
        return
    rule = _RULES.get(opcode)
    if rule is None and opcode in ELEMENTWISE:
        rule = _elementwise
    shapes = [instruction.shape, *(operand.shape for operand in operands)]
    if rule is None or not all(leaf.is_static for shape in shapes for leaf in array_leaves(shape)):
        return
    problem = rule(instruction, instruction.shape, [operand.shape for operand in operands])
    if problem is not None:
        yield problem


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _bare(shape: Shape) -> Shape:
    return map_arrays(shape, lambda array: array.with_layout(None))


def _dimensions(shape: Shape) -> tuple[int, ...] | None:
    return shape.dimensions if isinstance(shape, ArrayShape) else None


def _differs(opcode: str, found: Shape, wanted: Sequence[int]) -> str | None:
    if _dimensions(found) == tuple(wanted):
        return None
    return f"{opcode} gives dimensions {list(wanted)}, but the shape is {found}"


def _elementwise(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    allowed = scalar_operands(instruction)
    for index, operand in enumerate(operands):
        if _dimensions(operand) != _dimensions(shape) and index not in allowed:
            return f"{instruction.opcode} of {operand} cannot give {shape}: the dimensions differ"
    return None


def _movement(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    step, operand = instruction.step, operands[0]
    if step is None or not isinstance(operand, ArrayShape):
        return f"{instruction.opcode} of {operand} needs an array and its attributes"
    if isinstance(step, Pad) and _dimensions(operands[1]) != ():
        return f"pad needs a scalar to pad with, found {operands[1]}"
    # A pad or copy may convert on TPU, so the type of the operand is not compared.
    if isinstance(step, BitcastConvert) and operand.element_type.bits == step.element_type.bits:
        return _differs(instruction.opcode, shape, operand.dimensions)
    try:
        _, dimensions = step_result(step, operand.element_type, operand.dimensions)
    except ValueError as error:
        return str(error)
    return _differs(instruction.opcode, shape, dimensions)


def _broadcast(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    wanted, given = _dimensions(shape), _dimensions(operands[0])
    mapping = instruction.ints("dimensions") or ()
    if wanted is None or given is None or len(mapping) != len(given):
        return f"broadcast of {operands[0]} needs one entry of dimensions for each operand dimension"
    for operand_dim, dim in enumerate(mapping):
        if not 0 <= dim < len(wanted):
            return f"broadcast maps operand dimension {operand_dim} to {dim}, but {shape} has rank {len(wanted)}"
        if wanted[dim] != given[operand_dim]:
            return f"broadcast maps a dimension of size {given[operand_dim]} to one of size {wanted[dim]}"
    return None


def _concatenate(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    along = instruction.ints("dimensions")
    arrays = [_dimensions(operand) for operand in operands]
    first = arrays[0] if arrays else None
    if not along or first is None or not 0 <= along[0] < len(first):
        return "concatenate needs a dimension that its operands have"
    dim = along[0]
    total = 0
    for operand, dims in zip(operands, arrays, strict=True):
        if dims is None or dims[:dim] + dims[dim + 1 :] != first[:dim] + first[dim + 1 :]:
            return f"concatenate of {operands[0]} and {operand}: the dimensions other than {dim} differ"
        total += dims[dim]
    return _differs("concatenate", shape, (*first[:dim], total, *first[dim + 1 :]))


def _get_tuple_element(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    operand, index = operands[0], instruction.ints("index")
    if not isinstance(operand, TupleShape):
        return f"get-tuple-element of {operand}, which is no tuple"
    if index is None or len(index) != 1 or not 0 <= index[0] < len(operand.elements):
        text = instruction.attribute("index")
        return f"get-tuple-element takes element {text} of a tuple of {len(operand.elements)}"
    element = operand.elements[index[0]]
    return None if is_same_type(element, shape) else f"get-tuple-element gives {element}, but the shape is {shape}"


def _tuple(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    made = TupleShape(tuple(operands))
    return None if is_same_type(made, shape) else f"tuple gives {_bare(made)}, but the shape is {shape}"


def _copy_start(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    copied = shape.elements[:2] if isinstance(shape, TupleShape) else ()
    if len(copied) < 2 or any(_dimensions(copy) != _dimensions(operands[0]) for copy in copied):
        return f"copy-start of {operands[0]} gives it twice and a context, but the shape is {shape}"
    return None


def _copy_done(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    started = operands[0].elements[:1] if isinstance(operands[0], TupleShape) else ()
    if not started or _dimensions(started[0]) != _dimensions(shape):
        return f"copy-done of {operands[0]} cannot give {shape}"
    return None


def _as_operand(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    if not operands or _dimensions(operands[0]) is None:
        return f"{instruction.opcode} needs an array"
    return _differs(instruction.opcode, shape, _dimensions(operands[0]) or ())


def _reduce(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    removed = instruction.ints("dimensions") or ()
    count = len(operands) // 2
    if not count or len(operands) % 2:
        return "reduce takes as many initial values as arrays"
    arrays = [_dimensions(operand) for operand in operands[:count]]
    if any(array is None or array != arrays[0] for array in arrays):
        return f"reduce of arrays whose dimensions differ: {', '.join(map(str, operands[:count]))}"
    dims = arrays[0] or ()
    if any(not 0 <= dim < len(dims) for dim in removed):
        return f"reduce over dimensions {list(removed)} of {operands[0]}"
    wanted = tuple(size for dim, size in enumerate(dims) if dim not in removed)
    results = shape.elements if isinstance(shape, TupleShape) else (shape,)
    problems = (_differs("reduce", result, wanted) for result in results)
    return next((problem for problem in problems if problem is not None), None)


def _bitcast(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    source = operands[0]
    if not isinstance(source, ArrayShape) or not isinstance(shape, ArrayShape):
        return None if is_same_type(source, shape) else f"bitcast of {source} to {shape} is not between arrays"
    have, want = byte_size(source), byte_size(shape)
    return None if have == want else f"bitcast reads {have} bytes of {source} as {want} bytes of {shape}"


_RULES: dict[str, Callable[[Instruction, Shape, Sequence[Shape]], str | None]] = {
    **dict.fromkeys(("transpose", "reshape", "slice", "pad", "bitcast-convert"), _movement),
    **dict.fromkeys(("reverse", "dynamic-update-slice", "cholesky"), _as_operand),
    "bitcast": _bitcast,
    "broadcast": _broadcast,
    "concatenate": _concatenate,
    "copy-done": _copy_done,
    "copy-start": _copy_start,
    "get-tuple-element": _get_tuple_element,
    "reduce": _reduce,
    "tuple": _tuple,
}
