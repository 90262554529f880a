"""Whether the shape of an HLO instruction is what its operands and attributes give.

Only dimensions count, and only static ones: the TPU compiler mixes element types where other
backends do not. Source: xla/service/shape_inference.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from dialect_utils.elementwise import ELEMENTWISE, scalar_operands
from dialect_utils.hlo import Instruction
from dialect_utils.layout import (
    ArrayShape,
    Shape,
    TupleShape,
)
from dialect_utils.layout.index.sizes import byte_size
from dialect_utils.ops import Trait, by_opcode, opcode_of, with_trait
from passes.layouts.verification.collectives import collective_problem
from passes.layouts.verification.indexing import gather_problem, scatter_problem
from passes.layouts.verification.inferred import dimension_problem, type_problem
from passes.layouts.verification.operators import (
    dot_problem,
    dynamic_slice_problem,
    dynamic_update_slice_problem,
    fourier_problem,
    normalization_problem,
    random_problem,
    same_problem,
    sort_problem,
    square_problem,
    static_problem,
    top_problem,
)
from passes.layouts.verification.windows import (
    convolution_problem,
    reduce_window_problem,
    select_and_scatter_problem,
)


def is_same_type(first: Shape, second: Shape) -> bool:
    """Is true where two shapes agree in all but their layouts."""
    return first.without_layout == second.without_layout


def find_shape_problems(instruction: Instruction) -> Iterator[str]:
    """Yields what is wrong with an instruction's operand count or shape."""
    opcode, operands = instruction.opcode, instruction.operands
    count = opcode_of(opcode).operand_count
    if count is not None and len(operands) != count:
        yield f"{opcode} takes {_counted(count, 'operand')}, found {len(operands)}"
        return
    rule = _RULES.get(opcode)
    if rule is None and opcode in ELEMENTWISE:
        rule = _elementwise
    shapes = [instruction.shape, *(operand.shape for operand in operands)]
    if rule is None or not all(leaf.is_static for shape in shapes for leaf in shape.arrays()):
        return
    problem = rule(instruction, instruction.shape, [operand.shape for operand in operands])
    if problem is not None:
        yield problem


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


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
    if step.adds_elements and _dimensions(operands[1]) != ():
        return f"pad needs a scalar to pad with, found {operands[1]}"
    # A pad or copy may convert on TPU, so the type of the operand is not compared.
    try:
        _, dimensions = step.result(*operand.type_and_dimensions)
    except ValueError as error:
        return str(error)
    return _differs(instruction.opcode, shape, dimensions)


def _broadcast(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    wanted, given = _dimensions(shape), _dimensions(operands[0])
    mapping = instruction.ints("dimensions") or ()
    if wanted is None or given is None or len(mapping) != len(given):
        return f"broadcast of {operands[0]} needs one entry of dimensions for each operand dimension"
    if len(set(mapping)) < len(mapping):
        return f"broadcast maps two dimensions to one: {list(mapping)}"
    for operand_dim, dim in enumerate(mapping):
        if not 0 <= dim < len(wanted):
            return f"broadcast maps operand dimension {operand_dim} to {dim}, but {shape} has rank {len(wanted)}"
        if wanted[dim] != given[operand_dim]:
            return f"broadcast maps a dimension of size {given[operand_dim]} to one of size {wanted[dim]}"
    return None


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


def _bitcast(instruction: Instruction, shape: Shape, operands: Sequence[Shape]) -> str | None:
    source = operands[0]
    if not isinstance(source, ArrayShape) or not isinstance(shape, ArrayShape):
        return None if is_same_type(source, shape) else f"bitcast of {source} to {shape} is not between arrays"
    have, want = byte_size(source), byte_size(shape)
    return None if have == want else f"bitcast reads {have} bytes of {source} as {want} bytes of {shape}"


_Rule = Callable[[Instruction, Shape, Sequence[Shape]], str | None]
# One rule for each opcode that has one of its own.
_RULES: Mapping[str, _Rule] = by_opcode(
    {
        **dict.fromkeys(with_trait(Trait.IS_STEP), _movement),
        **dict.fromkeys(("cholesky", "triangular-solve"), square_problem),
        **dict.fromkeys(("map", "opt-barrier"), same_problem),
        **dict.fromkeys(("concatenate", "reduce", "reverse"), dimension_problem),
        **dict.fromkeys(("all-gather", "all-reduce", "all-to-all", "reduce-scatter"), collective_problem),
        **dict.fromkeys(("collective-broadcast", "collective-permute"), collective_problem),
        **dict.fromkeys(("batch-norm-grad", "batch-norm-inference", "batch-norm-training"), normalization_problem),
        **dict.fromkeys(("get-tuple-element", "tuple"), type_problem),
        "bitcast": _bitcast,
        "broadcast": _broadcast,
        "copy-done": _copy_done,
        "copy-start": _copy_start,
        "convolution": convolution_problem,
        "dot": dot_problem,
        "dynamic-slice": dynamic_slice_problem,
        "dynamic-update-slice": dynamic_update_slice_problem,
        "fft": fourier_problem,
        "gather": gather_problem,
        "reduce-window": reduce_window_problem,
        "rng": random_problem,
        "scatter": scatter_problem,
        "select-and-scatter": select_and_scatter_problem,
        "set-dimension-size": static_problem,
        "sort": sort_problem,
        "topk": top_problem,
    }
)
