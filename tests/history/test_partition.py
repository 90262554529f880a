"""Modules before and after a partitioner: the operation behind each collective, and the shardings that disagree."""

from __future__ import annotations

import pytest

from dialect_utils.history.flat import FlatGraph
from dialect_utils.history.partition import Disagreement, Partition, origins, try_axes
from dialect_utils.history.tracing import History
from dialect_utils.hlo import parse_module
from dialect_utils.memory.collectives import collective_kind
from dialect_utils.ops.sharding import by_axes, replicated

_SUM = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n"
_ROWS, _COLUMNS = "{devices=[2,1]<=[2]}", "{devices=[1,2]<=[2]}"
_AMONG = "channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true"


def _module(body: str, head: str = "num_partitions=2") -> FlatGraph:
    return FlatGraph(parse_module(f"HloModule m, {head}\n{_SUM}ENTRY e {{\n{body}\n}}"))


def _disagreements(before: str, after: str) -> list[Disagreement | None]:
    partition = Partition(_module(before), _module(after))
    nodes = [each for each in partition.after.nodes if each.operation is not None]
    return [partition.disagreement(each) for each in nodes if each.operation and collective_kind(each.operation)]


def _said(found: Disagreement | None) -> tuple[str, list[str], str] | None:
    if found is None:
        return None
    given = [f"{each.node.name} {each.text}" for each in found.given]
    result = "" if found.wanted.result is None else f" as result {found.wanted.result}"
    return found.reason, given, f"{found.wanted.node.name} {found.wanted.text}{result}"


# The rows of w are on different devices, and so are the columns of x: each product is a term of the sum.
_PRODUCT = f"""  x = f32[8,16] parameter(0), sharding={_COLUMNS}
  w = f32[16,4] parameter(1), sharding={_ROWS}
  ROOT d = f32[8,4] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, sharding={{replicated}},
    metadata={{op_name="dot"}}"""
_PRODUCT_PARTS = f"""  p = f32[8,8] parameter(0), sharding={_COLUMNS}
  q = f32[8,4] parameter(1), sharding={_ROWS}
  d = f32[8,4] dot(p, q), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}, metadata={{op_name="dot"}}
  ROOT r = f32[8,4] all-reduce(d), {_AMONG}, to_apply=add, metadata={{op_name="dot"}}"""


def test_terms_of_a_sum() -> None:
    [found] = _disagreements(_PRODUCT, _PRODUCT_PARTS)
    assert _said(found) == ("sum", [f"x {_COLUMNS}", f"w {_ROWS}"], "d {replicated}")


def test_an_operand_in_other_parts() -> None:
    before = f"""  x = f32[8,16] parameter(0), sharding={_ROWS}
  n = f32[8,16] negate(x), sharding={_ROWS}, metadata={{op_name="neg"}}
  ROOT s = f32[8,16] sine(n), sharding={_COLUMNS}, metadata={{op_name="sin"}}"""
    after = """  p = f32[4,16] parameter(0)
  n.1 = f32[4,16] negate(p), metadata={op_name="neg"}
  r = f32[4,2,8] reshape(n.1), metadata={op_name="sin"}
  a = f32[4,2,8] all-to-all(r), channel_id=1, replica_groups={{0,1}}, dimensions={1}, metadata={op_name="sin"}
  t = f32[2,4,8] transpose(a), dimensions={1,0,2}, metadata={op_name="sin"}
  u = f32[8,8] reshape(t), metadata={op_name="sin"}
  ROOT s.1 = f32[8,8] sine(u), metadata={op_name="sin"}"""
    assert _said(_disagreements(before, after)[0]) == ("reshard", [f"n {_ROWS}"], f"s {_COLUMNS}")


