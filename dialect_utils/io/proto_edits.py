"""Serialized modules whose text has changed: everything that the text does not say stays.

Three messages are merged field by field: the module that a compiler handed over, its text read again, and the changed
text read. A field that the change of the text changes is new, all others stay as the compiler wrote them: ids, device
assignments, profiles, and fields of later versions of XLA. Source of the numbers: xla/service/hlo.proto.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from dialect_utils.io.protos import (
    BYTES,
    MODULE_ID,
    VARINT,
    Field,
    read_fields,
    read_varint,
    write_fields,
    write_varint,
)

# The fields of messages that hold ids, or messages with ids.
_Schema: TypeAlias = "Mapping[int, str | _Schema]"
# The lists of messages that belong together by their names.
_Keyed: TypeAlias = "Mapping[int, _Keyed]"
_Message: TypeAlias = list[Field]
# The name of a computation, and that of an instruction in it.
_Key: TypeAlias = tuple[str, ...]
_Ids: TypeAlias = dict[_Key, int]

_NAME, _INSTRUCTIONS, _COMPUTATIONS, _COMPUTATION_ID, _SCHEDULE, _INSTRUCTION_ID = 1, 2, 3, 5, 7, 35
# Of an instruction: the computations that it calls, and the other instructions that come before it.
_CALLS, _EDGES = 38, (36, 37)
# One id, which a message leaves out where it is 0, and lists of ids.
_COMPUTATION, _INSTRUCTION, _CALLED, _SEVERAL = "a computation", "an instruction", "computations", "instructions"
# A field that each reading of the text numbers on its own.
_DROPPED = "dropped"
_MODULE: _Schema = {
    _COMPUTATIONS: {
        _COMPUTATION_ID: _COMPUTATION,
        6: _INSTRUCTION,  # the root
        # Operands, control predecessors, called computations.
        _INSTRUCTIONS: {7: {15: _DROPPED}, _INSTRUCTION_ID: _INSTRUCTION, 36: _SEVERAL, 37: _SEVERAL, 38: _CALLED},
    },
    MODULE_ID: _DROPPED,
    17: _DROPPED,  # the table of stack frames; above: the number of one
    6: _COMPUTATION,  # the entry
    _SCHEDULE: {1: {1: _COMPUTATION, 2: {1: _SEVERAL}}},  # a map from computations to sequences
}
# Later versions of XLA have the id of the computation in an instruction's id, above these bits.
_LOCAL_BITS = 32


class LostFieldError(ValueError):
    """A text without a part of its module that merging cannot restore."""


def merge_protos(original: bytes, printed: bytes, changed: bytes) -> bytes:
    """Returns the HloModuleProto `original` with the changes from `printed` to `changed`.

    `printed` is the text of `original` read again, `changed` its changed text. Computations and instructions belong
    together by their names; a new one gets a new id. Raises LostFieldError where the text lacks a computation or the
    schedule of `original` and a pass may have changed it, and MalformedProtoError for other messages.
    """
    first = _read(original)
    again, last = (_with_ids_of(first, _read(each)) for each in (printed, changed))
    hidden = _hidden(first, again, last)
    scheduled, written = _schedule(first), _schedule(again)
    if any(scheduled.get(number) != entry for number, entry in written.items()):
        raise LostFieldError("its text does not say its schedule")
    merged = [*_with_hidden(_merged(first, again, last, {_COMPUTATIONS: {_INSTRUCTIONS: {}}}), hidden)]
    # Of some computations, such as those of fusions, the schedule is empty, and no text says that they have one.
    kept = {_id(each, _COMPUTATION_ID) for each in _named(merged, _COMPUTATIONS).values()} & scheduled.keys()
    entries = {number: scheduled[number] for number in kept} | _schedule(last)
    fields = [each for each in merged if each.number != _SCHEDULE]
    if entries:
        fields.append(_message(_SCHEDULE, (Field(1, BYTES, entries[number]) for number in sorted(entries))))
    return write_fields(fields)


def _hidden(first: _Message, again: _Message, last: _Message) -> dict[int, _Message]:
    """Returns the computations, by their ids, that the text leaves out: it prints their operation in their caller.

    A pass may change the operands of a caller, and nothing else. Raises LostFieldError where it changes more, and for
    other computations without a name in the text.
    """
    olds, reads, news = (_named(each, _COMPUTATIONS) for each in (first, again, last))
    hidden = {_id(each, _COMPUTATION_ID): each for name, each in olds.items() if name not in reads}
    called = set[int]()
    for name, read in reads.items():
        old, new = (_named(each.get(name, []), _INSTRUCTIONS) for each in (olds, news))
        for inner, each in _named(read, _INSTRUCTIONS).items():
            found = {*_called(old.get(inner, []))} & hidden.keys()
            called |= found
            if found and inner in new and _without_edges(each) != _without_edges(new[inner]):
                raise LostFieldError(f"its text does not say the computation of {inner}, which a pass changes")
    if called != hidden.keys() or not reads.keys() <= olds.keys():
        raise LostFieldError("its text does not name all of its computations")
    return hidden


def _without_edges(instruction: _Message) -> dict[int, _Message]:
    return {number: each for number, each in _by_number(instruction).items() if number not in _EDGES}


def _called(instruction: _Message) -> Iterator[int]:
    for field in instruction:
        if field.number == _CALLS:
            yield from (field.integer,) if field.wire_type == VARINT else _packed(field.bytes)


def _with_hidden(merged: Iterable[Field], hidden: dict[int, _Message]) -> Iterator[Field]:
    """Yields the fields of a module with the computations that its text leaves out, each before its first caller."""
    for field in merged:
        if field.number == _COMPUTATIONS:
            for each in _named(_read(field.bytes), _INSTRUCTIONS).values():
                for number in _called(each):
                    if number in hidden:
                        yield _message(_COMPUTATIONS, hidden.pop(number))
        yield field


def _read(data: bytes | memoryview) -> _Message:
    return [*read_fields(memoryview(data))]


def _merged(first: _Message, again: _Message, last: _Message, keyed: _Keyed) -> Iterator[Field]:
    """Yields the fields of three merged forms of a message."""
    before, printed, after = map(_by_number, (first, again, last))
    for number in sorted({*before, *after}):
        if number not in keyed:
            is_kept = after.get(number) == printed.get(number)
            yield from (before if is_kept else after).get(number, ())
            continue
        olds, reads, news = (_named(each, number) for each in (first, again, last))
        for name, new in news.items():
            old, read = olds.get(name), reads.get(name, [])
            yield _message(number, new if old is None else _merged(old, read, new, keyed[number]))


def _with_ids_of(original: _Message, module: _Message) -> _Message:
    """Returns a module that was read from text with the ids of `original`, without numbers of the reading itself."""
    own, found = _ids(module), _ids(original)
    is_local = all(number >> _LOCAL_BITS == found[key[:1]] for key, number in found.items() if key[1:])
    used, following = {*found.values()}, dict[int, int]()
    for key in own:
        if key not in found:
            start = found[key[:1]] << _LOCAL_BITS if is_local and key[1:] else 1
            number = following.get(start, start)
            while number in used:
                number += 1
            found[key], following[start] = number, number + 1
            used.add(number)
    computations = {number: found[key] for key, number in own.items() if not key[1:]}
    instructions = {number: found[key] for key, number in own.items() if key[1:]}
    maps = {_COMPUTATION: computations, _CALLED: computations, _INSTRUCTION: instructions, _SEVERAL: instructions}
    return [*_renumbered(module, _MODULE, maps)]


def _ids(module: _Message) -> _Ids:
    """Returns the ids of computations, and then those of instructions."""
    computations = _named(module, _COMPUTATIONS)
    found: _Ids = {(name,): _id(each, _COMPUTATION_ID) for name, each in computations.items()}
    for name, computation in computations.items():
        for inner, each in _named(computation, _INSTRUCTIONS).items():
            found[name, inner] = _id(each, _INSTRUCTION_ID)
    return found


def _id(message: _Message, number: int) -> int:
    return next((each.integer for each in message if each.number == number), 0)


def _renumbered(message: _Message, schema: _Schema, maps: Mapping[str, Mapping[int, int]]) -> Iterator[Field]:
    for field in message:
        rule = schema.get(field.number)
        if rule == _DROPPED:
            continue
        if rule is None:
            yield field
        elif not isinstance(rule, str):
            yield _message(field.number, _renumbered(_read(field.bytes), rule, maps))
        elif field.wire_type == VARINT:
            yield Field(field.number, VARINT, maps[rule][field.integer])
        else:
            packed = b"".join(write_varint(maps[rule][each]) for each in _packed(field.bytes))
            yield Field(field.number, BYTES, memoryview(packed))
    written = {field.number for field in message}
    for number, rule in schema.items():
        if number not in written and rule in (_COMPUTATION, _INSTRUCTION):
            yield Field(number, VARINT, maps[str(rule)][0])


def _packed(data: memoryview) -> Iterator[int]:
    position = 0
    while position < len(data):
        value, position = read_varint(data, position)
        yield value


def _by_number(message: _Message) -> dict[int, _Message]:
    found: dict[int, _Message] = {}
    for field in message:
        found.setdefault(field.number, []).append(field)
    return found


def _named(message: _Message, number: int) -> dict[str, _Message]:
    """Returns the messages of a field by their names."""
    found = {}
    for field in message:
        if field.number == number:
            part = _read(field.bytes)
            name = next((each.bytes for each in part if each.number == _NAME), memoryview(b""))
            found[bytes(name).decode(errors="replace")] = part
    return found


def _schedule(module: _Message) -> dict[int, memoryview]:
    """Returns the entries of the schedule by the ids of their computations."""
    schedules = [_read(each.bytes) for each in module if each.number == _SCHEDULE]
    return {_id(_read(entry.bytes), 1): entry.bytes for schedule in schedules for entry in schedule}


def _message(number: int, fields: Iterable[Field]) -> Field:
    return Field(number, BYTES, memoryview(write_fields(fields)))
