"""Rewrites tiled layouts as explicit pad, reshape and transpose ops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from dialect_utils.hlo import HloModule
from dialect_utils.ir import Builder, Function, Module, Operation, Value, array_shape
from dialect_utils.ir.chains import Contents, emit_plan, mark_unspecified
from dialect_utils.layout import ArrayShape, BufferShape, Shape, TupleShape
from dialect_utils.layout.moves.packs import try_tiled_layout
from dialect_utils.layout.moves.physical import (
    dense_bitcast_plan,
    has_tiles,
    logical_plan,
    physical_leaves,
    physical_plan,
    physical_shape,
    untiled,
)
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.text import DiagnosticError
from passes.framework.base import Report, module_pass
from passes.tiling.byte_readers import expand_concatenations, find_byte_readers
from passes.tiling.markers import BitcastMarker, mark_bitcast, mark_layout, mark_packed, mark_tuple

Interface = Literal["logical", "physical"]


@module_pass
def expand_tiling(
    module: Module, report: Report, *, interface: Interface = "logical", padding: Contents = "zero"
) -> None:
    """Rewrites every tiled layout as explicit pad, reshape and transpose ops.

    1. A tiled value is packed into its physical array right after its definition and unpacked for its users; the value
       itself loses its layout.
    2. A tuple keeps its nesting, and its elements lose their tiled layouts: rule 1 applies to the get-tuple-element.
    3. With `interface=physical` the entry's tiled parameters and results become their physical arrays; with
       `interface=logical` the signature stays.
    4. An HLO `bitcast` from or to a tiled layout reads the physical array of its operand as the physical array of its
       result. A bitcast of a whole tuple stays, untiled.
    5. An array with dynamic dimensions has no physical array: it keeps its tiles, and a note says so.
    6. ConcatBitcast on tiled arrays becomes the ops that expand-custom-calls makes. Another custom call that prescribes
       tiled layouts for its operands is an error, unless it returns its operand.
    7. A constant is packed like any other value: its literal stays as written, and `fold-tiling` restores it.

    Marker attributes record for `fold-tiling` what the ops do not determine: a layout that is not the only one with
    these ops (`relayout.layout`), a bitcast (`relayout.bitcast`), the padding of a returned physical array
    (`relayout.padding`).

    `padding` is the content of undefined padding: zeros, or `poison` (NaN or an odd bit pattern).

    Raises DiagnosticError if ops cannot express the physical array of a layout, or if an alias joins a parameter and a
    result of different physical types.

    Before:
        HloModule m
        ENTRY e {
          ROOT p = f32[3,5]{1,0:T(2,2)} parameter(0)
        }

    After:
        HloModule m
        ENTRY e {
          p = f32[3,5]{1,0} parameter(0)
          p.padding = f32[] constant(0)
          p.pad = f32[4,6]{1,0} pad(p, p.padding), padding=0_1x0_1
          p.reshape = f32[2,2,3,2]{3,2,1,0} reshape(p.pad)
          p.physical = f32[2,3,2,2]{3,2,1,0} transpose(p.reshape), dimensions={0,2,1,3}
          p.transpose = f32[2,2,3,2]{3,2,1,0} transpose(p.physical), dimensions={0,2,1,3}
          p.reshape.1 = f32[4,6]{1,0} reshape(p.transpose)
          ROOT p.logical = f32[3,5]{1,0} slice(p.reshape.1), slice={[0:3], [0:5]}
        }
    """
    _Expansion(module, padding, report).run(interface)


@dataclass(slots=True)
class _Expansion:
    """The rewrite of one module."""

    module: Module
    padding: Contents
    report: Report
    # The physical array of every expanded value, by the unpacked value that users read.
    physical: dict[Value, Value] = field(default_factory=dict)
    # The plan that packs each of these arrays: two layouts may have physical arrays of the same dimensions.
    plans: dict[Value, Plan] = field(default_factory=dict)
    # The pads that made a physical array.
    pads: dict[Value, list[Value]] = field(default_factory=dict)

    def run(self, interface: Interface) -> None:
        if isinstance(self.module, HloModule):
            expand_concatenations(self.module)
        errors = find_byte_readers(self.module)
        if errors:
            raise DiagnosticError(errors)
        self._check_plans()
        # Collects all shapes before the first change: a StableHLO region argument takes its layout from the op
        # around it, which loses it.
        found = [item for function in self.module.functions for item in self._expandable(function)]
        parameters, results = self.module.entry_layout
        as_physical = interface == "physical"
        if as_physical:
            self._check_aliases(parameters, results)
            # Parameters come before bitcasts, which look for the physical array of a parameter.
            for value, shape in zip(self.module.entry.parameters, parameters, strict=True):
                if has_tiles(shape):
                    _check_buffers(value, shape)
                    self._receive(value, shape)
        received = set(self.module.entry.parameters) if as_physical else set()
        for value, shape in found:
            if value not in received:
                self._expand(value, shape)
        if as_physical:
            self._return_results(parameters, results)
        else:
            self._set_entry_layout(tuple(map(untiled, parameters)), tuple(map(untiled, results)))

    def _set_entry_layout(self, *wanted: tuple[Shape, ...]) -> None:
        # A module without an entry layout has that of its parameters and results.
        if self.module.entry_layout != wanted:
            self.module.set_entry_layout(*wanted)

    def _expand(self, value: Value, shape: Shape) -> None:
        operation = value.operation
        if operation is not None and operation.opcode == "bitcast" and isinstance(shape, ArrayShape):
            self._expand_bitcast(operation, shape)
            return
        if not isinstance(shape, ArrayShape):
            mark_tuple(value, shape)
        value.set_shape(untiled(shape))
        if isinstance(shape, ArrayShape):
            self._pack_and_unpack(value, shape)

    def _pack_and_unpack(self, value: Value, shape: ArrayShape) -> None:
        """Packs a value into its physical array and lets its users unpack it (rule 1)."""
        plan = _plan(value, shape)
        if not plan.steps:
            _keep_memory_space(value, shape)
            return
        builder = self.module.after(value)
        name = value.name
        made = emit_plan(builder, plan, value, base=name, last="physical", like=value, contents=self.padding)
        _keep_memory_space(made[-1], shape)
        back = emit_plan(builder, logical_plan(shape), made[-1], base=name, last="logical", like=value)
        first = made[0].operation
        assert first is not None  # made by emit_plan
        value.replace_uses(back[-1], keep=(first,))
        self.physical[back[-1]] = made[-1]
        self.plans[back[-1]] = plan
        self.pads[made[-1]] = _pads(plan, made)
        if try_tiled_layout(plan) != shape.in_default_memory.layout:
            mark_layout(made[-1], shape)

    def _expand_bitcast(self, operation: Operation, shape: ArrayShape) -> None:
        """Reads the operand's physical array as the result's (rule 4)."""
        source, result = operation.operands[0], operation.results[0]
        builder, name = self.module.before(operation), result.name
        array = self.physical.get(source)
        if array is None:
            made = emit_plan(builder, _plan(source, array_shape(source)), source, base=name, last="source", like=result)
            array = made[-1] if made else source
        _plan(result, shape)
        target = physical_shape(shape)
        across = dense_bitcast_plan(array_shape(array), target)
        if across is None:
            message = f"bitcast {result.name} reads {array.shape} bytes as {target}, which no ops express"
            raise DiagnosticError(message, operation.location)
        seen = emit_plan(builder, across, array, base=name, last="physical", like=result)
        physical = seen[-1] if seen else array
        back = emit_plan(builder, logical_plan(shape), physical, base=name, last="logical", like=result)
        logical = back[-1] if back else physical
        if logical != array:
            mark_bitcast(logical, operation, BitcastMarker(name, source.name, len(seen) + len(back), shape))
        result.replace_uses(logical)
        operation.erase()
        self.physical[logical] = physical
        self.plans[logical] = _plan(result, shape)
        self.pads[physical] = self.pads.get(array, [])

    def _expandable(self, function: Function) -> list[tuple[Value, Shape]]:
        """Returns the tiled values and the results of bitcasts that read a tiled value, with their shapes."""
        found = []
        for value in (*function.parameters, *(value for o in function.operations for value in o.results)):
            shape, operation = value.shape, value.operation
            for leaf in shape.arrays():
                if leaf.is_tiled and not leaf.is_static:
                    message = f"{value.name}: the tiles of {leaf} are kept, its dimensions are dynamic"
                    self.report.note(message, value.location)
            read = operation.operands[0].shape if operation is not None and operation.opcode == "bitcast" else shape
            if has_tiles(shape) or has_tiles(read):
                found.append((value, shape))
        return found

    def _check_plans(self) -> None:
        """Raises DiagnosticError for a layout of the entry's interface without a physical array."""
        entry = self.module.entry
        for values, shapes in zip((entry.parameters, entry.results), self.module.entry_layout, strict=True):
            for value, shape in zip(values, shapes, strict=True):
                for leaf in filter(has_tiles, shape.arrays()):
                    _plan(value, leaf)

    def _check_aliases(self, parameters: Sequence[Shape], results: Sequence[Shape]) -> None:
        """Raises DiagnosticError for an alias between different physical arrays (rule 3)."""
        # A path of HLO indexes the ROOT, one of StableHLO the list of results.
        returned = results[0] if self.module.dialect == "hlo" else TupleShape(tuple(results))
        for result_path, number, parameter_path in self.module.aliases:
            result = returned.at(result_path)
            parameter = parameters[number].at(parameter_path)
            if physical_leaves(result).without_layout != physical_leaves(parameter).without_layout:
                message = f"parameter {number} ({parameter}) is aliased to a result ({result}) of another physical type"
                location = self.module.entry.parameters[number].location
                hint = "give both the same layout, or use interface=logical"
                raise DiagnosticError(message, location, hint=hint)

    def _return_results(self, parameters: Sequence[Shape], results: Sequence[Shape]) -> None:
        entry = self.module.entry
        for value, shape in zip(entry.results, results, strict=True):
            _check_buffers(value, shape)
        returned = [
            self._return(value, shape) if has_tiles(shape) else value
            for value, shape in zip(entry.results, results, strict=True)
        ]
        entry.set_results(returned)
        self._set_entry_layout(tuple(map(physical_leaves, parameters)), tuple(map(physical_leaves, results)))

    def _receive(self, value: Value, shape: Shape) -> None:
        """Changes a parameter to its physical array and unpacks it for its users (rule 3)."""
        earlier = list(value.users)
        # A sharding of HLO numbers the logical dimensions; shardings do not affect results.
        if isinstance(value, Operation) and "devices=" in (value.attribute("sharding") or ""):
            value.set_attribute("sharding", None)
        value.set_shape(physical_leaves(shape))
        builder = self.module.after(value)
        arrays = builder.flatten(value, name=value.name)
        logical = [self._unpack(builder, *leaf, value) for leaf in zip(arrays, shape.leaves(), strict=True)]
        back = builder.make_tuple(logical, untiled(shape), name=f"{value.name}.logical", like=value)
        mark_packed(back, shape)
        if back is not value:
            value.replace_uses(back, keep=[user for user in value.users if user not in earlier])

    def _unpack(self, builder: Builder, value: Value, shape: Shape, like: Value) -> Value:
        if not has_tiles(shape) or not isinstance(shape, ArrayShape):
            return value
        plan = _plan(value, shape)
        back = emit_plan(builder, logical_plan(shape), value, base=value.name, last="logical", like=like)
        logical = back[-1] if back else value
        self.physical[logical] = value
        self.plans[logical] = plan
        if back:
            mark_layout(logical, shape)
        return logical

    def _return(self, value: Value, shape: Shape, parent: Operation | None = None) -> Value:
        """Returns a result with physical arrays (rule 3); `parent` is the tuple that contains the result."""
        own = _own_tuple(value, parent)
        if own is not None and isinstance(shape, TupleShape):
            for index, (operand, element) in enumerate(zip(own.operands, shape.elements, strict=True)):
                own.set_operand(index, self._return(operand, element, own))
            value.set_shape(TupleShape(tuple(operand.shape for operand in own.operands)))
            return value
        builder = self.module.at_end(value.function) if parent is None else self.module.before(parent)
        arrays = [
            self._pack(builder, leaf, leaf_shape)
            for leaf, leaf_shape in zip(builder.flatten(value, name=value.name), shape.leaves(), strict=True)
        ]
        for pad in (pad for array in arrays for pad in self.pads.get(array, ())):
            mark_unspecified(pad)
        packed = builder.make_tuple(arrays, physical_leaves(shape), name=f"{value.name}.physical", like=value)
        mark_packed(packed, shape)
        return packed

    def _pack(self, builder: Builder, value: Value, shape: Shape) -> Value:
        if not has_tiles(shape) or not isinstance(shape, ArrayShape):
            return value
        plan = _plan(value, shape)
        known = self.physical.get(value)
        if known is not None and self.plans[value] == plan:
            if known.operation is not None:
                mark_layout(known, shape)
            return known
        made = emit_plan(builder, plan, value, base=value.name, last="physical", like=value, contents=self.padding)
        if not made:
            return value
        _keep_memory_space(made[-1], shape)
        mark_layout(made[-1], shape)
        self.pads[made[-1]] = _pads(plan, made)
        return made[-1]


