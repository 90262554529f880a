"""The declaration of passes, and the registry of them.

A pass is a function that edits a module in place:

    @module_pass
    def drop_copies(module: HloModule, report: Report, *, keep_roots: bool = False) -> None:
        '''Removes copies that change no layout. ...'''

The function's name is the pass's name (`drop-copies`), its keyword-only parameters are the options (`keep-roots`), the
docstring's first line is the summary, and the type of `module` says which dialects the pass reads.
"""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, cast

from dialect_utils.ir import Module, collector_paused
from dialect_utils.text import Diagnostic, DiagnosticError, Location
from passes.framework.options import declared_options, format_options, option_value
from passes.framework.spec import Option

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


P = ParamSpec("P")
M = TypeVar("M")
R = TypeVar("R")

_DIALECTS = ("hlo", "stablehlo")


class Report:
    """The notes and warnings of a pass."""

    def __init__(self) -> None:
        self._diagnostics: list[Diagnostic] = []

    def note(self, message: str, location: Location | None = None, hint: str | None = None) -> None:
        """Adds a note: why the pass left something unchanged."""
        self._diagnostics.append(Diagnostic(message, location, "note", hint))

    def warn(self, message: str, location: Location | None = None, hint: str | None = None) -> None:
        """Adds a warning: the input is suspect, but the result is correct for it."""
        self._diagnostics.append(Diagnostic(message, location, "warning", hint))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Returns the notes and warnings so far, in order."""
        return tuple(self._diagnostics)


@dataclass(frozen=True, slots=True)
class PassResult:
    """The module after a pass, whether its text changed, and the pass's notes and warnings."""

    module: Module
    modified: bool
    notes: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, repr=False)
class Pass:
    """A pass with the values of its options, in the order of the declaration."""

    function: Callable[..., Any]
    values: tuple[tuple[str, Any], ...]

    @property
    def name(self) -> str:
        """Returns the name that pipelines use: the function's, with `-` for `_`."""
        return self.function.__name__.replace("_", "-")

    @property
    def doc(self) -> str:
        """Returns the docstring without its indentation: summary, numbered rules, an example."""
        return inspect.getdoc(self.function) or ""

    @property
    def summary(self) -> str:
        """Returns the docstring's first line."""
        return self.doc.partition("\n")[0]

    @property
    def options(self) -> tuple[Option, ...]:
        """Returns the options as declared, with types and defaults."""
        return declared_options(self.function)

    @property
    def dialects(self) -> tuple[str, ...]:
        """Returns the dialects that the pass reads, from the type of its first parameter."""
        kind = typing.get_type_hints(self.function)[next(iter(inspect.signature(self.function).parameters))]
        only = getattr(kind, "dialect", None)
        return (only,) if isinstance(only, str) else _DIALECTS

    def with_options(self, **options: Any) -> Pass:
        """Returns the pass with some options changed.

        Raises TypeError for an unknown option, DiagnosticError for a value that is not one of the choices.
        """
        known = {option.name: option for option in self.options}
        for name in options.keys() - known.keys():
            raise TypeError(f"pass {self.name} has no option {name}; it has {', '.join(known) or 'none'}")
        given = {name: option_value(known[name], value) for name, value in options.items()}
        return replace(self, values=tuple({**dict(self.values), **given}.items()))

    def apply(self, module: Module, report: Report) -> Any:
        """Edits the module in place, and returns the function's return value.

        Raises DiagnosticError for a module that the pass does not support, e.g. one of another dialect.
        """
        self._check_dialect(module)
        return self.function(module, report, **dict(self.values))

    @collector_paused
    def run(self, module: Module) -> PassResult:
        """Runs the pass on a clone, or raises as `apply` does.

        `modified` is true iff the printed module changed; otherwise the result's module is the input object.
        """
        self._check_dialect(module)
        report = Report()
        clone = module.clone()
        self.apply(clone, report)
        modified = clone.text() != module.text()
        return PassResult(clone if modified else module, modified, report.diagnostics)

    def _check_dialect(self, module: Module) -> None:
        if module.dialect in self.dialects:
            return
        readable = " or ".join(self.dialects)
        raise DiagnosticError(
            Diagnostic(f"pass {self.name} reads {readable}, but module {module.name} is {module.dialect}")
        )

    def __str__(self) -> str:
        """Returns the pass as a pipeline spec writes it, without options at their defaults."""
        options = format_options(self.options, dict(self.values))
        return f"{self.name}{{{options}}}" if options else self.name

    def __repr__(self) -> str:
        return f"<pass {self}>"