@pytest.mark.parametrize(
    "root",
    [
        "n = f32[8,16] negate(x), sharding=%s\n  t = (f32[8,16]) tuple(n), sharding={%s}\n"
        "  ROOT g = f32[8,16] get-tuple-element(t), index=0, sharding={replicated}",
        "n = f32[8,16] negate(x), sharding=%s\n  ROOT t = (f32[8,16]) tuple(n), sharding={{replicated}}",
    ],
)
def test_a_result_as_a_whole(root: str) -> None:
    before = f"  x = f32[8,16] parameter(0), sharding={_ROWS}\n  " + root.replace("%s", _ROWS)
    gathered = f"a = f32[8,16] all-gather(n), {_AMONG}, dimensions={{0}}"
    after = f"  x = f32[4,16] parameter(0)\n  n = f32[4,16] negate(x)\n  {gathered}\n"
    after += "  ROOT t = (f32[8,16]) tuple(a)" if "ROOT t" in root else "  ROOT c = f32[8,16] copy(a)"
    found = _disagreements(before, after)[0]
    assert found is not None
    assert (found.reason, found.given[0].text, found.wanted.text, found.wanted.result) == (
        "reshard",
        _ROWS,
        "{replicated}",
        0,
    )


def test_elements_of_neighbours() -> None:
    before = f"""  x = f32[8,16] parameter(0), sharding={_ROWS}
  a = f32[7,16] slice(x), slice={{[1:8], [0:16]}}, sharding={_ROWS}, metadata={{op_name="roll"}}
  b = f32[1,16] slice(x), slice={{[0:1], [0:16]}}, sharding={_ROWS}, metadata={{op_name="roll"}}
  ROOT c = f32[8,16] concatenate(a, b), dimensions={{0}}, sharding={_ROWS}, metadata={{op_name="roll"}}"""
    after = """  p = f32[4,16] parameter(0)
  s = f32[1,16] slice(p), slice={[0:1], [0:16]}, metadata={op_name="roll"}
  m = f32[1,16] collective-permute(s), channel_id=1, source_target_pairs={{0,1},{1,0}}, metadata={op_name="roll"}
  r = f32[3,16] slice(p), slice={[1:4], [0:16]}, metadata={op_name="roll"}
  ROOT c = f32[4,16] concatenate(r, m), dimensions={0}, metadata={op_name="roll"}"""
    found = _disagreements(before, after)[0]
    assert found is not None
    assert (found.reason, found.wanted.node.name) == ("neighbours", "c")


def test_equal_operations_are_told_apart_by_their_operands_and_dropped_ones_left_out() -> None:
    product = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    layers = [
        f'd{i} = f32[8,16] dot({"x" if i == 0 else "t"}, w{i}), {product}, sharding={_ROWS}, metadata={{op_name="dot"}}'
        for i in range(2)
    ]
    before = f"""  x = f32[8,16] parameter(0), sharding={_ROWS}
  w0 = f32[16,16] parameter(1), sharding={_ROWS}
  w1 = f32[16,16] parameter(2), sharding={_ROWS}
  {layers[0]}
  t = f32[8,16] tanh(d0), sharding={_ROWS}, metadata={{op_name="tanh"}}
  ROOT {layers[1]}"""
    gather = f'{_AMONG}, dimensions={{0}}, metadata={{op_name="dot"}}'
    local = f'{product}, metadata={{op_name="dot"}}'
    after = f"""  p = f32[4,16] parameter(0)
  q1 = f32[8,16] parameter(2)
  g1 = f32[16,16] all-gather(q1), {gather}
  q0 = f32[8,16] parameter(1)
  dropped = f32[4,16] dot(p, g1), {local}
  g0 = f32[16,16] all-gather(q0), {gather}
  a = f32[4,16] dot(p, g0), {local}
  t = f32[4,16] tanh(a), metadata={{op_name="tanh"}}
  ROOT b = f32[4,16] dot(t, g1), {local}"""
    said = [_said(each) for each in _disagreements(before, after)]
    assert said == [("reshard", [f"w{i} {_ROWS}"], f"d{i} {_ROWS}") for i in (1, 0)]


def test_without_shardings_nothing_is_said() -> None:
    plain = _PRODUCT.replace(", sharding={replicated}", "")
    assert _disagreements(plain, _PRODUCT_PARTS) == [None]


