"""Adds the conversions that mixed element types imply."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from dialect_utils.hlo import Computation, HloModule, Instruction
from dialect_utils.hlo.ops import PRED, S32, Ops, add_computation, instructions, rebuild
from dialect_utils.ir import array_shape
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Shape, TupleShape
from dialect_utils.ops import ALL_OPERANDS, Trait, has, opcode_of, split_asynchronous, with_trait
from dialect_utils.ops.elementwise import computing_type, widest
from passes.framework.base import Report, module_pass

_F32, _F64 = ELEMENT_TYPES["f32"], ELEMENT_TYPES["f64"]
_U32 = ELEMENT_TYPES["u32"]

# Ops that apply their computation to each operand separately.
_APPLIED_TO_EACH = with_trait(Trait.COLLECTIVE | Trait.COMBINES)


@module_pass
def legalize_types(module: HloModule, report: Report) -> None:
    """Adds the conversions that mixed element types imply.

    1. An op that moves elements (pad, reshape, broadcast, select, ...) gets operands of its result's type. A `copy`
       between types becomes a convert.
    2. An elementwise op computes in the widest type of its operands and result, a comparison in that of its operands.
    3. Convolutions and dots of floats accumulate in f32, or f64 if a side has it; those of integers in 32 bits, or in
       the result's type if that is wider. Their operands are converted to that type.
    4. reduce, reduce-window, scatter, all-reduce and map compute in the type that their computation returns; the
       computation is wrapped so that it also takes that type.
    5. A conversion after the op restores the element type of the result.

    Before:
        HloModule m, is_scheduled=true
        ENTRY e {
          p = f32[3]{0} parameter(0)
          z = f32[] constant(0)
          ROOT r = bf16[5]{0} pad(p, z), padding=1_1
        }

    After:
        HloModule m, is_scheduled=true
        ENTRY e {
          p = f32[3]{0} parameter(0)
          z = f32[] constant(0)
          r.convert = bf16[3]{0} convert(p)
          r.convert.1 = bf16[] convert(z)
          ROOT r = bf16[5]{0} pad(r.convert, r.convert.1), padding=1_1
        }
    """
    for item in instructions(module):
        rule = _rule_of(item.opcode)
        if rule is not None:
            rule(item)


@cache
def _rule_of(opcode: str) -> Callable[[Instruction], None] | None:
    """Returns the function that legalizes the instructions of an opcode, or None if none of them needs that."""
    if split_asynchronous(opcode)[1]:
        return None
    if opcode == "copy":
        return _legalize_copy
    if opcode_of(opcode).typed and (has(opcode, Trait.MOVES_DATA) or has(opcode, Trait.ELEMENTWISE)):
        return _legalize_typed
    if opcode == "compare":
        return _legalize_compare
    if has(opcode, Trait.CONTRACTS):
        return _legalize_contraction
    if has(opcode, Trait.COMBINES):
        return _legalize_applying
    return _legalize_map if opcode == "map" else None


def element_type_of(value: Instruction) -> ElementType | None:
    """Returns the element type of an array, else None."""
    return value.shape.element_type if isinstance(value.shape, ArrayShape) else None


def _legalize(item: Instruction, kinds: dict[int, ElementType], result: ElementType) -> None:
    """Replaces `item`, if types differ, by the op on converted operands, with a conversion of the result (rule 5)."""
    types = [element_type_of(operand) for operand in item.operands]
    if element_type_of(item) == result and all(types[index] == kind for index, kind in kinds.items()):
        return
    ops, shape = Ops(item), array_shape(item)
    operands = [ops.convert(value, kinds[i]) if i in kinds else value for i, value in enumerate(item.operands)]
    if shape.element_type == result:
        rebuild(item, operands=operands)
        return
    computed = ops.emit(item.opcode, _with_type(shape, result), operands, dict(item.attributes))
    ops.finish(ops.convert(computed, shape.element_type))


def _with_type(shape: ArrayShape, element_type: ElementType) -> ArrayShape:
    """Returns the shape with another element type and the same minor_to_major, without tiles."""
    layout = None if shape.layout is None else shape.layout.replace(tiles=(), element_size_in_bits=0, memory_space=0)
    return ArrayShape(element_type, shape.dimensions, layout, shape.dynamic)


def _legalize_copy(item: Instruction) -> None:
    wanted, found = element_type_of(item), element_type_of(item.operands[0])
    if wanted is not None and found is not None and wanted != found:
        rebuild(item, opcode="convert")


def _legalize_typed(item: Instruction) -> None:
    opcode, wanted = opcode_of(item.opcode), element_type_of(item)
    typed = range(len(item.operands)) if opcode.typed == ALL_OPERANDS else opcode.typed
    found = [kind for index in typed if (kind := element_type_of(item.operands[index])) is not None]
    if wanted is None or len(found) < len(typed):
        return
    computing = computing_type(opcode, wanted, found)
    _legalize(item, dict.fromkeys(typed, computing), computing)


def _legalize_compare(item: Instruction) -> None:
    types = [kind for operand in item.operands if (kind := element_type_of(operand)) is not None]
    if len(types) == len(item.operands):
        _legalize(item, dict.fromkeys(range(len(types)), widest(types)), PRED)


def _legalize_contraction(item: Instruction) -> None:
    types = [kind for value in (item, *item.operands[:2]) if (kind := element_type_of(value)) is not None]
    _legalize(item, dict.fromkeys((0, 1), accumulator(types)), accumulator(types))


def accumulator(types: Sequence[ElementType]) -> ElementType:
    """Returns the type in which a contraction of the result's type (first) and the operands' sums (rule 3)."""
    wide = widest(types)
    if wide.is_complex:
        return wide
    if wide.is_floating:
        return _F64 if wide == _F64 else _F32
    result = types[0]
    if result.is_integral and result.bits >= _U32.bits:
        return result
    return _U32 if result.is_unsigned else S32


def _legalize_applying(item: Instruction) -> None:
    """Converts operands, computation and result to the types that the computation returns (rule 4)."""
    if item.opcode == "select-and-scatter":
        _legalize_select_and_scatter(item)
        return
    body = item.called[-1] if item.called else None
    if body is None:
        return
    lanes = [leaf.element_type for leaf in body.root.shape.arrays()]
    if item.opcode in _APPLIED_TO_EACH:
        # One scalar computation serves every operand.
        lanes = lanes * len(item.operands)
    positions = list(range(len(item.operands)))
    if item.opcode == "scatter":
        # The computation combines all operands but the indices.
        del positions[len(lanes)]
    kinds = {position: lanes[index % len(lanes)] for index, position in enumerate(positions)}
    _apply_in(item, kinds, lanes, body)


def _legalize_map(item: Instruction) -> None:
    """Converts operands and result of a map to the types that the computation takes and returns (rule 4)."""
    body = item.called[0]
    takes = {index: array_shape(parameter).element_type for index, parameter in enumerate(body.parameters)}
    _legalize(item, takes, array_shape(body.root).element_type)


def _legalize_select_and_scatter(item: Instruction) -> None:
    select, scatter = (item.called_as(role) for role in ("select", "scatter"))
    selected = select.parameters[0].shape
    lanes = [leaf.element_type for leaf in scatter.root.shape.arrays()]
    if isinstance(selected, ArrayShape):
        _apply_in(item, {0: selected.element_type, 1: lanes[0], 2: lanes[0]}, lanes, scatter)


def _apply_in(item: Instruction, kinds: dict[int, ElementType], lanes: list[ElementType], body: Computation) -> None:
    declared = [leaf.element_type for leaf in item.shape.arrays()]
    takes = [element_type_of(parameter) for parameter in body.parameters]
    are_data = all(element_type_of(item.operands[index]) == kind for index, kind in kinds.items())
    is_uniform = takes == [lanes[index % len(lanes)] for index in range(len(takes))]
    if are_data and is_uniform and declared == lanes:
        return
    ops = Ops(item)
    operands = [ops.convert(v, kinds[i]) if i in kinds else v for i, v in enumerate(item.operands)]
    attributes = dict(item.attributes)
    if not is_uniform:
        wrapper = f"%{_uniform(body, lanes)}"
        names = {body.name, f"%{body.name}"}
        attributes = {key: wrapper if text in names else text for key, text in attributes.items()}
    leaves = iter(lanes)
    computed = ops.emit(
        item.opcode, item.shape.map_arrays(lambda leaf: _with_type(leaf, next(leaves))), operands, attributes
    )
    ops.finish(_converted(ops, computed, item.shape))


def _converted(ops: Ops, value: Instruction, shape: Shape) -> Instruction:
    if isinstance(shape, ArrayShape):
        return ops.convert(value, shape.element_type)
    if not isinstance(shape, TupleShape) or value.shape == shape:
        return value
    return ops.tuple([_converted(ops, ops.element(value, i), part) for i, part in enumerate(shape.elements)])


def _uniform(body: Computation, lanes: list[ElementType]) -> str:
    """Adds a computation that calls `body` on values converted from and to the types of `lanes`; returns its name."""
    lines, arguments = [], []
    for index, parameter in enumerate(body.parameters):
        lines.append(f"p{index} = {lanes[index % len(lanes)]}[] parameter({index})")
        lines.append(f"c{index} = {element_type_of(parameter)}[] convert(p{index})")
        arguments.append(f"c{index}")
    shape = body.root.shape.without_layout
    lines.append(f"ROOT r = {shape} call({', '.join(arguments)}), to_apply=%{body.name}")
    return add_computation(body.module, body.name, *lines)
