"""What a pass is: options in, an edited clone out, and what it wants to say."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dialect_utils.ir import Form, Module
from dialect_utils.text import Diagnostic, DiagnosticError, Location
from passes.options import format_options


class Report:
    """Collects what a pass has to say beside its result."""

    def __init__(self) -> None:
        self._diagnostics: list[Diagnostic] = []

    def note(self, message: str, location: Location | None = None, hint: str | None = None) -> None:
        """Adds a note: something was left alone, and why."""
        self._diagnostics.append(Diagnostic(message, location, "note", hint))

    def warn(self, message: str, location: Location | None = None, hint: str | None = None) -> None:
        """Adds a warning: the input is suspect, but the result is right for it."""
        self._diagnostics.append(Diagnostic(message, location, "warning", hint))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Returns everything reported so far, in order."""
        return tuple(self._diagnostics)


@dataclass(frozen=True, slots=True)
class PassResult:
    """Holds the module after a pass, whether its text changed, and the pass's notes and warnings."""

    module: Module
    modified: bool
    notes: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True)
class Pass(ABC):
    """Is a pass with its options: a frozen dataclass whose fields are the options.

    A subclass sets `name`, and `forms` where it reads one text form only; gives every option a
    default; and edits the module in `apply`. Options are of the types that
    `passes.options` reads.
    """

    name: ClassVar[str]
    forms: ClassVar[tuple[Form, ...]] = ("hlo", "stablehlo")

    @abstractmethod
    def apply(self, module: Module, report: Report) -> None:
        """Edits the module in place; raises DiagnosticError for what the pass refuses."""

    def run(self, module: Module) -> PassResult:
        """Runs the pass on a clone.

        `modified` is true iff the printed module changed; otherwise the module itself comes back.
        Raises DiagnosticError for a module of a form the pass does not read, and what `apply` raises.
        """
        self.check_form(module)
        report = Report()
        clone = module.clone()
        self.apply(clone, report)
        modified = clone.text() != module.text()
        return PassResult(clone if modified else module, modified, report.diagnostics)

    def check_form(self, module: Module) -> None:
        """Raises DiagnosticError where the pass does not read the module's form."""
        if module.form in self.forms:
            return
        readable = " or ".join(self.forms)
        raise DiagnosticError(
            Diagnostic(f"pass {self.name} reads {readable}, but module {module.name} is {module.form}")
        )

    @classmethod
    def summary(cls) -> str:
        """Returns the docstring's first line."""
        return (inspect.getdoc(cls) or "").partition("\n")[0]

    def __str__(self) -> str:
        """Returns the pass as a pipeline spec writes it; options at their defaults are left out."""
        options = format_options(self)
        return f"{self.name}{{{options}}}" if options else self.name
