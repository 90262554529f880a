"""Mistakes of programs for several devices: each an edit of one statement of HLO or StableHLO as compilers print them.

An edit yields the texts that it makes of a program; most programs have no place for it, and some places change nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

Groups = list[list[int]]
Edit = Callable[["Program"], Iterator[str]]

_HLO = re.compile(
    r"^ +(?P<root>ROOT )?(?P<name>%\S+) = (?P<shape>\S.*?) (?P<op>[a-z][\w-]*)\((?P<args>.*?)\)(?P<rest>.*)$"
)
_MLIR = re.compile(
    r"^ +(?P<name>%\w+)(?::\d+)? = \"?stablehlo\.(?P<op>\w+)\"?(?P<args>[ (](?:%\w+(?:#\d+)?(?:, )?)*\)?)(?P<rest>.*)$"
)
_COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute")
_ORDERED = ("all-gather", "all-to-all", "reduce-scatter")
# The groups of devices in HLO: lists, lists that iotas make, and axes of a mesh.
_LISTS = re.compile(r"replica_groups=\{(?P<lists>\{[\d,{}]*\})\}")
_IOTA = re.compile(r"replica_groups=\[(?P<dims>[\d,]+)\]<=\[(?P<from>[\d,]+)\](?:T\((?P<order>[\d,]+)\))?")
_MESH = re.compile(
    r"replica_groups=mesh\[(?P<axes>[^\]]*)\]"
    r"(?:, device_ids=\(\[(?P<dims>[\d,]+)\](?:T\((?P<order>[\d,]+)\))?\))? \{(?P<used>[^}]*)\}"
)
_DENSE = re.compile(r"replica_groups = dense<(?P<lists>\[\[[\d, \[\]]*\]\])> : tensor<\w+>")
_PAIRS = re.compile(r"source_target_pairs=\{(?P<pairs>[\d,{}]*)\}")
_DENSE_PAIRS = re.compile(r"source_target_pairs = dense<(?P<pairs>\[\[[\d, \[\]]*\]\])> : tensor<\w+>")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its lines in the text, and its parts."""

    begin: int
    end: int
    name: str
    op: str
    operands: tuple[str, ...]
    shape: str
    rest: str
    is_root: bool


class Program:
    """The statements of a text."""

    def __init__(self, text: str, devices: int, *, is_hlo: bool) -> None:
        self.lines, self.devices, self.is_hlo = text.split("\n"), devices, is_hlo
        self.statements = list(self._read())

    def _read(self) -> Iterator[Statement]:
        number = 0
        while number < len(self.lines):
            found, begin = (_HLO if self.is_hlo else _MLIR).match(self.lines[number]), number
            number += 1
            if found is None:
                continue
            rest = found["rest"]
            if rest.endswith("({") and found["op"] != "while":
                number = 1 + next(
                    i for i in range(number, len(self.lines)) if self.lines[i].lstrip().startswith("}) :")
                )
                rest += self.lines[number - 1]
            operands = tuple(re.findall(r"%[\w.-]+(?:#\d+)?", found["args"]))
            op = found["op"].replace("_", "-")
            shape = found["shape"] if self.is_hlo else re.split(r" -> | : |i1>, ", rest)[-1].split(" loc(")[0]
            is_root = self.is_hlo and found["root"] is not None
            yield Statement(begin, number, found["name"], op, operands, shape, rest, is_root)

    def of(self, *ops: str) -> list[Statement]:
        """Returns the statements of some operations, also where another thread does them."""
        return [each for each in self.statements if each.op.removesuffix("-start") in ops]

    def users(self, statement: Statement) -> list[Statement]:
        """Returns the statements that use a value, of any function."""
        return [each for each in self.statements if statement.name in each.operands]

    def with_lines(self, statement: Statement, *lines: str) -> str:
        """Returns the text with other lines for a statement."""
        return "\n".join([*self.lines[: statement.begin], *lines, *self.lines[statement.end :]])

    def written(self, statement: Statement, op: str, *operands: str, attributes: str = "") -> str:
        """Returns a line that gives the name of a statement to another operation of the same shape."""
        if self.is_hlo:
            root, listed = "ROOT " if statement.is_root else "", ", ".join(operands)
            return f"  {root}{statement.name} = {statement.shape} {op}({listed}){attributes}"
        name, kind, op = statement.name, statement.shape, op.replace("-", "_")
        # A copy is a reshape to the same shape.
        if op in ("copy", "broadcast"):
            dims, kinds = "", f"({kind})"
            if op == "broadcast":
                op, dims, kinds = "broadcast_in_dim", ", dims = []", f"(tensor<{_element(kind)}>)"
            return f"    {name} = stablehlo.{op.replace('copy', 'reshape')} {operands[0]}{dims} : {kinds} -> {kind}"
        return f"    {name} = stablehlo.{op} {', '.join(operands)} : {kind}"

    def scalar(self, name: str, kind: str, value: str) -> str:
        """Returns a line that defines a constant."""
        if self.is_hlo:
            return f"  {name} = {kind}[] constant({value})"
        return f"    {name} = stablehlo.constant dense<{value}> : tensor<{kind}>"

    def with_rest(self, statement: Statement, old: str, new: str) -> str:
        """Returns the text with a changed part of a statement."""
        lines = "\n".join(self.lines[statement.begin : statement.end])
        return self.with_lines(statement, lines.replace(old, new, 1))


