"""Conversions from and to JAX, on the CPU, with the installed jaxlib."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest
from jax.experimental.layout import Format, Layout as JaxLayout

import relayout
import relayout.jax as rj
from dialect_utils.execution import entry_arrays
from dialect_utils.execution.adapter import has_plugin_hook
from dialect_utils.hlo import HloModule
from dialect_utils.hlo.ops import instructions, rebuild
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape
from dialect_utils.layout.arrays.dtypes import dtype_of
from dialect_utils.text import DiagnosticError
from tests.paths import ROOT

untyped: Any = rj  # for arguments of wrong types

EXPAND = "annotate-layouts{target=tpu-v5e},expand-tiling"


def model(x: Any, w: Any) -> Any:
    return jnp.tanh(x @ w) + x.sum(1, keepdims=True)


ARGUMENTS = (jnp.arange(60.0).reshape(6, 10) / 60, jnp.ones((10, 7)))


@pytest.mark.parametrize(
    "made",
    [
        lambda: jax.jit(model).lower(*ARGUMENTS),
        lambda: jax.jit(model).lower(*ARGUMENTS).compile(),
        lambda: jax.export.export(jax.jit(model))(*ARGUMENTS),
        lambda: jax.jit(model).lower(*ARGUMENTS).compiler_ir("stablehlo"),
    ],
    ids=["lowered", "compiled", "exported", "MLIR"],
)
def test_objects_of_jax_are_modules(made: Callable[[], Any]) -> None:
    given = made()
    module = relayout.optimize(given, "verify-layouts")
    assert [str(value.shape.without_layout) for value in module.entry.parameters] == ["f32[6,10]", "f32[10,7]"]
    outputs = relayout.run(given, *ARGUMENTS)
    np.testing.assert_allclose(outputs[0], model(*ARGUMENTS), rtol=1e-5)


def test_an_array_of_jax_is_not_a_module() -> None:
    with pytest.raises(TypeError, match=r"is not a module; relayout\.from_jax"):
        relayout.optimize(jnp.ones(3), "verify-layouts")  # type: ignore[arg-type]  # must fail


def test_functions_are_checked_against_each_other() -> None:
    structs = [jax.ShapeDtypeStruct(each.shape, each.dtype) for each in ARGUMENTS]
    assert rj.check(model, lambda x, w: x.sum(1, keepdims=True) + jnp.tanh(x @ w), *structs).found_no_difference
    assert rj.check(model, lambda x, w: jnp.tanh(x @ w) - x.sum(1, keepdims=True), *structs).verdict == "different"


# Element types of which JAX has no arrays, at least in one supported version.
NOT_IN_JAX = {"f4e2m1fn", "f6e2m3fn", "f6e3m2fn", "f8e8m0fnu", "f8e3m4", "f8e4m3", "s1", "u1", "s2", "u2"}


def arrays_of_jax() -> dict[str, jax.Array]:
    """Returns an array of ones of each element type of this version of JAX."""
    found = {}
    for name, element_type in ELEMENT_TYPES.items():
        with suppress(TypeError, ValueError, jax.errors.JaxRuntimeError), jax.enable_x64(True):
            found[name] = jnp.asarray(np.ones((3, 5)), dtype_of(element_type))
    return found


def test_arrays_of_every_element_type_run() -> None:
    arrays = {name: array for name, array in arrays_of_jax().items() if name not in ("f4e2m1fn", "f8e8m0fnu")}
    assert {*ELEMENT_TYPES} - {*arrays} <= NOT_IN_JAX
    # One module for all types: a process for each type takes more time than the rest of the test.
    lines = [f"p{i} = {name}[3,5] parameter({i})" for i, name in enumerate(arrays)]
    lines += [f"t{i} = {name}[5,3] transpose(p{i}), dimensions={{1,0}}" for i, name in enumerate(arrays)]
    types, values = (", ".join(f"{name}[5,3]" for name in arrays), ", ".join(f"t{i}" for i in range(len(arrays))))
    text = "\n".join(["ENTRY e {", *lines, f"ROOT r = ({types}) tuple({values})", "}"])
    for given in ([*arrays.values()], [np.asarray(array) for array in arrays.values()]):
        outputs = rj.run(text, *given)
        for name, array, output in zip(arrays, arrays.values(), outputs, strict=True):
            assert (output.shape, output.dtype) == ((5, 3), array.dtype), name
            assert np.array_equal(np.asarray(output).astype(np.complex128), np.ones((5, 3))), name


def test_stablehlo_becomes_part_of_a_jitted_function() -> None:
    expanded = relayout.optimize(relayout.from_jax(model, *ARGUMENTS), EXPAND)
    call = rj.as_jax_function(expanded)
    np.testing.assert_allclose(call(*ARGUMENTS)[0], model(*ARGUMENTS), rtol=1e-5)
    inside = jax.jit(lambda x, w: call(x * 1, w)[0] + 1)
    np.testing.assert_allclose(inside(*ARGUMENTS), model(*ARGUMENTS) + 1, rtol=1e-5)
    assert "stablehlo.pad" in inside.lower(*ARGUMENTS).as_text()


def test_hlo_and_dumps_are_called_back() -> None:
    call = rj.as_jax_function(ROOT / "examples/negate.hlo")
    x = jnp.arange(15.0).reshape(3, 5)
    np.testing.assert_array_equal(jax.jit(lambda x: call(x)[0])(x), -x)


# Layouts and shapes


@pytest.mark.parametrize("text", ["{1,0}", "{0,1:T(8,128)}", "{1,0:T(8,128)(2,1)}", "{1,0:T(8,128)E(4)}", "{0}"])
def test_a_layout_survives_jax(text: str) -> None:
    rank = text.partition(":")[0].count(",") + 1
    shape = relayout.parse_shape(f"f32[{','.join(['8'] * rank)}]{text}")
    assert isinstance(shape, ArrayShape)
    layout = shape.effective_layout
    there = rj.to_jax_layout(layout)
    assert there.major_to_minor == layout.major_to_minor
    assert rj.from_jax_layout(there) == layout
    assert rj.from_format(rj.to_format(layout)) == layout


def test_the_layout_that_jax_chose_is_read() -> None:
    compiled = jax.jit(model).lower(*ARGUMENTS).compile()
    formats = compiled.input_formats[0]
    assert [str(rj.from_format(each)) for each in formats] == ["{1,0}", "{1,0}"]
    transposed = jax.device_put(ARGUMENTS[0], rj.to_format(rj.from_jax_layout(JaxLayout((1, 0)))))
    assert str(rj.from_struct(transposed)) == "f32[6,10]{0,1}"
    assert rj.from_format(Format(JaxLayout.AUTO)) is None


def test_a_layout_that_jax_cannot_hold_is_an_error() -> None:
    shape = relayout.parse_shape("f32[8,8]{1,0:T(8,128)S(1)}")
    assert isinstance(shape, ArrayShape)
    with pytest.raises(DiagnosticError, match=r"not all of \{1,0:T\(8,128\)S\(1\)\}"):
        rj.to_jax_layout(shape.effective_layout)


def test_shapes_become_structs_and_come_back() -> None:
    struct = rj.to_struct("bf16[3,5]")
    assert (struct.shape, struct.dtype) == ((3, 5), jnp.bfloat16)
    assert str(rj.from_struct(struct)) == "bf16[3,5]"
    assert str(rj.from_struct(rj.to_struct("f32[3,5]{0,1}"))) == "f32[3,5]{0,1}"


# Passes inside XLA's compilation


@pytest.fixture
def fresh() -> Iterator[None]:
    """Clears JAX's compiled functions, before and after."""
    jax.clear_caches()
    yield
    jax.clear_caches()


