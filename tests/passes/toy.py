"""A module of plain text and passes over it, for tests of the framework alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from dialect_utils.ir import Dialect, Module
from dialect_utils.layout import ArrayShape, parse_shape
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.framework.base import Report, module_pass


class ToyModule:
    """A module with only the members that the framework uses: dialect, name, clone, text."""

    dialect: Dialect = "hlo"
    name = "toy"

    def __init__(self, words: str) -> None:
        self.words = words

    def clone(self) -> ToyModule:
        return ToyModule(self.words)

    def text(self) -> str:
        return self.words


class StablehloToy(ToyModule):
    dialect: Dialect = "stablehlo"


def toy(words: str) -> Module:
    return cast(Module, ToyModule(words))


@dataclass(frozen=True)
class Inner:
    depth: int = 1
    names: tuple[str, ...] = ()


@module_pass
def replace(
    module: Any,
    report: Report,
    *,
    old: str = "old",
    new: str = "new",
    count: int = -1,
    loud: bool = False,
    mode: Literal["all", "first"] = "all",
    sizes: tuple[int, ...] = (1, 2),
    file: Path | None = None,
    inner: Inner = Inner(),
) -> None:
    """Replaces a word by another."""
    if "refuse" in module.words:
        raise DiagnosticError(Diagnostic("refused"))
    if old not in module.words:
        report.note(f"no {old}")
    if loud:
        raise ZeroDivisionError("too loud")
    module.words = module.words.replace(old, new, count)


@module_pass
def verify_layouts(module: Any, report: Report) -> None:
    """Rejects the word broken."""
    if "broken" in module.words:
        raise DiagnosticError(Diagnostic("the word broken is in it"))


@module_pass
def stablehlo_only(module: StablehloToy, report: Report) -> None:
    """Reads one dialect."""


@module_pass
def divide(module: Module, report: Report) -> None:
    """Raises an unexpected exception on every module."""
    raise ZeroDivisionError(f"{len(module.functions)} by 0")


@module_pass
def negate_twice(module: Module, report: Report) -> None:
    """Changes the result: negates each negation once more."""
    for found in [operation for operation in module.entry.operations if operation.opcode == "negate"]:
        made = module.before(found).clone(found, found.operands, [found.results[0].shape], name="twice")
        found.set_operand(0, made[0])


@module_pass
def narrow(module: Module, report: Report) -> None:
    """Breaks a module: the result gets a shape that its op does not have."""
    module.entry.results[0].set_shape(array_shape("f32[7]"))


def array_shape(text: str) -> ArrayShape:
    shape = parse_shape(text)
    assert isinstance(shape, ArrayShape)
    return shape
