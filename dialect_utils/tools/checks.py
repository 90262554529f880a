"""Writes the lines with which FileCheck compares a module's text, as XLA's `generate_hlo_test_checks.py` does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dialect_utils.ir import Dialect

# A directive of an earlier run; the text after it is generated again.
_DIRECTIVE = re.compile(r"^[ \t]*//[ \t]*CHECK(?:-[A-Z]+)*(?:\{LITERAL\})?:[^\n]*\n?", re.MULTILINE)
_SPECIAL = re.compile(r"\[\[|\{\{")
_ANY_NAME = "[^ ]+"
# A name without `%` begins where the line does; otherwise some matchers capture only the end of it.
_BEGIN, _BEGIN_WITH_TABS = "{{^ *}}", "{{^[^A-Za-z_]*}}"
_NO_NAME = re.compile(r"\W", re.ASCII)
# `%0` of `%0:2` and `%0#1`.
_VALUE = re.compile(r"%([A-Za-z0-9_$.\-]+)", re.ASCII)
_FUNCTION = re.compile(r"\s*func\.func\b")
# `ROOT %a.1 = `, and the operands of an opcode: a shape has no space before its parentheses.
_DEFINITION = re.compile(r"(\s*(?:ROOT )?%?)([A-Za-z_][\w.\-]*)(?= = )", re.ASCII)
_OPERANDS = re.compile(r" = .*? [a-z][\w\-]*\(([^()]*)\)", re.ASCII)
_OPERAND = re.compile(r"(?<![\w.\-%])(%?)([A-Za-z_][\w.\-]*)(?![\w.\-\[])", re.ASCII)


def without_directives(text: str) -> str:
    """Returns a text without its CHECK directives."""
    return _DIRECTIVE.sub("", text)


def check_lines(text: str, dialect: Dialect) -> str:
    r"""Returns CHECK directives, as comments, that match a module's text and hold for other names of values.

    The first mention of a value captures the name, the later ones refer to it. Lines that follow each other in the text
    must follow each other.

    >>> print(check_lines("ENTRY e {\n  ROOT p = f32[3] parameter(0)\n}\n", "hlo"), end="")
    // CHECK: ENTRY e {
    // CHECK-NEXT:   ROOT [[P:[^ ]+]] = f32[3] parameter(0)
    // CHECK-NEXT: }
    """
    line_of = _HloLine() if dialect == "hlo" else _MlirLine()
    made: list[str] = []
    directive = "CHECK"
    for line in text.splitlines():
        if not line.strip():
            directive = "CHECK"
            continue
        made.append(f"// {directive}: {line_of(line)}\n")
        directive = "CHECK-NEXT"
    return "".join(made)


class _Names:
    """The variables of FileCheck for the values of one function."""

    def __init__(self) -> None:
        self._variables: dict[str, str] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._variables

    def define(self, name: str) -> str:
        """Returns the text that captures a name."""
        word = _NO_NAME.sub("_", name).upper()
        word = f"V{word}" if word[0].isdigit() else word
        taken = set(self._variables.values())
        number, variable = 0, word
        while variable in taken:
            number += 1
            variable = f"{word}_{number}"
        self._variables[name] = variable
        return f"[[{variable}:{_ANY_NAME}]]"

    def use(self, name: str) -> str:
        """Returns the text that a captured name must have."""
        return f"[[{self._variables[name]}]]"


class _MlirLine:
    """The lines of MLIR: the first mention of a name in a function is where it is defined."""

    def __init__(self) -> None:
        self._names = _Names()

    def __call__(self, line: str) -> str:
        """Returns the text that matches the next line."""
        if _FUNCTION.match(line):
            self._names = _Names()
        return _replaced(line, _VALUE, lambda match: "%" + self._mention(match[1]))

    def _mention(self, name: str) -> str:
        return self._names.use(name) if name in self._names else self._names.define(name)


class _HloLine:
    """The lines of HLO: a name is defined before ` = `, and used as an operand."""

    def __init__(self) -> None:
        self._names = _Names()

    def __call__(self, line: str) -> str:
        """Returns the text that matches the next line."""
        if line.startswith("}"):
            self._names = _Names()
        found = _DEFINITION.match(line)
        if found is None:
            return _literal(line)
        operands = _OPERANDS.search(line, found.end())
        start, end = operands.span(1) if operands else (len(line), len(line))
        used = _replaced(line[start:end], _OPERAND, self._operand)
        begin = found[1] if found[1].strip() else _BEGIN_WITH_TABS if "\t" in found[1] else _BEGIN
        defined = begin + self._names.define(found[2])
        return f"{defined}{_literal(line[found.end() : start])}{used}{_literal(line[end:])}"

    def _operand(self, match: re.Match[str]) -> str:
        return match[1] + self._names.use(match[2]) if match[2] in self._names else _literal(match[0])


def _replaced(text: str, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]) -> str:
    """Returns a text with its matches replaced, and what is between them as FileCheck reads it literally."""

    def pieces() -> Iterator[str]:
        position = 0
        for match in pattern.finditer(text):
            yield _literal(text[position : match.start()])
            yield replacement(match)
            position = match.end()
        yield _literal(text[position:])

    return "".join(pieces())


def _literal(text: str) -> str:
    r"""Returns a text in which FileCheck reads no variable and no regular expression: `{{` becomes `{{\{\{}}`."""
    return _SPECIAL.sub(lambda match: r"{{\[\[}}" if match[0] == "[[" else r"{{\{\{}}", text)
