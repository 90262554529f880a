"""A memory report as one HTML file that works without a network."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import Any

from dialect_utils.layout import ArrayShape
from dialect_utils.layout.moves.physical import physical_plan
from dialect_utils.layout.picture import draw_shape, format_svg
from dialect_utils.layout.targets.known import memory_space_name, parse_target
from dialect_utils.layout.targets.tpu import Tpu
from dialect_utils.memory.advice import Advice
from dialect_utils.memory.report import MemoryReport
from dialect_utils.memory.rows import BitcastRow, BufferRow, CollectiveRow, CostRow, OpNameRow, RelayoutRow
from dialect_utils.text.html import html_text
from relayout.reporting.first_screen import FirstScreen
from relayout.reporting.pages import filled_page

# The layouts of this many shapes with the largest buffers are explained and drawn.
_PICTURES = 60
# Larger arrays than this are not drawn element by element.
_DRAWN = 256
_SCRIPTS = ("base.js", "drawing.js", "tables.js")
_ROWS = {
    "buffers": BufferRow,
    "op_names": OpNameRow,
    "relayouts": RelayoutRow,
    "collectives": CollectiveRow,
    "bitcasts": BitcastRow,
    "costs": CostRow,
    "advice": Advice,
}


# Of "How to read this page": how the machine stores arrays, and its memories.
_TPU = (
    "A TPU stores an array in tiles: with <code>T(8,128)</code>, each tile has 8 rows of 128 numbers, and these 128 "
    "positions are called lanes. An array of rows of 3 numbers fills 3 of the 128 lanes; the other 125 are padding, "
    "which takes memory but holds no element. The elements are the payload; payload and padding together are the "
    "allocated bytes. Main memory (HBM) is the large memory of the chip. A layout that ends in <code>S(1)</code> is in "
    "VMEM, a small and fast memory beside the computing units; <code>S(5)</code> is the memory of the host, and other "
    "numbers are further small memories of the chip."
)
_DESCRIBED = (
    "Where a layout has tiles, <code>T(a,b)</code>, an array is stored in blocks of a rows of b numbers. The last "
    "blocks may hold padding, which takes memory but holds no element. The elements are the payload; payload and "
    "padding together are the allocated bytes. A layout that ends in <code>S(1)</code> is in another memory than the "
    "main one, and <code>S(5)</code> is the memory of the host."
)
_GPU = (
    "A GPU stores an array densely, in the order of dimensions that its layout states, so allocated bytes are those of "
    "the elements. Main memory is the memory of the GPU (HBM). A call of a library, such as cuBLAS, may have a second "
    "result of bytes: the scratch memory that it computes with. A layout that ends in <code>S(1)</code> is in memory "
    "that collective operations share with other GPUs, and <code>S(5)</code> is the memory of the host."
)


def html_page(report: MemoryReport, causes: str = "") -> str:
    """Returns the page: totals, a timeline, a treemap of the peak, and tables that sort and filter.

    `causes` is a section, as HTML, about the arrays that the program moves or pads.
    """
    first, target = FirstScreen(report), report.usage.target
    is_tpu = target is not None and isinstance(parse_target(target), Tpu)
    parts = {
        "title": html_text(f"memory of {report.module.name or 'module'}"),
        "sentence": "".join('<p class="sentence">' + html_text(each) + "</p>" for each in first.sentences),
        "waste": first.html(),
        "machine": _GPU if report.usage.is_gpu else _TPU if is_tpu else _DESCRIBED,
        "causes": causes,
        "data": _json_in_html(_data(report)),
    }
    return filled_page("page", parts, _SCRIPTS)


def _json_in_html(value: object) -> str:
    """Returns JSON without the characters that could end a script element or begin a comment in it."""
    text = json.dumps(value, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _data(report: MemoryReport) -> dict[str, Any]:
    """Returns the data of the page; each distinct text is stored once, and rows hold its number."""
    strings: dict[str, int] = {}
    tables = {name: _table(strings, row, getattr(report, name)) for name, row in _ROWS.items()}
    found = {}
    for buffer in report.usage.buffers:
        if (operation := buffer.value.operation) is not None:
            operands = ", ".join(operand.name for operand in operation.operands)
            found[buffer.value.name] = f"{operation.opcode}({operands})"
    return {
        "module": report.module.name or "module",
        "target": report.usage.target or "",
        "totals": report.totals(),
        "moved": report.moved,
        "titles": report.titles,
        "length": report.usage.schedule.length,
        "peak_time": report.usage.peak_time,
        "spaces": {
            str(space): memory_space_name(space, report.usage.target, is_gpu=report.usage.is_gpu)
            for space in {each.memory_space for each in report.usage.buffers}
        },
        "tables": tables,
        "strings": list(strings),
        "layouts": _layouts(report),
        "ops": found,
    }


def _table(strings: dict[str, int], row: type, rows: Iterable[Any]) -> dict[str, Any]:
    columns = [field.name for field in fields(row)] + ["total_bytes"] * hasattr(row, "total_bytes")
    text = [field.name for field in fields(row) if "int" not in str(field.type) and "bool" not in str(field.type)]
    numbers, values = [columns.index(name) for name in text], attrgetter(*columns)
    cells: list[list[Any]] = [[*values(each)] for each in rows]
    for line in cells:
        for number in numbers:
            value = line[number]
            line[number] = strings.setdefault(", ".join(value) if isinstance(value, tuple) else value, len(strings))
    return {"columns": columns, "text": text, "rows": cells}


def _layouts(report: MemoryReport) -> dict[str, dict[str, str]]:
    largest = sorted(report.usage.buffers, key=lambda buffer: -buffer.bytes_held)
    shapes: dict[str, ArrayShape] = {}
    for shape in (buffer.shape for buffer in largest):
        if len(shapes) == _PICTURES:
            break
        shapes.setdefault(str(shape), shape)
    return {text: {"steps": _steps(shape), "picture": _picture(shape)} for text, shape in shapes.items()}


def _steps(shape: ArrayShape) -> str:
    steps: Sequence[object] = physical_plan(shape).steps if shape.is_static else ()
    return ", then ".join(map(str, steps)) or "stays as it is"


def _picture(shape: ArrayShape) -> str:
    """Returns the SVG drawing of a small array, or the overview of a large one; empty for dynamic dimensions."""
    if not shape.is_static:
        return ""
    is_small = shape.element_count <= _DRAWN
    picture = draw_shape(shape, with_panels=is_small)
    if not is_small:
        picture = replace(picture, notes=picture.notes[:1])
    return format_svg(picture) if picture.panels or picture.overview else ""
