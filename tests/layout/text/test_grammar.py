"""Single rules of the grammar of shapes, each with the span of its error."""

from __future__ import annotations

import pytest

from dialect_utils.layout import parse_array_shape, parse_layout, parse_shape
from dialect_utils.layout.text.foreign import read_shape
from dialect_utils.text import DiagnosticError

ERRORS = [
    ("f32[4]{0:T(2)S(1)«S»(1)}", "layout part S occurs twice"),
    ("f32[4]{0:T(2)«T»(4)}", "layout part T occurs twice"),
    ("f32[4]{0:S(1)«T»(4)}", "layout part T must come before S"),
    ("f32[«-1»]", "must not be negative, found -1"),
    ("f32[3,5]{«1»}", "orders 1 dimensions, but the rank is 2"),
    ("f32[3,5]{1,«1»}", "repeats dimension 1"),
    ("f32[3,5]{1,0:T(2,«0»)}", "must be positive"),
    ("f32[3,5]{1,0,«:»T(2,2)}", "expected a dimension number"),
    ("f32[3«»", "the dimensions"),
    ("«f23»[3]", "unknown element type 'f23'"),
    ("f32[3] «x»", "unexpected"),
]


@pytest.mark.parametrize(("marked", "message"), ERRORS)
def test_errors_point_at_the_mistake(marked: str, message: str) -> None:
    start, end = marked.index("«"), marked.index("»") - 1
    with pytest.raises(DiagnosticError) as caught:
        parse_shape(marked.replace("«", "").replace("»", ""))
    (diagnostic,) = caught.value.diagnostics
    assert message in diagnostic.message
    assert diagnostic.location is not None
    assert diagnostic.location.span.start == start
    assert end == start or diagnostic.location.span.end == end


@pytest.mark.parametrize(
    "text",
    ["f32[3,5]{1,0:T(2,2)}", "f32[]", "f32[<=3,?]{1,0}", "(f32[2]{0}, token[], ())", "b(f32[4]{0})", "f32[4]{0}"],
)
def test_shapes_print_as_they_are_written(text: str) -> None:
    assert str(parse_shape(text)) == text


def test_written_layouts_are_kept() -> None:
    assert parse_array_shape("f32[4]{0}").layout is not None
    assert parse_array_shape("f32[4]").layout is None
    assert parse_array_shape("f32[]{:}").layout is None
    assert parse_layout("{1,0:T(2,*,3)L(4)E(8)S(5)}").memory_space == 5


def test_typed_texts_are_read_with_a_note() -> None:
    shape, notes = read_shape("F32[4,4]{1,0:(2,2)}")
    assert str(shape) == "f32[4,4]{1,0:T(2,2)}"
    assert [note.severity for note in notes] == ["note", "warning"]
    with pytest.raises(DiagnosticError, match="write f32"):
        parse_shape("F32[4]")
