"""Gives tensors the layouts that a target would choose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from dialect_utils.io.files import read_module
from dialect_utils.ir import Module, Operand, Passed, Value, Yielded
from dialect_utils.ir.control_flow import joins_of, merged
from dialect_utils.layout import ArrayShape, Layout, Shape, TokenShape, parse_element_type, parse_layout
from dialect_utils.layout.targets.known import OtherTarget, TargetName, default_layout, parse_target
from dialect_utils.layout.targets.target import Target as Chip
from dialect_utils.text import DiagnosticError, Span, error_at
from dialect_utils.text.toml import Table, read_toml
from passes.framework.base import Report, module_pass
from passes.layouts.assignment import Assignment, order_of, uses
from passes.layouts.backends import rules_of
from passes.layouts.constraints import Node, values_in_memory
from passes.layouts.propagate_layouts import Copies, with_leaves

Target = Literal["row-major", TargetName] | OtherTarget
Scope = Literal["all", "interface"]
Inner = Literal["default", "predicted"]


@module_pass
def annotate_layouts(
    module: Module,
    report: Report,
    *,
    target: Target | None = None,
    layouts: Path | None = None,
    like: Path | None = None,
    scope: Scope = "all",
    inner: Inner = "default",
) -> None:
    """Gives tensors the layouts that a target would choose.

    1. With `scope=all` every array gets a layout; with `scope=interface` only the entry's
       parameters and results get one.
    2. The layout comes from the first matching rule of the TOML file `layouts` (see `LayoutRule`), else
       from the module `like` (the same parameter or result of the entry; in HLO also a value of the same name and
       type), else from the defaults of `target`.
    3. An array with more than the descending order keeps its layout. So does one that the entry layout, or the other
       side of a call, loop or branch, gives a layout.
    4. Values of an embedded computation (reduce, sort, scatter, ...) are in registers and get no layout. Neither do
       arrays with dynamic dimensions, nor tokens; a note says so.
    5. With `inner=predicted` all arrays inside get the orders that the layout assignment of the compiler would choose,
       whatever they have, and HLO the copies that it would insert; docs/layouts.md says how often that is right.
    6. An HLO module with a `bitcast` does not change, since another layout would change the result of the bitcast; a
       note says so.

    Raises DiagnosticError if the entry of `like` has other parameters or results.

    Before:
        HloModule m
        ENTRY e {
          ROOT p = f32[3,5] parameter(0)
        }

    After annotate-layouts{target=tpu-v5e}:
        HloModule m
        ENTRY e {
          ROOT p = f32[3,5]{1,0:T(4,128)} parameter(0)
        }
    """
    _check_inner(inner, target, scope)
    rules = read_layout_rules(layouts) if layouts is not None else ()
    if layouts is not None and not rules:
        report.note(f"{layouts} holds no rule")
    if target is None and not rules and like is None:
        report.warn("annotate-layouts was given no layouts", hint="give target, layouts or like")
        return
    bitcast = next((operation.results[0] for operation in module.operations() if operation.opcode == "bitcast"), None)
    if bitcast is not None:
        message = f"left alone: the module is laid out already, bitcast {bitcast.name} depends on it"
        report.note(message, bitcast.location)
        return
    _note_left_alone(module, report)
    choice = _Choice(target, tuple(rules))
    choice.keep(module)
    if like is not None:
        choice.imitate(module, read_module(str(like)))
    parameters, results = choice.entry_layout(module)
    assigned = None
    if inner == "predicted" and target is not None:
        assigned = Assignment(module, rules_of(parse_target(str(target))), (parameters, results))
        choice.predicted = assigned.order
    for value in values_in_memory(module) if scope == "all" else _interface_values(module):
        shape = choice.shape(value, value.shape)
        if shape != value.shape:
            value.set_shape(shape)
    # After the values: set_shape of a parameter or result also changes the entry layout.
    if module.entry_layout != (parameters, results):
        module.set_entry_layout(parameters, results)
    choice.note_unused(report, layouts)
    if assigned is not None:
        _insert_copies(module, assigned, report)


def _check_inner(inner: Inner, target: Target | None, scope: Scope) -> None:
    if inner == "predicted" and (target in (None, "row-major") or scope != "all"):
        hint = "name a target such as tpu-v5e, with scope=all"
        raise DiagnosticError("inner=predicted has no effect without a target's compiler", hint=hint)


def _insert_copies(module: Module, assigned: Assignment, report: Report) -> None:
    """Copies arrays into the orders in which operations read them and functions return them."""
    reads: list[tuple[Passed, int, tuple[int, ...]]] = [
        (Operand(use.operation, use.operand), use.leaf, order)
        for function in assigned.functions
        for operation in function.operations
        for use in uses(operation)
        if (order := assigned.asked(use)) is not None
    ]
    reads += [
        (Yielded(function, number), leaf, order)
        for function in assigned.functions
        for (number, leaf), order in zip(_leaf_numbers(function.results), assigned.returned(function), strict=True)
        if order is not None
    ]
    wanted: dict[Passed, dict[int, ArrayShape]] = {}
    for passed, leaf, order in reads:
        shape = [*passed.value.shape.leaves()][leaf]
        if isinstance(shape, ArrayShape) and order_of(shape) != order:
            wanted.setdefault(passed, {})[leaf] = _inside(shape, order, assigned.rules.target)
    copies = Copies(module)
    for passed, leaves in wanted.items():
        if module.dialect == "hlo":
            copies.insert(passed, leaves)
        elif isinstance(passed, Yielded):
            passed.value.set_shape(with_leaves(passed.value.shape, leaves))
    if module.dialect != "hlo" and wanted:
        report.note(f"the compiler is predicted to insert {len(wanted)} copies, which StableHLO does not have")


def _inside(shape: ArrayShape, order: tuple[int, ...], target: Chip) -> ArrayShape:
    return shape.with_layout(target.inner_layout(shape.element_type, shape.dimensions, order))


def _leaf_numbers(values: Sequence[Value]) -> list[tuple[int, int]]:
    return [(number, leaf) for number, value in enumerate(values) for leaf in range(value.shape.leaf_count)]


@dataclass(slots=True)
class _Choice:
    """The choice of each value's layout: by rule, else by the module to imitate, else by target."""

    target: Target | None
    rules: tuple[LayoutRule, ...]
    # The arrays of the module to imitate: of all values by name, and of the entry's interface.
    named: dict[str, list[ArrayShape]] = field(default_factory=dict)
    interface: dict[Value, list[ArrayShape]] = field(default_factory=dict)
    # The arrays of values that the entry layout or control flow joins with a value that has a layout.
    kept: dict[Value, list[ArrayShape]] = field(default_factory=dict)
    used: set[LayoutRule] = field(default_factory=set)
    # The order that layout assignment gives an array inside.
    predicted: Callable[[Node], tuple[int, ...] | None] | None = None
    # Default: the target's layouts.
    by_target: dict[Shape, Shape] = field(default_factory=dict)

    def keep(self, module: Module) -> None:
        """Records the layouts that the entry layout or the other side of a call gives (rule 3)."""
        for values, shapes in zip((module.entry.parameters, module.entry.results), module.entry_layout, strict=True):
            for value, shape in zip(values, shapes, strict=True):
                self._keep([value], [shape])
        joins = [join for operation in module.operations() for join in joins_of(operation)]
        for join in merged(joins):
            self._keep(join.values, [])

    def _keep(self, values: Sequence[Value], more: Sequence[Shape]) -> None:
        known = [list(shape.arrays()) for shape in (*(value.shape for value in values), *more)]
        known += [self.kept[value] for value in values if value in self.kept]
        if all(array.effective_layout.is_default for arrays in known for array in arrays if array.is_static):
            return
        arrays = [_first_choice(leaves) for leaves in zip(*known, strict=True)]
        for value in values:
            self.kept[value] = arrays
            _record_elements(value, self.kept)

    def note_unused(self, report: Report, file: Path | None) -> None:
        """Reports the rules of a file that gave no array its layout."""
        for number, rule in enumerate(self.rules):
            if rule not in self.used:
                report.note(f"rule {number} of {file} gives no array its layout: {rule}")

    def imitate(self, module: Module, like: Module) -> None:
        """Records the layouts of `like`; raises DiagnosticError if the entry has other parameters or results."""
        if module.dialect == like.dialect == "hlo":
            self.named = {value.name: list(value.shape.arrays()) for value in values_in_memory(like)}
        (parameters, results), (like_parameters, like_results) = module.entry_layout, like.entry_layout
        received = _regrouped("parameters", parameters, like_parameters)
        returned = _regrouped("results", results, like_results)
        for value, arrays in zip(module.entry.results, returned, strict=True):
            self.interface[value] = arrays
            _record_elements(value, self.interface)
        self.interface.update(zip(module.entry.parameters, received, strict=True))

    def shape(self, value: Value, shape: Shape) -> Shape:
        """Returns a value's shape with the chosen layouts."""
        if not (self.rules or self.interface or self.named or self.predicted or value in self.kept):
            known = self.by_target.get(shape)
            if known is None:
                known = self.by_target[shape] = shape.map_arrays(self._default)
            return known
        models = iter(self.interface.get(value) or self.named.get(value.name) or [])
        kept = iter(self.kept.get(value, []))
        leaves = (number for number, leaf in enumerate(shape.leaves()) if isinstance(leaf, ArrayShape))

        def chosen(array: ArrayShape) -> ArrayShape:
            order = self.predicted(Node(value, next(leaves))) if self.predicted is not None else None
            return self._array(value, array, next(models, None), next(kept, None), order)

        return shape.map_arrays(chosen)

    def entry_layout(self, module: Module) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        """Returns the entry's parameters and results with the chosen layouts."""
        parameters, results = module.entry_layout
        return (
            tuple(map(self.shape, module.entry.parameters, parameters)),
            tuple(map(self.shape, module.entry.results, results)),
        )

    def _array(
        self,
        value: Value,
        shape: ArrayShape,
        model: ArrayShape | None,
        kept: ArrayShape | None,
        order: tuple[int, ...] | None,
    ) -> ArrayShape:
        if not shape.is_static:
            return shape
        is_predicted = order is not None and not (value.operation is None and value.function.is_entry)
        if not is_predicted and not shape.effective_layout.is_default:
            return shape
        if not is_predicted and kept is not None and not kept.effective_layout.is_default:
            return shape.with_layout(kept.effective_layout)
        for rule in self.rules:
            if rule.matches(value, shape):
                self.used.add(rule)
                return shape.with_layout(rule.layout)
        if model is not None and shape.type_and_dimensions == model.type_and_dimensions:
            return shape.with_layout(model.effective_layout)
        if order is not None and self.target is not None:
            return _inside(shape, order, parse_target(str(self.target)))
        return self._default(shape)

    def _default(self, shape: ArrayShape) -> ArrayShape:
        """Returns the shape with the target's layout, unless it has more than the descending order."""
        if self.target is None or not shape.is_static or not shape.effective_layout.is_default:
            return shape
        if self.target == "row-major":
            return shape.with_layout(Layout.descending(shape.rank))
        return shape.with_layout(default_layout(shape.element_type, shape.dimensions, str(self.target)))


