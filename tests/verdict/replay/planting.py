"""Plants bugs in a prover: the changed code of functions runs instead of their own; and programs with loops."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Any

from dialect_utils.ir import Module
from tests.mutants.edits import Edit
from tests.verdict.proof.dialects import parse
from tests.verdict.proof.expressions import E, module, parameters_of

_PROVER = "dialect_utils/verdict/proof/"


@dataclass(frozen=True)
class Bug:
    """Edits of one module of the prover, and two programs that differ."""

    edits: Sequence[Edit]
    first: Module
    second: Module


def expression_pair(left: E, right: E) -> tuple[Module, Module]:
    parameters = parameters_of(left, right)
    first, second = (parse(module(side, parameters=parameters)) for side in (left, right))
    return first, second


def bug(edits: Sequence[Edit], left: E, right: E) -> Bug:
    return Bug(edits, *expression_pair(left, right))


@contextmanager
def planted(one: Bug) -> Iterator[None]:
    """Runs the prover with a bug: functions whose code changes get the changed code until the end."""
    (file,) = {edit.file for edit in one.edits}
    assert file.startswith(_PROVER)
    changed = importlib.import_module(".".join(Path(file).with_suffix("").parts))
    source = text = inspect.getsource(changed)
    for edit in one.edits:
        text = edit.applied(text)
    codes = [
        dict(_functions(compile(text, str(changed.__file__), "exec", dont_inherit=True))) for text in (source, text)
    ]
    names = [name for name in codes[0] if codes[0][name] != codes[1].get(name)]
    functions = [_live(changed, name) for name in names]
    assert functions
    was = [function.__code__ for function in functions]
    try:
        for function, name in zip(functions, names, strict=True):
            function.__code__ = codes[1][name]
        _forget(changed)
        yield
    finally:
        for function, code in zip(functions, was, strict=True):
            function.__code__ = code
        _forget(changed)


def _functions(code: CodeType) -> Iterator[tuple[str, CodeType]]:
    """Yields the functions and methods of a module by their names."""
    for part in code.co_consts:
        if isinstance(part, CodeType) and "<" not in part.co_name:
            is_class = "__qualname__" in part.co_names
            yield from _functions(part) if is_class else [(part.co_qualname, part)]


def _live(where: object, name: str) -> Any:
    found: Any = where
    for part in name.split("."):
        found = inspect.getattr_static(found, part)
    found = getattr(found, "__wrapped__", found)
    return found.fget if isinstance(found, property) else found


def _forget(where: object) -> None:
    for value in vars(where).values():
        if hasattr(value, "cache_clear"):
            value.cache_clear()


LOOP = """HloModule m
more {{ p = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant({count})
  ROOT c = pred[] compare(i, n), direction=LT }}
step {{ p = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  s = f32[] get-tuple-element(p), index=1
  u = f32[] get-tuple-element(p), index=2
  t = f32[] multiply(s, u)
  v = f32[] {next}
  o = s32[] constant(1)
  j = s32[] add(i, o)
  ROOT q = (s32[], f32[], f32[]) tuple(j, t, v) }}
ENTRY e {{ x = f32[] parameter(0)
  y = f32[] parameter(1)
  i = s32[] constant(0)
  p = (s32[], f32[], f32[]) tuple(i, x, y)
  w = (s32[], f32[], f32[]) while(p), condition=more, body=step
  ROOT r = f32[] get-tuple-element(w), index=1 }}
"""
GROWING, SHRINKING, KEPT = (parse(LOOP.format(count=70, next=text)) for text in ("add(u, u)", "sqrt(u)", "copy(u)"))
THRICE = parse(LOOP.format(count=3, next="add(u, u)"))
NEVER = parse("HloModule m\nENTRY e { ROOT x = f32[] parameter(0)\n y = f32[] parameter(1) }")
ORDERED = """HloModule m
more {{ p = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(70)
  ROOT c = pred[] compare(i, n), direction=LT }}
step {{ p = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(p), index=0
  s = f32[] get-tuple-element(p), index=1
  u = f32[] get-tuple-element(p), index=2
  t = f32[] {first}
  v = f32[] {second}
  o = s32[] constant(1)
  j = s32[] add(i, o)
  ROOT q = (s32[], f32[], f32[]) tuple(j, t, v) }}
ENTRY e {{ x = f32[] parameter(0)
  y = f32[] parameter(1)
  i = s32[] constant(0)
  p = (s32[], f32[], f32[]) tuple(i, {start})
  w = (s32[], f32[], f32[]) while(p), condition=more, body=step
  r = f32[] get-tuple-element(w), index=1
  z = f32[] get-tuple-element(w), index=2
  ROOT all = (f32[], f32[]) tuple(r, z) }}
"""
IN_ANOTHER_ORDER = (
    parse(ORDERED.format(first="sqrt(s)", second="add(u, u)", start="y, x")),
    parse(ORDERED.format(first="add(s, s)", second="sqrt(u)", start="x, y")),
)
CONDITIONAL = """HloModule m
yes {{ p = f32[4] parameter(0)
  ROOT n = f32[4] {yes}(p) }}
no {{ p = f32[4] parameter(0)
  ROOT n = f32[4] cosine(p) }}
ENTRY e {{ p = f32[4] parameter(0)
  d = pred[] parameter(1)
  ROOT c = f32[4] conditional(d, p, p), true_computation=yes, false_computation=no }}
"""
BRANCHES = [parse(CONDITIONAL.format(yes=name)) for name in ("sine", "tanh")]
