"""Facts of a module beside its values on which compilers rely, compared before and after passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic

_Pairs = list[tuple[Instruction, Instruction]]
# A fact of an instruction before and after passes: the instruction, the name of the fact, and both values.
_Compared = Iterator[tuple[Instruction, str, object, object]]

# The attributes of the header, those of an instruction whose opcode stays, and those of all others.
_SCHEDULED = ("is_scheduled",)
_HEADER = {
    "schedule": _SCHEDULED,
    "scheduled": _SCHEDULED,  # in any order
    "aliases": ("input_output_alias", "buffer_donor", "num_partitions", "replica_count", "frontend_attributes"),
}
_CONFIGURED, _DESCRIBED = ("backend_config", "kind"), ("metadata", "sharding", "frontend_attributes")


def changes(fact: str, before: Module, after: Module) -> Iterator[Diagnostic]:
    """Yields the changes of a fact that a pass may keep, where instructions of one name belong together."""
    if not (isinstance(before, HloModule) and isinstance(after, HloModule)):
        return
    olds, news = (
        {(c.name, each.name): each for c in m.computations for each in c.instructions} for m in (before, after)
    )
    if fact == "schedule" and [name for name in olds if name in news] != [name for name in news if name in olds]:
        yield Diagnostic("the operations of the schedule are in another order")
    for name in _HEADER.get(fact, ()):
        values = before.attributes.get(name), after.attributes.get(name)
        if values[0] != values[1]:
            yield Diagnostic(f"{name} of the module {_shown(*values)}")
    pairs = [(old, news[name]) for name, old in olds.items() if name in news]
    for instruction, name, old, new in _COMPARED[fact](pairs) if fact in _COMPARED else ():
        if old != new:
            yield Diagnostic(f"{name} of {instruction.name} {_shown(old, new)}", instruction.location)


def _shown(old: object, new: object) -> str:
    return f"is {new or 'nothing'}, and was {old or 'nothing'} before the passes"


def _attributes(pairs: _Pairs) -> _Compared:
    for old, new in pairs:
        for name in (*_DESCRIBED, *(_CONFIGURED if old.opcode == new.opcode else ())):
            yield old, name, old.attribute(name), new.attribute(name)


def _memory_spaces(pairs: _Pairs) -> _Compared:
    for old, new in pairs:
        yield old, "the memory space", _spaces(old), _spaces(new)


def _spaces(instruction: Instruction) -> str:
    return ", ".join(str(each.layout.memory_space if each.layout else 0) for each in instruction.shape.arrays())


def _control_dependencies(pairs: _Pairs) -> _Compared:
    left = {each.name for each, _ in pairs}
    for old, new in pairs:
        yield old, "the control predecessor", _predecessors(old, left), _predecessors(new, left)


def _predecessors(instruction: Instruction, left: set[str]) -> str:
    return ", ".join(sorted({each.name for each in instruction.computation.control.get(instruction, ())} & left))


_COMPARED: Mapping[str, Callable[[_Pairs], _Compared]] = {
    "memory-spaces": _memory_spaces,
    "control-dependencies": _control_dependencies,
    "attributes": _attributes,
}