def _record_elements(value: Value, known: dict[Value, list[ArrayShape]]) -> None:
    """Records the layouts of a tuple's elements for the operands of the tuple op."""
    if value.operation is not None and value.operation.opcode == "tuple":
        arrays = iter(known[value])
        for operand in value.operation.operands:
            known.setdefault(operand, [next(arrays) for _ in operand.shape.arrays()])


def _first_choice(leaves: Sequence[ArrayShape]) -> ArrayShape:
    """Returns the first array whose layout has more than the descending order, or else the first array."""
    return next((leaf for leaf in leaves if leaf.is_static and not leaf.effective_layout.is_default), leaves[0])


def _regrouped(what: str, ours: Sequence[Shape], theirs: Sequence[Shape]) -> list[list[ArrayShape]]:
    """Returns the arrays of `theirs`, grouped like `ours`: a tuple there may be several results here."""
    arrays = [leaf for shape in theirs for leaf in shape.arrays()]
    wanted = [leaf for shape in ours for leaf in shape.arrays()]
    if len(arrays) != len(wanted):
        raise DiagnosticError(f"the module to imitate has {len(arrays)} {what}, this one {len(wanted)}")
    for index, (model, shape) in enumerate(zip(arrays, wanted, strict=True)):
        if model.type_and_dimensions != shape.type_and_dimensions:
            raise DiagnosticError(f"{what[:-1]} {index} is {shape}, but {model} in the module to imitate")
    remaining = iter(arrays)
    return [[next(remaining) for _ in shape.arrays()] for shape in ours]


