"""Finds the modules that a user names by files, URLs, directories of dumps and patterns, before any is parsed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from glob import glob
from typing import TYPE_CHECKING, cast

from dialect_utils.io.dump_names import DumpName, parse_dump_name, without_endings
from dialect_utils.io.files import (
    FUNCTION,
    STANDARD_INPUT,
    Kind,
    display_name,
    find_kind,
    is_url,
    kind_of_module,
    parse_bytes,
    read_bytes,
)
from dialect_utils.io.remote import matching_urls
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError, MissingFileError, entries_below, leaves_directory, meant
from dialect_utils.text.input_file import located

if TYPE_CHECKING:
    from dialect_utils.stablehlo.module import StableHloModule

_PATTERN_CHARACTERS = "*?["
# A dump of every pass of a large program has thousands of files; more than this is a home directory.
MOST_FILES = 100_000
# A file with one of these endings is an error of its own where it holds no module; other files are passed over.
_PROMISING = (".hlo", ".mlir", ".hlo.pb")
_COMPRESSED = (".gz", ".xz", ".zst")
_HLO, _MLIR, _TEXTS = ("hlo text", "hlo proto"), ("mlir text", "mlir bytecode"), ("hlo text", "mlir text")
_MAIN = b"main"
# Files of a directory that are passed over.
_WITHOUT_MODULE = "files that hold no module"
_LEAVING = "links that leave the directory"
# XLA prints a constant of more than ten elements so by default.
LEFT_OUT = b"constant({...})"


@dataclass(frozen=True, slots=True)
class Input:
    """One module to read: a file, a URL, or `-` for standard input.

    `inner` is the path within the directory that was named, or the file's own name. `prefix` is that directory's name
    where several were named. `proto` is a file of the same stage with the values of all constants. `content` is set
    where the bytes were read already. `within` is the directory in which the file was found: a link that leaves it is
    not read. `wanted` names the module of a file that was named itself, such as a log of several modules, and the entry
    among the functions, as `@NAME`.
    """

    path: str
    inner: str
    prefix: str = ""
    kind: Kind | None = None
    proto: str | None = None
    within: str = ""
    content: bytes | None = field(default=None, repr=False)
    wanted: tuple[str, ...] = ()

    @property
    def relative(self) -> str:
        """Returns a path that is unique among all inputs of one command."""
        return os.path.join(self.prefix, self.inner)

    @property
    def dump(self) -> DumpName:
        """Returns the module, number and stage that the file's name states."""
        return parse_dump_name(self.inner)

    @property
    def size(self) -> int:
        """Returns the number of bytes to read, 0 where it is unknown."""
        if self.content is not None:
            return len(self.content)
        path = located(self.path)
        return os.path.getsize(path) if os.path.isfile(path) else 0

    @property
    def name(self) -> str:
        """Returns the name in diagnostics and results."""
        return display_name(self.path)

    @property
    def function(self) -> str:
        """Returns the name of the function that was chosen as entry, with `@`, or an empty text."""
        return next((each for each in self.wanted if each.startswith(FUNCTION)), "")

    @property
    def title(self) -> str:
        """Returns the name in results: that of the file, and of the function that was chosen as entry."""
        return " ".join(filter(None, (self.name, self.function)))

    @property
    def stem(self) -> str:
        """Returns the relative path without endings such as `.txt` and `.hlo.pb`."""
        folder, name = os.path.split(self.relative)
        return os.path.join(folder, without_endings(name))

    def with_constants(self) -> Input:
        """Returns the proto of the same stage where this text omits the values of large constants, else itself."""
        if self.proto is None or LEFT_OUT not in self.data():
            return self
        return replace(self, path=self.proto, kind="hlo proto", proto=None, content=None)

    def data(self) -> bytes:
        """Reads the bytes, decompressed; raises DiagnosticError."""
        return self.content if self.content is not None else read_bytes(self.path, self.within)

    def module(self) -> Module:
        """Reads and parses the module; raises DiagnosticError."""
        return parse_bytes(self.data(), self.name, self.wanted)

    def functions(self, *, always: bool) -> Sequence[str]:
        """Returns the functions with a body of StableHLO, unless it has an entry and not `always`.

        Returns none for other files, for those that cannot be parsed, and for standard input, which is read once.
        """
        if self.function or self.kind in _HLO or self.path == STANDARD_INPUT:
            return ()
        try:
            data = self.data()
            # Most files have @main, so that parsing them twice would be a waste.
            may_have_none = always or (_MAIN not in data and find_kind(data, self.name) in _MLIR)
            module = self.module() if may_have_none else None
        except DiagnosticError:
            return ()
        if module is None or module.dialect == "hlo" or (not always and module.try_entry() is not None):
            return ()
        return cast("StableHloModule", module).defined


