"""`relayout explain`: what a shape with a layout means."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from functools import partial

from dialect_utils.files import STANDARD_INPUT, encode
from dialect_utils.layout import ArrayShape, BufferShape, Shape, TupleShape, parse_target
from dialect_utils.layout.explain import Explanation, explain_shape
from dialect_utils.layout.picture import draw_shape, format_svg, format_terminal
from dialect_utils.layout.vocabulary import describe_dimensions, describe_order
from dialect_utils.text import DiagnosticError
from passes.spec import Text
from relayout.arguments import Command, Parser, choice, usage_error
from relayout.console import Console, UsageError, print_json
from relayout.output import STANDARD_OUTPUT, write_output
from relayout.shapes import named_arguments, print_each, read_typed_shape

# A drawing of more slots than this does not read at a glance; --picture draws a part of it.
_DRAWN_SLOTS = 256


def _add_arguments(parser: Parser) -> None:
    parser.option("shapes", metavar="SHAPE", nargs="+", help="e.g. 'f32[3,5]{1,0:T(2,2)}'; - reads one a line")
    parser.option("--target", help="gives shapes without a layout this target's, e.g. tpu-v5e; says its allocation")
    parser.option("--picture", type=choice("terminal", "svg", "png"), help="only the drawing, in this form")
    parser.option("-o", "--output", metavar="FILE", help="write the text or the drawing here")


def _run(arguments: Namespace, console: Console) -> int:
    _check(arguments)
    pieces: list[bytes] = []
    work = partial(_explain_one, arguments, console, pieces)
    status = print_each(named_arguments(arguments.shapes), work, console, json=arguments.json)
    if arguments.output not in (None, STANDARD_OUTPUT) and not status:
        write_output(arguments.output, b"".join(pieces))
    return status


def _check(arguments: Namespace) -> None:
    if arguments.target is not None:
        try:
            parse_target(arguments.target)
        except DiagnosticError as error:
            raise UsageError(error.diagnostics) from error
    if arguments.json and (arguments.picture or arguments.output):
        raise usage_error("--json prints numbers on standard output: no --picture and no -o with it")
    is_file = arguments.picture in ("svg", "png")
    if is_file and (len(arguments.shapes) > 1 or STANDARD_INPUT in arguments.shapes):
        raise usage_error(f"--picture {arguments.picture} draws one SHAPE")
    if arguments.picture == "png" and arguments.output is None and sys.stdout.isatty():
        raise usage_error("a PNG is no text for a terminal", "write it to a file with -o FILE")


def _explain_one(arguments: Namespace, console: Console, pieces: list[bytes], text: Text) -> None:
    shape = read_typed_shape(text, console)
    if arguments.json:
        print_json(_as_json(shape, arguments.target))
        return
    piece = _text(shape, arguments) if arguments.picture is None else _picture(shape, arguments)
    if arguments.output in (None, STANDARD_OUTPUT):
        write_output(None, piece)
    else:
        pieces.append(piece)


def _as_json(shape: Shape, target: str | None) -> dict[str, object]:
    if isinstance(shape, TupleShape):
        return {"shape": str(shape), "elements": [_as_json(element, target) for element in shape.elements]}
    array = _array(shape)
    return {"shape": str(shape)} if array is None else {**explain_shape(array, target).as_json(), "shape": str(shape)}


def _array(shape: Shape) -> ArrayShape | None:
    shape = shape.array if isinstance(shape, BufferShape) else shape
    return shape if isinstance(shape, ArrayShape) else None


def _text(shape: Shape, arguments: Namespace) -> bytes:
    if isinstance(shape, TupleShape):
        header = f"{shape}\n  a tuple of {len(shape.elements)} elements, each on its own:\n"
        return encode(header) + b"".join(_text(element, arguments) for element in shape.elements)
    array = _array(shape)
    if array is None:
        return encode(f"{shape}\n  holds no elements that a layout could place\n")
    found = explain_shape(array, arguments.target)
    drawing = _drawing(found.shape, arguments) if _is_small(found) else ""
    return encode("\n".join([*_lines(found), drawing]) + ("\n" if drawing else ""))


def _is_small(found: Explanation) -> bool:
    return found.shape.is_static and 1 < (found.physical_elements or 0) <= _DRAWN_SLOTS


def _lines(found: Explanation) -> list[str]:
    shape = found.shape
    layout = shape.effective_layout
    order = ",".join(map(str, layout.minor_to_major))
    lines = [
        str(shape),
        f"  element type     {shape.element_type}, {shape.element_type.bits} bits",
        f"  rank             {shape.rank}, true rank {shape.true_rank}",
        f"  dimensions       {describe_dimensions(shape.dimensions) or 'none: a scalar'}",
        f"  minor_to_major   {{{order}}}: {describe_order(layout)}",
    ]
    if found.stages:
        lines += _numbers(found)
    return [*lines, *(f"  warning          {warning}" for warning in found.warnings)]


def _numbers(found: Explanation) -> list[str]:
    stages = [f"[{','.join(map(str, dims))}]" + (f" after {tile}" if tile else "") for tile, dims in found.stages]
    assert found.padding_fraction is not None  # bounded: the numbers are there
    assert found.physical_elements is not None
    used = found.shape.element_count
    xla = "unknown" if found.xla_byte_size is None else str(found.xla_byte_size)
    plan = "none" if found.plan is None else " -> ".join(map(str, found.plan.steps)) or "nothing moves"
    return [
        f"  physical         {', '.join(stages)}",
        f"  elements         {found.physical_elements} slots, {used} used, padding {found.padding_fraction:.1%}",
        f"  bytes            {found.byte_size}; XLA's ArraySize {xla}; allocated on {found.target} "
        f"{found.allocation_bytes}",
        f"  steps            {plan}",
        f"  linear index     {found.formula}",
    ]


def _picture(shape: Shape, arguments: Namespace) -> bytes:
    array = _array(shape)
    if array is None:
        raise ValueError(f"{shape} is no array that could be drawn")
    array = explain_shape(array, arguments.target).shape
    if arguments.picture == "svg":
        return encode(format_svg(draw_shape(array)))
    if arguments.picture == "png":
        # Imported here: text must not pay for the library that draws.
        from dialect_utils.layout.picture.png import render_png
        from dialect_utils.layout.picture.svg import lay_out

        return render_png(lay_out(draw_shape(array)))
    return encode(_drawing(array, arguments) + "\n")


def _drawing(shape: ArrayShape, arguments: Namespace) -> str:
    to_terminal = arguments.output in (None, STANDARD_OUTPUT) and sys.stdout.isatty()
    return format_terminal(draw_shape(shape), colour=to_terminal and not os.environ.get("NO_COLOR"))


COMMAND = Command(
    name="explain",
    summary="says what a shape with a layout means",
    examples=(
        "relayout explain 'f32[3,5]{1,0:T(2,2)}'",
        "relayout explain 'bf16[100,200]' --target tpu-v5e --json",
    ),
    add_arguments=_add_arguments,
    run=_run,
)
