"""The verifier of HLO: each instruction by its declaration, and what instructions have to agree on.

Sources: xla/service/hlo_verifier.cc, xla/hlo/parser/hlo_parser.cc.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import chain
from math import prod

from dialect_utils.hlo.computation import MAIN_THREAD, Computation
from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.module import HloModule, callees_first
from dialect_utils.hlo.reading import interface_of
from dialect_utils.hlo.verification import attributes
from dialect_utils.hlo.verification.entry import find_entry_problems, find_header_problems
from dialect_utils.hlo.verification.literals import literal_problem
from dialect_utils.hlo.verification.shardings import check_leaves, check_sharding, find_inconsistent_shardings
from dialect_utils.layout import ArrayShape, Shape
from dialect_utils.layout.index.index_map import physical_element_count
from dialect_utils.layout.shape import UNBOUNDED
from dialect_utils.ops import (
    DONE,
    GENERAL_ATTRIBUTES,
    HLO_NAMES,
    Opcode,
    Trait,
    has,
    is_opcode,
    named,
    opcode_of,
    split_asynchronous,
    with_trait,
)
from dialect_utils.ops.checking import check_operation, check_wrapped
from dialect_utils.ops.device_counts import written_counts
from dialect_utils.ops.inference import Instance, ShapeError
from dialect_utils.text import Diagnostic, DiagnosticError, Severity, meant, nearest

_COMPILED = with_trait(Trait.COMPILED)
_TRANSFERS = with_trait(Trait.CHANNELED)
# Instructions that have to agree with each other or with their computations in more than shapes.
_JOINING = named("all-reduce conditional fusion while")
_LARGEST_SIZE = (1 << 63) - 1
_THREAD = re.compile(r"execution_thread\s*=\s*\"([^\"]*)\"")


def is_written_by_compiler(module: HloModule) -> bool:
    """Is true where a compiler has rewritten a module: it is scheduled, fused or tiled.

    The first answer holds for all clones: a pass that expands tiles does not make the rules stricter.
    """
    if module.is_of_compiler is None:
        module.is_of_compiler = module.is_scheduled or _has_marks_of_compiler(module)
    return module.is_of_compiler


def _has_marks_of_compiler(module: HloModule) -> bool:
    instructions = (item for computation in module.computations for item in computation.instructions)
    return any(item.opcode in _COMPILED or any(leaf.is_tiled for leaf in item.shape.arrays()) for item in instructions)


def find_problems(
    module: HloModule,
    *,
    is_lenient: bool | None = None,
    is_layout_sensitive: bool = False,
    is_mixed: bool = True,
    is_unbounded: bool = True,
    also: Collection[str] = (),
) -> Iterator[Diagnostic]:
    """Yields everything that is wrong with a module, warnings among them.

    `is_lenient` accepts what compilers write and XLA's verifier rejects; None: as `is_written_by_compiler` says.

    * Element types are not compared but at calls, loops and tuples: the TPU compiler mixes them inside instructions.
    * An unknown attribute is a warning: the compiler that wrote it may be newer.

    The rest are XLA's options (HloVerifierOpts in xla/service/hlo_verifier.h):

    * `is_layout_sensitive` compares layouts at calls and with the entry layout, as XLA does after layout assignment.
    * `is_mixed` accepts floats of several precisions in one instruction, `is_unbounded` dimensions of any size, `?`.
    * `also` names rules that XLA has for single passes: the keys of `dialect_utils.hlo.verification.optional.RULES`.
    """
    lenient = is_written_by_compiler(module) if is_lenient is None else is_lenient
    verifier = _Verifier(module, lenient, is_layout_sensitive, is_mixed, is_unbounded)
    broken = list(verifier.problems())
    yield from broken
    if also:
        from dialect_utils.hlo.verification.optional import find_optional_problems

        yield from find_optional_problems(module, also)
    try:
        callees_first(module.computations)
    except DiagnosticError as error:
        # A computation calls itself.
        yield from error.diagnostics
        return
    if all(problem.severity != "error" for problem in broken):
        yield from find_header_problems(module, is_lenient=lenient)
        yield from find_entry_problems(module, is_layout_sensitive=is_layout_sensitive)
        yield from verifier.joint_problems()


def problem_among(instructions: Iterable[Instruction]) -> str | None:
    """Returns which constraint of its opcode one of the instructions violates, or None.

    The instructions of all called computations, also of indirectly called ones, are verified, too.
    """
    waiting, seen = list(instructions), set[Computation]()
    while waiting:
        instruction = waiting.pop()
        problem = _constraint_problem(instruction)
        if problem is not None:
            return problem
        for called in instruction.called:
            if called not in seen:
                seen.add(called)
                waiting += called.instructions
    return None


def _constraint_problem(instruction: Instruction) -> str | None:
    module = instruction.computation.module
    called = [interface_of(each) for each in instruction.called]
    operands = [operand.shape for operand in instruction.operands]
    instance = Instance(instruction, operands, called, instruction.shape, is_lenient=bool(module.is_of_compiler))
    try:
        check_operation(instance, opcode_of(instruction.opcode))
    except ShapeError as error:
        return str(error)
    return None


class _Verifier:
    """One verification of one module."""

    def __init__(self, module: HloModule, *options: bool) -> None:
        self.module = module
        self.is_lenient, self.is_layout_sensitive, self.is_mixed, self.is_unbounded = options
        self.replicas, self.partitions = written_counts(module)
        self.may_be_unbounded = "?" in module.source.text
        # The answers of a verification hold for the same options.
        self.options = (*options, self.replicas, self.partitions, self.may_be_unbounded)
        # The opcodes and attributes that are known to be sound.
        self.sound_texts: set[attributes.Signature] = set()
        # The shapes of the module whose sizes fit into 64 bits, by identity.
        self._fitting: set[int] = set()
        # Instructions that are verified with others: asynchronous starts and dones, and joins of values.
        self.asynchronous: list[Instruction] = []
        self.joining: list[Instruction] = []

    def problems(self) -> Iterator[Diagnostic]:
        """Yields the problems of single instructions.

        Identical instructions are verified once; only after a failure again, to locate each. A clone is verified where
        it differs from the module that was verified before.
        """
        sound, signatures = self.module.sound.by_options.setdefault(self.options, set()), attributes.Signatures()
        kinds: dict[str, list[Instruction] | None] = {}
        for computation in self.module.computations:
            for instruction in computation.instructions:
                opcode = instruction.opcode
                if opcode not in kinds:
                    kinds[opcode] = self._list_for(opcode)
                listed = kinds[opcode]
                if listed is not None:
                    listed.append(instruction)
                signature = signatures.of(instruction)
                if signature not in sound:
                    problems = list(self._instruction_problems(instruction, signature[:2]))
                    yield from problems
                    if not problems:
                        sound.add(signature)
                        self.module.sound.shapes.append(attributes.shapes_of(instruction))

    def _list_for(self, opcode: str) -> list[Instruction] | None:
        if opcode in _TRANSFERS or split_asynchronous(opcode)[1]:
            return self.asynchronous
        return self.joining if opcode in _JOINING else None

    def _instruction_problems(self, instruction: Instruction, written: attributes.Signature) -> Iterator[Diagnostic]:
        """Yields the problems of one instruction; `written` is the part of its signature that is about its text."""
        name = instruction.opcode
        if not is_opcode(name):
            hint = meant(name, HLO_NAMES)
            yield Diagnostic(f"unknown opcode {name}", instruction.locate("opcode"), hint=hint)
            return
        opcode = opcode_of(name)
        try:
            is_known = written in self.sound_texts
            if not is_known:
                _check_values(instruction)
            self._check(instruction, opcode)
            unknown = [] if is_known else unknown_attributes(instruction, name)
        except ShapeError as error:
            yield Diagnostic(f"{instruction.name}: {error}", instruction.locate(error.part))
            return
        except DiagnosticError as error:
            yield from error.diagnostics
            return
        if not unknown:
            self.sound_texts.add(written)
            return
        locations = instruction.locate_attributes(unknown)
        for attribute in unknown:
            severity: Severity = "warning" if self.is_lenient else "error"
            close = nearest(attribute, _allowed(name))
            message = f"{name} has no attribute {attribute}" + (f"; did you mean {close}?" if close else "")
            yield Diagnostic(f"{instruction.name}: {message}", locations[attribute], severity)

    def _check(self, instruction: Instruction, opcode: Opcode) -> None:
        """Raises ShapeError at the first mistake of an instruction."""
        shape = instruction.shape
        if self.may_be_unbounded:
            is_unbounded = _is_unbounded(shape)
            if is_unbounded and not self.is_unbounded:
                raise ShapeError(f"unbounded dynamism is disabled, but the shape is {shape}", "shape")
            if is_unbounded or any(_is_unbounded(operand.shape) for operand in instruction.operands):
                # The shapes follow from sizes that are not known, or the operand is reported.
                return
        if id(shape) not in self._fitting:
            if any(map(_is_too_large, shape.arrays())):
                raise ShapeError(f"the elements or bytes of {shape} are too many for 64 bits", "shape")
            if any(map(_is_sparse, shape.arrays())):
                raise ShapeError(f"{shape} has the layout of a sparse array, which XLA does not support", "shape")
            self._fitting.add(id(shape))
        _check_computations(instruction, opcode)
        called = instruction.called
        instance = Instance(
            instruction,
            [operand.shape for operand in instruction.operands],
            [interface_of(each) for each in called] if called else (),
            shape,
            self.is_lenient,
            self.is_layout_sensitive,
            self.replicas,
            self.partitions,
            self.is_mixed,
        )
        check_operation(instance, opcode)
        check_wrapped(instance)
        if opcode.name == "constant":
            problem = literal_problem(instruction.contents, shape)
            if problem is not None:
                raise ShapeError(problem, "operands")
        check_sharding(instruction, self.partitions)
        check_leaves(instruction)

    def joint_problems(self) -> Iterator[Diagnostic]:
        """Yields an error for each contradiction between instructions and computations that are sound by themselves."""
        reductions = [
            each
            for each in (*self.joining, *self.asynchronous)
            if split_asynchronous(each.opcode)[0] == "all-reduce" and not each.opcode.endswith(DONE)
        ]
        if len({each.attribute("constrain_layout") == "true" for each in reductions}) > 1:
            yield Diagnostic("the module has a mix of layout constrained and unconstrained all-reduce instructions")
        fused: dict[Computation, Instruction] = {}
        for each in [each for each in self.joining if each.opcode == "fusion"]:
            first = fused.setdefault(each.called[0], each)
            if first is not each:
                message = f"the fusion computation %{each.called[0].name} is that of %{first.name}, too"
                yield Diagnostic(f"{each.name}: {message}", each.locate("calls"))
        for computation in fused:
            yield from _fusion_problems(computation)
        for instruction in self.joining:
            if instruction.opcode in ("conditional", "while"):
                yield from find_inconsistent_shardings(instruction)
        text = self.module.source.text
        if "execution_thread=" in text:
            yield from _thread_problems(self.module)
        # Few modules have these: the rules are loaded where they are needed.
        if self.asynchronous:
            from dialect_utils.hlo.verification.asynchronous import find_asynchronous_problems

            yield from find_asynchronous_problems(
                self.module, self.asynchronous, is_lenient=self.is_lenient, is_layout_sensitive=self.is_layout_sensitive
            )
        if "b(" in text:
            from dialect_utils.hlo.verification.entry import find_buffer_problems

            yield from find_buffer_problems(self.module)


def _fusion_problems(computation: Computation) -> Iterator[Diagnostic]:
    """Yields instructions of a fusion whose values nothing uses (CheckFusionInstruction)."""
    # A pass leaves unused values for later passes to remove.
    if computation.edits.any:
        return
    instructions, root = computation.instructions, computation.root
    used = set(chain.from_iterable([each.operands for each in instructions]))
    if root in used:
        yield Diagnostic(f"{root.name}: the ROOT of a fusion may not have users", root.location)
    for each in instructions:
        if each not in used and each is not root and has(each.opcode, Trait.PURE):
            message = (
                f"an instruction of the fusion computation %{computation.name} that is not the ROOT must have users"
            )
            yield Diagnostic(f"{each.name}: {message}", each.location)


def _is_unbounded(shape: Shape) -> bool:
    return any(UNBOUNDED in leaf.dimensions for leaf in shape.arrays())


def _is_too_large(array: ArrayShape) -> bool:
    """Is true where 64 bits cannot count an array's elements or bytes, with padding (ShapeUtil::ValidateShape)."""
    count, size = array.element_count, max(array.element_type.bits // 8, 1)
    if array.is_tiled and array.is_static:
        layout = array.effective_layout
        # A tile makes a dimension at most as many times longer as the tile is long.
        lengths = (length for tile in layout.tiles for length in tile.dimensions if length > 0)
        if prod((*(layout.padded_dimensions or array.dimensions), *lengths)) * size <= _LARGEST_SIZE:
            return False
        count = physical_element_count(array)
    return count * size > _LARGEST_SIZE


def _is_sparse(array: ArrayShape) -> bool:
    """Is true where a layout names the type of indices or pointers (LayoutUtil::ValidateLayoutForShape)."""
    layout = array.layout
    return layout is not None and bool(layout.index_primitive_type or layout.pointer_primitive_type)


def _check_computations(instruction: Instruction, opcode: Opcode) -> None:
    """Raises ShapeError where an instruction does not name the computations that its opcode needs."""
    count, called = opcode.computation_count, instruction.called
    if not count:
        return
    if len(called) != count:
        counted = "1 computation" if count == 1 else f"{count} computations"
        raise ShapeError(f"{opcode.name} applies {counted}, found {len(called)}")
    needed = [attribute.name for attribute in opcode.attributes if attribute.names_computations]
    if {*instruction.roles} != {*needed}:
        raise ShapeError(f"{opcode.name} names {' and '.join(needed)}, found {', '.join(instruction.roles)}")


@cache
def _allowed(opcode: str) -> frozenset[str]:
    of_chain = opcode_of("async").attributes if split_asynchronous(opcode)[1] else ()
    return frozenset(attribute.name for attribute in (*GENERAL_ATTRIBUTES, *opcode_of(opcode).attributes, *of_chain))


def unknown_attributes(instruction: Instruction, opcode: str) -> list[str]:
    """Returns the attributes of an instruction that its opcode does not have."""
    if not instruction.attribute_text:
        return []
    allowed = _allowed(opcode)
    return [name for name in instruction.attributes if name not in allowed]


def _check_values(instruction: Instruction) -> None:
    """Raises ShapeError where the value of an attribute does not have the form that the attribute has."""
    if not instruction.attribute_text:
        return
    for name, text in instruction.attributes.items():
        problem = attributes.value_problem(name, text)
        if problem is not None:
            raise ShapeError(problem, name)


def _thread_problems(module: HloModule) -> Iterator[Diagnostic]:
    """Yields calls of computations that run on another thread (CheckCallableInstructionThreadName)."""
    threads = {computation: _thread_of(computation) for computation in module.computations}
    for computation in module.computations:
        for instruction in computation.instructions:
            # The parser moves the computation of an asynchronous operation to its thread.
            if split_asynchronous(instruction.opcode)[1]:
                continue
            for called in instruction.called:
                if threads[called] != threads[computation]:
                    message = f"{instruction.opcode} expects the execution thread of its parent computation, "
                    message += f"{threads[computation]}, but that of the called or to_apply computation %{called.name} "
                    message += f"does not match: {threads[called]}"
                    yield Diagnostic(f"{instruction.name}: {message}", instruction.location)


def _thread_of(computation: Computation) -> str:
    frame = computation.written.frame
    found = _THREAD.search(computation.source.text, frame.tail, frame.end)
    return found[1] if found else MAIN_THREAD
