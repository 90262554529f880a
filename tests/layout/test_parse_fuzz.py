"""Bad input: whatever the text, the parser answers with a shape or with DiagnosticError, soon and in little memory.

RELAYOUT_FUZZ=100000 runs the nightly size.
"""

import os
import random
import re
import tracemalloc
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialect_utils.layout import Layout, Shape, parse_layout, parse_shape, read_shape
from dialect_utils.text import DiagnosticError
from tests.layout.shapes import GIVEN, tiled_shapes

COUNT = int(os.environ.get("RELAYOUT_FUZZ", "2000"))
MEMORY_BYTES = 200 * 2**20

SEEDS = [
    *(str(shape) for shape in GIVEN),
    "f32[3,5]{1,0:T(2,2)#(u32)*(u64)E(32)S(3)SC(0:1)M(1)}",
    "(f32[2]{0}, (s32[], token[]), b(f32[4]{0:T(128)}), opaque[])",
    "f32[<=5,?]{1,0:D(D,C+~)T(8,128)L(1024)}",
]
PIECES = [
    *("f32[", "s4[", "pred[]", "token[]", "b(", "(", ")", "[", "]", "{", "}", ":", ",", "{1,0:", "{:", "<=", "?"),
    *(
        "T(",
        "T(8,128)",
        "(2,1)",
        "D(D,C)",
        "L(0)",
        "L(-1)",
        "#(u32)",
        "*(u64)",
        "E(4)",
        "S(1)",
        "SC(0:2)",
        "P(",
        "M(7)",
    ),
    *(
        "*",
        "d",
        "-1",
        "0",
        "1",
        "7",
        "9223372036854775807",
        "9" * 40,
        "9" * 5000,
        "/*",
        "/* x */",
        "\0",
        "é",
        " ",
        "\n",
    ),
]


def texts(count: int) -> list[str]:
    """Returns texts: real shapes with edits, and pieces of the grammar in any order."""
    source = random.Random(20240229)
    found = []
    for _ in range(count):
        if source.random() < 0.5:
            found.append("".join(source.choices(PIECES, k=source.randrange(1, 14))))
            continue
        text = source.choice(SEEDS)
        for _ in range(source.randrange(1, 4)):
            start = source.randrange(len(text) + 1)
            end = min(len(text), start + source.randrange(4))
            text = text[:start] + source.choice([*PIECES, ""]) + text[end:]
        found.append(text)
    return found


def try_parse(text: str) -> tuple[Shape | None, DiagnosticError | None]:
    """Reads a text as dumps and as people write it; what dumps may hold, people may too."""
    try:
        shape = parse_shape(text)
    except DiagnosticError as error:
        with suppress(DiagnosticError):
            read_shape(text)
        return None, error
    assert read_shape(text)[0] == shape
    return shape, None


def test_any_text_gets_a_shape_or_an_error() -> None:
    tracemalloc.start()
    refused = 0
    for text in texts(COUNT):
        shape, error = try_parse(text)
        if shape is None:
            refused += 1
            assert error is not None
            assert all(diagnostic.location is not None for diagnostic in error.diagnostics), text
        else:
            assert parse_shape(str(shape)) == shape, text
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    parse_shape.cache_clear()
    assert peak < MEMORY_BYTES
    assert 0 < refused < COUNT


@given(st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_characters_get_a_layout_or_an_error(text: str) -> None:
    try:
        layout = parse_layout(text)
    except DiagnosticError:
        return
    assert parse_layout(str(layout)) == layout


@given(tiled_shapes())
@settings(max_examples=100, deadline=None)
def test_printed_shapes_parse_back(shape: object) -> None:
    assert str(parse_shape(str(shape))) == str(shape)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("f32[3,5]{1,0:T(-1,2)}", "tile dimension -1 must be positive", "write *"),
        ("f32[3,5]{1,1}", "minor_to_major {1,1} repeats dimension 1", ""),
        ("f32[3,5]{1,0:T(2,2}", "expected ','", ""),
        ("f32[3,5]{1,0:(2,2)}", "notation of old documents", "write T"),
        ("f32[3,5]{1,0:S(1)T(2,2)}", "must stand before S", "the order is"),
        ("F32[3,5]", "unknown element type 'F32'", "write f32"),
        ("f32[3,5]{1,0:T(2,*)}", "no more minor dimension", "give the last"),
        ("token[2]", "token has no dimensions", "write token[]"),
    ],
)
def test_errors_name_values_and_propose_an_edit(text: str, message: str, hint: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        parse_shape(text)
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert hint in (diagnostic.hint or "")
    assert re.search(r"^  +\^~*$", str(caught.value), re.MULTILINE)


def test_typed_shapes_get_notes() -> None:
    shape, notes = read_shape("F32[3,5]{1,0:(2,2)}")
    assert str(shape) == "f32[3,5]{1,0:T(2,2)}"
    assert len(notes) == 2
    assert read_shape("f32[3,5]")[1] == ()


def test_deep_nesting_and_huge_numbers_end() -> None:
    for text in ("(" * 100_000, "f32[" + "1," * 50_000, "f32[3]{0:T(" + "9" * 100_000 + ")}", "/*" * 10_000):
        with pytest.raises(DiagnosticError):
            parse_shape(text)


def test_values_know_nothing_invalid() -> None:
    with pytest.raises(DiagnosticError):
        Layout((0, 0))
