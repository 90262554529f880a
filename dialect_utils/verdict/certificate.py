"""Certificates: the steps of a proof over a table of terms, in memory and as JSON files."""

from __future__ import annotations

import base64
import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from dialect_utils import layout
from dialect_utils.ir import Module, Operation
from dialect_utils.ir.control_flow import MOST_ITERATIONS
from dialect_utils.layout import Shape
from dialect_utils.layout.moves import steps as moves
from dialect_utils.layout.moves.plan import Plan
from dialect_utils.ops.sharding import Partition, try_sharding
from dialect_utils.ops.window import WindowDimension
from dialect_utils.text import DiagnosticError
from dialect_utils.verdict.terms.primitives import Kind, Term, bottom_up

_FORMAT = "relayout certificate 1"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a proof: a rule, the operation at which it was applied, and the two terms that it makes equal.

    `predicate` is the truth value that a step of the rule `cases` decides.
    """

    rule: str
    place: Operation | str | None
    before: Term
    after: Term
    predicate: Term | None = None

    @property
    def where(self) -> str:
        """Returns the location of the operation; empty for a step without an operation."""
        return place_of(self.place) if isinstance(self.place, Operation) else self.place or ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A loop's state as a proof reads it.

    `order` lists the live elements of the state, `changed` the elements that the body changes. `plans` has for each
    element the plan from its logical value to its physical array, or None where the state holds the logical value.
    """

    order: tuple[int, ...]
    changed: tuple[int, ...]
    plans: tuple[Plan | None, ...]


@dataclass(frozen=True, slots=True)
class Certificate:
    """A proof that two modules are equal: its steps, and how the loops of the first and of the last module are read.

    The key of a reading is the number of the loop among the operations of its module. With `is_decomposed` the proof is
    about the modules with CHLO operations decomposed. Loops of up to `iterations` are unrolled. With a partition the
    last module computes on the parts of the first module's arrays that several devices hold; with `is_on_each` both
    compute on the arrays of the same devices. `conditions` are those on data: no element of a term is a value, such as
    NaN.
    """

    steps: tuple[Step, ...]
    readings: tuple[Mapping[int, Reading], ...]
    is_decomposed: bool = False
    iterations: int = MOST_ITERATIONS
    partition: Partition | None = None
    is_on_each: bool = False
    conditions: tuple[tuple[str, Term], ...] = ()


@dataclass(frozen=True, slots=True)
class Excluded:
    """A condition on data: no element of a value is one of `values`, such as NaN.

    The value is the parameter of a number for a `side` of -1, else the result of the operation of a number in the entry
    of the first module (0) or of the last one (1).
    """

    name: str
    side: int
    number: int
    values: tuple[str, ...]


def clauses(conditions: Sequence[Excluded]) -> tuple[str, ...]:
    """Returns conditions as clauses, such as `%arg0 and %arg1 are never NaN or -0`."""
    names: dict[str, list[str]] = {}
    for each in conditions:
        values = [value for value in each.values if value != "-0" or "0" not in each.values]
        names.setdefault(" or ".join(values), []).append(each.name)
    listed = {values: " and ".join(filter(None, [", ".join(each[:-1]), each[-1]])) for values, each in names.items()}
    return tuple(f"{listed[values]} {'is' if len(names[values]) == 1 else 'are'} never {values}" for values in names)


@dataclass(frozen=True, slots=True, eq=False)
class ReadTerm:
    """A term that was read from a file."""

    kind: Kind
    label: Hashable
    shape: Shape
    operands: tuple[ReadTerm, ...]


def without_chlo(stages: Sequence[Module]) -> Sequence[Module]:
    """Returns modules with their CHLO operations decomposed; the same ones where no operation is of CHLO."""
    if all(stage.dialect == "hlo" for stage in stages):
        # MLIR is not loaded for HLO.
        return stages
    from dialect_utils.stablehlo.module import StableHloModule
    from dialect_utils.stablehlo.parse import try_decompose_chlo

    found = [try_decompose_chlo(stage) if isinstance(stage, StableHloModule) else None for stage in stages]
    return [made or stage for made, stage in zip(found, stages, strict=True)] if any(found) else stages


def place_of(operation: Operation) -> str:
    """Returns the location of an operation, `file:line:column`, or its name where that is not known."""
    location = operation.location
    if location is not None:
        line, column = location.source.line_and_column(location.span.start)
        return f"{location.source.name}:{line}:{column}"
    return operation.results[0].name if operation.results else operation.opcode


# The classes that labels and shapes are made of.
_CLASSES: Mapping[str, Any] = {
    each.__name__: each
    for each in (
        *(value for value in vars(layout).values() if isinstance(value, type) and is_dataclass(value)),
        *(value for value in vars(moves).values() if isinstance(value, type) and is_dataclass(value)),
        Plan,
        WindowDimension,
    )
}


