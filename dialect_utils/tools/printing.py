"""Prints modules for people: one instruction a line, short names, and no metadata or configuration of a backend."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Literal, cast

from dialect_utils.hlo import Computation, HloModule
from dialect_utils.hlo.text.printing import with_sigil
from dialect_utils.ir import Module, Operation
from dialect_utils.tools.extraction import find_function

if TYPE_CHECKING:
    from dialect_utils.stablehlo.function import StableHloFunction
    from dialect_utils.stablehlo.module import StableHloModule

Detail = Literal["metadata", "backend_config", "names"]
DETAILS: tuple[Detail, ...] = ("metadata", "backend_config", "names")
_LEFT_OUT = {"metadata": ("metadata", "origin"), "backend_config": ("backend_config", "mhlo.backend_config")}
_CONFIGURATION: Detail = "backend_config"
# The begin of all names in a text without the module's own names.
_NUMBERED_NAME = "relayout.number."
# A computation whose name is longer gets the first word of it and a number.
_LONG = 12
_FIRST_WORD = re.compile(r"[A-Za-z]+")


def format_short(module: Module, *, keep: Collection[Detail] = (), computation: str | None = None) -> str:
    """Returns the text of a module without the details that `keep` does not name, or the text of one computation.

    `metadata` is what instructions were made of, with the tables of files (StableHLO: locations), `backend_config` is
    for the compiler's own use. `names` keeps the names of instructions and computations; without it, instructions of
    HLO are named by opcode and number where that is shorter. Raises DiagnosticError for an unknown computation.

    >>> print(format_short(relayout.read("examples/attention.hlo"), computation="region_0.2"), end="")
    region_0.2 {
      p0 = f32[] parameter(0)
      p1 = f32[] parameter(1)
      ROOT maximum = f32[] maximum(p0, p1)
    }
    """
    copy = _without(module, keep)
    if copy.dialect == "stablehlo":
        return _stablehlo_text(cast("StableHloModule", copy), keep, computation)
    found = cast(HloModule, copy)
    chosen = None if computation is None else cast(Computation, find_function(copy, computation))
    if "names" not in keep:
        _shorten_names(found)
    if chosen is not None:
        return _computation_text(chosen)
    head = found.header.text + (found.tables.rstrip() if "metadata" in keep else "")
    return "\n".join([*([head + "\n"] if head else []), *map(_computation_text, found.computations)])


def format_nameless(module: Module) -> str:
    """Returns a text that is the same for modules that differ in metadata and names only, in full detail otherwise."""
    if module.dialect == "stablehlo":
        # MLIR numbers values itself.
        return format_short(module, keep=(_CONFIGURATION,))
    copy = _without(module, (_CONFIGURATION,))
    found = cast(HloModule, copy)
    names = [computation.name for computation in found.computations]
    names += [item.name for computation in found.computations for item in computation.instructions]
    if not any(name.startswith(_NUMBERED_NAME) for name in names):
        for number, computation in enumerate(found.computations):
            if computation.name:
                computation.rename(f"{_NUMBERED_NAME}{number}")
            for own, item in enumerate(computation.instructions):
                item.rename(f"{_NUMBERED_NAME}{own}")
    return "\n".join([found.header.text, *map(_computation_text, found.computations)])


def _without(module: Module, keep: Collection[Detail]) -> Module:
    """Returns a copy of a module without the attributes that `keep` does not name."""
    copy = module.clone()
    dropped = [name for detail, names in _LEFT_OUT.items() if detail not in keep for name in names]
    for operation in _everything(copy):
        for name in dropped:
            if operation.attribute(name) is not None:
                operation.set_attribute(name, None)
    return copy


def _everything(module: Module) -> Iterable[Operation]:
    """Returns the operations of a module, those of HLO with the parameters, which have attributes of their own."""
    if module.dialect == "stablehlo":
        return module.operations()
    return (item for computation in cast(HloModule, module).computations for item in computation.instructions)


def _stablehlo_text(module: StableHloModule, keep: Collection[Detail], computation: str | None) -> str:
    if computation is None:
        module.has_locations = module.has_locations and "metadata" in keep
        return module.text()
    function = cast("StableHloFunction", find_function(module, computation))
    with_locations = module.has_locations and "metadata" in keep
    return str(function.holder.get_asm(enable_debug_info=with_locations, use_local_scope=True)).rstrip("\n") + "\n"


def _computation_text(computation: Computation) -> str:
    """Returns the lines of a computation, its instructions indented by two spaces."""
    lines = [f"  {item.text()}" for item in computation.instructions]
    if not computation.name:
        return "\n".join(line.strip() for line in lines) + "\n"
    mark = "ENTRY " if computation.is_marked_entry else ""
    name = with_sigil(computation.sigil, computation.name)
    frame = computation.written.frame
    after = computation.source.text[frame.tail : frame.end]
    return "\n".join([f"{mark}{name} {{", *lines, "}" + after.partition("}")[2].rstrip()]) + "\n"


def _shorten_names(module: HloModule) -> None:
    """Gives instructions and computations shorter names that are free: an opcode or a first word, and a number."""
    for computation in module.computations:
        kept = {item.name for item in computation.instructions}
        for item, name in zip(computation.instructions, list(_short_names(computation)), strict=True):
            if computation.name and len(name) < len(item.name) and name not in kept:
                item.rename(name)
    names = {computation.name for computation in module.computations}
    counts: dict[str, int] = {}
    for computation in module.computations:
        word = _FIRST_WORD.match(computation.name)
        if word is None or len(computation.name) <= _LONG:
            continue
        name = next(each for each in _numbered(word[0], counts) if each not in names)
        computation.rename(name)


def _short_names(computation: Computation) -> Iterator[str]:
    """Yields a name for each instruction: `p0` for parameter 0, else its opcode and a number."""
    counts: dict[str, int] = {}
    for item in computation.instructions:
        yield f"p{item.contents}" if item.opcode == "parameter" else next(_numbered(item.opcode, counts))


def _numbered(word: str, counts: dict[str, int]) -> Iterator[str]:
    """Yields `word`, `word.1`, `word.2` and so on; `counts` remembers how many of each word were yielded."""
    while True:
        number = counts[word] = counts.get(word, -1) + 1
        yield f"{word}.{number}" if number else word