def _element(kind: str) -> str:
    return kind.removeprefix("tensor<").removesuffix(">").split("x")[-1] if "tensor" in kind else kind.split("[")[0]


def _ints(text: str) -> list[int]:
    return [int(each) for each in re.findall(r"\d+", text)]


def groups_of(rest: str, devices: int) -> tuple[str, Groups] | None:
    """Returns the text of a collective's groups, and the groups."""
    if found := _LISTS.search(rest) or _DENSE.search(rest):
        return found[0], [_ints(each) for each in re.findall(r"[{\[]([\d, ]+)[}\]]", found["lists"])]
    if found := _IOTA.search(rest):
        rows = _iota(found["from"], found["order"]).reshape(_ints(found["dims"]))
        return found[0], rows.tolist()
    if found := _MESH.search(rest):
        names, sizes = (
            re.findall(r"'(\w+)'=", found["axes"]),
            [int(each) for each in re.findall(r"=(\d+)", found["axes"])],
        )
        ids = _iota(found["dims"], found["order"]).ravel() if found["dims"] else np.arange(prod(sizes))
        used = [names.index(each) for each in re.findall(r"'(\w+)'", found["used"])]
        others = [axis for axis in range(len(names)) if axis not in used]
        width = prod(sizes[axis] for axis in used)
        return found[0], ids.reshape(sizes).transpose([*others, *used]).reshape(-1, width).tolist()
    return (found[0], [list(range(devices))]) if (found := re.search(r"replica_groups=\{\}", rest)) else None


def _iota(dims: str, order: str | None) -> NDArray[Any]:
    array = np.arange(prod(_ints(dims))).reshape(_ints(dims))
    return array.transpose(_ints(order)) if order else array


def _dropped(program: Program, *, sums: bool) -> Iterator[str]:
    for each in program.of("all-reduce", "all-to-all", "collective-permute", "all-gather", "reduce-scatter"):
        is_sum = each.op.startswith("all-reduce") and _combiner(program, each) == "add"
        if is_sum is not sums or len(each.operands) != 1:
            continue
        source = next((item for item in program.statements if item.name == each.operands[0]), None)
        done = next(iter(program.users(each)), None) if each.op.endswith("-start") else each
        if done is None or (
            program.is_hlo and source is not None and source.shape.split("{")[0] != done.shape.split("{")[0]
        ):
            continue
        if not program.is_hlo and each.rest.split(" : ")[-1].split(" -> ")[0].strip("()") != each.shape:
            continue
        text = program.with_lines(done, program.written(done, "copy", each.operands[0]))
        yield (
            text
            if done is each
            else "\n".join(line for number, line in enumerate(text.split("\n")) if number != each.begin)
        )