def layers(x: Any, w: Any) -> Any:
    return jax.lax.fori_loop(0, 3, lambda i, y: jnp.tanh(y @ w) + y, x), jnp.where(x > 0, x, -x).sum(0)


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "model": (model, ARGUMENTS),
    "loop": (layers, (ARGUMENTS[0], jnp.ones((10, 10)) / 10)),
    "whole numbers": (lambda x: (x * 3 + 1).reshape(5, 6)[::2].T, (jnp.arange(30).reshape(6, 5),)),
    "scalar": (lambda x: jnp.exp(x) + 1, (jnp.float32(3),)),
    "sorted": (lambda x: jnp.sort(x, axis=0), (ARGUMENTS[0],)),
}


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("name", PROGRAMS)
def test_passes_run_inside_of_xla_and_keep_results(name: str) -> None:
    function, arguments = PROGRAMS[name]
    wanted = jax.tree.map(np.asarray, jax.jit(function)(*arguments))
    jax.clear_caches()
    with rj.apply_passes(EXPAND) as applied:
        found = jax.tree.map(np.asarray, jax.jit(function)(*arguments))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6), found, wanted)
    assert any(" pad(" in after.text() for _, after in applied.modules)
    jax.clear_caches()
    seen = len(applied.modules)
    jax.jit(function)(*arguments)
    assert len(applied.modules) == seen  # later compilations are not transformed


