"""What a user names as input, as a list of modules: files, directories of dumps, patterns; nothing is parsed yet."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from glob import glob
from pathlib import Path

from dialect_utils.io.dump_names import DumpName, parse_dump_name, without_endings
from dialect_utils.io.files import STANDARD_INPUT, Kind, display_name, is_url, kind_of_module, parse_bytes, read_bytes
from dialect_utils.io.remote import matching_urls
from dialect_utils.ir import Module
from dialect_utils.text import Diagnostic, DiagnosticError, nearest

_PATTERN_CHARACTERS = "*?["
# A dump of every pass of a large program has some thousands; more is somebody's home directory.
MOST_FILES = 100_000
# These endings promise a module: a file that breaks the promise is an error of its own, and not passed over.
_PROMISING = (".hlo", ".mlir", ".hlo.pb")
_COMPRESSED = (".gz", ".xz", ".zst")
_TEXTS = ("hlo text", "mlir text")
# What XLA prints for a constant of more than ten elements, where it is not asked for all of them.
_LEFT_OUT = b"constant({...})"


@dataclass(frozen=True, slots=True)
class Input:
    """One module to read: where its bytes are, and what it is called; `-` is standard input.

    `relative` is its path in the directory that was named, or the file's own name; `proto` is a file beside a text
    that holds the same stage with all values of its constants; `content` is what was read of it already.
    """

    path: str
    relative: str
    dump: DumpName
    kind: Kind | None = None
    proto: str | None = None
    content: bytes | None = field(default=None, repr=False)

    @property
    def size(self) -> int:
        """Returns how many bytes there are to read, as far as that is known; else 0."""
        if self.content is not None:
            return len(self.content)
        return os.path.getsize(self.path) if os.path.isfile(self.path) else 0

    @property
    def name(self) -> str:
        """Returns what diagnostics and results call it."""
        return display_name(self.path)

    @property
    def stem(self) -> str:
        """Returns the relative path without the endings that say how the file is written."""
        folder, name = os.path.split(self.relative)
        return os.path.join(folder, without_endings(name))

    def with_constants(self) -> Input:
        """Returns the proto of the same stage where this text leaves out what large constants hold, else itself."""
        if self.proto is None or _LEFT_OUT not in self.data():
            return self
        return replace(self, path=self.proto, kind="hlo proto", proto=None, content=None)

    def data(self) -> bytes:
        """Reads the bytes, decompressed; raises DiagnosticError."""
        return self.content if self.content is not None else read_bytes(self.path)

    def module(self) -> Module:
        """Reads and parses the module; raises DiagnosticError."""
        return parse_bytes(self.data(), self.name)


class SelectionError(DiagnosticError):
    """A stage or a module that no file of a directory has."""


@dataclass(frozen=True, slots=True)
class Selection:
    """Which modules of a directory are meant: names or patterns; none is all of them."""

    stages: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stages or self.modules)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Modules in the order in which they are to be read, and notes about what was passed over."""

    modules: tuple[Input, ...]
    notes: tuple[Diagnostic, ...] = ()


def find_inputs(named: Sequence[str], selection: Selection | None = None) -> Inputs:
    """Returns the modules that files, directories and patterns (`dump/*.txt`) name, in order.

    The modules of a directory are found by content, in the order of their numbers and stages; a stage that is there
    as text and as proto counts once. `selection` applies to directories. Raises DiagnosticError for a directory or a
    pattern that holds no module, SelectionError for a selection that chooses none; files are not opened.
    """
    paths = [path for name in named for path in _expanded(name)]
    folders = [path for path in paths if path != STANDARD_INPUT and os.path.isdir(path)]
    modules: list[Input] = []
    notes: list[Diagnostic] = []
    for path in paths:
        if path not in folders:
            modules.append(named_input(path))
            continue
        # Two dumps have files of the same name.
        prefix = os.path.basename(os.path.abspath(path)) if len(folders) > 1 else ""
        found, passed_over = _in_directory(path, prefix, selection or Selection())
        modules += found
        notes += passed_over
    return Inputs(tuple(modules), tuple(notes))


def named_input(path: str) -> Input:
    """Returns the one module of a file, of a URL, or of standard input for `-`."""
    # What is after :: says where a member's archive is.
    name = os.path.basename(path.partition("::")[0] if is_url(path) else path)
    return Input(path, name, parse_dump_name(name))


@dataclass(frozen=True, slots=True)
class Pairing:
    """The modules of two dumps that are the same module at the same stage, and those without a partner."""

    pairs: tuple[tuple[Input, Input], ...]
    alone: tuple[Input, ...]