def _combiner(program: Program, statement: Statement) -> str:
    """Returns the operation by which an all-reduce combines."""
    if program.is_hlo:
        called = re.search(r"to_apply=(%[\w.-]+)", statement.rest)
        begin = next((i for i, line in enumerate(program.lines) if called and line.startswith(f"{called[1]} (")), None)
        found = [each for each in program.statements if begin is not None and each.begin > begin and each.is_root]
        return found[0].op if found else ""
    inside = "\n".join(program.lines[statement.begin + 1 : statement.end])
    return next(iter(re.findall(r"stablehlo\.(add|maximum|minimum|multiply|or|and)\b", inside)), "")


def _after(program: Program, statement: Statement, *, average: bool) -> str:
    """Returns the text with a second operation after an all-reduce, which takes its name."""
    name, before = statement.name, f"%first_{statement.name[1:]}"
    first = "\n".join(program.lines[statement.begin : statement.end]).replace(f"{name} =", f"{before} =", 1)
    first = first.replace("ROOT ", "", 1) if statement.is_root else first
    if not average:
        begin = "\n".join(program.lines[statement.begin : statement.end])
        head, tail = begin.split(" = ", 1)
        again = f"{head} = {tail.replace(statement.operands[0], before, 1)}"
        again = re.sub(r"channel_id=\d+", "channel_id=990", again)
        return program.with_lines(statement, first, again)
    groups = groups_of(statement.rest, program.devices)
    size = len(groups[1][0]) if groups else program.devices
    filled = replace(statement, name=f"%share_{name[1:]}", is_root=False)
    return program.with_lines(
        statement,
        first,
        program.scalar(f"%value_{name[1:]}", _element(statement.shape), repr(1 / size)),
        program.written(filled, "broadcast", f"%value_{name[1:]}", attributes=", dimensions={}"),
        program.written(statement, "multiply", before, filled.name),
    )


def _added(program: Program, *, average: bool) -> Iterator[str]:
    for each in program.of("all-reduce"):
        is_float = _element(each.shape) in ("f32", "bf16", "f16", "f64")
        if each.op == "all-reduce" and len(each.operands) == 1 and is_float and _combiner(program, each) == "add":
            yield _after(program, each, average=average)


def _regrouped(program: Program, change: Callable[[Groups], Groups | None], ops: tuple[str, ...]) -> Iterator[str]:
    for each in program.of(*ops):
        found = groups_of(each.rest, program.devices)
        made = change(found[1]) if found else None
        if found is None or made is None or made == found[1]:
            continue
        if program.is_hlo:
            text = "replica_groups={" + ",".join("{" + ",".join(map(str, group)) + "}" for group in made) + "}"
        else:
            text = f"replica_groups = dense<{made}> : tensor<{len(made)}x{len(made[0])}xi64>"
        yield program.with_rest(each, found[0], text)


def _of_another_axis(groups: Groups) -> Groups | None:
    array = np.array(groups)
    if array.shape[0] == 1:
        return None
    made: Groups = np.sort(array.ravel()).reshape(array.shape).tolist()
    return made if made != groups else np.sort(array.ravel()).reshape(array.shape[::-1]).T.tolist()


