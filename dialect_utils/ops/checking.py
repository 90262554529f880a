"""The verification of one operation: its attributes, operands, result and constraints.

Sources: xla/service/hlo_verifier.cc (ShapeVerifier), xla/hlo/parser/hlo_parser.cc.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dialect_utils.layout import ArrayShape, ElementType, Shape, TupleShape
from dialect_utils.ops import START, named, opcode_of, split_asynchronous
from dialect_utils.ops.declaration import ALIASING, ALL_OPERANDS, Opcode, Trait
from dialect_utils.ops.inference import Instance, ShapeError, Written, check_operand_count, is_same_kind, same_sizes
from dialect_utils.ops.table import STARTED


def check_operation(instance: Instance, opcode: Opcode) -> None:
    """Raises ShapeError at the first constraint of an operation that does not hold; all sizes have to be bounded."""
    check_operand_count(instance, opcode)
    _check_attributes(instance, opcode)
    _check_dimension_numbers(instance, opcode)
    if not instance.is_lenient:
        _check_operand_types(instance, opcode)
        if not (instance.is_mixed or opcode.name in _MIXED or opcode.name.endswith(("-start", "-update", "-done"))):
            _check_one_precision(instance)
    if opcode.result is not None and instance.shape is not None:
        _compare(instance, opcode, opcode.result(instance), instance.shape)
    if opcode.check is not None:
        opcode.check(instance)
    if instance.is_layout_sensitive:
        _check_layouts(instance, opcode)


@dataclass(frozen=True, slots=True)
class _Wrapped:
    """The operation that a start such as `slice-start` wraps, which has its attributes, but for aliases."""

    opcode: str
    start: Written

    def attribute(self, name: str) -> str | None:
        return None if name == ALIASING.name else self.start.attribute(name)

    def ints(self, name: str) -> tuple[int, ...] | None:
        return self.start.ints(name)


def check_wrapped(start: Instance) -> None:
    """Raises ShapeError where the operation that a start wraps does not make its outputs of its operands.

    XLA's parser makes a computation of it (CreateInstruction, kAsyncStart), which its verifier checks.
    Nothing is compared where an update binds operands or outputs.
    """
    base, phase = split_asynchronous(start.opcode)
    state = start.shape.elements if isinstance(start.shape, TupleShape) else ()
    if phase != START or base in STARTED or len(state) < len(("operands", "outputs")):
        return
    bound, outputs = state[:2]
    opcode, operands = opcode_of(base), bound.elements if isinstance(bound, TupleShape) else ()
    if base != "async" and len(operands) >= opcode.operands[0] and outputs != TupleShape(()):
        check_operation(replace(start, written=_Wrapped(base, start.written), operands=operands, shape=outputs), opcode)


# Operations that may change layouts (LayoutAssignment::InstructionCanChangeLayout).
_RELAYOUTS = named(
    "batch-norm-inference bitcast broadcast call conditional convolution copy custom-call domain dot dynamic-reshape "
    "fusion gather get-tuple-element ragged-dot reduce reshape rng-bit-generator scaled-dot transpose"
)
# Operations whose results may have elements of another size.
_RESIZES = named("convert compare is-finite scatter")


def _check_layouts(instance: Instance, opcode: Opcode) -> None:
    """Raises ShapeError where an operation that keeps layouts changes the order of dimensions or the elements' size."""
    result = instance.shape
    # The TPU compiler also lays out the indices and updates of a scatter as it likes.
    is_free = opcode.name in _RELAYOUTS or (opcode.name == "scatter" and instance.is_lenient)
    if is_free or not isinstance(result, ArrayShape):
        return
    for index, operand in enumerate(instance.operands):
        if not isinstance(operand, ArrayShape) or operand.rank != result.rank:
            continue
        before, after = operand.layout, result.layout
        if before is None or after is None:
            continue
        is_resized = opcode.name in _RESIZES or (opcode.name == "select" and not index)
        is_kept = is_resized or before.element_size_in_bits == after.element_size_in_bits
        if before.minor_to_major != after.minor_to_major or not is_kept:
            message = f"{opcode.name} should not change layouts: operand {index} is {operand}, the result {result}"
            raise ShapeError(message, "shape")


def _check_attributes(instance: Instance, opcode: Opcode) -> None:
    for attribute in opcode.constrained:
        name, text = attribute.name, instance.attribute(attribute.name)
        if text is None:
            if attribute.is_needed:
                raise ShapeError(f"{opcode.name} needs the attribute {name}", "opcode")
        elif attribute.values and text not in attribute.values:
            listed = ", ".join(attribute.values)
            raise ShapeError(f"the {name} of {opcode.name} is {text}, but has to be one of {listed}", name)
        elif attribute.is_single and len(instance.ints(name)) != 1:
            raise ShapeError(f"{opcode.name} takes one dimension, found {list(instance.ints(name))}", name)


def _check_dimension_numbers(instance: Instance, opcode: Opcode) -> None:
    for attribute in opcode.dimension_lists:
        numbers = instance.written.ints(attribute.name)
        if not numbers:
            continue
        operand = attribute.numbers
        shape = instance.shape if operand is None else (*instance.operands, None)[operand : operand + 1][0]
        if isinstance(shape, ArrayShape):
            for number in numbers:
                if not 0 <= number < shape.rank:
                    message = f"{opcode.name} names dimension {number} in {attribute.name}, but {shape} has rank "
                    raise ShapeError(f"{message}{shape.rank}", attribute.name)


