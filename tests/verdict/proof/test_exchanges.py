"""Collective operations: several forms of one exchange are proved equal, and no other exchange is.

XLA:CPU executes the programs on four devices as an independent oracle.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialect_utils.execution import Worker
from dialect_utils.verdict import Options, compare_modules
from dialect_utils.verdict.certified import choices_of, prove
from dialect_utils.verdict.proof import ProofResult, try_prove
from tests.mutants.edits import Edit
from tests.verdict.proof.dialects import parse
from tests.verdict.replay.planting import Bug, planted

XLA = Options(engines=("xla",), power=0)
ADD, MAXIMUM, MULTIPLY = "add", "maximum", "multiply"


@pytest.fixture(scope="module")
def four_devices() -> Iterator[Worker]:
    with Worker(devices=4) as worker:
        yield worker


def program(body: str, result: str, head: str = "replica_count=4", shape: str = "f32[8]") -> str:
    """Returns a module of the parameters x and y, and of functions such as `add.f32` for every type."""
    functions = []
    for kind in ("f32", "bf16", "f16", "s8", "u8", "s32", "u32"):
        for name in (ADD, MAXIMUM, MULTIPLY):
            lines = f"a = {kind}[] parameter(0)\n b = {kind}[] parameter(1)\n ROOT c = {kind}[] {name}(a, b)"
            functions.append(f"{name}.{kind} {{ {lines} }}")
    listed = "\n".join(function for function in functions if function.split(" ")[0] in body)
    return f"""HloModule m, {head}
{listed}
ENTRY e {{
  x = {shape} parameter(0)
  y = {shape} parameter(1)
{body}
  ROOT r = {result}
}}
"""


def proved(first: str, second: str) -> ProofResult:
    modules = [parse(first), parse(second)]
    return prove(modules)


GROUPS = "replica_groups={{0,1},{2,3}}"
ONE = f"  p = f32[8] all-reduce(x), {GROUPS}, to_apply=add.f32\n"
OTHER = f"  q = f32[8] all-reduce(y), {GROUPS}, to_apply=add.f32\n"
PAIR = "(f32[8], f32[8]) tuple(p, q)"


def both(groups: str = GROUPS, function: str = "add.f32", operands: str = "x, y", opcode: str = "all-reduce") -> str:
    return f"""  b = (f32[8], f32[8]) {opcode}({operands}), {groups}, to_apply={function}
  p = f32[8] get-tuple-element(b), index=0
  q = f32[8] get-tuple-element(b), index=1
"""


SINGLE = program(ONE + OTHER, PAIR)
STARTED = """  b = (f32[8], f32[8]) all-reduce-start(x, y), replica_groups={{0,1},{2,3}}, to_apply=add.f32
  d = (f32[8], f32[8]) all-reduce-done(b)
  p = f32[8] get-tuple-element(d), index=0
  q = f32[8] get-tuple-element(d), index=1
