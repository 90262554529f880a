"""The public functions: the work of the commands, for programs and notebooks.

Longer than others: one function for each command, most lines of which are documentation.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, cast

from dialect_utils.engine_names import DEFAULT_ENGINE
from dialect_utils.io.files import Emit, encode, parse_bytes, read_module, serialize
from dialect_utils.ir import Module
from dialect_utils.layout import (
    ArrayShape,
    BufferShape,
    OpaqueShape,
    Shape,
    TokenShape,
    TupleShape,
    parse_shape as shape_of_text,
)
from dialect_utils.layout.index.index_map import linear_index as index_of
from dialect_utils.layout.targets.target import Target
from dialect_utils.layout.text.foreign import read_shape
from dialect_utils.text import Diagnostic, DiagnosticError, kind_of
from passes.framework.base import Pass
from passes.framework.pipeline import Pipeline, verify
from relayout.output import write_output

if TYPE_CHECKING:
    from dialect_utils.execution import Array, Engine, SavedArray, Worker
    from dialect_utils.layout import Layout
    from dialect_utils.layout.picture.drawing import Drawing
    from dialect_utils.layout.text.explain import Explanation
    from dialect_utils.memory import MemoryReport
    from dialect_utils.verdict import DotPrecision, Method, Verdict
    from passes.dumps.executable import Runnable
    from relayout.causes.run import Why
    from relayout.jax.modules import JaxModule
    from relayout.tuning.search import Tuning
    from relayout.tuning.trials import Objective
    from relayout.validation.steps import Validation

    class _ParsedArray(ArrayShape):
        """An array of a text that its reader knows: type checkers ask for no proof that it has a layout."""

        layout: Layout | Any


ModuleLike: TypeAlias = "Module | str | bytes | os.PathLike[str] | JaxModule"
ShapeLike: TypeAlias = "Shape | str"
PipelineLike: TypeAlias = str | Pipeline | Pass | Iterable[str | Pass]


def as_module(value: ModuleLike, name: str = "<text>") -> Module:
    """Returns a module: the value itself, or parsed from text, from bytes of any format, or from a file.

    Objects that JAX lowered, compiled or exported are modules, too. A text with a line break or a brace is a module's
    text, any other is a path; diagnostics call a text `name`.
    Raises DiagnosticError for input that cannot be read or parsed, TypeError for other objects.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return parse_bytes(bytes(value), name)
    if isinstance(value, str):
        return parse_bytes(encode(value), name) if is_text(value) else read_module(value)
    if isinstance(value, os.PathLike):
        return read_module(os.fspath(value))
    if hasattr(value, "dialect") and hasattr(value, "functions"):
        return cast(Module, value)
    if type(value).__module__.partition(".")[0] in ("jax", "jaxlib"):
        # Imported here: JAX is loaded where such an object exists.
        from relayout.jax.modules import module_of

        return module_of(value)
    hint = "; relayout.from_jax(f, *args) makes one of a function" if callable(value) else ""
    raise TypeError(f"expected a module, its text or bytes, or a path, not {kind_of(value)}{hint}")


def is_text(value: str) -> bool:
    """Is true for a module's text, false for a path."""
    return "\n" in value or "{" in value or not value.strip()


def as_path(value: object, hint: str) -> str:
    """Returns a path as text; raises TypeError with a hint for other values."""
    path = os.fspath(value) if isinstance(value, str | os.PathLike) else None
    if not isinstance(path, str):
        raise TypeError(f"expected a path, not {kind_of(value)}; {hint}")
    return path


def as_index(value: Iterable[SupportsIndex]) -> tuple[int, ...]:
    """Returns an index as integers; raises TypeError for other values."""
    try:
        return tuple(operator.index(each) for each in value)
    except TypeError:
        raise TypeError(f"expected an index of integers such as (2, 3), not {value!r}") from None


def as_array_shape(value: ShapeLike) -> ArrayShape:
    """Returns an array's shape: the value itself, or parsed from text; raises DiagnosticError for other values."""
    shape = read_shape(value)[0] if isinstance(value, str) else value
    if not isinstance(shape, ArrayShape):
        found = shape if isinstance(shape, Shape) else kind_of(shape)
        raise DiagnosticError(f"expected an array shape, found {found}", hint=_shape_hint(value))
    return shape