def _check_buffers(value: Value, shape: Shape) -> None:
    """Raises DiagnosticError for a tiled buffer in the interface: no op moves the contents of a buffer."""
    if any(isinstance(leaf, BufferShape) and has_tiles(leaf) for leaf in shape.leaves()):
        message = f"{value.name} is {shape}, and no op moves what is in a buffer"
        raise DiagnosticError(message, value.location, hint="use interface=logical")


def _plan(value: Value, shape: ArrayShape) -> Plan:
    try:
        return physical_plan(shape)
    except ValueError as error:
        raise DiagnosticError(f"{value.name}: {error}", value.location) from None


def _keep_memory_space(value: Value, shape: ArrayShape) -> None:
    if shape.effective_layout.memory_space:
        value.set_shape(physical_shape(shape))


def _own_tuple(value: Value, parent: Operation | None) -> Operation | None:
    """Returns the tuple op of a value whose only use is to be returned, by itself or in `parent`, or None."""
    operation = value.operation
    if operation is None or operation.opcode != "tuple":
        return None
    if parent is None:
        return None if value.users else operation
    is_alone = list(value.users) == [parent] and list(parent.operands).count(value) == 1
    return operation if is_alone else None


def _pads(plan: Plan, values: Sequence[Value]) -> list[Value]:
    return [value for value, step in zip(values, plan.steps, strict=True) if step.adds_elements]
