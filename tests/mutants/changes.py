"""One-line changes of a module's code, found in its syntax tree: constants, comparisons, guards, dropped statements.

Code without an effect on results is left out: docstrings, type annotations, texts of messages, assertions,
constants that only decide about speed, questions about the time that is left, and names that are only counted.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
}
_ARITHMETIC = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}
# Calls whose arguments are texts for the user, or names for the type checker only.
_TEXT_CALLS = re.compile(
    r"(?:(?:\w+)?(?:Error|Exception|Warning)|Diagnostic|DiagnosticError|error|errors|fail|failed|note|notes|hint|warn|"
    r"warning|problem|demand|refuse|refused|reject|rejected|unsupported|unknown|invalid|complain|say|log|print|cast|TypeVar|"
    r"NewType|ParamSpec|add_argument|add_parser|add_argument_group)\Z"
)
_TEXT_KEYWORDS = frozenset(
    ("help", "hint", "hints", "note", "notes", "message", "reason", "why", "description", "epilog", "metavar", "title")
)
# `slots` and `frozen` guard against mistakes of programmers, `strict` of zip too, and `maxsize` is about speed.
_EXCLUDED_KEYWORDS = frozenset(("slots", "frozen", "strict", "maxsize", "kw_only", "daemon"))
_SPEED = re.compile(r"_?(?:\w*_)?(?:CACHE|CACHED|CHUNK|BUFFER|MAXSIZE|SECONDS|TIMEOUT|INTERVAL|PAUSE)(?:_\w*)?\Z")
_SENTENCE = re.compile(
    r"\b(?:the|of|is|are|not|a|an|to|no|and|in|with|for|has|but|which|by|at|its|gives|from|one|was) "
)


@dataclass(frozen=True, slots=True)
class Change:
    """A changed part of one line: from a column to a column of a line, and the text that replaces it."""

    line: int
    start: int
    end: int
    after: str

    def applied(self, code: str) -> str:
        """Returns the code with the change; columns count characters."""
        lines = code.splitlines(keepends=True)
        lines[self.line - 1] = self.changed_line(code) + "\n"
        return "".join(lines)

    def changed_line(self, code: str) -> str:
        """Returns the line with the change, without its end."""
        text = code.splitlines()[self.line - 1]
        return text[: self.start] + self.after + text[self.end :]

    def is_a_program(self, code: str) -> bool:
        """Is true where the changed code can be parsed."""
        try:
            ast.parse(self.applied(code))
        except SyntaxError:
            return False
        return True


def changes(code: str) -> list[Change]:
    """Returns every change of a module's code; a few of them are not programs any more."""
    return list(dict.fromkeys(_Finder(code).all_changes()))