@relayout.module_pass
def divide(module, *, by=0):  # type: ignore[no-untyped-def]  # passes need no annotations
    1 / by


@relayout.module_pass
def subtract(module: HloModule) -> None:
    for each in instructions(module, "add"):
        rebuild(each, opcode="subtract")


@relayout.module_pass
def hang(module: HloModule) -> None:
    while True:
        pass


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("passes", "message"),
    [
        ("annotate-layouts{target=tpu-v5e}", "the entry has other parameters or results"),
        ("annotate-layouts{target=tpu-v5e},expand-tiling{interface=physical}", "the entry has other parameters"),
        ("fold-tiling,strip-layouts", "the entry has other parameters or results"),
        (divide, r"test_jax\.py:\d+:5: error: pass divide .* raised ZeroDivisionError on .*\n +1 / by\n"),
        (subtract, "the passes' result is not known to be equal"),
    ],
    ids=["tiles", "physical", "no layouts", "mistake", "wrong"],
)
def test_xla_keeps_its_own_module_where_passes_fail(
    passes: str | relayout.Pass, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    with rj.apply_passes(passes, platforms=("cpu",)) as applied:
        found = jax.jit(lambda x: x * 3 + 1)(ARGUMENTS[0])
    np.testing.assert_allclose(found, ARGUMENTS[0] * 3 + 1, rtol=1e-6)
    assert not applied.modules
    assert any(re.search(message, str(error)) for error in applied.errors)
    assert any(re.search(message, record.getMessage()) for record in caplog.records)


@pytest.mark.usefixtures("fresh")
def test_a_weaker_answer_may_suffice() -> None:
    passes = relayout.Pipeline((divide.with_options(by=1), subtract))
    with rj.apply_passes(passes, require="agrees") as applied:
        jax.jit(lambda x: x + 1)(ARGUMENTS[0])
    assert "different" in str(applied.errors[0])


@pytest.mark.usefixtures("fresh")
def test_a_pass_without_an_end_is_ended() -> None:
    with rj.apply_passes(hang, timeout=5) as applied:
        found = jax.jit(lambda x: x + 1)(ARGUMENTS[0])
    np.testing.assert_array_equal(found, ARGUMENTS[0] + 1)
    assert not applied.modules
    # The line depends on the moment at which the pass was ended.
    found = re.fullmatch(
        r".*test_jax\.py:(\d+):\d+: error: pass hang took longer than 5 seconds\n +(.*)\n[ ^~]+", str(applied.errors[0])
    )
    assert found is not None
    assert found[2] in ("while True:", "pass")


@pytest.mark.usefixtures("fresh")
def test_a_decorated_function_compiles_with_passes(caplog: pytest.LogCaptureFixture) -> None:
    @rj.apply_passes(divide)
    def compiled() -> Any:
        return jax.jit(lambda x: x * 3 + 1)(ARGUMENTS[0])

    for _ in range(2):
        jax.clear_caches()
        caplog.clear()
        compiled()
        assert "ZeroDivisionError" in caplog.text


@pytest.mark.usefixtures("fresh")
def test_nothing_is_read_from_the_cache_of_compiled_programs_nor_kept_in_it(tmp_path: Any) -> None:
    # In a process of its own, because JAX remembers for good whether it has a cache.
    code = (
        "import os, sys, jax, jax.numpy as jnp, relayout.jax\n"
        "folder = sys.argv[1]\n"
        "jax.config.update('jax_compilation_cache_dir', folder)\n"
        "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0.0)\n"
        "jax.config.update('jax_persistent_cache_min_entry_size_bytes', -1)\n"
        "x, counts = jnp.ones((3, 5)), []\n"
        "def double(x): return x * 2\n"
        "def compile(function):\n"
        "    jax.clear_caches(); jax.jit(function)(x); counts.append(len(os.listdir(folder)))\n"
        "compile(double)\n"
        "with relayout.jax.apply_passes('annotate-layouts{target=tpu-v5e},expand-tiling', ('cpu',)) as applied:\n"
        "    compile(double); compile(lambda x: x * 3)\n"
        "compile(lambda x: x * 7)\n"
        "print(len(applied.modules), counts[1] - counts[0], counts[2] - counts[1], counts[3] > counts[2])\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert done.stdout == "2 0 0 True\n", done.stderr[-2000:]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"platforms": "cpu"}, "platforms are names, not the text 'cpu'\n.*platforms=..cpu.,."),
        ({"platforms": ("cpv",)}, "unknown platform 'cpv'\n.*cpu"),
        ({"platforms": ()}, "no platform is named"),
        ({"stage": "before-schedule"}, "unknown stage 'before-schedule'\n.*before-scheduling"),
        ({"require": "same"}, "unknown answer 'same'"),
    ],
)
def test_options_of_passes_inside_of_xla(options: dict[str, Any], message: str) -> None:
    with pytest.raises(DiagnosticError, match=message), untyped.apply_passes("drop-copies", **options):
        raise AssertionError


