from dialect_utils.layout import parse_array_shape
from dialect_utils.layout.targets.xla_answers import xla_answers


def answers(source: str, destination: str) -> dict[str, str]:
    return xla_answers(parse_array_shape(source), parse_array_shape(destination))


def test_a_transpose_and_a_reshape() -> None:
    assert answers("f32[2,3]{1,0}", "f32[3,2]{0,1}") == {
        "ReshapeIsBitcast": "false",
        "TransposeIsBitcast": "true, {1,0}",
        "DecomposeBitcast": "transpose {1,0}",
        "AlignLayouts": "{1,0}",
    }
    assert answers("f32[2,3]{1,0}", "f32[6]{0}")["DecomposeBitcast"] == "reshape"


def test_three_steps_and_none() -> None:
    three = answers("f32[16,3,17]{1,2,0}", "f32[16,51]{0,1}")
    assert three["DecomposeBitcast"] == "transpose {0,2,1}, reshape f32[51,16]{1,0}, transpose {1,0}"
    assert three["AlignLayouts"] == "none"
    shrinking = answers("f32[7,33]{1,0}", "f32[7,28]{1,0}")
    assert shrinking["AlignLayouts"] == shrinking["DecomposeBitcast"] == "none: the element counts differ"


def test_tiles_are_not_seen() -> None:
    tiled = answers("f32[2,512]{1,0:T(2,128)}", "f32[1024]{0:T(1024)}")
    assert tiled["ReshapeIsBitcast"] == "true"
