"""`relayout explain`: describes a shape with a layout, or the kernels in a TPU dump."""

from __future__ import annotations

import os
import shutil
import sys
from argparse import ArgumentTypeError
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from dialect_utils.io.files import STANDARD_INPUT, encode
from dialect_utils.layout import ArrayShape, BufferShape, Shape, TupleShape
from dialect_utils.layout.picture import Window, draw_shape, format_svg, format_terminal, parse_window
from dialect_utils.layout.targets.known import parse_target
from dialect_utils.layout.text.explain import Explanation, explain_shape
from dialect_utils.text import DiagnosticError, meant
from dialect_utils.text.input_file import located
from passes.framework.spec import Text
from relayout.batch.unit import Unit
from relayout.command import Command, InputOptions
from relayout.console import DONE, Console, is_coloured, print_json
from relayout.options import argument, choice, excludes, flag, group, needs, option, parsed, usage_error
from relayout.output import STANDARD_OUTPUT, is_directory, write_output
from relayout.shapes import named_arguments, print_each, read_typed_shape

if TYPE_CHECKING:
    from dialect_utils.io.inputs import Input
    from dialect_utils.ir import Operation

# Larger drawings are hard to read; --picture draws a part of them.
_DRAWN_SLOTS = 256
# Formats of drawings, and formats that users may expect but are not supported.
_FILES = ("svg", "png")
_IMAGES = ("jpg", "jpeg", "gif", "pdf", "webp")


