"""Converts modules between HLO and StableHLO, as text and in binary form, as XLA's `hlo-translate` does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, cast

from dialect_utils.io.files import Emit, encode, parse_bytes, serialize
from dialect_utils.ir import Dialect, Module
from dialect_utils.layout import Shape, TupleShape
from dialect_utils.ops import Trait, split_asynchronous, with_trait
from dialect_utils.ops.device_counts import devices_of, write_counts
from dialect_utils.ops.devices import numbers_in
from dialect_utils.text import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from dialect_utils.hlo import HloModule
    from dialect_utils.stablehlo.module import StableHloModule

Form = Literal["hlo", "pb", "stablehlo", "bytecode", "portable"]
# The dialect of each form, and how its modules are written; a portable artifact is a form of its own.
FORMS: Mapping[Form, tuple[Dialect, Emit]] = {
    "hlo": ("hlo", "text"),
    "pb": ("hlo", "pb"),
    "stablehlo": ("stablehlo", "text"),
    "bytecode": ("stablehlo", "bytecode"),
    "portable": ("stablehlo", "bytecode"),
}
# XLA's importer makes an argument of each array of a tuple, and a result, but keeps the paths of aliases in the tuples.
_ALIASES, _PATH = "mhlo.input_output_alias", r"array<i64(?:: ([\d, ]+))?>"
_ALIAS = re.compile(
    rf'kind = "(\w+)", parameter_index = {_PATH}, parameter_number = (\d+) : i64\}}, output_index = {_PATH}'
)
# Operations that only compilers write, and those whose phases StableHLO has, too.
_COMPILED, _TRANSFERS = with_trait(Trait.COMPILED), with_trait(Trait.CHANNELED)
# The name of MLIR for a text in memory: metadata with it names no file of the user.
_NO_FILE = 'source_file="-"'
_PLACE = re.compile(r'\s*\bsource_\w+=(?:"[^"]*"|\d+)', re.ASCII)


def convert(module: Module, form: Form, *, locations: bool = False) -> bytes:
    """Returns a module in another form; between the dialects XLA converts it, in a worker.

    `hlo` and `stablehlo` are texts, `pb` is a serialized HloModuleProto, `bytecode` is MLIR's, and `portable` is a
    StableHLO portable artifact. With `locations`, StableHLO has locations, which hold the names of HLO's instructions.
    Raises DiagnosticError for a module that XLA cannot express in the other dialect.

    >>> convert(relayout.read("examples/attention.mlir"), "hlo")[:23]
    b'HloModule jit_attention'
    """
    return write(in_dialect_of(form, module), form, locations=locations)


def check_known(module: Module) -> None:
    """Raises DiagnosticError for an operation of a dialect that jaxlib lacks, which has no HLO form."""
    unknown = next((each for each in module.operations() if each.is_unknown), None)
    if unknown is not None:
        message = f"{unknown.opcode} is of a dialect that is not known here, so it has no HLO form"
        raise DiagnosticError(message, unknown.location)


def in_dialect_of(form: Form, module: Module) -> Module:
    """Returns a module in the dialect of a form, itself if it is; the entry's layouts and the counts of devices stay.

    Raises ExecutionError for a module that XLA cannot express in the other dialect.
    """
    if module.dialect == FORMS[form][0]:
        return module
    is_hlo = module.dialect == "hlo"
    made = _from_hlo(cast("HloModule", module)) if is_hlo else _from_stablehlo(cast("StableHloModule", module))
    # XLA converts neither count.
    write_counts(made, devices_of(module))
    return made


def write(module: Module, form: Form, *, locations: bool = False) -> bytes:
    """Returns a module in a form of its dialect."""
    dialect, emit = FORMS[form]
    if dialect == "hlo":
        return serialize(module, emit)
    written = cast("StableHloModule", module.clone())
    written.has_locations = locations
    return written.portable_artifact() if form == "portable" else serialize(written, emit)


def not_kept(module: Module, form: Form) -> tuple[Diagnostic, ...]:
    """Returns notes about what a form does not hold: HLO made of StableHLO has the layouts of the entry only."""
    if module.dialect == "hlo" or FORMS[form][0] == "stablehlo":
        return ()
    from dialect_utils.stablehlo.foreign import for_xla

    _, dropped = for_xla(cast("StableHloModule", module))
    kept = {*module.entry.parameters, *module.entry.results}
    inner = [value for value in module.values() if value not in kept and _has_layout(value.shape)]
    if not inner:
        return dropped
    first = inner[0]
    message = f"{len(inner)} layouts of values inside are not in the HLO, the first that of {first.name}"
    return (*dropped, Diagnostic(message, first.location, "note"))


def _has_layout(shape: Shape) -> bool:
    return any(array.layout is not None and not array.layout.is_default for array in shape.arrays())


def _from_hlo(module: HloModule) -> Module:
    from dialect_utils import execution

    for operation in module.operations():
        base, phase = split_asynchronous(operation.opcode)
        if operation.opcode in _COMPILED or (phase and base not in _TRANSFERS):
            message = f"{operation.opcode} has no StableHLO form"
            hint = "relayout opt FILE -p make-portable makes ordinary HLO of an optimized dump"
            raise DiagnosticError(message, operation.location, hint=hint)

    if module.hides_instructions or not module.has_callees_first:
        # jaxlib does not read instructions inside operands, or callees after their callers.
        module = module.clone()
        module.give_lines()
        module.sort_callees_first()
    # XLA's importer writes the layouts as attributes.
    made = cast("StableHloModule", _parsed(execution.hlo_to_stablehlo(module.text(), module.source.name)))
    if module.aliases:
        made.set_attribute(_ALIASES, f"[{', '.join(_flat_aliases(module, made.attributes[_ALIASES]))}]")
    # The importer drops donors.
    donors = {(number, *path) for number, path in module.donors}
    made.entry.interface.donate(number for number, path in enumerate(_paths(module.entry_layout[0])) if path in donors)
    return made


def _flat_aliases(module: HloModule, text: str) -> Iterator[str]:
    """Yields the aliases that MLIR's text of a module lists, between arguments and results that are arrays."""
    parameters, results = map(_paths, module.entry_layout)
    for kind, path, number, result_path in _ALIAS.findall(text):
        ends = (int(number), *numbers_in(path)), (0, *numbers_in(result_path))
        # The table of a tuple's addresses has no place in StableHLO.
        if ends[0] in parameters and ends[1] in results:
            result = f"array<i64: {results.index(ends[1])}>" if len(results) > 1 else "array<i64>"
            argument = f"parameter_index = array<i64>, parameter_number = {parameters.index(ends[0])} : i64"
            yield f'{{alias = {{kind = "{kind}", {argument}}}, output_index = {result}}}'


def _paths(shapes: Iterable[Shape]) -> list[tuple[int, ...]]:
    """Returns the paths of the arrays of shapes, each with the position of its shape first."""
    return [path for number, shape in enumerate(shapes) for path, _ in shape.leaves_by_path((number,))]


def _from_stablehlo(module: StableHloModule) -> Module:
    from dialect_utils import execution
    from dialect_utils.stablehlo.foreign import for_xla

    check_known(module)
    read, _ = for_xla(module)
    made = cast("HloModule", _parsed(execution.stablehlo_to_hlo(read.bytecode())))
    for operation in made.operations():
        metadata = operation.metadata or ""
        if _NO_FILE in metadata:
            left = _PLACE.sub("", metadata)
            operation.set_attribute("metadata", left if left != "{}" else None)
    parameters, results = module.entry_layout
    if any(map(_has_layout, (*parameters, *results))):
        result = results[0] if len(results) == 1 else TupleShape(tuple(results))
        made.set_entry_layout(parameters, [result])
    return made


def _parsed(text: str) -> Module:
    return parse_bytes(encode(text), "<converted>")