def _note_left_alone(module: Module, report: Report) -> None:
    """Reports the values that can have no layout, in one note for each reason (rule 4)."""
    values = [(value, value.shape) for value in values_in_memory(module)]
    shapes = {shape for _, shape in values}
    of_tokens = {shape for shape in shapes if isinstance(shape, TokenShape)}
    not_static = {shape for shape in shapes if any(not array.is_static for array in shape.arrays())}
    dynamic = [value for value, shape in values if shape in not_static] if not_static else []
    tokens = [value for value, shape in values if shape in of_tokens] if of_tokens else []
    for found, why in ((dynamic, "dimensions are dynamic"), (tokens, "tokens have no layout")):
        if found:
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            report.note(f"left alone: {found[0].name}{more}, {why}", found[0].location)


def _interface_values(module: Module) -> list[Value]:
    """Returns the entry's parameters and results, and the operands of a tuple op that is a result."""
    entry = module.entry
    values = [*entry.parameters, *entry.results]
    for value in entry.results:
        if value.operation is not None and value.operation.opcode == "tuple":
            values += value.operation.operands
    return values


_KINDS: dict[str, type] = {"name": str, "type": str, "rank": int, "opcode": str, "layout": str}


@dataclass(frozen=True, slots=True)
class LayoutRule:
    """A rule of a TOML file: gives `layout` to the values that match; a missing key matches every value.

    [[rule]]
    name = "kv_cache*"                # a glob over the value's name
    type = "bf16"                     # an element type
    rank = 4
    opcode = "parameter"              # HLO's spelling, in both dialects
    layout = "{3,2,1,0:T(8,128)(2,1)}"
    """

    layout: Layout
    name: str | None = None
    element_type: str | None = None
    rank: int | None = None
    opcode: str | None = None

    def __str__(self) -> str:
        keys = ("name", "element_type", "rank", "opcode", "layout")
        written = ((key.removeprefix("element_"), getattr(self, key)) for key in keys)
        return ", ".join(f"{key} = {value}" for key, value in written if value is not None)

    def matches(self, value: Value, shape: ArrayShape) -> bool:
        """Is true if all keys of the rule match a value and one array of it, of shape `shape`."""
        opcode = value.operation.opcode if value.operation is not None else "parameter"
        return (
            (self.name is None or fnmatchcase(value.name, self.name))
            and (self.element_type is None or self.element_type == shape.element_type.name)
            and (self.rank is None or self.rank == shape.rank)
            and (self.opcode is None or self.opcode == opcode)
            and len(self.layout.minor_to_major) == shape.rank
        )


def read_layout_rules(path: Path) -> tuple[LayoutRule, ...]:
    """Reads a rules file, whose first matching rule decides; raises DiagnosticError at the first error in the file."""
    top = read_toml(str(path))
    top.check({"rule": list})
    return tuple(map(_rule, top.tables("rule")))


def _rule(table: Table) -> LayoutRule:
    table.check(_KINDS, ("layout",))
    values = table.values
    try:
        if "type" in values:
            parse_element_type(values["type"])
        layout = parse_layout(values["layout"])
    except DiagnosticError as error:
        raise _within(table, error) from None
    return LayoutRule(layout, values.get("name"), values.get("type"), values.get("rank"), values.get("opcode"))


def _within(table: Table, error: DiagnosticError) -> DiagnosticError:
    """Returns an error of parsing a layout, with the location moved to the layout's text in the file."""
    found = error.diagnostics[0]
    text = table.values["layout"] if found.location is not None else table.values.get("type", "")
    start = table.source.text.find(text, table.start)
    span = found.location.span.shifted(start) if found.location is not None else Span(start, start + len(text))
    return error_at(table.source, span, found.message, found.hint)
