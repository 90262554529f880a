"""Edits of the product's code: a function and the operator, the expression or the statements that change in it.

An edit does not depend on the file of the function, on the format of its code, or on the rest of the function.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.paths import ROOT

PRODUCT = ("dialect_utils", "passes", "relayout")
_COMPARISONS: dict[str, type[ast.cmpop]] = {
    **{"<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq},
    **{"in": ast.In, "not in": ast.NotIn, "is": ast.Is, "is not": ast.IsNot},
}
_CONNECTIVES: dict[str, type[ast.boolop]] = {"and": ast.And, "or": ast.Or}
_ARITHMETIC: dict[str, type[ast.operator]] = {
    **{"+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow},
    **{"<<": ast.LShift, ">>": ast.RShift, "|": ast.BitOr, "^": ast.BitXor, "&": ast.BitAnd, "@": ast.MatMult},
}
_OPERATORS: dict[str, type[ast.AST]] = {**_COMPARISONS, **_CONNECTIVES, **_ARITHMETIC}
_CONTEXT = re.compile(r", ctx=(?:Load|Store|Del)\(\)")
_BEGUN = re.compile(r"^(?:async def |def |class )?(\w+(?:, \w+)*)\b", re.MULTILINE)
_SUITES = ("body", "orelse", "finalbody")
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of one function, class or constant of the product.

    `where` is its name, `Class.method` for a method. Where several have that name, `package:name` or `module:name`
    selects one; the package may be shortened to those parts that distinguish it (`verdict.proof:Class.method`).
    `old` and `new` are two operators, two expressions or two lists of statements, the last ones possibly empty. `old`
    occurs once in the definition, or `occurrence` counts from 1.
    """

    where: str
    old: str
    new: str
    occurrence: int = 0

    @property
    def file(self) -> str:
        """Returns the path of the file that has the definition, relative to the repository."""
        return _file_of(self.where).relative_to(ROOT).as_posix()

    def applied(self, code: str) -> str:
        """Returns the code of the file with the edit.

        Raises ValueError where `old` does not occur exactly once, and where the definition stays the same.
        """
        definitions, data = self._definitions(code), code.encode()
        spot, before = self._spot(definitions), _dump(definitions)
        start, end = spot.span(data)
        spot.replace(self.new)
        if (after := _dump(definitions)) == before:
            raise ValueError(f"{self.where}: {self.old!r} and {self.new!r} are the same")
        for new in spot.replacements(data[start:end].decode(), self.new):
            edited = (data[:start] + new.encode() + data[end:]).decode()
            if self._dump_in(edited) == after:
                return edited
        raise ValueError(f"{self.where}: {self.old!r} cannot be replaced by {self.new!r}")

    def line(self, code: str) -> int:
        """Returns the number of the line of the file at which the edit begins."""
        return self._spot(self._definitions(code)).nodes[0].lineno

    def _definitions(self, code: str) -> list[ast.AST]:
        return _definitions(ast.parse(code), self.where.rpartition(":")[2])

    def _dump_in(self, code: str) -> str:
        try:
            return _dump(self._definitions(code))
        except SyntaxError:
            return ""

    def _spot(self, definitions: Sequence[ast.AST]) -> _Spot:
        spots = [spot for node in definitions for spot in _spots(node, self)]
        spots.sort(key=lambda spot: (spot.nodes[0].lineno, spot.nodes[0].col_offset))
        if len(spots) < self.occurrence or (len(spots) != 1 and not self.occurrence):
            raise ValueError(f"{self.where}: {self.old!r} occurs {len(spots)} times, not once")
        return spots[self.occurrence - 1 if self.occurrence else 0]

    def __str__(self) -> str:
        file = self.file
        line = self.line((ROOT / file).read_text("utf-8"))
        return f"{file}:{line}: {self.where}: {self.old!r} -> {self.new!r}"


@dataclass(frozen=True, slots=True)
class _Spot:
    """The nodes that an edit replaces: an expression, statements, or the operands around an operator."""

    nodes: Sequence[ast.expr] | Sequence[ast.stmt]
    owner: ast.AST
    operator: str = ""

    def span(self, data: bytes) -> tuple[int, int]:
        """Returns the first and the last offset of the spot, in bytes."""
        starts = [0]
        for line in data.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        first, last = self.nodes[0], self.nodes[-1]
        ends = [(node.end_lineno or 0, node.end_col_offset or 0) for node in (first, last)]
        if self.operator:
            return starts[ends[0][0] - 1] + ends[0][1], starts[last.lineno - 1] + last.col_offset
        return starts[first.lineno - 1] + first.col_offset, starts[ends[1][0] - 1] + ends[1][1]

    def replacements(self, text: str, new: str) -> Iterator[str]:
        """Yields the texts that may replace the text of the spot."""
        if self.operator:
            yield re.sub(r"\s+".join(map(re.escape, self.operator.split())), lambda _: new, text, count=1)
        elif isinstance(self.nodes[0], ast.stmt):
            indent = " " * self.nodes[0].col_offset
            yield (new or "pass").replace("\n", f"\n{indent}")
            yield new
        else:
            yield from (new, f"({new})")

    def replace(self, new: str) -> None:
        """Replaces the nodes of the spot in their tree."""
        if self.operator:
            self._set_operator(_OPERATORS[new]())
        elif isinstance(self.nodes[0], ast.stmt):
            self._set_statements(ast.parse(new).body)
        else:
            self._set_expression(ast.parse(new, mode="eval").body)

    def _set_operator(self, operator: ast.AST) -> None:
        if isinstance(self.owner, ast.Compare):
            self.owner.ops[[*self.owner.comparators].index(self.nodes[1])] = operator  # type: ignore[arg-type, call-overload]
        else:
            self.owner.op = operator  # type: ignore[attr-defined]  # of BoolOp and BinOp

    def _set_statements(self, new: list[ast.stmt]) -> None:
        for suite in _suites(self.owner):
            if self.nodes[0] in suite:
                at = suite.index(self.nodes[0])
                suite[at : at + len(self.nodes)] = new
                if not suite:
                    suite.append(ast.Pass())

    def _set_expression(self, new: ast.expr) -> None:
        for field, value in ast.iter_fields(self.owner):
            if value is self.nodes[0]:
                setattr(self.owner, field, new)
            elif isinstance(value, list) and self.nodes[0] in value:
                value[value.index(self.nodes[0])] = new


