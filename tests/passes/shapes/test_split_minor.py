"""split-minor: random gathers and scatters are proved to stay the same, and executed; full sizes are proved, too."""

from __future__ import annotations

import random
import re

import pytest

from dialect_utils.execution import Worker
from dialect_utils.hlo import parse_module
from dialect_utils.verdict import Options, compare_modules
from passes.framework.pipeline import verify
from passes.shapes.split_minor import split_minor

OTHER = "inserted_window_dims={1}, scatter_dims_to_operand_dims={1}"
PROOF = Options(engines=("proof",))
NUMBERS = "collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim={last}"


def gather(rng: random.Random) -> str:
    rows, width = rng.randint(2, 9), rng.randint(2, 5)
    batch = [rng.randint(2, 4), *(rng.randint(1, 4) for _ in range(rng.randint(0, 1)))]
    sizes = ",".join(map(str, batch))
    last = len(batch)
    return f"""HloModule m

ENTRY e {{
  p = f32[{rows},{width}] parameter(0)
  i = s32[{sizes},1] parameter(1)
  n = f32[{rows},{width}] negate(p)
  g = f32[{sizes},{width}] gather(n, i), offset_dims={{{last}}}, {NUMBERS.format(last=last)}, slice_sizes={{1,{width}}}
  ROOT r = f32[{sizes},{width}] multiply(g, g)
}}
"""


def scatter(rng: random.Random) -> str:
    rows, count, width = rng.randint(2, 9), rng.randint(2, 6), rng.randint(2, 5)
    function = rng.choice(["add", "maximum"])
    return f"""HloModule m

combine {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] {function}(a, b)
}}

ENTRY e {{
  p = s32[{rows},{width}] parameter(0)
  i = s32[{count},1] parameter(1)
  u = s32[{count},{width}] parameter(2)
  ROOT s = s32[{rows},{width}] scatter(p, i, u), update_window_dims={{1}}, inserted_window_dims={{0}}, scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=combine
}}
"""  # noqa: E501  # one instruction


@pytest.mark.parametrize("make", [gather, scatter])
@pytest.mark.parametrize("seed", range(4))
def test_a_split_program_is_proved_equal_and_no_execution_contradicts(make: object, seed: int, worker: Worker) -> None:
    assert callable(make)
    module = parse_module(make(random.Random(seed)))
    verify(module)
    result = split_minor.run(module)
    assert result.modified
    verify(result.module)
    verdict = compare_modules(module, result.module, Options(engines=("proof", "xla"), power=0), worker)
    assert verdict.verdict == "equal", verdict
    assert "proof" in verdict.methods


def test_a_million_rows_are_proved_without_looking_at_each() -> None:
    module = parse_module(
        f"""HloModule m

ENTRY e {{
  p = f32[1048576,3] parameter(0)
  i = s32[65536,32,1] parameter(1)
  g = f32[65536,32,3] gather(p, i), offset_dims={{2}}, {NUMBERS.format(last=2)}, slice_sizes={{1,3}}
  ROOT r = f32[65536,32,3] multiply(g, g)
}}
"""
    )
    verify(module)
    split = split_minor.run(module)
    assert compare_modules(module, split.module, PROOF).verdict == "equal"


def test_exchanged_columns_are_different(worker: Worker) -> None:
    module = parse_module(scatter(random.Random(1)))
    text = split_minor.run(module).module.text()
    assert text.count("concatenate(s.0, s.1") == 1
    wrong = parse_module(text.replace("concatenate(s.0, s.1", "concatenate(s.1, s.0"))
    assert compare_modules(module, wrong, Options(engines=("proof", "xla"), power=0), worker).verdict == "different"


@pytest.mark.parametrize("make", [gather, scatter])
def test_a_single_row_stays(make: object) -> None:
    assert callable(make)
    text = make(random.Random(1))
    count = re.findall(r"s32\[([0-9,]+),1\] parameter\(1\)", text)[0]
    ones = re.sub(r"\d+", "1", count)
    single = text.replace(f"[{count},", f"[{ones},")
    verify(parse_module(single))
    assert split_minor.run(parse_module(text)).modified
    assert not split_minor.run(parse_module(single)).modified


def test_a_window_of_another_dimension_stays() -> None:
    text = scatter(random.Random(1))
    assert split_minor.run(parse_module(text)).modified
    # The window is a column, and its 3 elements are not those of a row.
    column = re.sub(r"s32\[\d+,\d+\]( parameter\(0\)| scatter)", r"s32[3,3]\1", text)
    column = re.sub(r"s32\[\d+,\d+\] parameter\(2\)", "s32[5,3] parameter(2)", column)
    column = re.sub(r"s32\[\d+,1\] parameter\(1\)", "s32[5,1] parameter(1)", column)
    module = parse_module(
        column.replace("inserted_window_dims={0}, scatter_dims_to_operand_dims={0}", OTHER),
    )
    verify(module)
    assert not split_minor.run(module).modified
