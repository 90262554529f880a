import re

import pytest

from dialect_utils.layout import ArrayShape, Layout, Tile
from dialect_utils.stablehlo import parse_module
from tests.paths import SHARED_DATA

_SHARED = SHARED_DATA / "corpus"
_FILES = sorted([*_SHARED.glob("tpu/*/stablehlo.mlir"), *_SHARED.glob("stablehlo_testdata/*.mlir")])

_DEFAULT = re.compile(r', mhlo\.layout_mode = "default"|mhlo\.layout_mode = "default",? ?')


@pytest.mark.shared(_SHARED)
def test_every_program_is_read_tiled_and_untiled() -> None:
    for path in _FILES:
        # A layout replaces the mode "default".
        module = parse_module(_DEFAULT.sub("", path.read_text()), path.name)
        plain = module.text()
        assert parse_module(plain).text() == plain, path
        values = [
            value
            for function in module.functions
            if not function.is_embedded
            for value in [*function.parameters, *(r for o in function.operations for r in o.results)]
        ]
        for value in values:
            shape = value.shape
            if isinstance(shape, ArrayShape):
                tiled = Layout(tuple(range(shape.rank)), (Tile((2, 128)),))
                value.set_shape(shape.with_layout(tiled))
        module.verify()
        again = parse_module(module.text())
        assert again.text() == module.text(), path
        assert again.entry_layout == module.entry_layout, path
        for value in values:
            if isinstance(value.shape, ArrayShape):
                assert value.shape.layout is not None, path
                value.set_shape(value.shape.without_layout)
        assert module.text() == plain, path