def _dump(nodes: Sequence[ast.AST]) -> str:
    """Returns the code of nodes without its positions, and without whether a name is read or assigned."""
    return _CONTEXT.sub("", " ".join(map(ast.dump, nodes)))


def _spots(definition: ast.AST, edit: Edit) -> Iterator[_Spot]:
    """Yields the spots of a definition that hold the old code of an edit."""
    if edit.old in _OPERATORS and edit.new in _OPERATORS:
        yield from _operators(definition, edit.old)
    elif (old := _expression(edit.old)) is not None and _expression(edit.new) is not None:
        yield from _expressions(definition, old)
    else:
        yield from _statements(definition, ast.parse(edit.old).body)


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _operators(definition: ast.AST, operator: str) -> Iterator[_Spot]:
    kind = _OPERATORS[operator]
    for node in _visible(definition):
        match node:
            case ast.Compare(left=left, ops=operators, comparators=others):
                sides = zip([left, *others], operators, others, strict=False)
                yield from (_Spot([one, two], node, operator) for one, each, two in sides if isinstance(each, kind))
            case ast.BoolOp(op=op, values=[first, second]) if isinstance(op, kind):
                yield _Spot([first, second], node, operator)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, kind):
                yield _Spot([left, right], node, operator)


def _expressions(definition: ast.AST, old: ast.expr) -> Iterator[_Spot]:
    wanted = _dump([old])
    for owner in _visible(definition):
        for node in ast.iter_child_nodes(owner):
            if type(node) is type(old) and isinstance(node, ast.expr) and _dump([node]) == wanted:
                yield _Spot([node], owner)


def _statements(definition: ast.AST, old: Sequence[ast.stmt]) -> Iterator[_Spot]:
    wanted = _dump(old)
    for owner in _visible(definition):
        for suite in _suites(owner):
            runs = (suite[at : at + len(old)] for at in range(len(suite) - len(old) + 1))
            yield from (_Spot(run, owner) for run in runs if _dump(run) == wanted)


def _suites(owner: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yields the lists of statements of a node."""
    for field in _SUITES:
        suite = getattr(owner, field, None)
        if isinstance(suite, list):
            yield suite


def _visible(definition: ast.AST) -> Iterator[ast.AST]:
    """Yields a definition and all nodes below it, except those inside f-strings, whose positions are unknown."""
    pending = [definition]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, ast.JoinedStr):
            pending += ast.iter_child_nodes(node)


def _definitions(tree: ast.Module, name: str) -> list[ast.AST]:
    """Returns the functions, classes or assignments of a name in a module; a property has several."""
    found: list[ast.AST] = [tree]
    for part in name.split("."):
        found = [
            node
            for owner in found
            for node in ast.iter_child_nodes(owner)
            if isinstance(node, _Definition) and part in _names(node)
        ]
    return found


def _names(node: _Definition) -> list[str]:
    if isinstance(node, ast.Assign):
        return [each.id for target in node.targets for each in ast.walk(target) if isinstance(each, ast.Name)]
    target = node.target if isinstance(node, ast.AnnAssign) else node
    return [str(getattr(target, "name", getattr(target, "id", "")))]


@cache
def _names_in_product() -> dict[str, set[Path]]:
    """Returns the files of each name that begins a line of the product or follows `def` or `class` there."""
    found: dict[str, set[Path]] = {}
    for file in (file for package in PRODUCT for file in sorted((ROOT / package).rglob("*.py"))):
        for begun in _BEGUN.finditer(file.read_text("utf-8")):
            for name in begun[1].split(", "):
                found.setdefault(name, set()).add(file)
    return found


@cache
def _tree_of(file: Path) -> ast.Module:
    return ast.parse(file.read_text("utf-8"))


@cache
def _file_of(where: str) -> Path:
    """Returns the file that has a definition; raises ValueError where no file has it, or several."""
    package, _, name = where.rpartition(":")
    begun = _names_in_product().get(name.partition(".")[0], ())
    files = [file for file in sorted(begun) if _is_in(file, package) and _definitions(_tree_of(file), name)]
    if len(files) != 1:
        names = ", ".join(file.relative_to(ROOT).as_posix() for file in files)
        raise ValueError(f"{len(files)} files define {where}, not one: {names}")
    return files[0]


def _is_in(file: Path, package: str) -> bool:
    """Is true where the parts of a package's name follow each other in the name of a file's module."""
    module = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    return f".{package}." in f".{module}." if package else True
