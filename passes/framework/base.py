"""The declaration of passes, and the registry of them.

A pass is a function that edits a module in place:

    @module_pass
    def drop_copies(module: HloModule, report: Report, *, keep_roots: bool = False) -> None:
        '''Removes copies that change no layout. ...'''

The function's name is the pass's name (`drop-copies`), its parameters with defaults are the options (`keep-roots`), the
docstring's first line is the summary, and the type of `module` says which dialects the pass reads. The types may be
left out, and so may the report: `def drop_copies(module, *, keep_roots=False)`.
"""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeAlias, TypeVar, cast, overload

from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError, Location, kind_of
from dialect_utils.text.input_file import collector_paused
from passes.framework.options import OptionError, declared_options, format_options, option_value
from passes.framework.spec import Option, OptionText, unknown_annotation

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    Fact: TypeAlias = typing.Literal["schedule", "memory-spaces", "aliases", "control-dependencies", "attributes"]


# The facts of a module in the middle of a compilation that the compiler needs, and that a pass may declare to keep.
COMPILER_FACTS: tuple[Fact, ...] = ("schedule", "memory-spaces", "aliases", "control-dependencies", "attributes")
P = ParamSpec("P")
M = TypeVar("M")
R = TypeVar("R")
D = TypeVar("D", bound="Pass")

_DIALECTS = ("hlo", "stablehlo")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Report:
    """The notes and warnings of a pass.

    >>> report = relayout.Report()
    >>> report.note("left alone")
    >>> report.diagnostics[0].message
    'left alone'
    """

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
    """A pass with the values of its options, in the order of the declaration, and the texts that gave them, if any.

    >>> step = relayout.Pipeline.parse("expand-tiling").passes[0]
    >>> step.with_options(interface="physical")
    expand_tiling(interface='physical')
    >>> step.run(relayout.read("examples/negate.hlo")).modified
    True
    """

    function: Callable[..., Any]
    values: tuple[tuple[str, Any], ...]
    written: tuple[OptionText, ...] = field(default=(), compare=False)
    keeps: tuple[Fact, ...] = field(default=(), compare=False)

    @property
    def name(self) -> str:
        """Returns the name that pipelines use: the function's, with `-` for `_`."""
        return self.function.__name__.replace("_", "-")

    @property
    def is_builtin(self) -> bool:
        """Is true for a pass of this project, false for one of another package or program."""
        return self.function.__module__.startswith("passes.")

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
        try:
            hints = typing.get_type_hints(self.function)
        except NameError as error:
            raise unknown_annotation(self.function, error) from None
        kind = hints.get(next(iter(inspect.signature(self.function).parameters)))
        only = getattr(kind, "dialect", None)
        return (only,) if isinstance(only, str) else _DIALECTS

    def with_options(self, **options: Any) -> Pass:
        """Returns the pass with some options changed.

        Raises TypeError for an unknown option, DiagnosticError for a value that an option cannot have.
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
        try:
            return _call(self.function, module, report, dict(self.values))
        except OptionError as error:
            texts = {str(option.name).replace("-", "_"): option.value or option.name for option in self.written}
            if error.option not in texts:
                raise
            raise error.at(texts[error.option]) from None

    @collector_paused
    def run(self, module: Module) -> PassResult:
        """Runs the pass on a clone, or raises as `apply` does.

        `modified` is true iff the printed module changed; otherwise the result's module is the input object.
        """
        self._check_dialect(module)
        report = Report()
        clone = module.clone()
        returned = self.apply(clone, report)
        if hasattr(returned, "dialect") and returned is not clone:
            raise TypeError("it returned another module, but a pass edits the one that it is given")
        modified = clone.text() != module.text()
        return PassResult(clone if modified else module, modified, report.diagnostics)

    def _check_dialect(self, module: Module) -> None:
        if module.dialect in self.dialects:
            return
        readable = " or ".join(self.dialects)
        message = f"pass {self.name} reads {readable}, but module {module.name} is {module.dialect}"
        raise DiagnosticError(message, hint=f"relayout convert FILE --to {self.dialects[0]} converts it")

    def __str__(self) -> str:
        """Returns the pass as a pipeline spec writes it, without options at their defaults."""
        options = format_options(self.options, dict(self.values))
        return f"{self.name}{{{options}}}" if options else self.name

    def __repr__(self) -> str:
        """Returns the pass as Python writes it: `expand_tiling(interface='physical')`."""
        defaults = {option.name: option.default for option in self.options}
        changed = [f"{name}={value!r}" for name, value in self.values if value != defaults[name]]
        return f"{self.function.__name__}({', '.join(changed)})" if changed else self.function.__name__


class PassFunction(Pass, Generic[M, P, R]):
    """A pass that is called like its function, or with options only.

    `expand_tiling(module, interface="physical")` edits in place; `expand_tiling(interface="physical")` is the pass with
    this option.
    """

    @overload
    def __call__(self, module: M, report: Report | None = None, *args: P.args, **kwargs: P.kwargs) -> R: ...

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> PassFunction[M, P, R]: ...

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Edits the module in place, with the pass's values of other options; without a module, sets options."""
        if not arguments:
            return Pass.with_options(self, **options)
        module, report, *others = (*arguments, None)[:3] if len(arguments) < 3 else arguments
        if not (hasattr(module, "dialect") and (report is None or isinstance(report, Report)) and not any(others)):
            given = ", ".join(map(kind_of, arguments))
            raise TypeError(f"{self.name} takes a module, a report, and options by name, not {given}")
        return _call(self.function, module, report or Report(), {**dict(self.values), **options})

    def with_options(self, *args: P.args, **options: P.kwargs) -> PassFunction[M, P, R]:
        return cast("PassFunction[M, P, R]", Pass.with_options(self, **options))


