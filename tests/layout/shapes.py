"""Shapes with layouts for tests: every kind of tile on small arrays, given and drawn at random."""

from hypothesis import strategies as st

from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, Layout, Tile, parse_array_shape
from dialect_utils.layout.layout import COMBINE, MATCH

GIVEN = [
    parse_array_shape(text)
    for text in (
        "f32[]",
        "f32[]{:T(128)}",
        "f32[]{:T(2,4)}",
        "f32[5]{0:T(2,4)}",
        "f32[7,5]{0,1}",
        "f32[3,5]{1,0:T(2,2)}",
        "f32[3,5]{0,1:T(2,2)}",
        "f32[3,5]{1,0:T(2,2)(4,1)}",
        "f32[2,3,5]{2,1,0:T(2,4)}",
        "f32[2,3]{1,0:T(2)}",
        "bf16[9,130]{1,0:T(8,128)(2,1)}",
        "s8[33,5]{1,0:T(8,128)(4,1)}",
        "bf16[300]{0:T(256)(128)(2,1)}",
        "bf16[8,8]{1,0:T(2,4)(2,1,1,1)}",
        "bf16[16,130]{1,0:T(8,128)(2,1,1,1)}",
        "f32[4,8]{1,0:T(1,4)(2,1,1)}",
        "f32[2,3,4,5,6]{4,3,2,1,0:T(*,*,2,*,4)}",
        "f32[3,5,2]{0,2,1:T(*,4)}",
        "f32[6,5]{1,0:T(2,3)(*,2)}",
        "f32[3,5]{1,0:T(d,2)}",
        "f32[3,5]{1,0:T(2,d)}",
        "f32[2,3,5]{2,1,0:T(*,d,4)}",
        "f32[2,3,5]{2,1,0:T(d,4,2)}",
        "f32[0,5]{1,0:T(2,4)}",
        "f32[3,0]{1,0:T(2,d)}",
        "s4[3,5]{1,0:E(4)}",
        "s4[3,5]{1,0:T(2,4)(2,1)E(4)}",
        "u2[5,3]{0,1:T(4,2)E(2)}",
        "pred[5,3]{1,0:E(32)}",
        "f32[6,5]{1,0:T(4,2)L(64)SC(0:3)}",
    )
] + [
    ArrayShape(ELEMENT_TYPES["f32"], (2, 3), Layout((0, 1), padded_dimensions=(3, 5), padding_value=0.0)),
    ArrayShape(ELEMENT_TYPES["f32"], (2, 3), Layout((1, 0), (Tile((2, 2)),), padded_dimensions=(2, 5))),
]


@st.composite
def tiled_shapes(
    draw: st.DrawFn, element_types: tuple[str, ...] = ("f32", "bf16", "s8", "s4"), largest: int = 7
) -> ArrayShape:
    """Draws shapes of rank 0 to 4 with up to three tiles of any kind."""
    element_type = ELEMENT_TYPES[draw(st.sampled_from(element_types))]
    dimensions = tuple(draw(st.lists(st.integers(0, largest) | st.integers(1, largest), max_size=4)))
    order = tuple(draw(st.permutations(range(len(dimensions)))))
    sizes = st.integers(1, 5) | st.integers(1, 5) | st.sampled_from((COMBINE, MATCH))
    tiles = draw(st.lists(st.lists(sizes, min_size=1, max_size=4).filter(lambda t: t[-1] != COMBINE), max_size=3))
    bits = element_type.bits if element_type.bits < 8 and draw(st.booleans()) else 0
    layout = Layout(order, tuple(Tile(tuple(tile)) for tile in tiles), element_size_in_bits=bits)
    return ArrayShape(element_type, dimensions, layout)