def _halved(groups: Groups) -> Groups | None:
    size = len(groups[0])
    if size % 2 or size < 4:
        return [[each] for group in groups for each in group] if size > 1 else None
    return [half for group in groups for half in (group[: size // 2], group[size // 2 :])]


def _repaired(program: Program, change: Callable[[Groups, int], Groups | None]) -> Iterator[str]:
    for each in program.of("collective-permute"):
        found = (_PAIRS if program.is_hlo else _DENSE_PAIRS).search(each.rest)
        if found is None:
            continue
        flat = _ints(found["pairs"])
        pairs = [flat[i : i + 2] for i in range(0, len(flat), 2)]
        made = change(pairs, program.devices)
        if made is None or sorted(made) == sorted(pairs) or not made:
            continue
        if program.is_hlo:
            text = "source_target_pairs={" + ",".join(f"{{{a},{b}}}" for a, b in made) + "}"
        else:
            text = f"source_target_pairs = dense<{made}> : tensor<{len(made)}x2xi64>"
        yield program.with_rest(each, found[0], text)


def _depends_on_device(program: Program) -> set[str]:
    """Returns the names of small values that depend on the device, through fusions and calls, too."""
    found = {each.name for each in program.of("partition-id", "replica-id")}
    for _ in range(4):
        for each in program.statements:
            is_scalar = bool(re.match(r"[us]\d+\[(1|\d)?\]|tensor<(1x)?u?i\d+>", each.shape))
            if found & set(each.operands) and (is_scalar or each.op in ("compare", "select", "broadcast")):
                found.add(each.name)
        if program.is_hlo:
            found |= _parameters_of_device(program, found)
    return found


def _parameters_of_device(program: Program, names: set[str]) -> set[str]:
    """Returns the parameters of fusions whose operands are among the names."""
    found: set[str] = set()
    for each in program.statements:
        called = re.search(r"calls=(%[\w.-]+)", each.rest)
        for position, operand in enumerate(each.operands if called else ()):
            if called and operand in names:
                begin = next(i for i, line in enumerate(program.lines) if line.startswith(f"{called[1]} ("))
                inside = [item for item in program.statements if item.begin > begin and item.op == "parameter"]
                found |= {next(i.name for i in inside if f"parameter({position})" in program.lines[i.begin])}
    return found


def _integers(program: Program) -> Iterator[Statement]:
    """Yields the constants that stand beside a value that depends on the device."""
    near = _depends_on_device(program)
    for each in program.of("constant"):
        if re.match(r"[us]32\[\]|tensor<u?i32>", each.shape) and _literal(program, each) is not None:
            reached = [
                each,
                *(user for user in program.users(each) if user.op in ("broadcast", "broadcast-in-dim", "convert")),
            ]
            if any(near & set(user.operands) for one in reached for user in program.users(one)):
                yield each


def _literal(program: Program, statement: Statement) -> str | None:
    line = program.lines[statement.begin]
    found = re.search(r"constant\(([-\w.+]+)\)|dense<([-\w.+]+)>", line)
    return (found[1] or found[2]) if found else None


def _with_literal(program: Program, statement: Statement, value: str) -> str:
    line = program.lines[statement.begin]
    made = re.sub(r"(constant\(|dense<)[-\w.+]+", lambda found: f"{found[1]}{value}", line, count=1)
    return program.with_lines(statement, made)


def _off_by_one(program: Program) -> Iterator[str]:
    for each in _integers(program):
        value = int(_literal(program, each) or 0)
        yield _with_literal(program, each, str(value + 1))
        if value > 0:
            yield _with_literal(program, each, str(value - 1))


def _tables(program: Program) -> Iterator[str]:
    """Rotates constants with a value for each device."""
    pattern = re.compile(r"(constant\(\{|dense<\[)(-?\d+(?:, -?\d+)+)")
    for each in program.of("constant"):
        line = program.lines[each.begin]
        found = pattern.search(line)
        if (
            found is not None
            and len(found[2].split(", ")) == program.devices
            and re.match(r"[us]32|tensor<\d+xu?i32", each.shape)
        ):
            values = found[2].split(", ")
            yield program.with_lines(each, line.replace(found[2], ", ".join([*values[1:], values[0]])))


def _of_device_zero(program: Program) -> Iterator[str]:
    for each in program.of("partition-id", "replica-id"):
        yield program.with_lines(each, program.scalar(each.name, "u32" if program.is_hlo else "ui32", "0"))


def _counts(program: Program, change: Callable[[float, int], float]) -> Iterator[str]:
    for each in program.of("constant"):
        literal = _literal(program, each)
        if literal is None or not re.match(r"(bf16|f\d+)\[\]|tensor<(bf16|f\d+)>", each.shape):
            continue
        try:
            value = float(literal)
        except ValueError:
            continue
        wide = ("broadcast", "broadcast-in-dim")
        users = [
            user for one in [each, *(u for u in program.users(each) if u.op in wide)] for user in program.users(one)
        ]
        if value not in (0.0, 1.0) and np.isfinite(value) and any(user.op in ("divide", "multiply") for user in users):
            yield _with_literal(program, each, f"{change(value, program.devices):.7e}")


def _unmasked(program: Program, *, keep: int) -> Iterator[str]:
    for each in program.of("select"):
        if len(each.operands) == 3 and re.match(r"(f|bf|s|u)\d+\[\d|tensor<\d", each.shape):
            _, first, second = each.operands
            kept = each.operands[keep]
            yield program.with_rest(each, f"{first}, {second}", f"{kept}, {kept}")


def _combined(program: Program, old: str, new: str) -> Iterator[str]:
    for each in program.of("all-reduce", "reduce-scatter"):
        if _combiner(program, each) != old:
            continue
        if not program.is_hlo:
            yield program.with_rest(each, f"stablehlo.{old}", f"stablehlo.{new}")
            continue
        called = re.search(r"to_apply=(%[\w.-]+)", each.rest)
        begin = next(i for i, line in enumerate(program.lines) if called and line.startswith(f"{called[1]} ("))
        root = next(item for item in program.statements if item.begin > begin and item.is_root)
        if _element(root.shape) != "pred":
            yield program.with_rest(root, f" {old}(", f" {new}(")


def _other_dimension(program: Program) -> Iterator[str]:
    """Splits or joins another dimension of the same size."""
    for each in program.of("all-to-all", "reduce-scatter"):
        found = re.search(r"dimensions=\{(\d)\}", each.rest)
        sizes = _ints(re.split(r"[{]", each.shape)[0].split("[")[-1]) if program.is_hlo else []
        if found is None or each.op.endswith("-start"):
            continue
        dim = int(found[1])
        for other, size in enumerate(sizes):
            if other != dim and dim < len(sizes) and size == sizes[dim]:
                yield program.with_rest(each, found[0], f"dimensions={{{other}}}")


def _reversed(pairs: Groups, devices: int) -> Groups:
    return [[b, a] for a, b in pairs]


def _lost(pairs: Groups, devices: int) -> Groups | None:
    return pairs[:-1] or None


def _shifted(pairs: Groups, devices: int) -> Groups:
    return [[a, (b + 1) % devices] for a, b in pairs]


def _twice(pairs: Groups, devices: int) -> Groups:
    to: dict[int, int] = dict(pairs)  # type: ignore[arg-type]  # pairs are lists of two
    return [[a, to[b]] for a, b in pairs if b in to]


MISTAKES: dict[str, Edit] = {
    "collective dropped": partial(_dropped, sums=False),
    "partial sum used as a value": partial(_dropped, sums=True),
    "sum doubled": partial(_added, average=False),
    "averaged instead of summed": partial(_added, average=True),
    "groups of another axis": partial(_regrouped, change=_of_another_axis, ops=_COLLECTIVES),
    "groups too small": partial(_regrouped, change=_halved, ops=("all-reduce",)),
    "groups in reverse order": partial(
        _regrouped, change=lambda groups: [group[::-1] for group in groups], ops=_ORDERED
    ),
    "groups rotated": partial(
        _regrouped, change=lambda groups: [[*group[1:], group[0]] for group in groups], ops=_ORDERED
    ),
    "permute reversed": partial(_repaired, change=_reversed),
    "permute loses a pair": partial(_repaired, change=_lost),
    "permute goes too far": partial(_repaired, change=_shifted),
    "permute doubled": partial(_repaired, change=_twice),
    "offset or bound off by one": _off_by_one,
    "table of the device rotated": _tables,
    "every device is the first": _of_device_zero,
    "mean over too many": partial(_counts, change=lambda value, devices: value * devices),
    "mean over too few": partial(_counts, change=lambda value, devices: value / devices),
    "mask is missing": partial(_unmasked, keep=1),
    "mask is inverted": partial(_unmasked, keep=2),
    "sum instead of maximum": partial(_combined, old="maximum", new="add"),
    "maximum instead of sum": partial(_combined, old="add", new="maximum"),
    "another dimension": _other_dimension,
}