class SelectionError(DiagnosticError):
    """A stage or module name that matches no file of a directory, or that has no directory to choose from."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The modules of a directory to read, by names or patterns; all modules where both are empty."""

    stages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stages or self.modules)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Modules in reading order, and notes about files that were passed over."""

    modules: tuple[Input, ...]
    notes: tuple[Diagnostic, ...] = ()


def find_inputs(named: Sequence[str], selection: Selection | None = None) -> Inputs:
    """Returns the modules that files, directories and patterns (`dump/*.txt`) name, in order.

    The modules of a directory are found by content, in the order of their numbers and stages; a stage that is both
    text and proto counts once. Named files are not opened; a log of several modules is searched for the selected one
    when it is read. Raises DiagnosticError for a directory or pattern without a module, SelectionError for a selection
    that matches none.
    """
    paths = [path for name in named for path in _expanded(name)]
    folders = [path for path in paths if path != STANDARD_INPUT and os.path.isdir(path)]
    if selection is not None and selection.stages and not folders:
        raise SelectionError(Diagnostic("a stage is chosen from a dump directory, and no FILE is one"))
    modules: list[Input] = []
    notes: list[Diagnostic] = []
    wanted = selection.modules if selection is not None else ()
    for path in paths:
        if path not in folders:
            modules.append(replace(named_input(path), wanted=wanted))
            continue
        # Two dumps have files of the same name.
        prefix = os.path.basename(os.path.abspath(path)) if len(folders) > 1 else ""
        found, passed_over = _in_directory(path, prefix, selection or Selection())
        modules += found
        notes += passed_over
    return Inputs(tuple(modules), tuple(notes))


def named_input(path: str) -> Input:
    """Returns the one module of a file, of a URL, or of standard input for `-`."""
    # In `zip://member::s3://bucket/archive.zip` the archive comes after `::`.
    return Input(path, os.path.basename(path.partition("::")[0] if is_url(path) else path))


@dataclass(frozen=True, slots=True)
class Pairing:
    """Pairs of one module at one stage from two dumps, and the modules without a partner."""

    pairs: tuple[tuple[Input, Input], ...]
    alone: tuple[Input, ...]


def pair_inputs(first: Sequence[Input], second: Sequence[Input]) -> Pairing:
    """Pairs the modules of two dumps: by number, name and stage; then by name and stage, in order.

    Other compilers or options number modules and passes differently. A single module on both sides is a pair
    whatever its name.
    """
    if len(first) == len(second) == 1:
        return Pairing(((first[0], second[0]),), ())
    left, right = list(first), list(second)
    pairs: list[tuple[Input, Input]] = []
    for key in (_exact_key, _loose_key):
        waiting: dict[tuple[object, ...], list[Input]] = {}
        for each in right:
            waiting.setdefault(key(each), []).append(each)
        matched = [(each, waiting[key(each)].pop(0)) for each in left if waiting.get(key(each))]
        taken = [id(each) for pair in matched for each in pair]
        left, right = ([each for each in side if id(each) not in taken] for side in (left, right))
        pairs += matched
    order = {id(each): number for number, each in enumerate(first)}
    return Pairing(tuple(sorted(pairs, key=lambda pair: order[id(pair[0])])), (*left, *right))


def _exact_key(each: Input) -> tuple[object, ...]:
    return each.dump.number, each.dump.module, each.dump.stage, "" if each.dump.number is not None else each.stem


def _loose_key(each: Input) -> tuple[object, ...]:
    return each.dump.module, each.dump.step_name


def last_stages(members: Sequence[Input]) -> list[Input]:
    """Returns the final stage of each numbered module (optimized and scheduled), and all files without a number."""

    def key(each: Input) -> tuple[object, ...]:
        return each.dump.number, each.dump.module, os.path.dirname(each.path)

    last = {key(each): each for each in sorted(members, key=lambda each: each.dump.finality)}
    return [each for each in members if each.dump.number is None or last[key(each)] is each]


def _expanded(name: str) -> list[str]:
    """Returns the paths that a pattern matches, or the name itself for a path or a name without wildcards."""
    if os.path.lexists(name) or not any(character in name for character in _PATTERN_CHARACTERS):
        return [name]
    matching = matching_urls(name) if is_url(name) else glob(name)
    found = sorted(matching, key=lambda path: (parse_dump_name(path.partition("::")[0]).order, path))
    if not found:
        hint = "a directory as FILE finds its modules by content" if os.path.isdir(os.path.dirname(name)) else None
        raise MissingFileError(Diagnostic(f"{name}: no file has such a name", hint=hint))
    return found


def _in_directory(path: str, prefix: str, selection: Selection) -> tuple[list[Input], list[Diagnostic]]:
    """Returns the chosen modules of a directory in order, and at most one note."""
    everything = list(_found_in(path, prefix))
    found = [each for each in everything if isinstance(each, Input)]
    others = Counter(each for each in everything if isinstance(each, str))
    members = sorted(found, key=lambda member: (member.dump.order, member.relative))
    if not members:
        hint = "XLA_FLAGS='--xla_dump_to=DIR --xla_dump_hlo_as_text' makes XLA write those that it compiles"
        hint = f"{others[_LEAVING]} are {_LEAVING}" if others[_LEAVING] else hint
        raise DiagnosticError(f"{path}: no file in this directory holds a module", hint=hint)
    once = _each_stage_once(members)
    chosen = _selected(once, path, selection) if selection else _without_sources(once)
    passed_over = {
        **{kind: others[kind] for kind in (_WITHOUT_MODULE, _LEAVING)},
        "protos of stages that are texts, too": len(members) - len(once),
        "StableHLO of modules that are HLO, too; --stage stablehlo": 0 if selection else len(once) - len(chosen),
    }
    parts = [f"{what} ({count})" for what, count in passed_over.items() if count]
    message = f"{path}: {len(chosen)} modules; passed over: {', '.join(parts)}"
    return chosen, [Diagnostic(message, severity="note")] if parts else []


def _found_in(path: str, prefix: str) -> Iterator[Input | str]:
    """Yields an input for each file of a directory, or the kind of files to which a file without a module belongs."""
    for number, file in enumerate(_files(path)):
        if number >= MOST_FILES:
            raise DiagnosticError(f"{path}: has more than {MOST_FILES} files", hint="name one dump in it")
        if os.path.islink(file) and leaves_directory(file, path):
            yield _LEAVING
            continue
        try:
            kind = kind_of_module(file, path)
        except DiagnosticError:
            # Reading the file as a module reports the error.
            kind = None
        is_module = kind is not None or _promises(file)
        yield Input(file, os.path.relpath(file, path), prefix, kind, within=path) if is_module else _WITHOUT_MODULE


def _files(path: str) -> Iterator[str]:
    """Yields the files of a directory and its subdirectories, without hidden ones and linked directories."""
    return (each.path for each in entries_below(path, hidden=False) if not os.path.isdir(each.path))


def _promises(file: str) -> bool:
    plain = os.path.splitext(file)[0] if file.endswith(_COMPRESSED) else file
    return plain.endswith(_PROMISING)


def _each_stage_once(members: Sequence[Input]) -> list[Input]:
    """Drops each proto beside a text of the same stage; the text's input names the file of the proto."""
    texts = {member.stem: member for member in members if member.kind in _TEXTS}
    protos = {member.stem: member.path for member in members if member.kind == "hlo proto" and member.stem in texts}
    kept = (member for member in members if member.kind in _TEXTS or member.stem not in protos)
    return [replace(each, proto=protos.get(each.stem)) if each.kind in _TEXTS else each for each in kept]