@pytest.mark.skipif(has_plugin_hook(), reason="this jax calls passes for TPUs and GPUs")
def test_a_platform_for_which_jax_calls_no_passes_is_named(caplog: pytest.LogCaptureFixture) -> None:
    message = f"jax {jax.__version__} does not call passes for tpu: it needs jax 0.12 or newer"
    with pytest.raises(DiagnosticError, match=re.escape(message)), rj.apply_passes("", platforms=("tpu",)):
        raise AssertionError
    with rj.apply_passes("", platforms=("tpu", "cpu")) as applied:
        assert [note.message for note in applied.notes] == [message]
    assert message in caplog.text


# The TPU compiler


def test_without_libtpu_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dialect_utils.execution.compilers.find_spec", lambda name: None)
    with pytest.raises(DiagnosticError, match=r"libtpu, is not installed\n.*relayout\[tpu\]"):
        rj.dump(model, *ARGUMENTS)
    with pytest.raises(DiagnosticError, match="unknown target 'tpu-v9'"):
        rj.dump(model, *ARGUMENTS, target="tpu-v9")


def test_every_name_is_documented() -> None:
    assert all(inspect.getdoc(getattr(rj, name)) for name in rj.__all__)
    assert relayout.jax is rj


@pytest.mark.skipif(find_spec("libtpu") is None, reason="libtpu is not installed")
def test_a_dump_of_the_tpu_compiler_runs_here(tmp_path: Any) -> None:
    # In a separate process: libtpu stays loaded, and only one process at a time can use it.
    code = (
        "import jax.numpy as jnp, relayout.jax as rj\n"
        "dump = rj.dump(lambda x, w: jnp.tanh(x @ w), jnp.ones((6, 10)), jnp.ones((10, 7)))\n"
        f"open({str(tmp_path / 'dump.hlo')!r}, 'w').write(dump.module.text())\n"
        "print(dump.target, dump.figures.argument)\n"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=300)
    if "lockfile" in made.stderr or "already in use" in made.stderr:
        pytest.skip("another process holds libtpu")
    assert made.returncode == 0, made.stderr[-2000:]
    assert made.stdout.split()[0] == "tpu-v5e"
    assert "T(8,128)" in (tmp_path / "dump.hlo").read_text()
    (output,) = relayout.run(tmp_path / "dump.hlo", np.ones((6, 10), np.float32), np.ones((10, 7), np.float32))
    np.testing.assert_allclose(output, np.full((6, 7), np.tanh(10)), rtol=1e-5)


@pytest.mark.parametrize("file", ["negate.hlo", "attention.mlir"])
@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit])
def test_a_module_as_a_function_rejects_arguments_that_do_not_fit(file: str, wrap: Callable[[Any], Any]) -> None:
    module = relayout.read(ROOT / "examples" / file)
    call = wrap(relayout.jax.as_jax_function(module))
    parameters, results = entry_arrays(module)
    shapes = [rj.to_struct(shape.without_layout) for shape in parameters]
    fitting = [jnp.zeros(each.shape, each.dtype) for each in shapes]
    assert [each.shape for each in call(*fitting)] == [shape.dimensions for shape in results]
    with pytest.raises(DiagnosticError, match=f"{len(shapes) + 1} inputs were given"):
        call(*fitting, fitting[0])
    with pytest.raises(DiagnosticError, match="in0 has the dimensions"):
        call(fitting[0][1:], *fitting[1:])
    with pytest.raises(DiagnosticError, match=f"in0 has the type int32.*\nhint: give {shapes[0].dtype}"):
        call(fitting[0].astype(jnp.int32), *fitting[1:])


