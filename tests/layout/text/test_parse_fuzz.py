"""Bad input: for any text the parser returns a shape or raises DiagnosticError, soon and in little memory.

Texts that XLA's own parser accepts too must be read as the same shape.

`make fuzz` runs the nightly size.
"""

import os
import re
import tracemalloc
from contextlib import suppress
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from dialect_utils.layout import Layout, Shape, parse_layout, parse_shape
from dialect_utils.layout.text.foreign import read_shape
from dialect_utils.layout.text.parse import shared_shape
from dialect_utils.text import DiagnosticError
from tests.layout.grammar import draw_text
from tests.layout.shapes import tiled_shapes
from tests.layout.xla_parser import CRASHED, shapes_by_xla

COUNT = int(os.environ.get("RELAYOUT_FUZZ", "1000"))
MEMORY_BYTES = 200 * 2**20

SEED = 20240229


def try_parse(text: str) -> tuple[Shape | None, DiagnosticError | None]:
    """Reads a text by the rules for dumps and by those for people; people may write whatever dumps may hold."""
    try:
        shape = parse_shape(text)
    except DiagnosticError as error:
        with suppress(DiagnosticError):
            read_shape(text)
        return None, error
    assert read_shape(text)[0] == shape
    return shape, None


def check_text(text: str) -> Shape | None:
    """States the property of any text: a shape that prints and parses back, or an error with a location."""
    shape, error = try_parse(text)
    if shape is not None:
        assert parse_shape(str(shape)) == shape, text
        return shape
    assert error is not None
    assert all(diagnostic.location is not None for diagnostic in error.diagnostics), text
    return None


def explicit(shape: Shape) -> str:
    """Returns the shape as XLA prints it: with the descending layout where none was written."""
    return str(shape.with_effective_layout)


def test_any_text_gets_a_shape_or_an_error() -> None:
    source = Random(SEED)
    tracemalloc.start()
    accepted = sum(check_text(draw_text(source)) is not None for _ in range(COUNT))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    shared_shape.cache_clear()
    assert peak < MEMORY_BYTES
    assert COUNT / 4 < accepted < COUNT * 3 / 4


def test_texts_that_xla_accepts_are_read_as_the_same_shape() -> None:
    source = Random(SEED + 1)
    shapes = {text: shape for text in (draw_text(source) for _ in range(COUNT)) if (shape := try_parse(text)[0])}
    answers = dict(zip(shapes, shapes_by_xla(list(shapes)), strict=True))
    shared_shape.cache_clear()
    # Texts that XLA rejects or aborts on (`d` before jaxlib 0.12, type parts in tuples) are not compared.
    both = [text for text, answer in answers.items() if answer not in (None, CRASHED)]
    assert len(both) > len(shapes) / 2
    assert {text: answers[text] for text in both if answers[text] != explicit(shapes[text])} == {}


def test_a_wrong_reading_would_be_noticed() -> None:
    text, wrong = "f32[3,5]{0,1:T(2,4)}", "f32[3,5]{0,1:T(4,2)}"
    assert shapes_by_xla([text, "f32[3", text]) == [explicit(parse_shape(text)), None, explicit(parse_shape(text))]
    assert shapes_by_xla([text])[0] != explicit(parse_shape(wrong))


def test_texts_that_abort_xla_get_an_error() -> None:
    texts = ["f32[3]{0:T(-1)}", "f32[3]{0:L(0)}", "token[]{:S(1)}"]
    assert shapes_by_xla([*texts, "f32[3]"]) == [CRASHED, CRASHED, CRASHED, "f32[3]{0}"]
    for text in texts:
        assert check_text(text) is None


@given(st.randoms(use_true_random=False))
@settings(max_examples=50, deadline=None)
def test_drawn_texts_get_a_shape_or_an_error(source: Random) -> None:
    check_text(draw_text(source))


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
        ("f32[3,5]{1,0:S(1)T(2,2)}", "must come before S", "the order is"),
        ("F32[3,5]", "unknown element type 'F32'", "write f32"),
        ("f32[3,5]{1,0:T(2,*)}", "no more minor dimension", "give the last"),
        ("token[2]", "token has no dimensions", "write token[]"),
        ("f32[3,5]{1,0,}", "expected a dimension number after the comma", "drop the comma"),
        ("f32[3]{0:S(128)}", "S(128) is greater than 127", ""),
        ("f32[3]{0}\0", "unexpected '\\x00' after the shape", ""),
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
    assert [note.severity for note in notes] == ["note", "warning"]
    _, notes = read_shape("f32[3]{0:D(D)}")
    assert [note.severity for note in notes] == ["warning"]
    assert read_shape("f32[3,5]")[1] == ()


def test_deep_nesting_and_huge_numbers_end() -> None:
    for text in ("(" * 100_000, "f32[" + "1," * 50_000, "f32[3]{0:T(" + "9" * 100_000 + ")}", "/*" * 10_000):
        with pytest.raises(DiagnosticError):
            parse_shape(text)


def test_values_are_valid() -> None:
    with pytest.raises(DiagnosticError):
        Layout((0, 0))
