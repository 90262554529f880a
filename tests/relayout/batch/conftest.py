from __future__ import annotations

from pathlib import Path

import pytest

MODULE = """HloModule m{0}
ENTRY e {{
  p = f32[3,{1}]{{1,0:T(2,2)}} parameter(0)
  ROOT n = f32[3,{1}]{{1,0}} negate(p)
}}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(6):
        (tmp_path / f"m{number}.hlo").write_text(MODULE.format(number, number + 4))
    (tmp_path / "m2.hlo").write_text("HloModule broken\n")
    return tmp_path
