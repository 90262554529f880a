"""Replaces the data that other programs send to a module, by an infeed for example, by ones.

Equal modules have equal results for all data that they receive. Where all of the data is ones, the order in which they
receive it does not matter.
"""

from __future__ import annotations

from collections.abc import Sequence

from dialect_utils.hlo.text.literals import FLOAT_FORMATS
from dialect_utils.ir import Builder, Module, Operation, Value
from dialect_utils.layout import ArrayShape, ElementType, Shape
from dialect_utils.ops import Trait, has


def fed_stages(stages: Sequence[Module]) -> list[Module]:
    """Returns copies that receive ones; none where no module communicates, or where one receives other types."""
    try:
        fed = [fed_with_ones(stage) for stage in stages]
    except (KeyError, StopIteration, ValueError):
        return []
    return fed if any(map(_communicates, stages)) else []


def _communicates(module: Module) -> bool:
    return any(has(operation.opcode, Trait.COMMUNICATES) for operation in module.operations())


def fed_with_ones(module: Module) -> Module:
    """Returns a copy in which ones replace all arrays that communication returns, and which sends nothing.

    Raises KeyError for complex numbers and ValueError for other values without a one.
    """
    copy = module.clone()
    for operation in [each for each in copy.operations() if has(each.opcode, Trait.COMMUNICATES)]:
        builder = copy.before(operation)
        for result in operation.results:
            leaves = [_one(builder, operation, shape) for shape in result.shape.leaves()]
            result.replace_uses(builder.make_tuple(leaves, result.shape, name="received", like=result))
        operation.erase()
    return copy


def _one(builder: Builder, operation: Operation, shape: Shape) -> Value:
    """Returns an array of ones, or for a token the token that the operation takes."""
    like = operation.results[0]
    if not isinstance(shape, ArrayShape):
        taken = [leaf for operand in operation.operands for leaf in builder.flatten(operand, name="taken")]
        return next(leaf for leaf in taken if str(leaf.shape) == str(shape))
    made = builder.constant(shape.element_type, _bits_of_one(shape.element_type), name="one", like=like)
    if shape.rank:
        made = builder.broadcast(made, shape.dimensions, name="ones", like=like)
    made.set_shape(shape)
    return made


def _bits_of_one(kind: ElementType) -> int:
    if not kind.is_inexact:
        return 1
    written = FLOAT_FORMATS[kind.name]
    return written.bias << written.mantissa_bits
