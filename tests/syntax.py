"""Statements of Python code, for tests that read the code of the product."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)


def statements(code: str) -> Iterator[ast.AST]:
    """Yields the module and every statement in it, without the expressions, which are most of a tree."""
    waiting: list[ast.AST] = [ast.parse(code)]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += (each for each in ast.iter_child_nodes(node) if isinstance(each, _STATEMENTS))