def pair_inputs(first: Sequence[Input], second: Sequence[Input]) -> Pairing:
    """Pairs the modules of two dumps: by number, name and stage; then by name and stage, in order.

    Two dumps of a program number modules and passes differently where their compilers or options do. One module on
    either side is a pair whatever it is called.
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


def last_stages(members: Sequence[Input]) -> list[Input]:
    """Returns the modules of dumps as they were compiled last: optimized and scheduled; other files as they are."""
    last = {(each.dump.number, each.dump.module, _folder(each)): each for each in members}
    return [
        each
        for each in members
        if each.dump.number is None or last[each.dump.number, each.dump.module, _folder(each)] is each
    ]


def _folder(each: Input) -> str:
    return os.path.dirname(each.path)


def _exact_key(each: Input) -> tuple[object, ...]:
    return each.dump.number, each.dump.module, each.dump.stage, "" if each.dump.number is not None else each.stem


def _loose_key(each: Input) -> tuple[object, ...]:
    return each.dump.module, each.dump.step_name


def _expanded(name: str) -> list[str]:
    """Returns the paths that a pattern fits, or the name where it is a path or no pattern."""
    if os.path.lexists(name) or not any(character in name for character in _PATTERN_CHARACTERS):
        return [name]
    matching = matching_urls(name) if is_url(name) else glob(name)
    found = sorted(matching, key=lambda path: (parse_dump_name(path.partition("::")[0]).order, path))
    if not found:
        raise DiagnosticError(Diagnostic(f"{name}: no file has such a name"))
    return found


def _in_directory(path: str, prefix: str, selection: Selection) -> tuple[list[Input], list[Diagnostic]]:
    """Returns the chosen modules of a directory in order, and at most one note."""
    everything = list(_found_in(path, prefix))
    members = sorted(filter(None, everything), key=lambda member: (member.dump.order, member.relative))
    if not members:
        raise DiagnosticError(Diagnostic(f"{path}: no file in this directory holds a module"))
    once = _each_stage_once(members)
    chosen = _selected(once, path, selection) if selection else _without_twins(once)
    passed_over = Counter(
        {
            "files that hold no module": everything.count(None),
            "protos of stages that are texts, too": len(members) - len(once),
            "StableHLO of modules that are HLO, too; --stage stablehlo": 0 if selection else len(once) - len(chosen),
        }
    )
    parts = [f"{what} ({count})" for what, count in passed_over.items() if count]
    message = f"{path}: {len(chosen)} modules; passed over: {', '.join(parts)}"
    return chosen, [Diagnostic(message, severity="note")] if parts else []


def _found_in(path: str, prefix: str) -> Iterator[Input | None]:
    """Yields what each file of a directory is: a module, or None."""
    for number, file in enumerate(_files(path)):
        if number >= MOST_FILES:
            raise DiagnosticError(Diagnostic(f"{path}: has more than {MOST_FILES} files", hint="name one dump in it"))
        relative = os.path.relpath(file, path)
        is_module, kind = _look(file)
        if is_module:
            yield Input(file, os.path.join(prefix, relative), parse_dump_name(Path(relative).as_posix()), kind)
        else:
            yield None


def _files(path: str) -> Iterator[str]:
    """Yields the files of a directory and of those below it; hidden ones are left out, links to directories, too."""
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (os.path.join(folder, name) for name in sorted(names) if not name.startswith("."))


def _look(file: str) -> tuple[bool, Kind | None]:
    """Returns whether a file is taken for a module, and what it holds; one that only says so is an error later."""
    try:
        kind = kind_of_module(file)
    except DiagnosticError:
        kind = None
    return kind is not None or _promises(file), kind


def _promises(file: str) -> bool:
    plain = os.path.splitext(file)[0] if file.endswith(_COMPRESSED) else file
    return plain.endswith(_PROMISING)


def _each_stage_once(members: Sequence[Input]) -> list[Input]:
    """Returns the members without protos of which there is a text, which then knows them."""
    texts = {member.stem: member for member in members if member.kind in _TEXTS}
    protos = {member.stem: member.path for member in members if member.kind == "hlo proto" and member.stem in texts}
    kept = (member for member in members if member.kind in _TEXTS or member.stem not in protos)
    return [replace(each, proto=protos.get(each.stem)) if each.kind in _TEXTS else each for each in kept]


def _without_twins(members: Sequence[Input]) -> list[Input]:
    """Leaves out StableHLO that a dump holds beside the HLO made of it: the same program before XLA saw it."""
    as_hlo = {member.dump.number for member in members if member.kind in ("hlo text", "hlo proto")} - {None}
    return [
        member
        for member in members
        if member.dump.number not in as_hlo or member.kind not in ("mlir text", "mlir bytecode")
    ]


def _selected(members: Sequence[Input], path: str, selection: Selection) -> list[Input]:
    by_module = _chosen(
        members, selection.modules, DumpName.is_module, f"{path}: no module is called", lambda dump: dump.module
    )
    return _chosen(
        by_module,
        selection.stages,
        DumpName.is_stage,
        f"{path}: no module has the stage",
        lambda dump: dump.short_stage,
    )


def _chosen(
    members: Sequence[Input],
    wanted: Sequence[str],
    fits: Callable[[DumpName, str], bool],
    problem: str,
    name: Callable[[DumpName], str],
) -> list[Input]:
    """Returns the members that any of the wanted names fits; raises SelectionError for a name that fits none."""
    for each in wanted:
        if not any(fits(member.dump, each) for member in members):
            known = list(dict.fromkeys(name(member.dump) for member in members))
            close = nearest(each, known)
            listed = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
            hint = f"did you mean {close}?" if close else f"there are {listed}"
            raise SelectionError(Diagnostic(f"{problem} {each}", hint=hint))
    return [member for member in members if not wanted or any(fits(member.dump, each) for each in wanted)]
