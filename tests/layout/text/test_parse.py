"""Reading shapes by regular expressions, against the grammar."""

from __future__ import annotations

import re

import pytest

from dialect_utils.layout import Shape, parse_shape
from dialect_utils.layout.text.grammar import ShapeParser
from dialect_utils.layout.text.parse import try_common_shape
from dialect_utils.text import DiagnosticError, Source
from tests.paths import OWN_CORPUS

_SHAPE = re.compile(r" = (\(.*?\)|[a-z]\w*\[.*?\](?:\{.*?\})?) [a-z][a-z\-]*\(")


def read_by_parser(text: str) -> Shape:
    return ShapeParser(Source("<shape>", text)).whole_shape()


def test_every_shape_of_the_corpus() -> None:
    texts = {found for path in OWN_CORPUS.glob("**/*.hlo") for found in _SHAPE.findall(path.read_text("utf-8"))}
    known = {text: shape for text in texts if (shape := try_common_shape(text)) is not None}
    assert len(known) > 0.9 * len(texts) > 500
    for text, shape in known.items():
        assert shape == read_by_parser(text)
        assert parse_shape(text) == shape


@pytest.mark.parametrize(
    "text",
    ["f32[]", "f32[]{:}", "s4[3,0]{1,0:E(4)}", "f32[3]{0:S(1)}", "bf16[4,8]{1,0:T(8,128)(2,1)S(3)}", "f32[]{:T(128)}",
     "(f32[3]{0}, /*index=1*/s32[])", "token[]", "(token[], f32[])", "((f32[]), f32[])", "()", "f32[<=3]", "f32[007]"],
)  # fmt: skip
def test_forms(text: str) -> None:
    found = try_common_shape(text)
    assert found is None or found == read_by_parser(text)
    assert parse_shape(text) == read_by_parser(text)


@pytest.mark.parametrize(
    "text",
    ["f33[3]", "f32[3]{1}", "f32[3]{0,0}", "f32[3,4]{1}", "f32[3]{0:T(0)}", "f32[3]{0:T()}", "f32[3", "(f32[3]",
     "(f32[3],f32[4]) f32", "f32[]{0}", "f32[3]{0:S(99999)}", "f32[99999999999999999999]"],
)  # fmt: skip
def test_wrong_texts_are_left_to_the_grammar(text: str) -> None:
    assert try_common_shape(text) is None
    with pytest.raises(DiagnosticError):
        parse_shape(text)