"""
WITH_OPERANDS = STARTED.replace("b = (f32[8], f32[8])", "b = ((f32[8], f32[8]), (f32[8], f32[8]))")


@pytest.mark.parametrize(
    "body",
    [both(), both("replica_groups=[2,2]<=[4]"), both("replica_groups={{2,3},{0,1}}"), STARTED, WITH_OPERANDS],
    ids=["a tuple", "an iota", "groups in another order", "asynchronous", "asynchronous with operands"],
)
def test_several_arrays_are_reduced_as_each_is(body: str, four_devices: Worker) -> None:
    second = program(body, PAIR)
    assert proved(SINGLE, second).answer == "equal"
    if "start" not in body:
        assert compare_modules(parse(SINGLE), parse(second), XLA, four_devices).verdict == "agrees"


@pytest.mark.parametrize(
    "body",
    [
        both("replica_groups={{0,2},{1,3}}"),
        both("replica_groups=[2,2]<=[2,2]T(1,0)"),
        both("replica_groups={{0,1,2,3}}"),
        both("replica_groups={}"),
        both(function="maximum.f32"),
        both(operands="y, x"),
        both(operands="x, x"),
    ],
)
def test_another_reduction_is_not_equal(body: str, four_devices: Worker) -> None:
    second = program(body, PAIR)
    assert proved(SINGLE, second).answer == "unknown"
    assert compare_modules(parse(SINGLE), parse(second), XLA, four_devices).verdict == "different"


def split(dimension: int, order: str = "0123", joined: int | None = None, groups: str = "{{0,1,2,3}}") -> str:
    """Returns an all-to-all of the parts of x along a dimension."""
    sizes = [4, 8]
    sizes[dimension] //= 4
    part = f"f32[{sizes[0]},{sizes[1]}]"
    ranges = [[f"[0:{full}]" for full in (4, 8)] for _ in range(4)]
    for i in range(4):
        ranges[i][dimension] = f"[{i * sizes[dimension]}:{(i + 1) * sizes[dimension]}]"
    lines = [f"  s{i}. = {part} slice(x), slice={{{', '.join(ranges[i])}}}" for i in range(4)]
    operands = ", ".join(f"s{i}." for i in range(4))
    lines.append(f"  a = ({', '.join([part] * 4)}) all-to-all({operands}), replica_groups={groups}")
    lines += [f"  g{i} = {part} get-tuple-element(a), index={i}" for i in range(4)]
    found = ", ".join(f"g{i}" for i in order)
    lines.append(f"  c = f32[4,8] concatenate({found}), dimensions={{{dimension if joined is None else joined}}}")
    return "\n".join(lines)


def whole(dimension: int, groups: str = "{{0,1,2,3}}") -> str:
    return f"  c = f32[4,8] all-to-all(x), replica_groups={groups}, dimensions={{{dimension}}}"


def exchanged(body: str) -> str:
    return program(body, "f32[4,8] copy(c)", shape="f32[4,8]")


@pytest.mark.parametrize("dimension", [0, 1])
def test_an_array_is_exchanged_as_its_parts_are(dimension: int, four_devices: Worker) -> None:
    first, second = exchanged(whole(dimension)), exchanged(split(dimension))
    assert proved(first, second).answer == "equal"
    assert compare_modules(parse(first), parse(second), XLA, four_devices).verdict in ("agrees", "equal")


@pytest.mark.parametrize(
    "body",
    [split(0), split(1, "0132"), split(1, groups="{{0,1,3,2}}"), whole(0), whole(1, "{{1,0,2,3}}")],
    ids=["another dimension", "joined in another order", "another group", "another split", "a group in another order"],
)
def test_another_exchange_is_not_equal(body: str, four_devices: Worker) -> None:
    first, second = exchanged(whole(1)), exchanged(body)
    assert proved(first, second).answer == "unknown"
    assert compare_modules(parse(first), parse(second), XLA, four_devices).verdict == "different"


# The mode: which devices the numbers in the groups name.
MODES = {
    "replicas": "replica_groups={{0,1}}",
    "with partitions": "channel_id=1, replica_groups={{0,1}}",
    "devices": "channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true",
    "some devices": "channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true",
}


def test_a_channel_decides_the_mode_and_its_number_nothing() -> None:
    head = "replica_count=2, num_partitions=2"
    found = {name: program(both(mode), PAIR, head) for name, mode in MODES.items()}
    for name, text in found.items():
        renumbered = text.replace("channel_id=1", "channel_id=7")
        assert proved(text, renumbered).answer == "equal"
        for other, wrong in found.items():
            # All replicas with all partitions are all devices.
            is_same = name == other or {name, other} == {"with partitions", "devices"}
            assert (proved(text, wrong).answer == "equal") == is_same, (name, other)


def test_partitions_of_one_replica_are_all_devices() -> None:
    listed = "replica_groups={{0,1},{2,3}}, use_global_device_ids=true, channel_id=1"
    texts = [
        program(both(groups), PAIR, "num_partitions=4") for groups in (listed, "replica_groups={{0}}, channel_id=1")
    ]
    everyone = texts[0].replace("{{0,1},{2,3}}", "{{0,1,2,3}}")
    assert proved(everyone, texts[1]).answer == "equal"
    assert proved(*texts).answer == "unknown"
    assert proved(everyone, texts[1].replace("{{0}}", "{}")).answer == "equal"
    assert proved(everyone, texts[1].replace(", channel_id=1", "")).answer == "unknown"


def permuted(pairs: str, head: str = "replica_count=4", channel: str = "") -> str:
    body = f"  b = (f32[8], f32[8]) collective-permute(x, y), source_target_pairs={pairs}{channel}\n"
    body += "  p = f32[8] get-tuple-element(b), index=0\n  q = f32[8] get-tuple-element(b), index=1"
    return program(body, PAIR, head)


def test_permutes_of_several_arrays() -> None:
    pairs = "{{0,1},{1,0},{2,3}}"
    lines = [
        f"  {a} = f32[8] collective-permute({b}), source_target_pairs={pairs}\n" for a, b in (("p", "x"), ("q", "y"))
    ]
    single = program("".join(lines), PAIR)
    assert proved(single, permuted(pairs)).answer == "equal"
    assert proved(single, permuted("{{2,3},{1,0},{0,1}}")).answer == "equal"
    assert proved(single, permuted("{{1,0},{0,1},{3,2}}")).answer == "unknown"
    assert proved(single, permuted(pairs, channel=", channel_id=1")).answer == "unknown"


# The type of a start and of its result, and the attributes.
OF_GROUPS = "replica_groups={{0,1},{2,3}}, dimensions={0}"
STARTS = {
    "all-gather": ("(f32[8], f32[16])", "f32[16]", OF_GROUPS),
    "all-reduce": ("((f32[8]), f32[8])", "f32[8]", OF_GROUPS.replace(", dimensions={0}", "") + ", to_apply=add.f32"),
    "all-to-all": ("((f32[8]), f32[8])", "f32[8]", OF_GROUPS),
    "reduce-scatter": ("((f32[8]), f32[4])", "f32[4]", OF_GROUPS + ", to_apply=add.f32"),
    "collective-permute": ("(f32[8], f32[8], u32[], u32[])", "f32[8]", "source_target_pairs={{0,1}}"),
}


@pytest.mark.parametrize("opcode", STARTS)
def test_the_parts_of_an_asynchronous_exchange_are_the_exchange(opcode: str) -> None:
    begins, shape, attributes = STARTS[opcode]
    start = f"  begun = {begins} {opcode}-start(x), {attributes}\n  d = {shape} {opcode}-done(begun)"
    begun = program(start, f"{shape} copy(d)")
    plain = program(f"  d = {shape} {opcode}(x), {attributes}", f"{shape} copy(d)")
    other = plain.replace("{{0,1},{2,3}}", "{{0,2},{1,3}}").replace("={{0,1}}", "={{1,0}}")
    assert proved(begun, plain).answer == "equal"
    assert proved(begun, other).answer == "unknown"
    assert proved(begun, plain.replace(f"{opcode}(x)", f"{opcode}(y)")).answer == "unknown"


def reduced(kind: str, wide: str, function: str, between: str = "") -> str:
    """Returns an all-reduce of a type that is computed in another type."""
    between = between or wide
    body = f"""  w = {wide}[8] convert(x)
  a = {wide}[8] all-reduce(w), {GROUPS}, to_apply={function}.{wide}
  n = {kind}[8] convert(a)