class _Finder:
    def __init__(self, code: str) -> None:
        self.lines = code.splitlines()
        self.tree = ast.parse(code)
        self.excluded = set(_excluded(self.tree))
        self.indices = {id(node.slice) for node in ast.walk(self.tree) if isinstance(node, ast.Subscript)}

    def all_changes(self) -> Iterator[Change]:
        yield from self.below(self.tree)

    def below(self, node: ast.AST) -> Iterator[Change]:
        for child in ast.iter_child_nodes(node):
            if id(child) in self.excluded:
                continue
            yield from self.of_node(child)
            yield from self.below(child)

    def of_node(self, node: ast.AST) -> Iterator[Change]:
        match node:
            case ast.stmt():
                yield from self.of_statement(node)
            case ast.Constant():
                yield from self.of_constant(node)
            case ast.Compare():
                yield from self.of_comparison(node)
            case ast.BoolOp():
                yield from self.of_connectives(node)
            case ast.BinOp() if type(node.op) in _ARITHMETIC and not _is_text(node.left) and not _is_text(node.right):
                yield from self.between(node.left, node.right, *_ARITHMETIC[type(node.op)])
            case ast.UnaryOp(op=ast.Not()):
                yield from self.replaced(node, self.text(node.operand))
            case ast.IfExp():
                yield from self.replaced(node.test, f"not ({self.text(node.test)})")
            case ast.comprehension():
                for guard in node.ifs:
                    yield from self.replaced(guard, f"(not ({self.text(guard)}))")

    def of_statement(self, node: ast.stmt) -> Iterator[Change]:
        match node:
            case ast.If():
                yield from self.replaced(node.test, f"not ({self.text(node.test)})")
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break() | ast.Raise():
                yield from self.replaced(node, "pass")
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield from self.replaced(node, "pass")

    def of_constant(self, node: ast.Constant) -> Iterator[Change]:
        value = node.value
        if isinstance(value, bool):
            yield from self.replaced(node, str(not value))
        elif isinstance(value, int):
            yield from self.replaced(node, str(value + 1))
            if value or id(node) not in self.indices:  # of one element, [-1] is [0]
                yield from self.replaced(node, str(value - 1))
        elif isinstance(value, str) and not _SENTENCE.search(value):
            yield from self.of_text(node, value)

    def of_text(self, node: ast.Constant, value: str) -> Iterator[Change]:
        written = self.text(node)
        if "\\" in written or not written.endswith(('"', "'")):
            return
        words = value.split(" ")
        if len(words) > 1 and all(words):  # a list of words loses its last
            last = f" {words[-1]}"
            yield from self.replaced(node, written.replace(last, "", 1) if written.count(last) == 1 else written)
        elif value:
            yield from self.replaced(node, f"{written[:-1]}x{written[-1]}")

    def of_comparison(self, node: ast.Compare) -> Iterator[Change]:
        for left, operator, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            yield from self.between(left, right, *_COMPARISONS[type(operator)])

    def of_connectives(self, node: ast.BoolOp) -> Iterator[Change]:
        before, after = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield from self.between(left, right, before, after)

    def between(self, left: ast.expr, right: ast.expr, before: str, after: str) -> Iterator[Change]:
        """Yields the change of the operator between two operands of one line."""
        if left.end_lineno != right.lineno:
            return
        start, end = self.column(right.lineno, left.end_col_offset or 0), self.column(right.lineno, right.col_offset)
        gap = self.lines[right.lineno - 1][start:end]
        if gap.split("(")[0].strip(" )") == before:
            start += gap.index(before)
            yield Change(right.lineno, start, start + len(before), after)

    def replaced(self, node: ast.AST, after: str) -> Iterator[Change]:
        """Yields the change of a node of one line to a text, unless the text is the same."""
        assert isinstance(node, ast.expr | ast.stmt)
        if node.lineno != node.end_lineno or after == self.text(node):
            return
        start, end = (self.column(node.lineno, offset) for offset in (node.col_offset, node.end_col_offset or 0))
        yield Change(node.lineno, start, end, after)

    def text(self, node: ast.expr | ast.stmt) -> str:
        """Returns the code of a node of one line, and for another node an empty text."""
        if node.lineno != node.end_lineno:
            return ""
        line = self.lines[node.lineno - 1].encode()
        return line[node.col_offset : node.end_col_offset].decode()

    def column(self, line: int, offset: int) -> int:
        """Returns the column in characters of an offset in bytes, which syntax trees count."""
        return len(self.lines[line - 1].encode()[:offset].decode())


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _excluded(tree: ast.Module) -> Iterator[int]:
    """Yields the identities of the nodes in which nothing is changed."""
    for node in ast.walk(tree):
        yield from map(id, _without_effect(node))
        yield from map(id, _of_messages(node))
        annotations = (getattr(node, name, None) for name in ("annotation", "returns"))
        yield from (id(each) for each in annotations if each is not None)


def _without_effect(node: ast.AST) -> Iterator[ast.AST]:
    """Yields a node, if it is a docstring, an assertion, a type, or about speed."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.Assert() | ast.JoinedStr():
            yield node
        case ast.Expr(value=ast.Call(func=ast.Name(id="check_deadline"))):
            yield node
        case ast.Call(func=ast.Name(id="len"), args=[ast.Tuple()]):
            yield node
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if name in (
            "__all__",
            "__slots__",
        ) or _SPEED.match(name):
            yield node
        case ast.If(test=test) if "TYPE_CHECKING" in ast.unparse(test) or "__name__" in ast.unparse(test):
            yield node
        case ast.Subscript(value=value) if _name_of(value) in ("Literal", "Annotated"):
            yield node
        case ast.keyword(arg=str(name)) if name in _EXCLUDED_KEYWORDS:
            yield node
        case ast.AnnAssign(annotation=ast.Name(id="TypeAlias")):
            yield node


def _of_messages(node: ast.AST) -> Iterator[ast.AST]:
    """Yields the parts of a node that are texts for the user."""
    match node:
        case ast.Raise():
            yield from ast.iter_child_nodes(node)
        case ast.keyword(arg=str(name)) if name in _TEXT_KEYWORDS:
            yield node
        case ast.Expr(value=ast.Call(func=function)) if _TEXT_CALLS.match(_name_of(function)):
            yield from (child for child in ast.walk(node) if isinstance(child, ast.Constant))
        case ast.Call(func=function) if _TEXT_CALLS.match(_name_of(function)):
            yield from (argument for argument in node.args if isinstance(argument, ast.Constant | ast.BinOp))


def _name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
