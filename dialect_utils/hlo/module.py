"""An HLO module: its header, its computations, and the text around them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Literal

from dialect_utils.hlo.attributes import (
    format_frontend_attributes,
    parse_aliases,
    parse_frontend_attributes,
)
from dialect_utils.hlo.builder import HloBuilder
from dialect_utils.hlo.calls import called_in, is_calling, renamed
from dialect_utils.hlo.computation import Computation, as_computation
from dialect_utils.hlo.grammar import scan_attributes
from dialect_utils.hlo.instruction import Instruction, as_instruction
from dialect_utils.hlo.names import NameTable
from dialect_utils.hlo.signature import follow, format_entry_layout, parse_entry_layout
from dialect_utils.hlo.tokens import Scanner
from dialect_utils.ir import Function, Operation, Value
from dialect_utils.layout import Shape
from dialect_utils.text import Diagnostic, DiagnosticError, Source, Span, error_at, nearest

_ENTRY_LAYOUT = "entry_computation_layout"


class HloModule:
    """Is an HLO module read from text; `parse_module` makes one.

    What is not edited prints as it was read, byte for byte.
    """

    form: Literal["hlo"] = "hlo"

    def __init__(self, source: Source, name: str, header: Span | None) -> None:
        self.source = source
        self._name = name
        # The header is short and rarely edited: it is kept as text and split where it is asked for.
        self._header = source.text[header.start : header.end] if header else ""
        self._header_span = header or Span(0, 0)
        self._computations: list[Computation] = []
        self._by_name: dict[str, Computation] = {}
        self._entry: Computation | None = None
        self._names: NameTable | None = None
        self._edited = False
        # Where the text behind the last computation begins.
        self._read_begin = self._read_end = 0
        self._writes_layouts: bool | None = None

    def __repr__(self) -> str:
        return f"<HloModule {self._name}>"

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
        """Returns the computations, callees first."""
        return callees_first(self._computations)

    def __iter__(self) -> Iterator[Computation]:
        return iter(self.functions)

    @property
    def entry(self) -> Computation:
        """Returns the computation marked ENTRY, else the last one, as XLA takes it.

        Raises DiagnosticError for bare instruction lines.
        """
        entry = self.try_entry()
        if entry is None:
            message = "this fragment has no entry computation"
            raise error_at(self.source, Span(0, 0), message, "put the instructions into ENTRY main { ... }")
        return entry

    def try_entry(self) -> Computation | None:
        """Returns the entry, or None for bare instruction lines."""
        if self._entry is not None:
            return self._entry
        last = self._computations[-1]
        return last if last.name else None

    def find(self, name: str) -> Computation | None:
        """Returns the computation of a name (without `%`), or None."""
        return self._by_name.get(name)

    def clone(self) -> HloModule:
        """Returns an independent copy."""
        from dialect_utils.hlo.copying import copy_module

        return copy_module(self)

    def before(self, operation: Operation) -> HloBuilder:
        """Returns a builder that makes instructions in front of one."""
        return HloBuilder(as_instruction(operation).computation, before=as_instruction(operation))

    def after(self, value: Value) -> HloBuilder:
        """Returns a builder right behind a value; behind the parameters that follow it for a parameter.

        In a scheduled dump parameters stand anywhere, and users of the first may stand in
        front of the last; only the ones in a row with this one are passed.
        """
        place = as_instruction(value)
        order = place.computation._order()
        if place.opcode == "parameter":
            following = order.after(place)
            while following is not None and following.opcode == "parameter":
                place, following = following, order.after(following)
        return HloBuilder(place.computation, after=place)

    def at_end(self, function: Function) -> HloBuilder:
        """Returns a builder behind all instructions of a computation."""
        computation = as_computation(function)
        return HloBuilder(computation, after=computation._order().last)

    @property
    def entry_layout(self) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        """Returns the shapes of the entry's parameters and its result with the layouts callers see."""
        written = self.entry_computation_layout
        if written is not None:
            return written[0], (written[1],)
        return tuple(parameter.shape for parameter in self.entry.parameters), (self.entry.root.shape,)

    def set_entry_layout(self, parameters: Sequence[Shape], results: Sequence[Shape]) -> None:
        """Writes entry_computation_layout; raises ValueError where the number of shapes does not fit."""
        if len(results) != 1:
            raise ValueError(f"an HLO computation returns one value, not {len(results)}")
        self.set_entry_computation_layout(parameters, results[0])

    @property
    def aliases(self) -> Sequence[tuple[tuple[int, ...], int, tuple[int, ...]]]:
        """Returns (result index path, parameter number, parameter index path) of every alias."""
        text = self.attributes.get("input_output_alias")
        return () if text is None else parse_aliases(text)

    # Header

    @property
    def attributes(self) -> Mapping[str, str]:
        """Returns the header's attributes as text, by name in order."""
        return MappingProxyType(
            {name: self._header[value.start : value.end] for name, _, value in self._split_header()}
        )

    def set_attribute(self, name: str, text: str | None) -> None:
        """Changes or adds an attribute of the header, or drops it for None.

        Raises ValueError for a fragment without a header.
        """
        if not self._header and text is None:
            return
        if not self._header:
            raise ValueError("a fragment without a HloModule line has no attributes")
        places = {key: (start, value) for key, start, value in self._split_header()}
        header = self._header
        if name in places:
            start, value = places[name]
            if text is None:
                begin = header.rindex(",", 0, start.start)
                self._header = header[:begin] + header[value.end :]
            else:
                self._header = header[: value.start] + text + header[value.end :]
        elif text is not None:
            self._header = f"{header}, {name}={text}"
        self._edited = self._edited or self._header != header

    def _split_header(self) -> list[tuple[str, Span, Span]]:
        if not self._header:
            return []
        scanner = Scanner(Source("<header>", self._header))
        scanner.next()
        scanner.next()
        return scan_attributes(scanner, atoms=True)

    @property
    def entry_computation_layout(self) -> tuple[tuple[Shape, ...], Shape] | None:
        """Returns the shapes of the entry's parameters and result in the header, or None where absent.

        Raises DiagnosticError where the text is wrong.
        """
        for name, _, value in self._split_header():
            if name == _ENTRY_LAYOUT:
                return parse_entry_layout(*self._header_place(value))
        return None

    def _header_place(self, span: Span) -> tuple[Source, Span]:
        """Returns a span of the header as one of the file where the header still is as it was read."""
        start = self._header_span.start
        if self.source.text.startswith(self._header, start) and len(self._header) == self._header_span.end - start:
            return self.source, span.shifted(start)
        return Source("<header>", self._header), span

    def set_entry_computation_layout(self, parameters: Sequence[Shape], result: Shape) -> None:
        """Writes the entry layout; raises ValueError where the number of parameters is another."""
        count = len(self.entry.parameters)
        if len(parameters) != count:
            raise ValueError(f"the entry has {count} parameters, not {len(parameters)}")
        self.set_attribute(_ENTRY_LAYOUT, format_entry_layout(parameters, result))

    def _entry_shape_changed(self, number: int | None, old: Shape, new: Shape) -> None:
        """Lets the entry layout follow parameter `number`, or the result for None."""
        written = self.entry_computation_layout
        if written is None:
            return
        parameters, result = list(written[0]), written[1]
        if number is None:
            result = follow(result, old, new)
        elif number < len(parameters):
            parameters[number] = follow(parameters[number], old, new)
        if (tuple(parameters), result) != written:
            self.set_attribute(_ENTRY_LAYOUT, format_entry_layout(parameters, result))

    @property
    def is_scheduled(self) -> bool:
        """Is true where the order of the instructions is a schedule."""
        return self.attributes.get("is_scheduled") == "true"

    @property
    def frontend_attributes(self) -> Mapping[str, str]:
        """Returns the module's frontend attributes, strings without their quotes."""
        text = self.attributes.get("frontend_attributes")
        return MappingProxyType({} if text is None else parse_frontend_attributes(text))

    def set_frontend_attribute(self, name: str, value: str | None) -> None:
        """Changes, adds or (for None) drops one frontend attribute of the module."""
        values = dict(self.frontend_attributes)
        values.pop(name, None) if value is None else values.update({name: value})
        self.set_attribute("frontend_attributes", format_frontend_attributes(values) if values else None)

    @property
    def writes_layouts(self) -> bool:
        """Is true where shapes were read with layouts, as in every dump; new shapes then have one."""
        if self._writes_layouts is None:
            items = (item for computation in self._computations for item in computation.instructions)
            self._writes_layouts = any("]{" in item._shape_text for item in items)
        return self._writes_layouts

    # Names

    def fresh_name(self, base: str) -> str:
        """Returns a legal name like `base` that no instruction or computation has or ever had."""
        return self._name_table().fresh(base)

    def _name_table(self) -> NameTable:
        if self._names is None:
            self._names = NameTable(self._by_name)
            for computation in self._computations:
                for item in computation.instructions:
                    self._names.add(item.name)
        return self._names

    def _note_name(self, name: str) -> None:
        if self._names is not None:
            self._names.add(name)

    # Computations

    def add_computation(self, text: str) -> Computation:
        """Reads a computation's text and adds it behind the last computation that it calls.

        Raises DiagnosticError where the text is wrong, calls an unknown computation or has the
        name of another one; `fresh_name` gives one that is free.
        """
        from dialect_utils.hlo.parse import parse_new_computation

        return parse_new_computation(self, text)

    def remove_computation(self, computation: Computation) -> None:
        """Removes a computation; raises ValueError where it is called or the entry."""
        if computation.callers:
            raise ValueError(f"%{computation.name} is still called by %{computation.callers[0].name}")
        if computation is self.try_entry():
            raise ValueError(f"%{computation.name} is the entry")
        for item in computation.instructions:
            for callee in item.called:
                callee._callers.pop(item, None)
                if callee._owner is item and not callee._callers:
                    self.remove_computation(callee)
        self._computations.remove(computation)
        del self._by_name[computation.name]
        self._edited = True

    def _insert_computations(self, made: list[Computation]) -> None:
        called = {callee for computation in made for item in computation._read for callee in item.called}
        place = max((i + 1 for i, computation in enumerate(self._computations) if computation in called), default=0)
        self._computations[place:place] = made
        self._edited = True

    def _rename_computation(self, computation: Computation, name: str) -> None:
        if name in self._by_name:
            raise ValueError(f"the module already has a computation %{name}")
        old = computation.name
        del self._by_name[old]
        self._by_name[name] = computation
        self._note_name(name)
        for caller in computation._callers:
            attributes = {
                key: renamed(text, old, name) if is_calling(key) else text for key, text in caller.attributes.items()
            }
            caller._set_attributes(attributes)

    def _link_calls(self, item: Instruction) -> None:
        """Looks up the computations that an instruction's attributes name."""
        called = []
        for attribute, name in called_in(item._tail):
            computation = self._by_name.get(name)
            if computation is None:
                raise self._unknown_computation(item, attribute, name)
            called.append(computation)
        for callee in item._called:
            callee._callers.pop(item, None)
        item._called = tuple(called)
        for computation in called:
            computation._callers[item] = None
            if computation._owner is not None and computation._owner is not item:
                # Another one calls it by name: it cannot stay inside of its owner.
                computation._owner._mark_edited()

    def _unknown_computation(self, item: Instruction, attribute: str, name: str) -> DiagnosticError:
        known = nearest(name, self._by_name)
        message = f"unknown computation %{name} in {attribute} of %{item.name}"
        hint = f"did you mean %{known}?" if known else None
        return DiagnosticError(Diagnostic(message, item.locate_name(attribute, name), hint=hint))

    # Text

    def text(self) -> str:
        """Prints the module; what was not edited comes back byte for byte."""
        source = self.source.text
        if not self._edited:
            return source
        first = self._read_begin
        parts = [source[: self._header_span.start], self._header, source[self._header_span.end : first]]
        parts += [computation.text() for computation in self._computations if not computation.is_inline]
        parts.append(source[self._read_end :])
        return "".join(parts)


def callees_first(computations: Sequence[Computation]) -> Sequence[Computation]:
    """Returns computations so that each stands behind those it calls; keeps the order where that holds.

    Raises DiagnosticError where a computation calls itself, directly or through others.
    """
    entered: set[Computation] = set()
    order: dict[Computation, None] = {}
    for start in computations:
        stack = [] if start in entered else [(start, _calls(start))]
        entered.add(start)
        while stack:
            computation, calls = stack[-1]
            call = next((call for call in calls if call[1] not in order), None)
            if call is None:
                order[computation] = None
                stack.pop()
                continue
            item, callee = call
            if callee in entered:
                message = f"%{callee.name} calls itself through %{item.name}"
                raise DiagnosticError(Diagnostic(message, item.location))
            entered.add(callee)
            stack.append((callee, _calls(callee)))
    return list(order)


def _calls(computation: Computation) -> Iterator[tuple[Instruction, Computation]]:
    return iter([(item, callee) for item in computation.instructions for callee in item._called])