def _call(function: Callable[..., Any], module: object, report: Report, options: dict[str, Any]) -> Any:
    return function(module, report, **options) if _takes_report(function) else function(module, **options)


@cache
def _takes_report(function: Callable[..., Any]) -> bool:
    """Is true for a function whose second parameter is a report; raises TypeError for one that is not a pass."""
    parameters = list(inspect.signature(function).parameters.values())
    given = [each for each in parameters if each.default is each.empty]
    wrong = next((each for each in given if each.kind not in _POSITIONAL), None) or next(iter(given[2:]), None)
    if wrong is not None:
        raise TypeError(f"{function.__qualname__}: option {wrong.name} must have a default")
    if not given:
        raise TypeError(f"{function.__qualname__}: the first parameter of a pass is the module")
    return len(given) > 1


# The second signature is for a function without a parameter for the report.
@overload
def module_pass(function: Callable[Concatenate[M, Report, P], R]) -> PassFunction[M, P, R]: ...


@overload
def module_pass(function: Callable[Concatenate[M, P], R]) -> PassFunction[M, P, R]: ...


def module_pass(function: Callable[..., Any]) -> PassFunction[Any, Any, Any]:
    """Declares the pass that `function` implements.

    Its parameters are the module, a report for notes, which may be left out, and options with defaults, by name.
    Raises TypeError for other parameters.

    >>> @relayout.module_pass
    ... def count_ops(module, report, *, most=3):
    ...     "Notes which functions have few ops."
    ...     for function in module.functions:
    ...         if len(function.operations) < most:
    ...             report.note(f"{function.name} has {len(function.operations)} ops")
    >>> pipeline = relayout.Pipeline((count_ops, count_ops(most=0)))
    >>> [note.message for note in pipeline.run(relayout.read("examples/negate.hlo")).notes]
    ['main has 1 ops']
    >>> count_ops(most=0)
    count_ops(most=0)
    """
    _takes_report(function)
    parameters = inspect.signature(function).parameters.values()
    values = tuple((each.name, each.default) for each in parameters if each.default is not each.empty)
    made = PassFunction[Any, Any, Any](function, values)
    for name in ("__doc__", "__module__", "__name__"):
        object.__setattr__(made, name, getattr(function, name))  # for help() and documentation
    return made


def keeping(*facts: Fact) -> Callable[[D], D]:
    """Declares what a pass keeps of each module; `relayout.testing` checks it.

    Compilers need all of COMPILER_FACTS of a scheduled module: the schedule of the operations that stay, memory spaces,
    aliases of arguments and results, control dependencies, and configurations, metadata and shardings.
    """

    def declare(step: D) -> D:
        object.__setattr__(step, "keeps", facts)
        return step

    return declare


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
    "split-minor": "passes.shapes.split_minor",
    "permute-dimensions": "passes.shapes.permute_dimensions",
    "merge-dimensions": "passes.shapes.merge_dimensions",
    "narrow-padding": "passes.shapes.narrow_padding",
    "fuse-into-users": "passes.fusions.fuse_into_users",
    "fuse-with-user": "passes.fusions.fuse_with_user",
    "copy-once": "passes.fusions.copy_once",
    "reroute-relayout": "passes.fusions.reroute_relayout",
}
_DECLARE = "a function {0} under @module_pass is one"
# Former names of passes, which are still read but never printed, with the present names.
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
        from dialect_utils.text.entry_points import load_added

        return load_added("pass", Pass, _entry_points()[name], _DECLARE.format(name.replace("-", "_")))
    loaded: Pass = getattr(importlib.import_module(module), name.replace("-", "_"))
    return loaded


def _entry_points() -> dict[str, list[EntryPoint]]:
    from dialect_utils.text.entry_points import added

    return added(ENTRY_POINT_GROUP)