def _check_operand_types(instance: Instance, opcode: Opcode) -> None:
    operands, name = instance.operands, opcode.name
    if opcode.takes is not None and operands:
        kind = instance.array(0).element_type
        if not opcode.takes.includes(kind):
            raise ShapeError(f"{name} takes {opcode.takes.name}, found {kind}", "operand 0")
    # The indices of a scatter come after any number of arrays.
    if opcode.indices is not None and not opcode.has(Trait.COMBINES):
        first, last = opcode.indices
        for index, shape in list(enumerate(operands))[first:last]:
            if isinstance(shape, ArrayShape) and not shape.element_type.is_integral:
                raise ShapeError(f"{name} takes integers as indices, found {shape.element_type}", f"operand {index}")


# Operations whose operands may be floats of several precisions in any case (CheckMixedPrecisionOperands).
_MIXED = named(
    "all-gather all-reduce call collective-permute conditional convolution custom-call domain dot fusion "
    "get-tuple-element opt-barrier outfeed ragged-dot reduce-window scaled-dot send sort tuple while"
)


def _check_one_precision(instance: Instance) -> None:
    leaves = (leaf for operand in instance.operands for leaf in operand.arrays())
    found = {leaf.element_type: leaf for leaf in leaves if leaf.element_type.is_floating}
    if len(found) > 1:
        listed = " and ".join(map(str, found))
        raise ShapeError(f"{instance.opcode} mixes floats of the precisions {listed}", "operands")


def _compare(instance: Instance, opcode: Opcode, wanted: Shape, given: Shape) -> None:
    """Raises ShapeError where the written result is not the inferred one, layouts and dynamic marks aside."""
    if wanted is given:
        return
    if isinstance(given, TupleShape) and len(given.elements) == 1 and opcode.has(Trait.COMBINES):
        # XLA reads the tuple of one as the form of several.
        given = given if isinstance(wanted, TupleShape) else given.elements[0]
    if not _has_structure(wanted, given):
        message = f"{opcode.name} gives {wanted.without_layout}, but the shape is {given}"
        raise ShapeError(message, "shape")
    if instance.is_layout_sensitive and opcode.name in _FORWARDING and not _is_placed(wanted, given):
        raise ShapeError(f"{opcode.name} gives {wanted}, but the shape is laid out as {given}", "shape")
    for inferred, written in zip(wanted.arrays(), given.arrays(), strict=True):
        if inferred.element_type != written.element_type:
            _check_precision(instance, opcode, wanted, inferred.element_type, written.element_type)


# Operations whose results have the whole layouts of their operands (ShapeVerifier::CheckShape).
_FORWARDING = named("call conditional get-tuple-element opt-barrier tuple while")


def _is_placed(wanted: Shape, given: Shape) -> bool:
    """Is true where the arrays of one structure have equal layouts; an absent one is the descending one."""
    pairs = zip(wanted.arrays(), given.arrays(), strict=True)
    return all(one.effective_layout == other.effective_layout for one, other in pairs)


def _has_structure(wanted: Shape, given: Shape) -> bool:
    """Is true where two shapes differ in element types and layouts only."""
    if isinstance(wanted, ArrayShape):
        return isinstance(given, ArrayShape) and same_sizes(wanted.dimensions, given.dimensions)
    if isinstance(wanted, TupleShape):
        return (
            isinstance(given, TupleShape)
            and len(wanted.elements) == len(given.elements)
            and all(map(_has_structure, wanted.elements, given.elements))
        )
    return type(wanted) is type(given) and [each.dimensions for each in wanted.arrays()] == [
        each.dimensions for each in given.arrays()
    ]


# Operations that forward values: no compiler lets them convert (ShapeVerifier::CheckShape).
_EXACT = Trait.TUPLES._value_ | Trait.CALLS._value_
# Operations that combine many elements, often in a higher precision than that of the result.
_MIXING = Trait.COMBINES._value_ | Trait.CONTRACTS._value_


def _check_precision(
    instance: Instance, opcode: Opcode, wanted: Shape, inferred: ElementType, written: ElementType
) -> None:
    """Raises ShapeError unless the result may have this element type instead of the inferred one.

    Only floats mix, as with XLA's allow_mixed_precision. Reductions and products give any precision; operations whose
    operands have the type of the result, as `add`, one of the operands' precisions; all others the inferred one.
    """
    if not opcode.traits._value_ & _EXACT:
        if instance.is_lenient:
            return
        kinds = [each.element_type if isinstance(each, ArrayShape) else None for each in instance.operands]
        positions = range(len(kinds)) if opcode.typed == ALL_OPERANDS else opcode.typed
        # An update in place keeps the type of its buffer.
        taken = kinds[:1] if opcode.has(Trait.IN_PLACE) else [kinds[each] for each in positions]
        mixes = opcode.traits._value_ & (_MIXING if instance.is_mixed else Trait.CONTRACTS._value_)
        if (mixes or (instance.is_mixed and written in taken)) and is_same_kind(inferred, written):
            return
        for index in positions:
            if kinds[index] not in (None, written):
                message = f"operand {index} of {opcode.name} is {kinds[index]}, but the result {written}"
                raise ShapeError(message, "shape")
    message = f"{opcode.name} gives {wanted.without_layout}, but the shape is {instance.shape}"
    raise ShapeError(message, "shape")
