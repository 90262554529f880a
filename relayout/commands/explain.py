"""`relayout explain`: describes a shape with a layout, or the kernels in a TPU dump."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from argparse import Namespace
from functools import partial

from dialect_utils.io.files import STANDARD_INPUT, encode
from dialect_utils.layout import ArrayShape, BufferShape, Shape, TupleShape
from dialect_utils.layout.picture import Window, draw_shape, format_svg, format_terminal, parse_window
from dialect_utils.layout.targets.tpu import parse_target
from dialect_utils.layout.text.explain import Explanation, explain_shape
from dialect_utils.text.input_file import located
from passes.framework.spec import Text
from relayout.arguments import (
    Command,
    Parser,
    add_input_options,
    choice,
    chosen_inputs,
    parsed,
    reject,
    undivided,
    usage_error,
)
from relayout.console import Console, is_coloured, print_json
from relayout.output import STANDARD_OUTPUT, write_output
from relayout.shapes import named_arguments, print_each, read_typed_shape

# Larger drawings are hard to read; --picture draws a part of them.
_DRAWN_SLOTS = 256
# Formats of drawings, and formats that users may expect but are not supported.
_FILES = ("svg", "png")
_IMAGES = ("jpg", "jpeg", "gif", "pdf", "webp")


def _add_arguments(parser: Parser) -> None:
    parser.option("shapes", metavar="SHAPE", nargs="+", help="e.g. 'f32[3,5]{1,0:T(2,2)}'; - reads one a line")
    parser.option("--target", help="gives shapes without a layout this target's, e.g. tpu-v5e; says its allocation")
    parser.option("--picture", type=choice("terminal", *_FILES), help="only the drawing, in this format")
    parser.option("--window", type=_window, help="the drawing shows these elements: a range a dimension, 0:16,0:140")
    parser.option("-o", "--output", metavar="FILE", help="write the text here, or the drawing (.svg, .png)")
    parser.option(
        "--list-kernels", action="store_true", help="SHAPE is a TPU dump or a directory: list its Mosaic kernels"
    )
    add_input_options(parser)
    parser.option("--kernel", metavar="NAME", help="SHAPE is a TPU dump: print one kernel, its grid and its windows")


def _window(text: str) -> Window:
    """Reads a window: a range for each dimension."""
    try:
        return parse_window(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _run(arguments: Namespace, console: Console) -> int:
    _check(arguments)
    if arguments.list_kernels or arguments.kernel is not None:
        return _explain_kernels(arguments, console)
    if len(arguments.shapes) > 1 and any(map(_is_piece, arguments.shapes)):
        raise usage_error("a shape came in pieces", f"quote it: '{' '.join(arguments.shapes)}'")
    file = next((each for each in arguments.shapes if each != STANDARD_INPUT and os.path.exists(located(each))), None)
    if file is not None:
        raise usage_error(
            f"expected a shape, not the file {file}", f"relayout report {file} says what its module holds"
        )
    pieces: list[bytes] = []
    work = partial(_explain_one, arguments, console, pieces)
    status = print_each(named_arguments(arguments.shapes), work, console, json=arguments.json)
    if arguments.output not in (None, STANDARD_OUTPUT) and not status:
        write_output(arguments.output, b"".join(pieces))
    return status


def _is_piece(shape: str) -> bool:
    return shape.count("[") != shape.count("]") or shape.startswith("[")


def _explain_kernels(arguments: Namespace, console: Console) -> int:
    # Imported here: shapes need no modules.
    from dialect_utils.io.inputs import last_stages
    from relayout.kernels import explain_kernels

    inputs = last_stages(chosen_inputs(arguments.shapes, arguments, console))
    return max(console.attempt(partial(explain_kernels, each, arguments)) for each in inputs)


def _check(arguments: Namespace) -> None:
    """Raises UsageError for options that exclude each other."""
    if arguments.list_kernels or arguments.kernel is not None:
        reject(arguments, ("target", "picture", "window", "output"), "on kernels")
    else:
        reject(arguments, ("stage", "module"), "on a shape", "--list-kernels and --kernel read dumps")
    if arguments.json:
        reject(arguments, ("window",), "with --json, which draws nothing")
    if arguments.picture is None and arguments.output is not None:
        ending = os.path.splitext(arguments.output)[1].removeprefix(".")
        if ending in _IMAGES:
            raise usage_error(f"a drawing is not written as .{ending}", "write .svg or .png")
        arguments.picture = ending if ending in _FILES else None
    if arguments.target is not None:
        parsed(parse_target, arguments.target)
    if arguments.json and (arguments.picture or arguments.output):
        raise usage_error("--json prints numbers on standard output: no --picture and no -o with it")
    ending = os.path.splitext(arguments.output or "")[1].removeprefix(".")
    if arguments.picture is not None and ending in _FILES and ending != arguments.picture:
        raise usage_error(f"-o {arguments.output} and --picture {arguments.picture} are different formats")
    is_file = arguments.picture in _FILES
    if is_file and (len(arguments.shapes) > 1 or STANDARD_INPUT in arguments.shapes):
        raise usage_error(f"--picture {arguments.picture} draws one SHAPE")
    if arguments.picture == "png" and arguments.output is None and sys.stdout.isatty():
        raise usage_error("a PNG cannot be printed to a terminal", "write it to a file with -o FILE")


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
    drawing = _drawing(found.shape, arguments) if _is_small(found) or arguments.window else ""
    return encode("\n".join([str(found), drawing]) + ("\n" if drawing else ""))


def _is_small(found: Explanation) -> bool:
    return found.shape.is_static and 1 < (found.physical_elements or 0) <= _DRAWN_SLOTS


def _picture(shape: Shape, arguments: Namespace) -> bytes:
    array = _array(shape)
    if array is None:
        raise ValueError(f"{shape} is not an array, so it cannot be drawn")
    array = explain_shape(array, arguments.target).shape
    if arguments.picture == "svg":
        return encode(format_svg(draw_shape(array, arguments.window)))
    if arguments.picture == "png":
        # Imported here: text needs no drawing library.
        from dialect_utils.layout.picture.drawing import render_png
        from dialect_utils.layout.picture.svg import lay_out

        return render_png(lay_out(draw_shape(array, arguments.window)))
    return encode(_drawing(array, arguments) + "\n")


def _drawing(shape: ArrayShape, arguments: Namespace) -> str:
    is_shown = arguments.output in (None, STANDARD_OUTPUT)
    columns = shutil.get_terminal_size().columns if is_shown and sys.stdout.isatty() else None
    colour = is_shown and is_coloured(arguments.color, sys.stdout)
    return format_terminal(draw_shape(shape, arguments.window), colour=colour, columns=columns)


COMMAND = Command(
    name="explain",
    summary="says what a shape with a layout means",
    examples=("relayout explain 'f32[3,5]{1,0:T(2,2)}'", "relayout explain 'bf16[100,200]' --target tpu-v5e --json"),
    add_arguments=_add_arguments,
    **undivided(_run),
)
