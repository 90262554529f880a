"""Gives tensors the layouts that a target would choose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from dialect_utils.ir import Module, Value
from dialect_utils.layout import ArrayShape, Layout, Shape, default_layout, map_arrays
from passes.base import Pass, Report

Target = Literal["row-major", "tpu-v2", "tpu-v3", "tpu-v4", "tpu-v5e", "tpu-v5p", "tpu-v6e", "tpu7x"]
Scope = Literal["all", "interface"]


@dataclass(frozen=True)
class AnnotateLayouts(Pass):
    """Gives tensors the layouts that a target would choose.

    1. With `scope=all` every array gets the default layout of `target` for its type and
       dimensions; with `scope=interface` only the entry's parameters and results do.
    2. A layout that says more than the descending order is already a choice and stays.
    3. Values of a computation that is applied per element (reduce, sort, scatter, ...) live in
       registers and get none; so do arrays with dynamic dimensions.
    4. An HLO module that holds a `bitcast` is laid out already, and another layout would
       change what the bitcast reads: it is left alone, and a note says so.

    Before:
        HloModule m
        ENTRY e {
          ROOT p = f32[3,5] parameter(0)
        }

    After (target=tpu-v5e):
        HloModule m
        ENTRY e {
          ROOT p = f32[3,5]{1,0:T(4,128)} parameter(0)
        }
    """

    name: ClassVar[str] = "annotate-layouts"

    target: Target = "row-major"
    scope: Scope = "all"

    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place."""
        annotate_layouts(module, self.target, self.scope, report)


def annotate_layouts(module: Module, target: Target, scope: Scope = "all", report: Report | None = None) -> None:
    """Gives a module's arrays the default layouts of a target, in place, as the pass does."""
    bitcast = next(_bitcasts(module), None)
    if bitcast is not None:
        if report is not None:
            report.note(
                f"left alone: the module is laid out already, bitcast {bitcast.name} depends on it", bitcast.location
            )
        return

    def annotated(shape: Shape) -> Shape:
        return map_arrays(shape, lambda array: _annotated_array(array, target))

    parameters, results = module.entry_layout
    values = _all_values(module) if scope == "all" else _interface_values(module)
    for value in values:
        shape = annotated(value.shape)
        if shape != value.shape:
            value.set_shape(shape)
    wanted = tuple(map(annotated, parameters)), tuple(map(annotated, results))
    if module.entry_layout != wanted:
        module.set_entry_layout(*wanted)


def _bitcasts(module: Module) -> Iterator[Value]:
    for function in module.functions:
        for operation in function.operations:
            if operation.opcode == "bitcast":
                yield operation.results[0]


def _all_values(module: Module) -> list[Value]:
    values: list[Value] = []
    for function in module.functions:
        if function.is_applied:
            continue
        values += function.parameters
        for operation in function.operations:
            values += operation.results
    return values


def _interface_values(module: Module) -> list[Value]:
    """Returns what carries the entry's layouts: parameters, results, and the elements of a tuple that is returned."""
    entry = module.entry
    values = [*entry.parameters, *entry.results]
    for value in entry.results:
        if value.operation is not None and value.operation.opcode == "tuple":
            values += value.operation.operands
    return values


def _annotated_array(shape: ArrayShape, target: Target) -> ArrayShape:
    if not shape.is_static or not shape.effective_layout.is_default:
        return shape
    if target == "row-major":
        return shape.with_layout(Layout.descending(shape.rank))
    return shape.with_layout(default_layout(shape.element_type, shape.dimensions, target))
