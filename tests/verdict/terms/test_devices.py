"""Collective operations among devices against plain programs that state what the specification of StableHLO says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from dialect_utils.hlo.parse import parse_module
from dialect_utils.ir import Module
from dialect_utils.ops.sharding import Partition, Sharding
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.terms import devices as definitions
from dialect_utils.verdict.terms.devices import Axes, Devices, Local
from dialect_utils.verdict.terms.exchanges import device_groups, device_pairs

# An array of the program: its name and sizes.
Part = tuple[str, tuple[int, ...]]
LOCAL = (1, 4, 6)


@dataclass
class Plain:
    """The text of a program for one device whose parameter x stacks the parts of several devices."""

    devices: int
    kind: str = "s32"
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.array((self.devices, *LOCAL[1:]), "parameter(0)")

    def array(self, sizes: Sequence[int], text: str) -> Part:
        self.lines.append(f"v{len(self.lines)} = {self.kind}[{','.join(map(str, sizes))}] {text}")
        return f"v{len(self.lines) - 1}", tuple(sizes)

    def slice(self, part: Part, dimension: int, start: int, size: int) -> Part:
        name, sizes = part
        limits = [(start, start + size) if i == dimension else (0, each) for i, each in enumerate(sizes)]
        text = ",".join(f"[{a}:{b}]" for a, b in limits)
        return self.array([b - a for a, b in limits], f"slice({name}), slice={{{text}}}")

    def of(self, device: int) -> Part:
        return self.slice(("v0", (self.devices, *LOCAL[1:])), 0, device, 1)

    def joined(self, parts: Sequence[Part], dimension: int) -> Part:
        sizes = [*parts[0][1]]
        sizes[dimension] = sum(each[1][dimension] for each in parts)
        names = ", ".join(name for name, _ in parts)
        return self.array(sizes, f"concatenate({names}), dimensions={{{dimension}}}")

    def combined(self, opcode: str, parts: Sequence[Part]) -> Part:
        found = parts[0]
        for each in parts[1:]:
            found = self.array(found[1], f"{opcode}({found[0]}, {each[0]})")
        return found

    def zeros(self) -> Part:
        zero, _ = self.array((), "constant(0)")
        return self.array(LOCAL, f"broadcast({zero}), dimensions={{}}")

    def text(self, parts: Sequence[Part]) -> tuple[str, tuple[int, ...]]:
        _, sizes = self.joined(parts, 0)
        body = "\n  ".join([*self.lines[:-1], f"ROOT {self.lines[-1]}"])
        return f"HloModule whole\nENTRY e {{\n  {body}\n}}\n", sizes


Make = Callable[[Plain, Sequence[int], int, int], Part]


def place_of(device: int, group: Sequence[int]) -> int:
    return [*group].index(device)


def all_gather(plain: Plain, group: Sequence[int], _: int, dimension: int) -> Part:
    return plain.joined([plain.of(each) for each in group], dimension)


def all_reduce(opcode: str) -> Make:
    return lambda plain, group, _, __: plain.combined(opcode, [plain.of(each) for each in group])


def reduce_scatter(plain: Plain, group: Sequence[int], device: int, dimension: int) -> Part:
    whole = plain.combined("add", [plain.of(each) for each in group])
    size = LOCAL[dimension] // len(group)
    return plain.slice(whole, dimension, place_of(device, group) * size, size)


def all_to_all(split: int) -> Make:
    def make(plain: Plain, group: Sequence[int], device: int, _: int) -> Part:
        size = LOCAL[split] // len(group)
        parts = [plain.slice(plain.of(each), split, place_of(device, group) * size, size) for each in group]
        return plain.joined(parts, split)

    return make


def broadcast(plain: Plain, group: Sequence[int], _: int, __: int) -> Part:
    return plain.of(group[0])


# The groups of devices in each notation, by the number of devices, and what they mean.
GROUPS = {
    (4, "{{0,1,2,3}}"): [[0, 1, 2, 3]],
    (4, "{{1,0},{3,2}}"): [[1, 0], [3, 2]],
    (4, "{{0,2},{1,3}}"): [[0, 2], [1, 3]],
    (4, "[2,2]<=[4]"): [[0, 1], [2, 3]],
    (4, "[2,2]<=[2,2]T(1,0)"): [[0, 2], [1, 3]],
    (4, "mesh['a'=2,'b'=2] {'a'}"): [[0, 2], [1, 3]],
    (6, "[2,3]<=[6]"): [[0, 1, 2], [3, 4, 5]],
    (6, "[2,3]<=[3,2]T(1,0)"): [[0, 2, 4], [1, 3, 5]],
    (6, "{{0,3},{1,4},{2,5}}"): [[0, 3], [1, 4], [2, 5]],
    (6, "mesh['a'=2,'b'=3] {'a'}"): [[0, 3], [1, 4], [2, 5]],
    (8, "[4,2]<=[2,4]T(1,0)"): [[0, 4], [1, 5], [2, 6], [3, 7]],
    (8, "[4,2]<=[2,2,2]T(0,2,1)"): [[0, 2], [1, 3], [4, 6], [5, 7]],
}
COMBINERS = {"s32": ("add", "maximum", "minimum"), "pred": ("and", "or")}
MODULE = """HloModule parts, {counts}
f {{
  a = {kind}[] parameter(0)
  b = {kind}[] parameter(1)
  ROOT c = {kind}[] {combiner}(a, b)
}}
ENTRY e {{
  x = {kind}[{local}] parameter(0)
  {body}
}}
"""


def part_program(devices: int, sizes: Sequence[int], body: str, kind: str, combiner: str) -> str:
    result, local = (",".join(map(str, each)) for each in (sizes, LOCAL))
    root = f"ROOT r = {kind}[{result}] {body}"
    return MODULE.format(counts=f"num_partitions={devices}", kind=kind, combiner=combiner, local=local, body=root)


def each_device(devices: int, rank: int = 3) -> Sharding:
    return Sharding((devices, *[1] * (rank - 1)), tuple((i, *[0] * (rank - 1)) for i in range(devices)))


@dataclass(frozen=True)
class Case:
    """A program of several devices, and the plain one that states what it means."""

    name: str
    devices: int
    parts: str
    whole: str
    sizes: tuple[int, ...]
    kind: str

    def modules(self) -> tuple[Module, Module]:
        return parse_module(self.whole, "whole.hlo"), parse_module(self.parts, "parts.hlo")


def case(
    name: str, devices: int, body: str, make: Callable[[Plain, int], Part], kind: str = "s32", combiner: str = "add"
) -> Case:
    plain = Plain(devices, kind)
    parts = [make(plain, device) for device in range(devices)]
    whole, sizes = plain.text(parts)
    return Case(name, devices, part_program(devices, parts[0][1], body, kind, combiner), whole, sizes, kind)


FLAGGED = ("all-gather", "all-reduce", "reduce-scatter")


def with_groups(
    devices: int, text: str, name: str, make: Make, dimension: int = 0, kind: str = "s32", combiner: str = "add"
) -> Case:
    own = {device: group for group in GROUPS[devices, text] for device in group}
    dimensions = "" if dimension == 0 else f", dimensions={{{dimension}}}"
    function = ", to_apply=f" if name in FLAGGED[1:] else ""
    ids = ", use_global_device_ids=true" if name in FLAGGED else ""
    body = f"{name}(x), channel_id=1, replica_groups={text}{ids}{dimensions}{function}"
    title = f"{name} {kind} {combiner}{dimensions} {text}"
    return case(title, devices, body, lambda plain, d: make(plain, own[d], d, dimension), kind, combiner)


def of_groups() -> Iterator[Case]:
    for (devices, text), groups in GROUPS.items():
        for dimension in (1, 2):
            yield with_groups(devices, text, "all-gather", all_gather, dimension)
            if LOCAL[dimension] % len(groups[0]) == 0:
                yield with_groups(devices, text, "reduce-scatter", reduce_scatter, dimension)
                yield with_groups(devices, text, "all-to-all", all_to_all(dimension), dimension)
        for kind, opcodes in COMBINERS.items():
            for opcode in opcodes:
                yield with_groups(devices, text, "all-reduce", all_reduce(opcode), 0, kind, opcode)
        yield with_groups(devices, text, "collective-broadcast", broadcast)


PAIRS = {
    "shift": (4, [(0, 1), (1, 2), (2, 3), (3, 0)]),
    "shift back": (4, [(1, 0), (2, 1), (3, 2), (0, 3)]),
    "swap": (4, [(0, 1), (1, 0), (2, 3), (3, 2)]),
    "missing": (4, [(0, 1), (1, 2), (2, 3)]),
    "in rows": (6, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]),
    "in columns": (6, [(0, 3), (3, 0), (1, 4), (4, 1), (2, 5), (5, 2)]),
    "one row": (6, [(0, 1), (1, 2), (2, 0)]),
    "one pair": (8, [(5, 2)]),
    "one stays": (4, [(0, 0), (1, 2)]),
    "no pair": (2, []),
}


def of_pairs() -> list[Case]:
    found = []
    for name, (devices, pairs) in PAIRS.items():
        sources = {target: source for source, target in pairs}
        text = ",".join(f"{{{a},{b}}}" for a, b in pairs)
        body = f"collective-permute(x), channel_id=1, source_target_pairs={{{text}}}"

        def make(plain: Plain, device: int, sources: dict[int, int] = sources) -> Part:
            return plain.of(sources[device]) if device in sources else plain.zeros()

        found.append(case(f"permute {name}", devices, body, make))
    return found


CASES = [*of_groups(), *of_pairs()]


BY_NAME = {each.name: each for each in CASES}


def is_proved(of: Case, whole: str = "") -> bool:
    """Is true where a case has a proof of what it means, or of another program."""
    first, last = of.modules()
    sharding = each_device(of.devices)
    found = prove(
        [parse_module(whole, "whole.hlo") if whole else first, last], partition=Partition((sharding,), (sharding,))
    )
    return found.answer == "equal"


def meaning(of: Case) -> tuple[object, ...]:
    """Returns what distinguishes a plain program from others: its text, and for an all-reduce its groups as sets."""
    if not of.name.startswith("all-reduce"):
        return (of.whole,)
    name, kind, combiner, text = of.name.split(" ", 3)
    groups = GROUPS[of.devices, text.strip()]
    return name, kind, combiner, *sorted(map(sorted, groups))


@pytest.mark.parametrize("name", BY_NAME)
def test_a_collective_is_what_its_definition_says(name: str) -> None:
    assert is_proved(BY_NAME[name])


def test_a_collective_is_nothing_else() -> None:
    pairs = [
        (one, other)
        for i, one in enumerate(CASES)
        for other in CASES[i % 24 :: 24]
        if one.devices == other.devices and one.sizes == other.sizes and one.kind == other.kind
    ]
    # The order of a group does not matter to an all-reduce.
    different = [pair for pair in pairs if meaning(pair[0]) != meaning(pair[1])]
    assert len(different) > 100
    assert [(one.name, other.name) for one, other in different if is_proved(one, other.whole)] == []


def reversed_pairs(given: object, *rest: object) -> list[tuple[int, int]]:
    return [(b, a) for a, b in device_pairs(given, *rest)]  # type: ignore[arg-type]


def sorted_groups(*given: object) -> list[list[int]]:
    return sorted(map(sorted, device_groups(*given)))  # type: ignore[arg-type]


def first_for_none(self: Devices[int], local: Local[int], chosen: Axes, table: Sequence[int | None]) -> Local[int]:
    found: Local[int] = TAKEN(self, local, chosen, [each or 0 for each in table])
    return found


def reversed_starts(
    self: Devices[int], array: Local[int], dimension: int, starts: Sequence[int], size: int
) -> Local[int]:
    found: Local[int] = CUT(self, array, dimension, [max(starts) - each for each in starts], size)
    return found


TAKEN, CUT, ORDERS = (vars(Devices)[name] for name in ("_taken", "cut", "_orders"))
# Wrong definitions: what is replaced, and the case that must have no proof.
CHANGES: dict[str, tuple[object, str, object, str]] = {
    "targets send": (definitions, "device_pairs", reversed_pairs, "permute shift"),
    "groups are sorted": (
        definitions,
        "device_groups",
        sorted_groups,
        "all-gather s32 add, dimensions={1} {{1,0},{3,2}}",
    ),
    "no zeros": (Devices, "_taken", first_for_none, "permute missing"),
    "parts in reverse": (Devices, "cut", reversed_starts, "reduce-scatter s32 add, dimensions={2} [2,3]<=[6]"),
    "parts in reverse, too": (Devices, "cut", reversed_starts, "all-to-all s32 add, dimensions={1} {{0,2},{1,3}}"),
    "all add": (definitions, "_only_opcode", lambda _: "add", "all-reduce s32 maximum {{0,1,2,3}}"),
    "any group is along axes": (Devices, "_is_product", lambda *_: True, "collective-broadcast s32 add {{1,0},{3,2}}"),
    "a sharding is reversed": (
        Devices,
        "_orders",
        lambda self, sharding: [axes[::-1] for axes in ORDERS(self, sharding)],
        "all-gather s32 add, dimensions={1} [2,3]<=[6]",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_wrong_definition_proves_nothing(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, value, of = CHANGES[change]
    assert is_proved(BY_NAME[of])
    monkeypatch.setattr(owner, name, value)
    assert not is_proved(BY_NAME[of])