def _without_sources(members: Sequence[Input]) -> list[Input]:
    """Drops the StableHLO from which XLA made a module that the dump also holds as HLO."""
    as_hlo = {member.dump.number for member in members if member.kind in _HLO} - {None}
    return [member for member in members if member.dump.number not in as_hlo or member.kind not in _MLIR]


def _selected(members: Sequence[Input], path: str, selection: Selection) -> list[Input]:
    # A word of a name is enough where no module has the whole name.
    whole = {name for name in selection.modules if any(each.dump.is_module(name) for each in members)}

    def is_module(dump: DumpName, wanted: str) -> bool:
        return dump.is_module(wanted) if wanted in whole else dump.has_word(wanted)

    problem = f"{path}: no module is called"
    by_module = _chosen(members, selection.modules, is_module, problem, lambda dump: dump.module)
    problem = f"{path}: no module has the stage"
    return _chosen(by_module, selection.stages, DumpName.is_stage, problem, lambda dump: dump.short_stage)


def _chosen(
    members: Sequence[Input],
    wanted: Sequence[str],
    matches: Callable[[DumpName, str], bool],
    problem: str,
    name: Callable[[DumpName], str],
) -> list[Input]:
    """Returns the members that match any wanted name; raises SelectionError for a name without a match."""
    for each in wanted:
        if not any(matches(member.dump, each) for member in members):
            known = [*filter(None, dict.fromkeys(name(member.dump) for member in members))]
            listed = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
            hint = meant(each, known, f"there are {listed}") if known else "no name of a file there has one"
            raise SelectionError(Diagnostic(f"{problem} {each}", hint=hint))
    return [member for member in members if not wanted or any(matches(member.dump, each) for each in wanted)]