def test_a_module_of_hlo_as_a_function_is_mapped_over_arrays() -> None:
    call = jax.vmap(relayout.jax.as_jax_function(ROOT / "examples/negate.hlo"))
    x = jnp.arange(30, dtype=jnp.float32).reshape(2, 3, 5)
    np.testing.assert_array_equal(call(x)[0], -x)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: untyped.from_jax("m.hlo"), "expected a function, not a str; relayout.check and run take modules"),
        (lambda: untyped.from_jax_layout((1, 0)), "not a tuple"),
        (lambda: untyped.to_jax_layout("1,0"), r"relayout.parse_shape\('f32\[3,5\]\{1,0\}'\).layout is one"),
        (lambda: untyped.from_format(None), "not None; from_jax_layout takes a layout"),
        (lambda: untyped.from_struct((3, 5)), "an array or a ShapeDtypeStruct, not a tuple"),
    ],
)
def test_an_argument_of_another_kind_is_rejected(call: Callable[[], object], said: str) -> None:
    with pytest.raises(TypeError, match=said):
        call()


def test_a_dynamic_shape_cannot_be_a_struct() -> None:
    with pytest.raises(DiagnosticError, match="dynamic dimensions"):
        relayout.jax.to_struct("f32[<=3]")


def test_a_traced_function_is_a_module() -> None:
    traced: Any = jax.jit(lambda x: x * 2).trace(jnp.ones(3))
    assert relayout.optimize(traced, "strip-layouts").dialect == "stablehlo"


def test_a_function_is_tuned_and_its_formats_have_the_structure_of_its_arguments(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from relayout.tuning import trials
    from tests.relayout.tuning.compilers import Compiler

    class Fake(Compiler):
        def __init__(self, target: str, objective: str, jobs: int) -> None:
            super().__init__({("{0,1}",): 900}, layouts=("{0,1}", "{0}", "{1,0}"))
            self.target = target
            self.version = "compiler 1"
            assert (objective, jobs) == ("peak", 3)

        def __enter__(self) -> Fake:
            return self

        def __exit__(self, *_: object) -> None:
            return

    monkeypatch.setattr(trials, "figure_compiler", Fake)
    x, y = jax.ShapeDtypeStruct((40, 300), "float32"), jax.ShapeDtypeStruct((300,), "float32")
    tuned = rj.tune(lambda pair, unused: {"sum": pair[0] + pair[1]}, (x, y), x, target="tpu-v5e", jobs=3)
    (first, second), third = tuned.arguments
    assert (first.layout.major_to_minor, second, third, tuned.results) == ((1, 0), None, None, {"sum": None})
    assert tuned.tuning.best.figures.peak == 900
    assert "argument 0 {0,1}" in str(tuned)
    ones, row = np.ones((40, 300), np.float32), np.ones(300, np.float32)
    (output,) = rj.as_jax_function(tuned.module)(ones, row, ones)
    np.testing.assert_array_equal(output, 2 * ones)


def test_a_tuned_function_is_lowered_for_its_target(monkeypatch: pytest.MonkeyPatch) -> None:
    from relayout.tuning import trials
    from tests.relayout.tuning.compilers import Compiler

    class Fake(Compiler):
        def __init__(self, target: str, objective: str, jobs: int) -> None:
            super().__init__({}, layouts=("{1,0}",))
            self.target, self.version = target, "compiler 1"

        def __enter__(self) -> Fake:
            return self

        def __exit__(self, *_: object) -> None:
            return

    monkeypatch.setattr(trials, "figure_compiler", Fake)
    x = jax.ShapeDtypeStruct((8, 8), "float32")
    called = {}
    for target in ("tpu-v5e", "gpu-h100"):
        program = rj.tune(jnp.linalg.qr, x, target=target, budget=1).module.text()
        called[target] = set(re.findall(r"custom_call @(\w+)", program))
    # On a CPU JAX calls LAPACK.
    assert "cusolver_geqrf_ffi" in called["gpu-h100"]
    assert not any("lapack" in name or "cusolver" in name for name in called["tpu-v5e"])


def test_a_function_that_never_fits_has_no_formats() -> None:
    from relayout.jax.functions import _formats

    assert _formats(["auto", "default"], [], None) == [None, None]
