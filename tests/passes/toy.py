"""A module of plain text and passes over it, for tests of the machinery alone."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

from dialect_utils.ir import Form, Module
from dialect_utils.text import Diagnostic, DiagnosticError
from passes.base import Pass, Report


class ToyModule:
    """Has just what the machinery touches: form, name, clone, text."""

    form: Form = "hlo"
    name = "toy"

    def __init__(self, words: str) -> None:
        self.words = words

    def clone(self) -> ToyModule:
        return ToyModule(self.words)

    def text(self) -> str:
        return self.words


def toy(words: str) -> Module:
    return cast(Module, ToyModule(words))


@dataclass(frozen=True)
class Inner:
    depth: int = 1
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Replace(Pass):
    """Replaces a word by another."""

    name: ClassVar[str] = "replace"

    old: str = "old"
    new: str = "new"
    count: int = -1
    loud: bool = False
    mode: Literal["all", "first"] = "all"
    sizes: tuple[int, ...] = (1, 2)
    file: Path | None = None
    inner: Inner = Inner()

    def apply(self, module: Any, report: Report) -> None:
        if "refuse" in module.words:
            raise DiagnosticError(Diagnostic("refused"))
        if self.old not in module.words:
            report.note(f"no {self.old}")
        module.words = module.words.replace(self.old, self.new, self.count)


@dataclass(frozen=True)
class Verify(Pass):
    """Refuses the word broken."""

    name: ClassVar[str] = "verify-layouts"

    def apply(self, module: Any, report: Report) -> None:
        if "broken" in module.words:
            raise DiagnosticError(Diagnostic("the word broken stands here"))


@dataclass(frozen=True)
class StablehloOnly(Pass):
    """Reads one form."""

    name: ClassVar[str] = "stablehlo-only"
    forms: ClassVar[tuple[Form, ...]] = ("stablehlo",)

    def apply(self, module: Module, report: Report) -> None:
        """Does nothing."""