"""
    return program(body, f"{kind}[8] copy(n)", shape=f"{kind}[8]")


def narrow(kind: str, function: str) -> str:
    body = f"  n = {kind}[8] all-reduce(x), {GROUPS}, to_apply={function}.{kind}\n"
    return program(body, f"{kind}[8] copy(n)", shape=f"{kind}[8]")


@pytest.mark.parametrize(
    ("kind", "wide", "function", "choices"),
    [
        ("bf16", "f32", ADD, ("precision of all-reduce", "NaN bits")),
        ("f16", "f32", MULTIPLY, ("precision of all-reduce", "NaN bits")),
        ("bf16", "f32", MAXIMUM, ("NaN bits",)),
        ("s8", "s32", ADD, ()),
        ("u8", "u32", MULTIPLY, ()),
        ("s8", "s32", MAXIMUM, ()),
    ],
)
def test_a_wider_type_gives_the_same(
    kind: str, wide: str, function: str, choices: tuple[str, ...], four_devices: Worker
) -> None:
    first, second = narrow(kind, function), reduced(kind, wide, function)
    found = proved(first, second)
    assert (found.answer, choices_of(found.outputs)) == ("equal", choices)
    assert "promoted-reduction" in [use.name for use in found.rules]
    assert choices_of(proved(first, first).outputs) == ()
    assert compare_modules(parse(first), parse(second), XLA, four_devices).verdict in ("agrees", "equal")


@pytest.mark.parametrize(
    ("kind", "wide", "function"),
    [("s8", "u32", MAXIMUM), ("s32", "s8", ADD), ("f16", "bf16", MAXIMUM), ("s8", "f32", ADD), ("bf16", "s32", ADD)],
)
def test_a_type_that_loses_something_is_another(kind: str, wide: str, function: str, four_devices: Worker) -> None:
    first, second = narrow(kind, function), reduced(kind, wide, function)
    assert proved(first, second).answer == "unknown"
    assert compare_modules(parse(first), parse(second), XLA, four_devices).verdict == "different"


def test_the_replay_refuses_a_promotion_that_changes_the_order() -> None:
    # A prover that widens s8 to u32 turns -1 into the largest number.
    edits = [
        Edit("rewriter:_wide", '"s32" if kind.is_signed else "u32"', '"u32"'),
        Edit("Rewriter._wide_exchange", "promotion_level(opcode, kind, wide) is None", "False"),
    ]
    first, second = parse(narrow("s8", MAXIMUM)), parse(reduced("s8", "u32", MAXIMUM))
    with planted(Bug(edits, first, second)):
        assert try_prove([first, second]).answer == "equal"
        assert prove([first, second]).answer == "unknown"


def test_a_comparison_observes_the_precision_of_a_sum() -> None:
    texts = [
        text.replace("bf16[8] copy(n)", "pred[8] compare(n, y), direction=LT")
        for text in (narrow("bf16", ADD), reduced("bf16", "f32", ADD))
    ]
    assert proved(*texts).answer == "unknown"


def test_a_sum_over_replicas_is_an_all_reduce() -> None:
    head = 'func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %r = "stablehlo.'
    groups = "<{replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}>"
    old = f'{head}cross-replica-sum"(%x) {groups} : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}}'
    body = "({\n  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n    %s = stablehlo.FUNCTION %a, %b : tensor<f32>\n"
    body += "    stablehlo.return %s : tensor<f32>\n  })"
    new = f'{head}all_reduce"(%x) {groups} {body} : (tensor<f32>) -> tensor<f32>\n  return %r : tensor<f32>\n}}'
    assert proved(old, new.replace("FUNCTION", "add")).answer == "equal"
    assert proved(old, new.replace("FUNCTION", "maximum")).answer == "unknown"
    assert proved(old, new.replace("FUNCTION", "add").replace("[0, 1], [2, 3]", "[2, 3], [0, 1]")).answer == "equal"
    assert proved(old, new.replace("FUNCTION", "add").replace("[0, 1], [2, 3]", "[0, 2], [1, 3]")).answer == "unknown"


ALONE = "{{0},{1},{2},{3}}"


@pytest.mark.parametrize(
    "line",
    [
        f"p = f32[8] all-reduce(x), replica_groups={ALONE}, to_apply=add.f32",
        f"p = f32[8] all-gather(x), replica_groups={ALONE}, dimensions={{0}}",
        f"p = f32[8] reduce-scatter(x), replica_groups={ALONE}, dimensions={{0}}, to_apply=add.f32",
        f"p = f32[8] all-to-all(x), replica_groups={ALONE}, dimensions={{0}}",
    ],
)
def test_a_device_alone_gets_what_it_gives(line: str, four_devices: Worker) -> None:
    first, second = (program(f"  {each}", "f32[8] negate(p)") for each in (line, "p = f32[8] copy(x)"))
    assert proved(first, second).answer == "equal"
    assert compare_modules(parse(first), parse(second), XLA, four_devices).verdict in ("agrees", "equal")
    if "all-gather" not in line and "scatter" not in line:
        wrong = first.replace(ALONE, "{{0,1},{2},{3}}" if "all-reduce" in line else "{{0,1},{2,3}}")
        assert proved(wrong, second).answer == "unknown"
    # Each replica exchanges with the partitions of its own.
    among = first.replace("replica_count=4", "replica_count=4, num_partitions=2").replace(
        "}}, ", "}}, channel_id=1, ", 1
    )
    if "all-to-all" not in line:
        assert proved(among, second.replace("replica_count=4", "replica_count=4, num_partitions=2")).answer == "unknown"