def certificate_text(certificate: Certificate) -> str:
    """Returns a certificate as JSON."""
    table = _Table()
    steps = []
    for step in certificate.steps:
        terms = [step.before, step.after, *([] if step.predicate is None else [step.predicate])]
        steps.append([step.rule, step.where, *map(table.number, terms)])
    readings = [
        [[loop, *map(table.plain, (read.order, read.changed, read.plans))] for loop, read in found.items()]
        for found in certificate.readings
    ]
    found: dict[str, Any] = {
        "format": _FORMAT,
        "decomposed": certificate.is_decomposed,
        "iterations": certificate.iterations,
    }
    if certificate.is_on_each:
        found["on_each"] = True
    if certificate.conditions:
        found["conditions"] = [[value, table.number(term)] for value, term in certificate.conditions]
    if certificate.partition is not None:
        sides = certificate.partition.parameters, certificate.partition.results
        found["partition"] = [[[len(each.tiles), len(each.parts), str(each)] for each in side] for side in sides]
    return json.dumps({**found, "terms": table.rows, "steps": steps, "readings": readings}, separators=(",", ":"))


class _Table:
    """The terms of a certificate, each as a row that refers to earlier rows."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self._numbers: dict[Term, int] = {}

    def number(self, term: Term) -> int:
        """Returns the number of a term's row."""
        for part in bottom_up(term, self._numbers):
            row = [part.kind, self.plain(part.label), self.plain(part.shape)]
            self.rows.append([*row, [self._numbers[each] for each in part.operands]])
            self._numbers[part] = len(self.rows) - 1
        return self._numbers[term]

    def plain(self, value: Any) -> Any:
        """Returns a label or a shape as JSON."""
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, bytes):
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, tuple):
            return [*map(self.plain, value)]
        if isinstance(value, frozenset):
            return {"set": sorted(map(self.plain, value), key=str)}
        name = type(value).__name__
        if name not in _CLASSES:
            return {"term": self.number(value)}
        values = (getattr(value, each.name) for each in fields(value) if each.init)
        return {"is": name, "of": [*map(self.plain, values)]}


def read_certificate(text: str, name: str = "this") -> Certificate:
    """Reads a certificate; raises DiagnosticError for any other text."""
    try:
        found = json.loads(text)
        written = found.get("format") if isinstance(found, dict) else None
        if written != _FORMAT:
            raise ValueError(f"its format is {written!r}, not {_FORMAT!r}")
        return _certificate(found)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        message = f"{name} is no certificate that can be read: {error}"
        raise DiagnosticError(message, hint="relayout check A B --certificate FILE writes one") from error


def _certificate(found: Mapping[str, Any]) -> Certificate:
    terms: list[ReadTerm] = []
    for kind, label, shape, operands in found["terms"]:
        if not all(0 <= each < len(terms) for each in operands):
            raise ValueError(f"term {len(terms)} refers to a later one")
        parts = tuple(terms[each] for each in operands)
        terms.append(ReadTerm(kind, _value(label, terms), _value(shape, terms), parts))
    steps = [
        Step(rule, place, terms[before], terms[after], *(terms[each] for each in rest))
        for rule, place, before, after, *rest in found["steps"]
    ]
    readings = tuple(
        {number: Reading(*(_value(each, terms) for each in rest)) for number, *rest in rows}
        for rows in found["readings"]
    )
    return Certificate(
        tuple(steps),
        readings,
        bool(found["decomposed"]),
        int(found.get("iterations", MOST_ITERATIONS)),
        _partition(found["partition"]) if "partition" in found else None,
        bool(found.get("on_each")),
        tuple((str(value), terms[number]) for value, number in found.get("conditions", ())),
    )


def _partition(sides: Sequence[Sequence[tuple[int, int, str]]]) -> Partition:
    """Returns the partition that a certificate is about; raises ValueError for a sharding in another notation."""
    shardings = [[try_sharding(text, rank, devices) for rank, devices, text in side] for side in sides]
    parameters, results = (tuple(each for each in side if each is not None) for side in shardings)
    if [len(parameters), len(results)] != [*map(len, sides)]:
        raise ValueError("a sharding of its partition is not known")
    return Partition(parameters, results)


def _value(plain: Any, terms: Sequence[ReadTerm]) -> Any:
    """Returns a label or shape from JSON."""
    if isinstance(plain, list):
        return tuple(_value(each, terms) for each in plain)
    if plain is None or isinstance(plain, (bool, int, str)):
        return plain
    match plain:
        case {"bytes": str(text)}:
            return base64.b64decode(text, validate=True)
        case {"set": list(items)}:
            return frozenset(_value(each, terms) for each in items)
        case {"term": int(number)}:
            return terms[number]
        case {"is": str(name), "of": list(parts)}:
            return _CLASSES[name](*(_value(each, terms) for each in parts))
    raise ValueError(f"{plain} stands for nothing")