def test_axes_of_shardings() -> None:
    mesh = {"x": 2, "y": 4}
    for axes in ((("x",), ()), ((), ("x", "y")), (("y", "x"), ()), (("y",), ("x",)), ((), ())):
        assert try_axes(by_axes(mesh, axes), mesh) == axes
    assert try_axes(replicated(2, 8), {}) is None
    assert try_axes(replicated(2, 4), mesh) is None
    assert try_axes(by_axes({"z": 8}, (("z",), ())), {"x": 2, "y": 2, "w": 2}) == (("x", "y", "w"), ())


# Two sums become one, and a sum whose devices keep a slice becomes a reduce-scatter.
_SUMS = f"""  x = f32[8] parameter(0)
  y = f32[16] parameter(1)
  a = f32[8] all-reduce(x), {_AMONG}, to_apply=add
  b = f32[16] all-reduce(y), {_AMONG.replace("=1", "=2")}, to_apply=add
  i = u32[] partition-id()
  c = f32[8] dynamic-slice(b, i), dynamic_slice_sizes={{8}}
  ROOT t = (f32[8], f32[8]) tuple(a, c)"""
_JOINED = f"""  x = f32[8] parameter(0)
  y = f32[16] parameter(1)
  j = (f32[8], f32[16]) all-reduce(x, y), {_AMONG}, to_apply=add
  a = f32[8] get-tuple-element(j), index=0
  b = f32[16] get-tuple-element(j), index=1
  i = u32[] partition-id()
  c = f32[8] dynamic-slice(b, i), dynamic_slice_sizes={{8}}
  ROOT t = (f32[8], f32[8]) tuple(a, c)"""
_SCATTERED = f"""  x = f32[8] parameter(0)
  y = f32[16] parameter(1)
  a = f32[8] all-reduce(x), {_AMONG}, to_apply=add
  c = f32[8] reduce-scatter(y), {_AMONG.replace("=1", "=2")}, to_apply=add, dimensions={{0}}
  ROOT t = (f32[8], f32[8]) tuple(a, c)"""
_ADDED = f"""  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  a = f32[8] all-reduce(x), {_AMONG}, to_apply=add
  b = f32[8] all-reduce(y), {_AMONG.replace("=1", "=2")}, to_apply=add
  ROOT c = f32[8] add(a, b), metadata={{op_name="both"}}"""
_REASSOCIATED = f"""  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  c = f32[8] add(x, y), metadata={{op_name="both"}}
  ROOT r = f32[8] all-reduce(c), {_AMONG.replace("=1", "=3")}, to_apply=add"""
_NONE = "  x = f32[8] parameter(0)\n  y = f32[16] parameter(1)\n  ROOT t = (f32[8], f32[16]) tuple(x, y)"


@pytest.mark.parametrize(
    ("earlier", "last", "name", "expected"),
    [
        (_SUMS, _JOINED, "j", [["j", "a"], ["j", "b"]]),
        (_SUMS, _SCATTERED, "c", [["c", "b"]]),
        (_SUMS, _SUMS, "a", [["a"]]),
        (_ADDED, _REASSOCIATED, "r", [["r", "a"], ["r", "b"]]),
    ],
)
def test_a_collective_that_replaces_others_has_their_origins(
    earlier: str, last: str, name: str, expected: list[list[str]]
) -> None:
    none = "  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n  ROOT c = f32[8] add(x, y)"
    texts = [_NONE if earlier is _SUMS else none, earlier, last]
    history = History([(lambda text=text: _module(text).module) for text in texts])  # type: ignore[misc]
    assert history.final is not None
    [node] = [each for each in history.final[1].nodes if each.name == name]
    assert [[stage.node.name for stage in stages] for stages in origins(history, node)] == expected


def test_functions_that_nothing_calls_have_no_nodes() -> None:
    text = "HloModule m\nunused { a = f32[2] parameter(0) ROOT n = f32[2] negate(a) }\n"
    graph = FlatGraph(parse_module(text + "ENTRY e { ROOT x = f32[2] parameter(0) }"))
    assert [each.name for each in graph.nodes] == ["x"]
