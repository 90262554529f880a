"""`relayout index`: linear indices of elements, and elements at linear indices."""

from __future__ import annotations

import re
from argparse import Namespace

from dialect_utils.io.files import STANDARD_INPUT
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.index.index_map import linear_index, logical_index
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.framework.spec import Text
from relayout.arguments import Command, Parser, undivided, usage_error
from relayout.console import Console, print_json
from relayout.shapes import input_lines, print_each, read_typed_array, typed

# The index comes last; a shape and an index in brackets may both contain spaces.
_SHAPE_INDEX = re.compile(r"(.*\S)\s+([(\[][^()\[\]]*[)\]]|[^\s()\[\]]+)")


def _add_arguments(parser: Parser) -> None:
    parser.option("shape", metavar="SHAPE", help="a shape with its layout; - reads SHAPE INDEX lines")
    parser.option("indices", metavar="I,J,...", nargs="*", help="logical indices, or linear ones with --linear")
    parser.option("--linear", action="store_true", help="print the logical index of each linear index, or padding")


def _run(arguments: Namespace, console: Console) -> int:
    def work_on_line(line: Text) -> None:
        found = _SHAPE_INDEX.fullmatch(str(line))
        if found is None:
            raise line.error("expected SHAPE INDEX")
        _print_one(read_typed_array(line.part(*found.span(1)), console), found[2], arguments)

    if arguments.shape == STANDARD_INPUT:
        if arguments.indices:
            raise usage_error("- reads SHAPE INDEX lines, so no index follows it")
        return print_each(input_lines(), work_on_line, console, json=arguments.json)
    if not arguments.indices:
        raise usage_error("expected an index", "relayout index 'f32[3,5]{1,0:T(2,2)}' 2,3")
    shapes: list[ArrayShape] = []

    def read(text: Text) -> None:
        shapes.append(read_typed_array(text, console))

    if status := print_each([typed(arguments.shape)], read, console, json=arguments.json):
        return status
    rank = shapes[0].rank
    are_numbers = all(each.lstrip("+-").isdecimal() for each in arguments.indices)
    if not arguments.linear and rank > 1 and len(arguments.indices) == rank and are_numbers:
        raise usage_error("the numbers of an index are one argument", f"write {','.join(arguments.indices)}")
    indices = map(typed, arguments.indices)
    return print_each(indices, lambda text: _print_one(shapes[0], str(text), arguments), console, json=arguments.json)


def _print_one(shape: ArrayShape, text: str, arguments: Namespace) -> None:
    numbers = _parse_numbers(text)
    logical: tuple[int, ...] | None = numbers
    if arguments.linear:
        if len(numbers) != 1:
            raise DiagnosticError(Diagnostic(f"a linear index is one number, not {text}"))
        linear = numbers[0]
        logical = logical_index(shape, linear)
    else:
        linear = linear_index(shape, numbers)
    if arguments.json:
        print_json({"shape": str(shape), "index": logical, "linear": linear})
    elif not arguments.linear:
        print(linear)
    else:
        print("padding" if logical is None else ",".join(map(str, logical)))


def _parse_numbers(text: str) -> tuple[int, ...]:
    """Reads `2,3`, `(2,3)` or `[2,3]`; the index of a scalar is empty."""
    inner = text.strip().strip("()[]").strip()
    try:
        return tuple(int(part) for part in inner.split(",")) if inner else ()
    except ValueError:
        raise DiagnosticError(Diagnostic(f"{text} is not a list of integers", hint="write 2,3")) from None


COMMAND = Command(
    name="index",
    summary="prints linear indices of logical ones, and back",
    examples=("relayout index 'f32[3,5]{1,0:T(2,2)}' 2,3 0,4", "relayout index 'f32[3,5]{1,0:T(2,2)}' --linear 17 9"),
    add_arguments=_add_arguments,
    **undivided(_run),
)
