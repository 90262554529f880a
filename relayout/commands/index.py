"""`relayout explain --index`: linear indices of elements, and elements at linear indices."""

from __future__ import annotations

import re
from dataclasses import dataclass

from dialect_utils.io.files import STANDARD_INPUT
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.index.index_map import linear_index, logical_index
from dialect_utils.layout.targets.known import laid_out, parse_target
from dialect_utils.text import DiagnosticError
from passes.framework.spec import Text
from relayout.batch.unit import Unit
from relayout.command import Command
from relayout.console import Console, print_json
from relayout.options import argument, flag, option, parsed, usage_error
from relayout.shapes import input_lines, print_each, read_typed_array, typed

# The index comes last; a shape and an index in brackets may both contain spaces.
_SHAPE_INDEX = re.compile(r"(.*\S)\s+([(\[][^()\[\]]*[)\]]|[^\s()\[\]]+)")


@dataclass(frozen=True, kw_only=True)
class Index(Command):
    """The place in memory of each element, or the element at each place."""

    examples = (
        "relayout explain --index 'f32[3,5]{1,0:T(2,2)}' 2,3 0,4",
        "relayout explain --index 'f32[3,5]{1,0:T(2,2)}' --linear 17 9",
    )

    shape: str = argument("SHAPE", "a shape with its layout; - reads SHAPE INDEX lines")
    indices: tuple[str, ...] = argument("I,J,...", "logical indices, or linear ones with --linear", "*")
    target: str | None = option("TARGET", "gives shapes without a layout this target's, e.g. tpu-v5e")
    linear: bool = flag("print the logical index of each linear index, or padding")

    def work(self, unit: Unit, console: Console) -> int:
        if self.target is not None:
            parsed(parse_target, self.target)

        def work_on_line(line: Text) -> None:
            found = _SHAPE_INDEX.fullmatch(str(line))
            if found is None:
                raise line.error("expected SHAPE INDEX")
            self._print_one(self._read(line.part(*found.span(1)), console), found[2])

        if self.shape == STANDARD_INPUT:
            if self.indices:
                raise usage_error("- reads SHAPE INDEX lines, so no index follows it")
            return print_each(input_lines(), work_on_line, console, json=self.json)
        if not self.indices:
            raise usage_error("expected an index", "relayout explain --index 'f32[3,5]{1,0:T(2,2)}' 2,3")
        shapes: list[ArrayShape] = []

        def read(text: Text) -> None:
            shapes.append(self._read(text, console))

        if status := print_each([typed(self.shape)], read, console, json=self.json):
            return status
        rank = shapes[0].rank
        are_numbers = all(each.lstrip("+-").isdecimal() for each in self.indices)
        if not self.linear and rank > 1 and len(self.indices) == rank and are_numbers:
            raise usage_error("the numbers of an index are one argument", f"write {','.join(self.indices)}")
        indices = map(typed, self.indices)
        return print_each(indices, lambda text: self._print_one(shapes[0], str(text)), console, json=self.json)

    def _read(self, text: Text, console: Console) -> ArrayShape:
        shape = read_typed_array(text, console)
        return shape if self.target is None or shape.layout is not None else laid_out(shape, None, self.target)

    def _print_one(self, shape: ArrayShape, text: str) -> None:
        numbers = _parse_numbers(text)
        logical: tuple[int, ...] | None = numbers
        if self.linear:
            if len(numbers) != 1:
                raise DiagnosticError(f"a linear index is one number, not {text}")
            linear = numbers[0]
            logical = logical_index(shape, linear)
        elif len(numbers) == 1 < shape.rank:
            message = f"an index of {shape} has {shape.rank} numbers, one for each dimension, not 1"
            raise DiagnosticError(message, hint=f"--linear {text} reads it as a linear index")
        else:
            linear = linear_index(shape, numbers)
        if self.json:
            print_json({"shape": str(shape), "index": logical, "linear": linear})
        elif not self.linear:
            print(linear)
        else:
            print("padding" if logical is None else ",".join(map(str, logical)))


def _parse_numbers(text: str) -> tuple[int, ...]:
    """Reads `2,3`, `(2,3)` or `[2,3]`; the index of a scalar is empty."""
    inner = text.strip().strip("()[]").strip()
    try:
        return tuple(int(part) for part in inner.split(",")) if inner else ()
    except ValueError:
        raise DiagnosticError(f"{text} is not a list of integers", hint="write 2,3") from None
