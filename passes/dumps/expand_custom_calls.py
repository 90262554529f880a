"""Replaces the custom calls of the TPU and GPU compilers by ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import Ops, erase_unused, instructions
from dialect_utils.hlo.verify import problem_among
from dialect_utils.io.files import read_module
from dialect_utils.ir import Module
from dialect_utils.layout import Shape
from dialect_utils.mosaic.decode import TARGET
from dialect_utils.text import Diagnostic, DiagnosticError, nearest
from passes.dumps.custom_calls.call_config import refused
from passes.dumps.custom_calls.gpu_calls import GPU_EXPANSIONS
from passes.dumps.custom_calls.lapack import CPU_EXPANSIONS, is_portable
from passes.dumps.custom_calls.tpu_calls import TPU_EXPANSIONS, Expansion, hold_arrays_in_place_of_buffers
from passes.dumps.inline_fusions import inline_body, is_call_of, splice, use_elements
from passes.dumps.mosaic.expand import decode_kernels, expand_kernel
from passes.dumps.mosaic.memory import Unwritten
from passes.framework.base import Report, module_pass


@module_pass
def expand_custom_calls(
    module: HloModule, report: Report, *, custom_call: tuple[str, ...] = (), unwritten: Unwritten = "zero"
) -> None:
    """Replaces the custom calls of the TPU and GPU compilers by ops.

    1. AllocateBuffer becomes an array of zeros, ConcatBitcast a concatenate. Calls that only place or mark a value
       (MoveToHost, Pin, AssumeGatherIndicesInBound, ...) become their operand. AsyncCollectiveStart becomes the tuple
       (operand, result, zeros) of its collective, AsyncCollectiveDone the result in it.
    2. X64SplitLow, X64SplitHigh and X64Combine become ops on two halves: the halves of an integer's bits, the real and
       imaginary part of a complex number, or the rounded value of an f64 and the rest. So do those of X128.
    3. Cholesky, InvertDiagBlocksLowerTriangular, InvertDiagBlocksUpperTriangular, CompactWyHelper,
       LuDecomposition, LuRealDecompositionBlock, QrDecompositionBlock and EighTpu become ops in loops, also for complex
       numbers and f64.
    4. TopK, PartialReduce and TopKBatchMajorSmallK become a sort, by their comparator or downwards, and a slice.
    5. A call that names the computation it runs (on another core) becomes the body of that computation.
    6. The products, convolutions, attention, solvers, sorts and random bits of XLA:GPU (`__cublas$gemm`,
       `__cudnn$convForward`, ...) become dot, convolution, triangular-solve, cholesky and sort, with the scales, biases
       and activations of their backend_config. Workspaces become zeros.
    7. A Mosaic kernel (`tpu_custom_call`) becomes a call of a computation with its grid as a loop and its memory as
       arrays in the loop's state. Unwritten memory is zero or, with `unwritten=poison`, NaN or an odd bit pattern.
    8. The factorizations of cuSOLVER and cuSPARSE (`cusolver_getrf_ffi`, ...) become calls of LAPACK's routines, and
       calls of those get operands in the order of columns. XLA:CPU runs them.
    9. `custom-call=NAME=module.hlo` gives the computation of any other call; NAME is the instruction or the target.

    Raises DiagnosticError that names every custom call that is unknown or cannot be expanded.

    Before:
        HloModule m
        ENTRY e {
          p = s32[4]{0} parameter(0)
          ROOT c = s32[4]{0} custom-call(p), custom_call_target="AssumeGatherIndicesInBound"
        }

    After:
        HloModule m
        ENTRY e {
          ROOT p = s32[4]{0} parameter(0)
        }
    """
    given = _read_computations(custom_call)
    hold_arrays_in_place_of_buffers(module)
    calls = [call for call in instructions(module, "custom-call") if not is_portable(call)]
    _check_used(given, calls)
    called = [body for call in calls for body in call.called]
    errors: list[Diagnostic] = []
    decode_kernels([call for call in calls if _given_for(call, given) is None])
    for call in calls:
        try:
            _expand(call, given, unwritten)
        except DiagnosticError as error:
            errors += error.diagnostics
    if errors:
        raise DiagnosticError(errors)
    erase_unused(module, dict.fromkeys(called))


def with_library_calls_defined(module: Module) -> Module:
    """Returns the module with ops in place of each known call of a GPU's libraries; without such a call, itself."""
    if not isinstance(module, HloModule) or not _library_calls(module):
        return module
    module = module.clone()
    for call in _library_calls(module):
        # A call that cannot be replaced stays, as an unknown one does.
        with suppress(DiagnosticError):
            _expand(call, {}, "zero")
    return module


