"""An HLO module: its header, its computations, and the text around them.

Longer than most files: it implements the interface `ir.Module`, each member in a few lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, Protocol

from dialect_utils.hlo.computation import Computation, as_computation
from dialect_utils.hlo.graph import NameTable
from dialect_utils.hlo.instruction import Instruction, as_instruction
from dialect_utils.hlo.text.attributes import (
    called_in,
    is_calling,
    parse_aliases,
    parse_donors,
    parse_frontend_attributes,
    renamed,
)
from dialect_utils.hlo.text.header import Header
from dialect_utils.ir import Builder, Function, Module, Operation, Value, control_flow
from dialect_utils.ir.assignments import Guarded, assign
from dialect_utils.layout import Shape
from dialect_utils.text import DiagnosticError, Source, Span, elided, error_at, meant
from dialect_utils.text.input_file import collector_paused

# The module attribute that holds Shardy's meshes.
_MESHES, _MESH = "xla.sdy.meshes", re.compile(r"([\w.$-]+) = #sdy\.mesh(<[^>]*>)")


class Maker(Protocol):
    """The reader of new computations, and the maker of builders.

    The parser passes it to the module, so that the graph imports neither the reader nor the builder.
    """

    def computation(self, module: HloModule, text: str) -> Computation:
        """Reads one computation and adds it to a module."""

    def builder(
        self, computation: Computation, *, after: Instruction | None = None, before: Instruction | None = None
    ) -> Builder:
        """Returns a builder that inserts before or after an instruction."""


class SoundSignatures:
    """The signatures of instructions that the verifier has found sound, by the options of the verification.

    A signature holds all that decides about an instruction, so it stays true whatever is edited. It names shapes by
    their identity: `shapes` keeps them alive, so that no other shape gets the identity.
    """

    __slots__ = ("by_options", "shapes")

    def __init__(self) -> None:
        self.by_options: dict[tuple[object, ...], set[tuple[object, ...]]] = {}
        self.shapes: list[tuple[Shape, ...]] = []


class HloModule(Guarded, Module):
    """An HLO module, made by `parse_module`; unedited parts print byte for byte as they were read."""

    dialect: Literal["hlo"] = "hlo"
    SETTINGS = frozenset(("is_of_compiler", "sound", "writes_layouts"))

    def __init__(self, source: Source, name: str, header: Header, maker: Maker) -> None:
        self.source = source
        self.header = header
        self.maker = maker
        self._name = name
        # In the order of the text.
        self._computations: dict[Computation, None] = {}
        self._by_name: dict[str, Computation] = {}
        self._entry: Computation | None = None
        self._names: NameTable | None = None
        self._is_edited = False
        # The printed header and module, until the next edit.
        self._printed: tuple[str, str] | None = None
        # From the start of the first computation to the end of the last.
        self._read = Span(0, 0)
        # True where shapes are written with layouts, as in every dump; new shapes then have layouts.
        self.writes_layouts = False
        # Whether a compiler wrote the module; the verifier finds out, and clones keep it through all passes.
        self.is_of_compiler: bool | None = None
        # The signatures that the verifier has found sound; clones share them.
        self.sound = SoundSignatures()

    def fill(self, computations: list[Computation], read: Span, writes_layouts: bool) -> None:
        """Sets the computations, once, which were read from this span of the source.

        Raises DiagnosticError where two have the same name or are marked ENTRY.
        """
        self.register(computations)
        self._computations = dict.fromkeys(computations)
        self._read = read
        self.writes_layouts = writes_layouts

    def register(self, computations: Sequence[Computation]) -> None:
        """Adds computations to the table of names; raises DiagnosticError for a name that is in use."""
        for computation in computations:
            name, span = computation.name, computation.written.frame.name
            if name in self._by_name:
                raise error_at(computation.source, span, f"computation %{name} is defined twice")
            if name:
                self._by_name[name] = computation
            if computation.is_marked_entry:
                if self._entry is not None:
                    raise error_at(computation.source, span, "a module has only one ENTRY computation")
                self._entry = computation

    def __repr__(self) -> str:
        return elided(self.text())

    def _repr_html_(self) -> str:
        """Returns the HTML for notebooks: the entry's parameters and results, and the text."""
        from dialect_utils.ir.notebook import module_html

        return module_html(self)

    # Protocol

    @property
    def name(self) -> str:
        """Returns the module's name; empty for a fragment without a header."""
        return self._name

    @property
    def computations(self) -> Sequence[Computation]:
        """Returns the computations in the order of the text."""
        return tuple(self._computations)

    @property
    def functions(self) -> Sequence[Computation]:
        return callees_first(tuple(self._computations))

    def operations(self) -> Iterator[Instruction]:
        return (operation for function in self.functions for operation in function.operations)

    def values(self) -> Iterator[Instruction]:
        return (value for function in self.functions for value in function.values())

    def __iter__(self) -> Iterator[Computation]:
        return iter(self.functions)

    @property
    def entry(self) -> Computation:
        """Returns the computation marked ENTRY, else the last one, as XLA does.

        Raises DiagnosticError for bare instruction lines.
        """
        entry = self.try_entry()
        if entry is None:
            message = "this fragment has no entry computation"
            raise error_at(self.source, Span(0, 0), message, "write the instructions inside ENTRY main { ... }")
        return entry

    def try_entry(self) -> Computation | None:
        """Returns the entry, or None for bare instruction lines."""
        if self._entry is not None:
            return self._entry
        last = next(reversed(self._computations))
        return last if last.name else None

    def find(self, name: str) -> Computation | None:
        """Returns the computation of a name (without `%`), or None."""
        return self._by_name.get(name)

    @collector_paused
    def clone(self) -> HloModule:
        """Returns an independent copy with the same locations in the text."""
        copy = HloModule(self.source, self._name, self.header.copied(), self.maker)
        copies: dict[Instruction, Instruction] = {}
        functions = {computation: computation.copied(copy, copies) for computation in self._computations}
        for computation, function in functions.items():
            computation.link_copy(function, copies, functions)
        copy.fill(list(functions.values()), self._read, self.writes_layouts)
        copy.is_of_compiler, copy.sound = self.is_of_compiler, self.sound
        if self._is_edited:
            copy.mark_edited()
        return copy

    def before(self, operation: Operation) -> Builder:
        instruction = as_instruction(operation)
        return self.maker.builder(instruction.computation, before=instruction)

    def after(self, value: Value) -> Builder:
        """Returns a builder that inserts right after a value, or after the consecutive parameters from a parameter on.

        It does not skip later parameters: in a scheduled dump, users of one parameter may come before the next.
        """
        instruction = as_instruction(value)
        if instruction.opcode == "parameter":
            instruction = instruction.computation.last_parameter_in_row(instruction)
        return self.maker.builder(instruction.computation, after=instruction)

    def at_end(self, function: Function) -> Builder:
        computation = as_computation(function)
        return self.maker.builder(computation, after=computation.order.last)

    @property
    def entry_layout(self) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        written = self.entry_computation_layout
        if written is not None:
            return written[0], (written[1],)
        return tuple(parameter.shape for parameter in self.entry.parameters), (self.entry.root.shape,)

    def set_entry_layout(self, parameters: Sequence[Shape], results: Sequence[Shape]) -> None:
        """Writes entry_computation_layout; raises ValueError where the number of shapes does not fit."""
        if len(results) != 1:
            raise ValueError(f"an HLO computation returns one value, not {len(results)}")
        count = len(self.entry.parameters)
        if len(parameters) != count:
            raise ValueError(f"the entry has {count} parameters, not {len(parameters)}")
        self.header.set_entry_layout(parameters, results[0])

    @property
    def entry_shardings(self) -> tuple[tuple[str | None, ...], tuple[str | None, ...]]:
        parameters = tuple(each.attribute("sharding") for each in self.entry.parameters)
        return parameters, (self.entry.root.attribute("sharding"),)

    def mesh(self, symbol: str) -> str | None:
        text = parse_frontend_attributes(self.attributes.get("frontend_attributes", "{}")).get(_MESHES, "")
        return next((found[2] for found in _MESH.finditer(text) if found[1] == symbol), None)

    @property
    def aliases(self) -> Sequence[tuple[tuple[int, ...], int, tuple[int, ...]]]:
        text = self.attributes.get("input_output_alias")
        return () if text is None else parse_aliases(text)

    @property
    def donors(self) -> Sequence[tuple[int, tuple[int, ...]]]:
        """Returns the arrays of `buffer_donor`, whose memory any result may take: (parameter, index path)."""
        text = self.attributes.get("buffer_donor")
        return () if text is None else parse_donors(text)

    # Header

    @property
    def attributes(self) -> Mapping[str, str]:
        return MappingProxyType(self.header.attributes)

    def set_attribute(self, name: str, text: str | None) -> None:
        """Changes or adds an attribute of the header, or drops it for None.

        Raises ValueError for a fragment without a header.
        """
        self.header.set(name, text)

    @property
    def entry_computation_layout(self) -> tuple[tuple[Shape, ...], Shape] | None:
        """Returns the shapes of the entry's parameters and result in the header, or None where absent.

        Raises DiagnosticError where the text is wrong.
        """
        return self.header.entry_layout

    @property
    def is_scheduled(self) -> bool:
        """Is true where the order of the instructions is a schedule."""
        return self.attributes.get("is_scheduled") == "true"

    def note_shape(self, shape: Shape) -> None:
        """Records a new shape: after the first one with a layout, the module writes layouts."""
        if not self.writes_layouts:
            self.writes_layouts = any(array.layout is not None for array in shape.arrays())

    # Names

    def fresh_name(self, base: str) -> str:
        """Returns a legal name like `base` that no instruction or computation has or ever had."""
        return self.names.fresh(base)

    @property
    def names(self) -> NameTable:
        """Returns all names that the module ever used, which are collected on first use."""
        if self._names is None:
            self._names = NameTable(self._by_name)
            for computation in self._computations:
                for item in computation.instructions:
                    self._names.add(item.name)
        return self._names

    def note_name(self, name: str) -> None:
        """Records a name as used."""
        if self._names is not None:
            self._names.add(name)

    # Computations

    def mark_edited(self) -> None:
        """Marks the module as changed since it was read."""
        self._is_edited = True
        self._printed = None

    def add_computation(self, text: str) -> Computation:
        """Reads a computation's text and adds it after the last computation that it calls.

        Raises DiagnosticError where the text is wrong, calls an unknown computation or has the
        name of another one; `fresh_name` returns a free name.
        """
        return self.maker.computation(self, text)

    def insert_computations(self, made: Sequence[Computation]) -> None:
        """Adds new computations, after the last that they call."""
        for computation in made:
            self.note_name(computation.name)
            for item in computation.instructions:
                self.note_name(item.name)
        called = {callee for computation in made for item in computation.instructions for callee in item.called}
        index = max((i + 1 for i, computation in enumerate(self._computations) if computation in called), default=0)
        found = list(self._computations)
        self._computations = dict.fromkeys([*found[:index], *made, *found[index:]])
        self.mark_edited()

    def forget(self, computations: Sequence[Computation]) -> None:
        """Removes names that `register` added."""
        for computation in computations:
            if self._by_name.get(computation.name) is computation:
                del self._by_name[computation.name]

    def remove_function(self, function: Function) -> None:
        """Removes a computation; raises ValueError where it is called or the entry."""
        computation = as_computation(function)
        if computation.callers:
            raise ValueError(f"%{computation.name} is still called by %{computation.callers[0].name}")
        if computation is self.try_entry():
            raise ValueError(f"%{computation.name} is the entry")
        for item in computation.instructions:
            for callee in item.called:
                callee.remove_caller(item)
                if callee.owner is item and not callee.callers:
                    self.remove_function(callee)
        del self._computations[computation]
        del self._by_name[computation.name]
        self.mark_edited()

    def rename_computation(self, computation: Computation, name: str) -> None:
        """Changes the name of a computation in its callers; raises ValueError where another one has the name."""
        if name in self._by_name:
            raise ValueError(f"the module already has a computation %{name}")
        old = computation.name
        del self._by_name[old]
        self._by_name[name] = computation
        self.note_name(name)
        for caller in computation.callers:
            attributes = {
                key: renamed(text, old, name) if is_calling(key) else text for key, text in caller.attributes.items()
            }
            caller.set_attributes(attributes)

    def link_calls(self, item: Instruction) -> None:
        """Resolves the computations that an instruction calls by name; raises DiagnosticError for an unknown one."""
        called = []
        for attribute, name in control_flow.in_role_order(item.opcode, called_in(item.attribute_text)):
            computation = self._by_name.get(name)
            if computation is None:
                hint = meant(name, self._by_name, sign="%")
                message = f"unknown computation %{name} in {attribute} of %{item.name}"
                raise DiagnosticError(message, item.locate_name(attribute, name), hint=hint)
            called.append(computation)
        for callee in item.called:
            callee.remove_caller(item)
        assign(item, "called", tuple(called))
        for computation in called:
            computation.add_caller(item)
            owner = computation.owner
            if owner is not None and owner is not item:
                # Another instruction calls it by name: its text cannot stay inside the owner.
                owner.computation.mark_edited(owner)

    # Text

    @property
    def tables(self) -> str:
        """Returns the text between the header and the first computation: the tables of file names and stack frames."""
        return self.source.text[self.header.span.end : self._read.start]

    @property
    def hides_instructions(self) -> bool:
        """Is true where an operand is written as `%t#1` or as a whole instruction."""
        return any(computation.written.inline for computation in self._computations)

    def give_lines(self) -> None:
        """Gives a line of its own to every instruction that is written in an operand."""
        for computation in self._computations:
            inline = computation.written.inline
            if inline:
                computation.mark_edited(*(item for item in computation.instructions if item.number in inline))

    @property
    def has_callees_first(self) -> bool:
        """Is true where each computation is written after its callees, as XLA's parser requires."""
        return _is_callees_first(tuple(self._computations))

    def sort_callees_first(self) -> None:
        """Writes each computation after its callees."""
        self._computations = dict.fromkeys(self.functions)
        self._is_edited = True

    def text(self) -> str:
        source, header = self.source.text, self.header
        if not self._is_edited and not header.is_edited:
            return source
        if self._printed is None or self._printed[0] != header.text:
            parts = [source[: header.span.start], header.text, self.tables]
            parts += [computation.text() for computation in self._computations if not computation.is_inline]
            parts.append(source[self._read.end :])
            self._printed = header.text, "".join(parts)
        return self._printed[1]


def callees_first(computations: Sequence[Computation]) -> Sequence[Computation]:
    """Returns computations with each one after its callees; keeps an order that satisfies this.

    Raises DiagnosticError where a computation calls itself, directly or through others.
    """
    if _is_callees_first(computations):
        return list(computations)

    def reject(operation: Operation, callee: Function) -> None:
        raise DiagnosticError(f"%{callee.name} calls itself through %{operation.results[0].name}", operation.location)

    return list(map(as_computation, control_flow.callees_first(computations, reject)))


def _is_callees_first(computations: Sequence[Computation]) -> bool:
    """Is true where every caller comes after the computation, which is so in what XLA prints."""
    passed: set[Computation] = set()
    for computation in computations:
        passed.add(computation)
        if any(caller.computation in passed for caller in computation.callers):
            return False
    return True
