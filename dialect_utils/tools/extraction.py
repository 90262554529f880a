"""Extracts a part of a module as a module of its own, as XLA's `hlo_extractor` and `isolate_hlo` do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from dialect_utils.hlo import Computation, HloModule, Instruction, parse_module
from dialect_utils.hlo.graph import CONTROL
from dialect_utils.hlo.module import callees_first
from dialect_utils.hlo.text.attributes import names_in
from dialect_utils.hlo.text.printing import format_operands, with_sigil
from dialect_utils.ir import Module
from dialect_utils.layout import TupleShape
from dialect_utils.tools.selection import Part, around, find_function, find_operation, value_not_found, whole

if TYPE_CHECKING:
    from dialect_utils.stablehlo.module import StableHloModule

# Attributes of a header that describe the parameters and the result of the entry.
_OF_ENTRY = (
    "entry_computation_layout",
    "input_output_alias",
    "buffer_donor",
    "allow_spmd_sharding_propagation_to_parameters",
    "allow_spmd_sharding_propagation_to_output",
)
_ENTRY_NAME = "main"


def extract(
    module: Module,
    value: str | None = None,
    *,
    computation: str | None = None,
    before: int | None = 0,
    after: int = 0,
) -> Module:
    """Returns a part of a module as a module of its own; the values that it needs are its parameters.

    `value` names an operation (by its value) or a computation. `computation` names the computation that has the value,
    or without a value the one to extract. Of an operation, those at most `before` steps before it (None: all that it
    needs) and `after` steps after it are extracted, too, with the computations that they call. Several values that
    leave the part are a tuple. Raises DiagnosticError for a name that the module does not have, and ValueError for
    steps around a whole computation.

    >>> module = relayout.read("examples/attention.mlir")
    >>> part = extract(module, "10", before=1)
    >>> [str(value.shape) for value in part.entry.parameters]
    ['bf16[2,50,4,24]', 'bf16[2,50,4,24]', 'f32[]']
    """
    return part_as_module(module, find_part(module, value, computation=computation, before=before, after=after))


def find_part(
    module: Module, value: str | None, *, computation: str | None = None, before: int | None = 0, after: int = 0
) -> Part:
    """Returns the operations that `extract` extracts."""
    function = None if computation is None else find_function(module, computation)
    if value is not None:
        functions = list(module.functions) if function is None else [function]
        center = find_operation(module, value, functions)
        if center is not None:
            return around(center, before, after)
        known = {each.name for each in module.functions}
        if computation is not None or value.lstrip("%@") not in known:
            raise value_not_found(module, value, function)
        function = find_function(module, value)
    if before != 0 or after:
        raise ValueError("a whole computation has no operations before it or after it")
    return whole(module.entry if function is None else function)


def part_as_module(module: Module, part: Part) -> Module:
    """Returns a part of a module as a module whose entry has the inputs as parameters."""
    if module.dialect == "stablehlo":
        # Imported here, as above: work on HLO text must not load MLIR.
        from dialect_utils.stablehlo.extraction import extract_operations

        return cast(Module, extract_operations(cast("StableHloModule", module), part))
    return cast(Module, _extract_instructions(cast(HloModule, module), part))


def _extract_instructions(module: HloModule, part: Part) -> HloModule:
    """Returns the module of instructions: the lines of a computation stay as they are but for new parameters."""
    copy = module.clone()
    computation = _copied(copy, cast(Computation, part.function))
    items = [_named(computation, each.results[0].name) for each in part.operations]
    inputs = [_named(computation, each.name) for each in part.inputs]
    results = [_named(computation, each.name) for each in part.results]
    _cut_control(items, {item.name for item in (*items, *inputs)})
    # The text of a computation that is written in an attribute must not stay there.
    for item in items:
        computation.mark_edited(item)
    called = [each for each in callees_first(copy.computations) if each in _reached(items) and not each.is_inline]
    for name in _OF_ENTRY:
        copy.set_attribute(name, None) if name in copy.attributes else None
    head = (copy.header.text or f"HloModule {_ENTRY_NAME}") + copy.tables.rstrip()
    texts = [head, *(each.text().strip() for each in called), _entry_text(computation, items, inputs, results)]
    made = parse_module("\n\n".join(texts), "<extracted>")
    if module.entry_computation_layout is not None:
        made.set_entry_computation_layout([each.shape for each in made.entry.parameters], made.entry.root.shape)
    return made


def _copied(copy: HloModule, computation: Computation) -> Computation:
    found = copy.find(computation.name)
    # The instructions of a fragment are in a computation without a name.
    return copy.computations[0] if found is None else found


def _named(computation: Computation, name: str) -> Instruction:
    found = computation.find(name)
    assert found is not None  # the copy has the names of the original
    return found


def _cut_control(items: Sequence[Instruction], kept: set[str]) -> None:
    """Drops the control predecessors that are not in the part."""
    for item in items:
        text = item.attribute(CONTROL)
        if text is None:
            continue
        names = [name for name in names_in(text) if name in kept]
        listed = ", ".join(with_sigil(item.sigil, name) for name in names)
        item.set_attribute(CONTROL, f"{{{listed}}}" if names else None)


def _reached(items: Sequence[Instruction]) -> set[Computation]:
    """Returns the computations that instructions call, directly or through others."""
    found: set[Computation] = set()
    waiting = [callee for item in items for callee in item.called]
    while waiting:
        computation = waiting.pop()
        if computation not in found:
            found.add(computation)
            waiting += [callee for item in computation.instructions for callee in item.called]
    return found


def _entry_text(
    computation: Computation,
    items: Sequence[Instruction],
    inputs: Sequence[Instruction],
    results: Sequence[Instruction],
) -> str:
    root = results[0] if len(results) == 1 else None
    lines = [f"{'ROOT ' if item is root else ''}{line}" for item, line in _lines(items, inputs)]
    if root is None:
        name = computation.module.fresh_name("results")
        shape = TupleShape(tuple(each.shape for each in results))
        operands = format_operands(results, computation.sigil, is_typed=False) if results else ""
        lines.append(f"ROOT {with_sigil(computation.sigil, name)} = {shape} tuple({operands})")
    body = "\n".join(f"  {line}" for line in lines)
    return f"ENTRY {with_sigil(computation.sigil, computation.name or _ENTRY_NAME)} {{\n{body}\n}}\n"


def _lines(items: Sequence[Instruction], inputs: Sequence[Instruction]) -> Iterator[tuple[Instruction, str]]:
    """Yields a parameter for each value that comes from outside, then the instructions.

    A value that was a parameter keeps its attributes.
    """
    for number, item in enumerate(inputs):
        attributes = item.attribute_text if item.opcode == "parameter" else ""
        yield item, f"{with_sigil(item.sigil, item.name)} = {item.shape} parameter({number}){attributes}"
    for item in items:
        yield item, item.text().removeprefix("ROOT ")
