"""Collective operations among devices against plain programs that state what the specification of StableHLO says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pytest

from dialect_utils.hlo.parse import parse_module
from dialect_utils.ir import Module
from dialect_utils.ops.sharding import Partition, Sharding
from dialect_utils.verdict.certified import prove
from dialect_utils.verdict.terms.devices import Devices

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

    def number(self, value: int) -> Part:
        constant, _ = self.array((), f"constant({value})")
        return self.array((1,), f"reshape({constant})")

    def text(self, parts: Sequence[Part]) -> tuple[str, tuple[int, ...]]:
        whole, sizes = self.joined(parts, 0)
        body = "\n  ".join(self.lines[:-1] + [f"ROOT {self.lines[-1]}"])
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


def all_to_all(split: int, joined: int) -> Make:
    def make(plain: Plain, group: Sequence[int], device: int, _: int) -> Part:
        size = LOCAL[split] // len(group)
        parts = [plain.slice(plain.of(each), split, place_of(device, group) * size, size) for each in group]
        return plain.joined(parts, joined)

    return make


def broadcast(plain: Plain, group: Sequence[int], _: int, __: int) -> Part:
    return plain.of(group[0])


# The groups of devices in each notation, by the number of devices, and what they mean.
GROUPS = {
    (4, "{{0,1,2,3}}"): [[0, 1, 2, 3]],
    (4, "{{1,0},{3,2}}"): [[1, 0], [3, 2]],
    (4, "{{0,2},{1,3}}"): [[0, 2], [1, 3]],
    (4, "{{3,0},{1,2}}"): [[3, 0], [1, 2]],
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


def part_program(devices: int, sizes: Sequence[int], body: str, kind: str = "s32", combiner: str = "add") -> str:
    counts = f"num_partitions={devices}"
    sizes_ = ",".join(map(str, sizes))
    return MODULE.format(
        counts=counts,
        kind=kind,
        combiner=combiner,
        local=",".join(map(str, LOCAL)),
        body=f"ROOT r = {kind}[{sizes_}] {body}",
    )


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

    def modules(self) -> tuple[Module, Module]:
        return parse_module(self.whole, "whole.hlo"), parse_module(self.parts, "parts.hlo")


def case(
    name: str, devices: int, body: str, make: Callable[[Plain, int], Part], kind: str = "s32", combiner: str = "add"
) -> Case:
    plain = Plain(devices, kind)
    parts = [make(plain, device) for device in range(devices)]
    whole, sizes = plain.text(parts)
    return Case(name, devices, part_program(devices, parts[0][1], body, kind, combiner), whole, sizes)


def of_groups() -> list[Case]:
    found = []
    for (devices, text), groups in GROUPS.items():
        size = len(groups[0])
        own = {device: group for group in groups for device in group}

        def with_groups(
            name: str, attributes: str, make: Make, dimension: int = 0, kind: str = "s32", combiner: str = "add"
        ) -> None:
            is_flagged = name in ("all-gather", "all-reduce", "reduce-scatter")
            function = ", to_apply=f" if name in ("all-reduce", "reduce-scatter") else ""
            ids = ", use_global_device_ids=true" if is_flagged else ""
            body = f"{name}(x), channel_id=1, replica_groups={text}{ids}{attributes}{function}"
            title = f"{name} {kind} {combiner} {attributes} {text}"
            found.append(case(title, devices, body, lambda plain, d: make(plain, own[d], d, dimension), kind, combiner))

        for dimension in (1, 2):
            with_groups("all-gather", f", dimensions={{{dimension}}}", all_gather, dimension)
            if LOCAL[dimension] % size == 0:
                with_groups("reduce-scatter", f", dimensions={{{dimension}}}", reduce_scatter, dimension)
                with_groups("all-to-all", f", dimensions={{{dimension}}}", all_to_all(dimension, dimension))
        for kind, opcodes in COMBINERS.items():
            for opcode in opcodes:
                with_groups("all-reduce", "", all_reduce(opcode), 0, kind, opcode)
        with_groups("collective-broadcast", "", broadcast)
    return found


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


def is_proved(case_: Case, whole: Module | None = None) -> bool:
    first, last = case_.modules()
    sharding = each_device(case_.devices)
    return prove([whole or first, last], partition=Partition((sharding,), (sharding,))).answer == "equal"