def _shape_hint(value: object) -> str | None:
    """Returns a hint for a value that is not a shape: an array, a layout of JAX, numbers."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return "relayout.jax.from_struct(...) gives its shape"
    if hasattr(value, "as_text"):
        return "relayout.report(...) takes a program"
    if type(value).__module__.partition(".")[0] not in ("jax", "jaxlib"):
        return None if isinstance(value, str | Shape) else "write it as text: 'f32[3,5]'"
    return "a layout alone is not a shape: relayout.jax.from_jax_layout(...) makes one for shape.with_layout(...)"


def read(path: str | os.PathLike[str]) -> Module:
    """Reads a module from a file, or from standard input for `-`.

    The content decides the format: HLO text, StableHLO text, MLIR bytecode or a portable artifact, a serialized
    HloModuleProto or HloProto. Raises DiagnosticError for a file that cannot be read or parsed.

    >>> relayout.read("examples/negate.hlo").name
    'negate'
    """
    name = as_path(path, "relayout.parse(...) takes a module's bytes")
    if is_text(name) and not os.path.exists(name):
        raise DiagnosticError("expected a path, not a module's text", hint="relayout.parse(...) takes it")
    return read_module(name)


def parse(text: str | bytes, name: str = "<text>") -> Module:
    """Parses a module from text or bytes of any format; diagnostics call it `name`.

    Raises DiagnosticError with the location of the error.

    >>> relayout.parse("ENTRY e { ROOT p = f32[3,5] parameter(0) }").dialect
    'hlo'
    """
    if not isinstance(text, str | bytes):
        raise TypeError(f"expected a module's text or bytes, not {kind_of(text)}; relayout.read(...) takes a path")
    if isinstance(text, str) and not is_text(text) and os.path.isfile(text):
        message = f"expected a module's text, not the name of a file, {text}"
        raise DiagnosticError(message, hint="relayout.read(...) takes it")
    return parse_bytes(encode(text) if isinstance(text, str) else text, name)


def write(module: ModuleLike, path: str | os.PathLike[str] = "-", emit: Emit = "text") -> None:
    """Writes a module to a file, whole or not at all, or to standard output for `-`.

    `emit` is `text`, `bytecode` (StableHLO) or `pb` (HLO). Raises OSError where the file cannot be written.

    >>> relayout.write("examples/negate.hlo", "copy.hlo")
    """
    name = as_path(path, "the module comes first: relayout.write(module, path)")
    write_output(name, serialize(as_module(module), emit))


def optimize(module: ModuleLike, passes: PipelineLike, *, verify_each: bool = True) -> Module:
    """Returns a module after passes; the module given stays as it is.

    `passes` is a pipeline as MLIR writes it, or passes, by name or as values. Raises DiagnosticError where a pass
    rejects or breaks the module. `Pipeline.run` also returns the result of each pass.

    >>> relayout.optimize("examples/negate.hlo", "strip-layouts")
    HloModule negate
    <BLANKLINE>
    ENTRY main {
      x = f32[3,5] parameter(0)
      ROOT y = f32[3,5] negate(x)
    }
    """
    return as_pipeline(passes).run(as_module(module), verify_each=verify_each).module


def as_pipeline(passes: PipelineLike) -> Pipeline:
    """Returns a pipeline: the value itself, parsed from text, or made of passes, each of which may be text."""
    if isinstance(passes, Pipeline):
        return passes
    if isinstance(passes, str) and os.path.isfile(passes):
        raise TypeError(f"expected passes, not the file {passes}; the module comes first: optimize(module, passes)")
    if isinstance(passes, str):
        return Pipeline.parse(passes)
    if isinstance(passes, Pass):
        return Pipeline((passes,))
    if isinstance(passes, bytes | Mapping) or not isinstance(passes, Iterable):
        hint = "; @relayout.module_pass makes a pass of a function" if callable(passes) else ""
        raise TypeError(f"expected passes, such as 'annotate-layouts,expand-tiling', not {kind_of(passes)}{hint}")
    return Pipeline.joined(map(as_pipeline, passes))


def check(
    module: ModuleLike,
    other: ModuleLike | None = None,
    *,
    passes: PipelineLike | None = None,
    engines: Sequence[Method] | None = None,
    seeds: int = 1,
    compare: str = "auto",
    inputs: Sequence[Array] | None = None,
    precision: DotPrecision = "default",
    assume_elided_equal: bool = False,
    worker: Worker | None = None,
) -> Verdict:
    """Decides whether two modules compute the same, or whether passes keep the results of a module.

    Looks for a proof, then executes both on `seeds` sets of random inputs, or on `inputs`. `engines` are the proof and
    the engines to ask; by default they are chosen as by the command, and one that alone shows a difference is doubted.
    `compare` is `auto` (bits wherever they are guaranteed), `bits`, `ulp:N`, `rel:X` or `of-largest:X`. make-portable
    rewrites optimized dumps before execution. `precision` is `highest` where a dump may not round operands of dots of
    f32. `assume_elided_equal`: constants that both texts elide are equal where they have one name and shape. Raises
    DiagnosticError where the signatures differ, or where a module cannot be executed and no proof is found.

    >>> relayout.check("examples/negate.hlo", passes="expand-tiling").verdict
    'equal'
    """
    from dialect_utils.verdict import Options
    from relayout.elided import compare_forms

    if (other is None) == (passes is None):
        raise TypeError("check takes another module, or passes: check(a, b) or check(a, passes='expand-tiling')")
    if inputs is not None and not isinstance(inputs, list | tuple):
        raise TypeError(f"inputs are a list of arrays in the order of the parameters, not {kind_of(inputs)}")
    first = as_module(module)
    if passes is None:
        assert other is not None
        stages = [first, as_module(other)]
        for stage in stages:
            verify(stage)
    else:
        stages = [first, *(run.result.module for run in as_pipeline(passes).run(first).runs)]
    options = Options(
        _as_tuple(engines), seeds, compare, None if inputs is None else tuple(inputs), precision=precision
    )
    return compare_forms(stages, options, worker, assume_equal=assume_elided_equal)


def validate(
    program: ModuleLike,
    *,
    target: str | None = None,
    only: str | None = None,
    engines: Sequence[Method] | None = None,
    precision: DotPrecision = "default",
    assume_elided_equal: bool = False,
    reduces: bool = True,
) -> Validation:
    """Judges each pass of a compilation by the modules before and after it, as `check` does.

    `program` is a dump directory with the modules of all passes, or a module, which is compiled for a target: `cpu`, or
    a chip such as `tpu-v5e` or `gpu-h100` (without one, but with its extra). `only` is a regular expression of passes;
    `precision` and `assume_elided_equal` mean what they mean for `check`. `reduces`: a step that is different
    has a smaller pair of modules. Raises DiagnosticError for a directory without steps, for an unknown target, and
    where the compiler refuses the module.

    >>> found = relayout.validate("examples/negate.hlo", target="cpu")
    >>> found.verdict, found.first_difference
    ('equal', None)
    """
    from dialect_utils.verdict import Options
    from relayout.validation.judging import Judged, validate_directory, validate_module

    judged = Judged(Options(_as_tuple(engines), power=0, precision=precision), only, reduces, assume_elided_equal)
    if (folder := _compilation(program, target, "validate")) is not None:
        return validate_directory(folder, judged)
    return validate_module(as_module(program), target or "", judged)


def _as_tuple(names: Sequence[Method] | None) -> tuple[Method, ...] | None:
    return tuple(names) if isinstance(names, list) else cast("tuple[Method, ...] | None", names)


def _compilation(program: ModuleLike, target: str | None, name: str) -> str | None:
    """Returns the directory of a compilation, None for a module with a target; raises TypeError for others."""
    folder = os.fspath(program) if isinstance(program, str | os.PathLike) and os.path.isdir(program) else None
    if folder is None and target is None:
        raise TypeError(f"a module is compiled for a target: relayout.{name}(program, target='cpu')")
    if folder is not None and target is not None:
        raise TypeError(f"a directory holds what a compiler wrote, so the target {target} has no effect: leave it out")
    return folder


def why(program: ModuleLike, value: str | None = None, *, target: str | None = None, top: int = 10) -> tuple[Why, ...]:
    """Names the pass that introduced each copy and each padded array of a compilation, and changes that remove copies.

    `program` is a dump directory with the modules of all passes, or a module, which is compiled for a target: `cpu`, or
    a chip such as `tpu-v5e` or `gpu-h100` (without one, but with its extra). `value` is the name of an instruction of
    the final program, or a part of it; without it the `top` most expensive arrays are explained. The result has a value
    for each program of the directory. Raises DiagnosticError for a directory without steps, for an unknown value or
    target, and where the compiler refuses the module.

    >>> [found] = relayout.why("examples/attention.hlo", target="cpu")
    >>> len(found.causes) == min(10, found.arrays)
    True
    """
    from relayout.causes.run import explain_directory, explain_module

    if (folder := _compilation(program, target, "why")) is not None:
        return explain_directory(folder, value, top)
    return explain_module(as_module(program), target or "", value, top)


def run(
    module: ModuleLike,
    *inputs: Any,
    engine: Engine = DEFAULT_ENGINE,
    seed: int | None = None,
    named: Mapping[str, Any] | None = None,
    sharded: bool = False,
    callbacks: Mapping[str, str] | None = None,
    custom_calls: Mapping[str, str | os.PathLike[str]] | None = None,
) -> list[Array]:
    """Executes a module on this machine and returns its results as numpy arrays, tuples flattened.

    `inputs` are arrays in the order of the parameters, one by one or in a list or tuple, or `named` holds them by the
    names of the arguments, as a tree of dicts, lists and tuples; without both they are random ones of `seed`, and the
    log `relayout` says so where no seed is given. For several devices the first dimension of inputs and results counts
    them; with `sharded` inputs may be whole arrays, which the devices share.

    make-portable rewrites an optimized dump before execution. `callbacks` gives `module:function` or `undefined` for
    functions on the host, by the name or kind of the call; `custom_calls` gives the file of a module for a custom call.
    Data from and to other programs (infeed, outfeed, recv, send) are further inputs and results. Raises DiagnosticError
    where inputs do not fit, where the module cannot be executed, and where an unknown function on the host is called.

    >>> relayout.run("examples/negate.hlo", [[1.0] * 5] * 3)[0][0]
    array([-1., -1., -1., -1., -1.], dtype=float32)
    """
    from logging import getLogger

    from dialect_utils.execution import entry_arrays, run_module
    from dialect_utils.execution.named import split_all_among_devices
    from dialect_utils.ops.device_counts import devices_of
    from dialect_utils.verdict.partition import placements
    from passes.dumps.executable import Known, runnable, with_given_data

    if not isinstance(seed, int | None) or (seed or 0) < 0:
        raise TypeError(f"a seed is an integer of 0 or more, not {seed!r}")
    if inputs and named is not None:
        raise TypeError("inputs are given in their order or by names, not both: run(m, x) or run(m, named={'x': x})")
    if named is not None and not isinstance(named, Mapping):
        raise TypeError(f"named inputs are a dict, not {kind_of(named)}")
    first = as_module(module)
    verify(first)
    known = Known(_pairs(callbacks), _pairs(custom_calls))
    found = runnable(with_given_data(first, _ignored), known, _ignored)
    devices = devices_of(found.module).needed
    parameters, _ = entry_arrays(found.module, devices)
    if parameters and not inputs and named is None and seed is None:
        getLogger("relayout").warning("the inputs are random numbers; seed=0 says that these are wanted")
    arrays = _chosen_inputs(found, inputs, named, parameters, seed or 0)
    if sharded and devices == 1:
        raise DiagnosticError("sharded is for several devices, but this program runs on one")
    if sharded:
        options = placements(found.program, devices, [each.shape for each in arrays], of_results=False)
        arrays, _ = split_all_among_devices(arrays, parameters, "in", options)
    outputs = run_module(found.module, arrays, engine=engine, devices=devices)
    found.check_ran(outputs)
    return found.own_results(outputs)


def _pairs(options: Mapping[str, str | os.PathLike[str]] | None) -> tuple[str, ...]:
    return tuple(f"{name}={os.fspath(value)}" for name, value in (options or {}).items())


def _ignored(notes: Sequence[Diagnostic]) -> None:
    """Drops notes, which have no place beside the returned arrays."""


def _chosen_inputs(
    found: Runnable, inputs: Sequence[Any], named: Mapping[str, Any] | None, parameters: Sequence[ArrayShape], seed: int
) -> Sequence[Array | SavedArray]:
    from dialect_utils.execution import as_array
    from dialect_utils.execution.named import arguments_of, inputs_of_tree
    from dialect_utils.verdict import random_inputs, small_integer_positions

    if named is not None:
        return inputs_of_tree(named, arguments_of(found.program))
    if len(inputs) == 1 and _is_list_of_inputs(inputs[0], parameters):
        [inputs] = inputs
    if inputs or not parameters:
        return [as_array(value, shape) for value, shape in zip_longest(inputs, parameters[: len(inputs)])]
    return random_inputs(parameters, seed, small=small_integer_positions(found.module))


def _is_list_of_inputs(value: Any, parameters: Sequence[ArrayShape]) -> bool:
    """Is true for a list or tuple of all inputs, and false for one input as nested lists."""
    if not isinstance(value, list | tuple) or len(value) != len(parameters):
        return False
    return len(value) > 1 or getattr(value[0], "shape", None) == parameters[0].dimensions


def parse_shape(text: str) -> _ParsedArray | TupleShape | TokenShape | OpaqueShape | BufferShape:
    """Returns the shape of a text; `layout` is None for an array without one.

    Raises DiagnosticError with the location of the error in the text, TypeError for other values than text.

    >>> shape = relayout.parse_shape("f32[3,5]{1,0:T(2,2)}")
    >>> shape, shape.layout, shape.layout.tiles
    (f32[3,5]{1,0:T(2,2)}, {1,0:T(2,2)}, ((2,2),))
    >>> [array.dimensions for array in relayout.parse_shape("(f32[3,5]{1,0}, (s32[], token[]))").arrays()]
    [(3, 5), ()]
    """
    return cast("_ParsedArray | TupleShape", shape_of_text(text))


def linear_index(shape: ShapeLike, index: Sequence[int]) -> int:
    """Returns the linear index of the element at a logical index: its offset in memory, in elements.

    Raises DiagnosticError for other shapes than arrays, IndexError for an index outside the array, and TypeError for a
    value that is not an index.

    >>> relayout.linear_index("f32[3,5]{1,0:T(2,2)}", (2, 3))
    17
    """
    return index_of(as_array_shape(shape), as_index(index))


def explain(shape: ShapeLike, target: str | Target | None = None) -> Explanation:
    """Explains an array shape with a layout: physical dimensions, bytes, padding, steps, index formula.

    With a target, a shape without a layout gets the target's default. Raises DiagnosticError.

    >>> relayout.explain("bf16[100,200]", target="tpu-v5e").padding_fraction
    0.21875
    >>> print(relayout.explain("f32[4,6]{1,0:T(2,2)}").written("cute"))
    f32 ((2,2),(2,3)):((2,12),(1,4))
    """
    from dialect_utils.layout.text.explain import explain_shape

    return explain_shape(as_array_shape(shape), target)


def report(module: ModuleLike, target: str | None = None) -> MemoryReport:
    """Reports memory as the command does: totals, rows of buffers, relayouts, bitcasts, op names, advice.

    With a target, a program is compiled for it; a compiled program is measured by it, and its arrays without a layout
    get the target's default. Raises DiagnosticError, also for a module that does not verify.

    >>> relayout.report("examples/attention_tpu.hlo").totals()["argument_bytes"]
    123904
    """
    from relayout.validation.measured import measured

    module = as_module(module)
    verify(module)
    return measured(module, target, _ignored)


# Its former name.
memory_report = report


def tune(
    program: ModuleLike, *, target: str, objective: Objective = "peak", budget: int | None = None, jobs: int = 1
) -> Tuning:
    """Searches layouts and rewrites that make a program smaller or faster, as the command `tune` does.

    `tuning.program` is the best program found, and `tuning.trials` has the figures of each. `budget` programs are
    compiled at most, `jobs` at once. Raises DiagnosticError without the compiler of the target and without HiGHS, for
    an unknown target, and for a compiled program.
    """
    from passes.dumps.executable import as_program
    from relayout.tuning.changes import as_stablehlo
    from relayout.tuning.search import DEFAULT_BUDGET, Search
    from relayout.tuning.solver import check_installed
    from relayout.tuning.trials import Measured, figure_compiler

    module = as_stablehlo(as_program(as_module(program)))
    verify(module)
    check_installed()
    with figure_compiler(target, objective, jobs) as compiler:
        measured = Measured(compiler.compile_all, compiler.target, compiler.version)
        return Search(module, measured, objective, budget or DEFAULT_BUDGET).run()


def draw(shape: ShapeLike) -> Drawing:
    """Draws the elements of an array in the order of memory; `str()` is text, `svg` and `png` are pictures.

    Raises DiagnosticError for other shapes than arrays, ValueError for dynamic dimensions.

    >>> relayout.draw("f32[3,5]{1,0:T(2,2)}").svg[:4]
    '<svg'
    """
    from dialect_utils.layout.picture.drawing import Drawing

    return Drawing.of(as_array_shape(shape))