def _library_calls(module: HloModule) -> list[Instruction]:
    return [call for call in instructions(module, "custom-call") if call.callee in _OF_LIBRARIES]


def _read_computations(options: tuple[str, ...]) -> dict[str, HloModule]:
    """Reads the modules of `NAME=module.hlo` options; raises DiagnosticError for one that cannot be read."""
    found = {}
    for option in options:
        name, separator, path = option.partition("=")
        if not separator:
            raise DiagnosticError(f"custom-call {option} is not of the form NAME=module.hlo")
        found[name] = read_hlo(Path(path))
    return found


def _check_used(given: Mapping[str, HloModule], calls: Sequence[Instruction]) -> None:
    targets = {call.callee or "" for call in calls}
    for name in given.keys() - targets - {call.name.removeprefix("%") for call in calls}:
        known = f"it calls {', '.join(sorted(targets))}" if targets else "it has no custom call"
        raise DiagnosticError(f"--custom-call {name}: the module has no such call", hint=known)


def read_hlo(path: Path) -> HloModule:
    """Reads an HLO module in any format; raises DiagnosticError if it cannot be read."""
    module = read_module(str(path))
    if not isinstance(module, HloModule):
        raise DiagnosticError(f"{path}: holds StableHLO, and HLO is needed")
    return module


def _expand(call: Instruction, given: Mapping[str, HloModule], unwritten: Unwritten) -> None:
    ops = Ops(call)
    try:
        use_elements(ops.finish(_replacement(ops, call, given, unwritten)))
    finally:
        ops.drop_unused()


def _replacement(ops: Ops, call: Instruction, given: Mapping[str, HloModule], unwritten: Unwritten) -> Instruction:
    target = call.callee or ""
    computation = _given_for(call, given)
    if computation is not None:
        result = _spliced(ops, computation)
    elif target == TARGET:
        result = expand_kernel(ops, call, unwritten=unwritten)
        _check_made(ops)
    elif target in EXPANSIONS:
        try:
            result = EXPANSIONS[target](ops, call)
        except (ValueError, LookupError, AssertionError) as error:
            # A step of data movement that does not fit the array, or other operands than the target's compiler writes.
            raise refused(call, f"its operands do not fit: {str(error) or type(error).__name__}") from error
        if result.shape.without_layout != call.shape.without_layout:
            raise refused(call, f"its result {call.shape} is not the {result.shape} that this target makes")
        _check_made(ops)
    elif is_call_of(call, call.operands):
        result = inline_body(ops, call.called[0], call.operands)
    else:
        raise DiagnosticError(_unknown(call))
    return result


def _check_made(ops: Ops) -> None:
    """Raises DiagnosticError where operands of a call do not fit what the call computes: an op for it is not valid."""
    problem = problem_among(ops.made)
    if problem is not None:
        raise refused(ops.replaced, f"its operands do not fit: {problem}")


def _given_for(call: Instruction, given: Mapping[str, HloModule]) -> HloModule | None:
    """Returns the computation that an option gives for a call, by the name of the instruction or of the target."""
    return given.get(call.name.removeprefix("%")) or given.get(call.callee or "")


def _unknown(call: Instruction) -> Diagnostic:
    operands = ", ".join(f"{operand.name}: {operand.shape}" for operand in call.operands)
    message = f"custom call {call.name} calls {call.callee}, which is not known here; operands: ({operands})"
    close = nearest(call.callee or "", [*EXPANSIONS, TARGET])
    hint = f"give its computation: --custom-call {call.callee}=module.hlo"
    return Diagnostic(message, call.location, hint=hint + (f" (similar known target: {close})" if close else ""))


def _spliced(ops: Ops, given: HloModule) -> Instruction:
    """Builds the instructions of another module's entry for a call, and adds the computations that they call."""
    call, entry = ops.replaced, given.entry
    expected = [parameter.shape.without_layout for parameter in entry.parameters], entry.root.shape.without_layout
    found = [operand.shape.without_layout for operand in call.operands], call.shape.without_layout
    if expected != found:
        message = f"{given.name} takes {_signature(*expected)}, but custom call {call.name} is {_signature(*found)}"
        raise DiagnosticError(message, call.location)
    operands = [ops.fitted(value, p.shape) for value, p in zip(call.operands, entry.parameters, strict=True)]
    return splice(ops, given, operands)


def _signature(parameters: list[Shape], result: Shape) -> str:
    return f"({', '.join(map(str, parameters))}) -> {result}"


# The calls that passes of XLA:GPU make of ops, each with all of its meaning in its operands and its backend_config.
_OF_LIBRARIES = frozenset({*GPU_EXPANSIONS, "TopK"})
EXPANSIONS: dict[str, Expansion] = {**TPU_EXPANSIONS, **GPU_EXPANSIONS, **CPU_EXPANSIONS}