def _window(text: str) -> Window:
    """Reads a window: a range for each dimension."""
    try:
        return parse_window(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from error


def _notation(text: str) -> str:
    """Reads the name of a notation."""
    from dialect_utils.layout.notation.writing import NOTATIONS

    return choice(*NOTATIONS)(text)


@dataclass(frozen=True, kw_only=True)
class Explain(Command):
    """The meaning of each shape, or of the kernels in a TPU dump."""

    examples = ("relayout explain 'bf16[9,20]' --target tpu-v5e", "relayout explain 'f32[4,6]{1,0:T(2,2)}' --as cute")
    rules = (
        *(
            excludes(each, ("target", "notation", "picture", "window", "output"), "on kernels")
            for each in ("list_kernels", "kernel")
        ),
        needs(
            ("stage", "module"),
            *("list_kernels", "kernel"),
            reason="on a shape",
            hint="--list-kernels and --kernel read dumps",
        ),
        excludes("json", ("window",), "with --json, which draws nothing"),
        excludes("notation", ("picture", "window"), "with --as, which writes the layout"),
    )

    shapes: tuple[str, ...] = argument("SHAPE", "e.g. 'f32[3,5]{1,0:T(2,2)}'; - reads one a line", "+")
    target: str | None = option(
        "TARGET", "gives shapes without a layout this target's, e.g. tpu-v5e; says its allocation"
    )
    notation: str | None = option(
        "NOTATION",
        "only the layout, as cute, linear, strides, memref, pack, jax, einops or steps writes it",
        _notation,
        "--as",
    )
    picture: str | None = option("PICTURE", "only the drawing, in this format", choice("terminal", *_FILES))
    window: Window | None = option(
        "WINDOW", "the drawing shows these elements: a range a dimension, 0:16,0:140", _window
    )
    output: str | None = option("FILE", "write the text here, or the drawing (.svg, .png)", str, "-o", "--output")
    list_kernels: bool = flag("SHAPE is a TPU dump or a directory: list its Mosaic kernels")
    selection: InputOptions = group(InputOptions)
    kernel: str | None = option("NAME", "SHAPE is a TPU dump: print one kernel, its grid and its windows")

    def work(self, unit: Unit, console: Console) -> int:
        self._check()
        if self.list_kernels or self.kernel is not None:
            inputs = self.selection.find(self.shapes, console, final=True)
            return max(console.attempt(partial(self._explain_kernels, each)) for each in inputs)
        joined = " ".join(self.shapes)
        if len(self.shapes) > 1 and any(map(_is_piece, self.shapes)) and joined.count("[") == joined.count("]"):
            raise usage_error("a shape came in pieces", f"quote it: '{joined}'")
        file = next((each for each in self.shapes if each != STANDARD_INPUT and os.path.exists(located(each))), None)
        if file is not None:
            hint = f"relayout report {file} says what its module holds"
            raise usage_error(f"expected a shape, not the file {file}", hint)
        pieces: list[bytes] = []
        work = partial(self._explain_one, console, pieces)
        status = print_each(named_arguments(self.shapes), work, console, json=self.json)
        if not self._is_printed and not status:
            write_output(self.output, b"".join(pieces))
        return status

    @property
    def _is_printed(self) -> bool:
        return self.output in (None, STANDARD_OUTPUT)

    @property
    def _ending(self) -> str:
        return os.path.splitext(self.output or "")[1].removeprefix(".")

    @property
    def _format(self) -> str | None:
        """Returns the format of the drawing, by the ending of a file, too; None where text is wanted."""
        return self.picture or (self._ending if self._ending in _FILES else None)

    def _check(self) -> None:
        """Raises UsageError for options that exclude each other."""
        if self.picture is None and self._ending in _IMAGES:
            raise usage_error(f"a drawing is not written as .{self._ending}", "write .svg or .png")
        if self.output is not None and is_directory(self.output):
            raise usage_error(f"-o {self.output} is a directory, and a shape names no file in it", "-o tiles.svg")
        if self.target is not None:
            parsed(parse_target, self.target)
        if self.json and (self._format or self.output):
            raise usage_error("--json prints numbers on standard output: no --picture and no -o with it")
        if self._ending in _FILES and self._ending != self._format:
            raise usage_error(f"-o {self.output} and --picture {self.picture} are different formats")
        if self._format in _FILES and (len(self.shapes) > 1 or STANDARD_INPUT in self.shapes):
            raise usage_error(f"--picture {self._format} draws one SHAPE")
        if self._format == "png" and self.output is None and sys.stdout.isatty():
            raise usage_error("a PNG cannot be printed to a terminal", "write it to a file with -o FILE")

    def _explain_kernels(self, dump: Input) -> int:
        from dialect_utils.mosaic.decode import TARGET, kernels_of
        from dialect_utils.mosaic.kernel import DEFAULT_TARGET, describe_grid, describe_kernel, summarize_kernel

        calls = [op for op in dump.module().operations() if op.callee == TARGET]
        if not self.list_kernels:
            calls = _chosen(calls, self.kernel or "", dump.path)
        kernels = dict(zip((call.results[0].name for call in calls), kernels_of(calls), strict=True))
        if self.json:
            rows = [
                {"call": name, "kernel": each.name, "grid": describe_grid(each), "ops": each.op_count}
                for name, each in kernels.items()
            ]
            print_json({"file": dump.path, "kernels": rows})
        elif self.list_kernels:
            listed = "".join(f"{summarize_kernel(name, each)}\n" for name, each in kernels.items())
            write_output(None, encode(listed or f"{dump.path} holds no kernels\n"))
        else:
            described = (describe_kernel(name, each, DEFAULT_TARGET) for name, each in kernels.items())
            write_output(None, encode("\n".join(described)))
        return DONE

    def _explain_one(self, console: Console, pieces: list[bytes], text: Text) -> None:
        shape = read_typed_shape(text, console)
        if self.json:
            print_json(self._as_json(shape))
            return
        piece = self._text(shape) if self._format is None else self._drawn(shape)
        if self._is_printed:
            write_output(None, piece)
        else:
            pieces.append(piece)

    def _as_json(self, shape: Shape) -> dict[str, object]:
        if isinstance(shape, TupleShape):
            return {"shape": str(shape), "elements": [*map(self._as_json, shape.elements)]}
        array = _array(shape)
        if array is None:
            return {"shape": str(shape)}
        found = explain_shape(array, self.target)
        written = {} if self.notation is None else {self.notation: asdict(found.written(self.notation))}
        return {**found.as_json(), "shape": str(shape), **written}

    def _text(self, shape: Shape) -> bytes:
        if isinstance(shape, TupleShape):
            header = f"{shape}\n  a tuple of {len(shape.elements)} elements, each on its own:\n"
            return encode(header) + b"".join(map(self._text, shape.elements))
        array = _array(shape)
        if array is None:
            return encode(f"{shape}\n  holds no elements that a layout could place\n")
        found = explain_shape(array, self.target)
        if self.notation is not None:
            return encode(f"{found.written(self.notation)}\n")
        drawing = self._drawing(found.shape) if _is_small(found) or self.window else ""
        return encode("\n".join([str(found), drawing]) + ("\n" if drawing else ""))

    def _drawn(self, shape: Shape) -> bytes:
        array = _array(shape)
        if array is None:
            raise ValueError(f"{shape} is not an array, so it cannot be drawn")
        array = explain_shape(array, self.target).shape
        if self._format == "svg":
            return encode(format_svg(draw_shape(array, self.window)))
        if self._format == "png":
            from dialect_utils.layout.picture.drawing import render_png
            from dialect_utils.layout.picture.svg import lay_out

            return render_png(lay_out(draw_shape(array, self.window)))
        return encode(self._drawing(array) + "\n")

    def _drawing(self, shape: ArrayShape) -> str:
        columns = shutil.get_terminal_size().columns if self._is_printed and sys.stdout.isatty() else None
        colour = self._is_printed and is_coloured(self.color, sys.stdout)
        return format_terminal(draw_shape(shape, self.window), colour=colour, columns=columns)


def _is_piece(shape: str) -> bool:
    return shape.count("[") != shape.count("]") or shape.startswith("[")


def _is_small(found: Explanation) -> bool:
    return found.shape.is_static and 1 < (found.physical_elements or 0) <= _DRAWN_SLOTS


def _array(shape: Shape) -> ArrayShape | None:
    shape = shape.array if isinstance(shape, BufferShape) else shape
    return shape if isinstance(shape, ArrayShape) else None


def _chosen(calls: list[Operation], name: str, file: str) -> list[Operation]:
    """Returns the calls with a name, or else the calls of kernels with that name; raises DiagnosticError."""
    from dialect_utils.mosaic.decode import kernels_of

    found = [call for call in calls if call.results[0].name == name.removeprefix("%")]
    if not found:
        kernels = kernels_of(calls)
        found = [call for call, kernel in zip(calls, kernels, strict=True) if kernel.name == name.removeprefix("@")]
        if not found:
            known = [call.results[0].name for call in calls]
            hint = meant(name, [*known, *(kernel.name for kernel in kernels)], "--list-kernels shows them")
            raise DiagnosticError(f"{file} has no kernel {name}", hint=hint)
    return found