class PassFunction(Pass, Generic[M, P, R]):
    """A pass that can be called like its function: `expand_tiling(module, interface="physical")` edits in place."""

    def __call__(self, module: M, report: Report | None = None, *args: P.args, **kwargs: P.kwargs) -> R:
        """Edits the module in place; options that are not given have the pass's values."""
        result: R = self.function(module, report or Report(), *args, **{**dict(self.values), **kwargs})
        return result

    def with_options(self, *args: P.args, **options: P.kwargs) -> PassFunction[M, P, R]:
        """Returns the pass with some options changed, as `Pass.with_options` does."""
        return cast("PassFunction[M, P, R]", Pass.with_options(self, **options))


def module_pass(function: Callable[Concatenate[M, Report, P], R]) -> PassFunction[M, P, R]:
    """Declares the pass that `function` implements.

    Raises TypeError unless every option is keyword-only and has a default.
    """
    _, _, *options = inspect.signature(function).parameters.values()
    for option in options:
        if option.kind is not option.KEYWORD_ONLY or option.default is option.empty:
            raise TypeError(f"{function.__qualname__}: option {option.name} must be keyword-only and have a default")
    made = PassFunction[M, P, R](function, tuple((option.name, option.default) for option in options))
    for name in ("__doc__", "__module__", "__name__"):
        object.__setattr__(made, name, getattr(function, name))  # for help() and documentation
    return made


ENTRY_POINT_GROUP = "relayout.passes"

# The module that declares each pass, in the order of `relayout opt --list-passes`.
BUILTIN_PASSES = {
    "verify-layouts": "passes.layouts.verify_layouts",
    "annotate-layouts": "passes.layouts.annotate_layouts",
    "propagate-layouts": "passes.layouts.propagate_layouts",
    "expand-tiling": "passes.tiling.expand_tiling",
    "fold-tiling": "passes.tiling.fold_tiling",
    "normalize-layouts": "passes.layouts.normalize_layouts",
    "propagate-physical": "passes.tiling.propagate_physical",
    "cancel-relayouts": "passes.tiling.cancel_relayouts",
    "expand-bitcasts": "passes.bitcasts.expand_bitcasts",
    "form-bitcasts": "passes.bitcasts.form_bitcasts",
    "inline-fusions": "passes.dumps.inline_fusions",
    "convert-async-to-sync": "passes.dumps.convert_async_to_sync",
    "legalize-types": "passes.dumps.legalize_types",
    "lower-convolutions": "passes.dumps.lower_convolutions",
    "expand-custom-calls": "passes.dumps.expand_custom_calls",
    "strip-layouts": "passes.layouts.strip_layouts",
    "make-portable": "passes.dumps.make_portable",
    "replace-transfers": "passes.dumps.replace_transfers",
}
_DECLARE = "a function {0} under @module_pass, with - as _, is one"
# Former names, which are still read but never printed, with the present ones.
OLD_NAMES = {"sync-async": "convert-async-to-sync"}


def pass_names() -> list[str]:
    """Returns the names of all passes, built-in ones first."""
    return [*BUILTIN_PASSES, *(name for name in _entry_points() if name not in BUILTIN_PASSES)]


def is_pass(name: str) -> bool:
    """Is true for the name of a pass; a built-in name is found without reading the installed packages."""
    return name in BUILTIN_PASSES or name in OLD_NAMES or name in _entry_points()


def load_pass(name: str) -> Pass:
    """Imports a pass and returns it with its options at their defaults.

    Other packages add passes through the entry point group `relayout.passes`
    (`my-pass = "my_package.my_pass:my_pass"`), but cannot replace a built-in one.
    Raises KeyError for an unknown name, DiagnosticError for a pass of another package that cannot be loaded.
    """
    name = OLD_NAMES.get(name, name)
    module = BUILTIN_PASSES.get(name)
    if module is None:
        return _load_entry_point(_entry_points()[name])
    loaded: Pass = getattr(importlib.import_module(module), name.replace("-", "_"))
    return loaded


def _load_entry_point(found: list[EntryPoint]) -> Pass:
    first = found[0]
    if len(found) > 1:
        packages = " and ".join(sorted(point.dist.name if point.dist else point.value for point in found))
        raise DiagnosticError(Diagnostic(f"pass {first.name} is defined by {packages}"))
    try:
        loaded: object = first.load()
    except Exception as error:  # importing another package's module may raise anything
        what = f"{type(error).__name__}: {error}"
        raise DiagnosticError(Diagnostic(f"pass {first.name} ({first.value}) cannot be loaded: {what}")) from error
    if not (isinstance(loaded, Pass) and loaded.name == first.name):
        raise DiagnosticError(
            Diagnostic(f"{first.value} is not a pass called {first.name}", hint=_DECLARE.format(first.name))
        )
    return loaded


@cache
def _entry_points() -> dict[str, list[EntryPoint]]:
    # Imported here: reading the installed packages costs more than a small pipeline.
    from importlib.metadata import entry_points

    found: dict[str, list[EntryPoint]] = {}
    for point in entry_points(group=ENTRY_POINT_GROUP):
        found.setdefault(point.name, []).append(point)
    return found
