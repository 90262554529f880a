"""Parameters that a rewrite drops, adds or moves, matched by names and types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from dialect_utils.ir import Module, Value
from dialect_utils.layout import Shape
from dialect_utils.ops.device_counts import devices_of
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.entry import entry_interface

# Names that printers give: `Arg_0.1`, `param_2`, `p.3`, and `%arg0` at position 0.
_PRINTED = re.compile(r"(?:Arg|param|parameter|p)?[._]?\d+(?:\.\d+)*|p|arg(\d+)", re.ASCII)
_HINT = "parameters are matched by name, by types of which both have as many, or if those left out are unused"
# Attributes of HLO that number the parameters, and affect no result.
_NUMBERED = ("input_output_alias", "buffer_donor", "allow_spmd_sharding_propagation_to_parameters")


def with_common_parameters(stages: Sequence[Module]) -> tuple[Sequence[Module], tuple[str, ...]]:
    """Returns forms of a module, and how their parameters were matched: nothing where they fit by position.

    Otherwise the first and the last form get the parameters of both, in the order of the first. Raises DiagnosticError
    where it is not clear which parameter is which.
    """
    sides = [list(stage.entry.parameters) for stage in (stages[0], stages[-1])]
    try:
        entry_interface(stages)
        return stages, ()
    except DiagnosticError as error:
        pairs = None if _shapes(sides[0]) == _shapes(sides[1]) else _matched(*sides)
        if pairs is None:
            first = replace(error.diagnostics[0], hint=_hint(stages[0], stages[-1]))
            raise DiagnosticError(first if sides[0] != sides[1] else error.diagnostics) from None
    added = [number for number in range(len(sides[1])) if number not in pairs.values()]
    common = [
        [*range(len(sides[0])), *(sides[1][number].shape for number in added)],
        [*(pairs.get(number, value.shape) for number, value in enumerate(sides[0])), *added],
    ]
    forms = [_with_parameters(stage, order) for stage, order in zip((stages[0], stages[-1]), common, strict=True)]
    entry_interface(forms)
    return forms, tuple(_told(sides[0], sides[1], pairs))


def _hint(first: Module, last: Module) -> str:
    """Returns both signatures, and how they could fit: by other parameters, or as a program and its parts."""
    taken = [
        ", ".join(f"{each.name}: {each.shape.without_layout}" for each in m.entry.parameters) for m in (first, last)
    ]
    made = [", ".join(_shapes(module.entry.results)) for module in (first, last)]
    listed = f"({taken[0]}) -> {made[0]} in one, ({taken[1]}) -> {made[1]} in the other"
    if devices_of(first).count != (count := devices_of(last).count) > 1:
        return f"{listed}; --sharded compares a program with its parts on {count} devices"
    is_about_results = _shapes(first.entry.parameters) == _shapes(last.entry.parameters)
    return listed if is_about_results else f"{listed}; {_HINT}"


def _shapes(parameters: Sequence[Value]) -> list[str]:
    return [str(each.shape.without_layout) for each in parameters]


def _matched(first: Sequence[Value], last: Sequence[Value]) -> dict[int, int] | None:
    """Returns the numbers of the last module's parameters by those of the first; None where they are not clear."""
    names = [[_name(each, number) for number, each in enumerate(side)] for side in (first, last)]
    if any(names[0]) != any(names[1]):
        # The other side has the names of a printer, `%arg0` in order.
        names = [[value.name for value in side] for side in (first, last)]
    known = {each for each in names[0] if each and names[0].count(each) == names[1].count(each) == 1}
    found = {names[0].index(each): names[1].index(each) for each in known}
    shapes = _shapes(first), _shapes(last)
    for shape in {*shapes[0], *shapes[1]}:
        ours, theirs = (
            [number for number, each in enumerate(side) if each == shape and listed[number] not in known]
            for side, listed in zip(shapes, names, strict=True)
        )
        if ours and theirs and len(ours) != len(theirs):
            if len(ours) > len(theirs):
                ours = [each for each in ours if _is_used(first[each])]
            else:
                theirs = [each for each in theirs if _is_used(last[each])]
            if len(ours) != len(theirs):
                return None
        found |= dict(zip(ours, theirs, strict=False))
    # One side has nothing that the other lacks, and no name has two types.
    is_clear = len(found) == min(len(first), len(last))
    return found if is_clear and all(shapes[0][mine] == shapes[1][other] for mine, other in found.items()) else None


def _name(parameter: Value, number: int) -> str:
    """Returns the name of a parameter, empty where a printer gave it by position."""
    # Imported here: most pairs have one signature.
    from dialect_utils.execution.named import name_of

    name = name_of(parameter) or parameter.name
    printed = _PRINTED.fullmatch(name)
    return "" if printed and printed[1] in (None, str(number)) else name


def _is_used(parameter: Value) -> bool:
    return bool(parameter.users) or parameter in parameter.function.results


def _with_parameters(module: Module, order: Sequence[int | Shape]) -> Module:
    """Returns a module whose entry has its own parameters in another order, and new ones of shapes."""
    copy = module.clone()
    layouts, results = copy.entry_layout
    copy.entry.set_parameters(order)
    if copy.dialect == "hlo":
        copy.set_entry_layout([layouts[each] if isinstance(each, int) else each for each in order], results)
        for name in {*_NUMBERED} & copy.attributes.keys():
            copy.set_attribute(name, None)
    return copy


def _told(first: Sequence[Value], last: Sequence[Value], pairs: dict[int, int]) -> list[str]:
    """Returns a sentence about each parameter that one module lacks, and about all if their order differs."""
    sides = (("first", "second", first, pairs.keys()), ("second", "first", last, {*pairs.values()}))
    lines = [
        f"parameter {number} ({each.name}) of the {own} is not in the {other}; the {own} "
        f"{'uses' if _is_used(each) else 'does not use'} it"
        for own, other, values, known in sides
        for number, each in enumerate(values)
        if number not in known
    ]
    moved = [pairs[each] for each in sorted(pairs)]
    if moved != sorted(moved):
        lines += [f"parameter {each} of the first is parameter {pairs[each]} of the second" for each in sorted(pairs)]
    return lines
