"""Imports point one way, and heavy ones are where docs/architecture.md says."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from passes.framework.base import BUILTIN_PASSES, load_pass
from tests.paths import ROOT
from tests.syntax import statements

PACKAGES = ("dialect_utils", "passes", "relayout")

# The base of every package above the layouts.
_BASE = tuple(f"dialect_utils.{name}" for name in ("text", "layout", "ops", "ir"))
# Shapes and layouts as values.
_SHAPES = (
    "dialect_utils.text",
    *(f"dialect_utils.layout.{name}" for name in ("element_type", "layout", "shape", "type_names")),
)


def _layout(*names: str) -> tuple[str, ...]:
    return (*_SHAPES, *(f"dialect_utils.layout.{name}" for name in names))


# The imports from this project that each package may have, beside itself. A file belongs to the longest name that fits,
# so a package without a row may import nothing.
_OF_TERMS = (
    *_BASE,
    *(
        f"dialect_utils.{name}"
        for name in ("hlo.text", "execution", "verdict.certificate", "verdict.entry", "verdict.rules")
    ),
)
OWN_IMPORTS: dict[str, tuple[str, ...]] = {
    "dialect_utils": (),
    "dialect_utils.text": (),
    "dialect_utils.ops": ("dialect_utils.text", "dialect_utils.layout", "dialect_utils.ir"),
    "dialect_utils.layout": ("dialect_utils.text", "dialect_utils.layout"),  # its face names all of it
    "dialect_utils.layout.element_type": ("dialect_utils.text",),
    "dialect_utils.layout.layout": ("dialect_utils.text", "dialect_utils.layout.element_type"),
    "dialect_utils.layout.type_names": ("dialect_utils.layout.element_type",),
    "dialect_utils.layout.shape": _SHAPES,
    "dialect_utils.layout.index": _layout("moves.pad_slice", "moves.plan", "moves.steps"),
    "dialect_utils.layout.moves": _layout("index", "proof.witnesses"),
    "dialect_utils.layout.arrays": _layout("index", "moves"),
    "dialect_utils.layout.proof": _layout("index", "moves"),
    "dialect_utils.layout.targets": _layout("index", "moves"),
    "dialect_utils.layout.notation": _layout("index", "moves"),
    "dialect_utils.layout.text": _layout("index", "moves", "notation", "targets"),
    "dialect_utils.layout.picture": _layout("index", "moves", "text.explain"),
    "dialect_utils.ir": ("dialect_utils.text", "dialect_utils.layout"),
    "dialect_utils.ir.control_flow": ("dialect_utils.ops", "dialect_utils.ir"),
    "dialect_utils.ir.factors": tuple(f"dialect_utils.{name}" for name in ("layout", "ops", "ir")),
    "dialect_utils.ir.elementwise": tuple(f"dialect_utils.{name}" for name in ("layout", "ops", "ir")),
    "dialect_utils.ir.chains": _BASE,
    "dialect_utils.ir.passed_arrays": _BASE,
    "dialect_utils.hlo": (*_BASE, "dialect_utils.hlo.text"),
    "dialect_utils.hlo.text": tuple(f"dialect_utils.{name}" for name in ("text", "layout", "ops")),
    "dialect_utils.stablehlo": _BASE,
    "dialect_utils.stablehlo.rewrites": (
        *(f"dialect_utils.{name}" for name in ("ops", "stablehlo.bindings", "stablehlo.origins")),
    ),
    "dialect_utils.engine_names": (),
    "dialect_utils.lazy_names": (),
    "dialect_utils.processes": (),
    "dialect_utils.sandbox": (),
    "dialect_utils.io": (
        *_BASE,
        "dialect_utils.processes",
        "dialect_utils.sandbox",
        *(f"dialect_utils.{name}" for name in ("hlo", "stablehlo", "execution")),
        *(f"dialect_utils.io.{name}" for name in ("containers", "decompression", "dump_names", "protos", "remote")),
    ),
    "dialect_utils.io.containers": ("dialect_utils.text", "dialect_utils.io.dump_names"),
    **dict.fromkeys(
        tuple(f"dialect_utils.io.{name}" for name in ("decompression", "remote")),
        ("dialect_utils.text", "dialect_utils.processes"),
    ),
    "dialect_utils.io.dump_names": (),
    "dialect_utils.io.protos": (),
    "dialect_utils.io.proto_edits": ("dialect_utils.io.protos",),
    "dialect_utils.tools": (
        *_BASE,
        *(f"dialect_utils.{name}" for name in ("hlo", "stablehlo", "io", "execution")),
    ),
    "dialect_utils.mosaic": (
        *_BASE,
        *(f"dialect_utils.{name}" for name in ("execution", "sandbox", "mosaic.kernel_reader")),
    ),
    "dialect_utils.mosaic.kernel_reader": (
        "dialect_utils.text",
        *(f"dialect_utils.stablehlo.{name}" for name in ("bindings", "origins")),
    ),
    "dialect_utils.memory": (*_BASE, "dialect_utils.hlo"),
    "dialect_utils.history": (*_BASE, "dialect_utils.hlo", "dialect_utils.memory"),
    "dialect_utils.execution": (
        *_BASE,
        "dialect_utils.processes",
        "dialect_utils.sandbox",
        "dialect_utils.hlo",
        "dialect_utils.stablehlo",
        "dialect_utils.io.protos",
        "dialect_utils.mosaic.kernel_reader",
        "dialect_utils.engine_names",
        "dialect_utils.lazy_names",
    ),
    "dialect_utils.verdict.rules": tuple(f"dialect_utils.{name}" for name in ("text", "layout", "ops", "hlo.text")),
    "dialect_utils.verdict.terms": _OF_TERMS,
    # Nothing of the proof, nor of the field.
    "dialect_utils.verdict.replay": (
        *_OF_TERMS,
        *(f"dialect_utils.verdict.{name}" for name in ("chlo", "entry", "terms")),
    ),
    "dialect_utils.verdict": (
        *_BASE,
        *(f"dialect_utils.{name}" for name in ("hlo", "stablehlo", "execution", "engine_names", "lazy_names")),
        *(f"dialect_utils.verdict.{name}" for name in ("replay", "rules", "terms")),
    ),
    "passes": (),
    "passes.framework": tuple(f"dialect_utils.{name}" for name in ("text", "ir", "io")),
    "passes.tiling": (
        *_BASE,
        "dialect_utils.hlo",
        "passes.framework",
    ),
    "passes.layouts": (
        *_BASE,
        *(f"dialect_utils.{name}" for name in ("hlo", "stablehlo", "io")),
        "passes.framework",
        "passes.tiling",
    ),
    "passes.bitcasts": (
        *_BASE,
        "dialect_utils.hlo",
        "passes.framework",
        "passes.tiling.byte_readers",
    ),
    "passes.shapes": (*_BASE, "passes.framework"),
    "passes.fusions": (*_BASE, "dialect_utils.hlo", "passes.framework", "passes.dumps.inline_fusions"),
    "passes.dumps": (
        *_BASE,
        "dialect_utils.hlo",
        "dialect_utils.io.files",
        "dialect_utils.mosaic",
        "dialect_utils.memory.trips",
        "dialect_utils.execution.custom_calls",
        "dialect_utils.execution.python_functions",
        "dialect_utils.tools.conversion",
        "passes.framework",
        "passes.bitcasts.expand_bitcasts",
        "passes.layouts.strip_layouts",
        "passes.tiling.byte_readers",
    ),
    "relayout": (
        "dialect_utils",
        "passes",
        *(f"relayout.{name}" for name in ("api", "inside", "jax", "reporting", "shadowing", "tuning")),
    ),
    "relayout.inside": ("dialect_utils", "passes", "relayout.elided"),
    "relayout.shadowing": (),
    "relayout.api": (
        "dialect_utils",
        "passes",
        "relayout.elided",
        "relayout.output",
        "relayout.jax.modules",
        "relayout.validation",
        "relayout.causes",
        "relayout.tuning",
    ),
    "relayout.jax": (
        "dialect_utils",
        "passes",
        *(f"relayout.{name}" for name in ("api", "inside", "reporting", "tuning")),
    ),
    "relayout.testing": ("dialect_utils", "passes"),
    "relayout.reporting": ("dialect_utils",),
    "relayout.tuning": ("dialect_utils", "passes", "relayout.reporting"),
    "relayout.commands": ("dialect_utils", "passes", "relayout"),
}
# The packages that may import a heavy package; a name such as jaxlib.mlir counts as itself only.
HEAVY_IMPORTS = {
    "numpy": (
        "dialect_utils.layout",
        "dialect_utils.ops.arrays",
        "dialect_utils.ops.positions",
        "dialect_utils.stablehlo",
        "dialect_utils.execution",
        "dialect_utils.verdict",
        "passes",
        "relayout.jax",
    ),
    "ml_dtypes": ("dialect_utils.layout", "dialect_utils.execution", "dialect_utils.verdict"),
    "islpy": ("dialect_utils.layout", "dialect_utils.verdict"),
    "scipy": ("dialect_utils.execution",),
    "PIL": ("dialect_utils.layout.picture",),
    "jaxlib.mlir": ("dialect_utils.stablehlo", "dialect_utils.execution"),
    "jaxlib.version": ("dialect_utils.stablehlo", "dialect_utils.execution"),
    "jaxlib": ("dialect_utils.execution",),
    "jax": ("dialect_utils.execution", "relayout.jax"),
    "fsspec": ("dialect_utils.io.remote",),
    "distributed": ("relayout.batch.cluster",),
}

TEXT_ONLY_COMMANDS = [
    ["--help"],
    ["opt", "--help"],
    ["opt", "--list-passes"],
    ["opt", "examples/attention.hlo"],
    ["opt", "examples/attention.hlo", "-p", "annotate-layouts{target=tpu-v5e},expand-tiling"],
    ["explain", "f32[3,5]{1,0:T(2,2)}"],
    ["explain", "--index", "f32[3,5]{1,0:T(2,2)}", "2,3"],
    ["explain", "--bitcast", "f32[3,5]", "f32[15]"],
]


def is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def longest(module: str, packages: object) -> str | None:
    assert isinstance(packages, dict)
    return max((each for each in packages if is_within(module, each)), key=len, default=None)


@cache
def imported(code: str) -> tuple[str, ...]:
    found: list[str] = []
    for node in statements(code):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # `from a import b` may import the module a.b; both are of the same package here.
            found += (f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(found)


def violations(module: str, code: str) -> list[str]:
    """Returns what the code of a module imports although its package must not."""
    row = longest(module, OWN_IMPORTS)
    assert row is not None
    # A row's package may import itself: what no longer row has. The package above all of them holds nothing.
    allowed = OWN_IMPORTS[row]
    above = module.partition(".")[0]
    wrong = []
    for name in imported(code):
        is_own = name.partition(".")[0] in PACKAGES
        is_allowed = name == above or any(is_within(name, each) for each in allowed)
        if is_own and not is_allowed and (longest(name, OWN_IMPORTS) != row or row in PACKAGES[:2]):
            wrong.append(name)
        heavy = longest(name, HEAVY_IMPORTS)
        if heavy is not None and not any(is_within(module, each) for each in HEAVY_IMPORTS[heavy]):
            wrong.append(name)
    return wrong


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            yield ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), file


# Modules that may import each other, whatever the way: objects that hold each other.
ALLOWED_CIRCLES = {
    # A module holds computations, these instructions, and each knows what holds it.
    "dialect_utils.hlo": {"computation", "instruction", "module"},
    "dialect_utils.stablehlo": {"function", "module", "operation"},
    # A term of an elementwise operation or a constant is lifted by a part of its own.
    "dialect_utils.verdict.field": {"constants", "elementwise", "lift"},
    # Terms are made by rules, and rules make terms.
    "dialect_utils.verdict": {
        "proof.terms",
        "proof.combining",
        "proof.masks",
        "proof.sources",
        "proof.algebra",
        "proof.algebra.joins",
        "proof.algebra.lattice",
        "proof.algebra.matching",
        "proof.algebra.normal_form",
        "proof.algebra.numbers",
        "proof.algebra.ring",
        "proof.algebra.widening",
    },
    # Handlers, loops and makers use the walker that they are given; only types go the other way.
    "dialect_utils.verdict.terms": {"handlers", "loops", "maker", "walker"},
}


# Rooms whose files build on each other one way, file by file, though the rooms as a whole do not.
ALLOWED_ROOM_CIRCLES = (
    # Steps and plans are below the index map, bitcasts above it; proofs of bitcasts have their witnesses below both.
    {"dialect_utils.layout.index", "dialect_utils.layout.moves", "dialect_utils.layout.proof"},
    # `verdict` itself is the files directly in it: certificates and arrays of the entry, and the verdicts above all.
    {"dialect_utils.verdict", *(f"dialect_utils.verdict.{name}" for name in ("replay", "rules", "terms"))},
    # `relayout` itself is the files directly in it: what the others print with, and the command line above them.
    {"relayout", "relayout.api", "relayout.inside", "relayout.jax"},
)


def imports_of(codes: dict[str, str]) -> dict[str, set[str]]:
    """Returns which of the modules each one imports, in functions and for types included."""
    return {
        name: {
            found if found in codes else found.rpartition(".")[0]
            for found in imported(code)
            if found in codes or found.rpartition(".")[0] in codes
        }
        - {name}
        for name, code in codes.items()
    }


def import_circles(codes: dict[str, str]) -> list[set[str]]:
    """Returns the sets of modules that import each other."""
    return circles_in(imports_of(codes))


def room_circles(codes: dict[str, str], rooms: object) -> list[set[str]]:
    """Returns the sets of rooms that import each other."""
    imports: dict[str, set[str]] = {}
    for name, found in imports_of(codes).items():
        room = str(longest(name, rooms))
        imports.setdefault(room, set()).update({str(longest(each, rooms)) for each in found} - {room})
    return circles_in(imports)


def circles_in(imports: dict[str, set[str]]) -> list[set[str]]:
    """Returns the sets of names that reach each other."""

    def reached(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            new = imports.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return found

    everything = {name: reached(name) for name in imports}
    circles: list[set[str]] = []
    for name, found in everything.items():
        circle = {other for other in found if name in everything.get(other, ())}
        if len(circle) > 1 and circle not in circles:
            circles.append(circle)
    return circles


def test_only_objects_that_hold_each_other_import_each_other() -> None:
    allowed = [{f"{room}.{each}" for each in names} for room, names in ALLOWED_CIRCLES.items()]
    found = import_circles({name: file.read_text("utf-8") for name, file in modules()})
    assert [circle for circle in found if not any(circle <= each for each in allowed)] == []


def test_a_planted_circle_is_found() -> None:
    codes = {
        "a.b": "import a.c",
        "a.c": "def f():\n    from a.d import x",
        "a.d": "from a import b",
        "a.e": "import a.b",
    }
    assert import_circles(codes) == [{"a.b", "a.c", "a.d"}]


def test_rooms_import_each_other_one_way() -> None:
    found = room_circles({name: file.read_text("utf-8") for name, file in modules()}, OWN_IMPORTS)
    assert [circle for circle in found if not any(circle <= each for each in ALLOWED_ROOM_CIRCLES)] == []


def test_a_planted_circle_of_rooms_is_found() -> None:
    codes = {"a.b": "import c.d", "c.d": "", "c.e": "import a.f", "a.f": "", "g.h": "import a.b"}
    assert import_circles(codes) == []
    assert room_circles(codes, dict.fromkeys("acg", ())) == [{"a", "c"}]


# The fields of HLO's objects are for reading; methods change it, so that users, signatures and text follow.
FIELDS = {
    "attribute_text",
    "called",
    "computation",
    "contents",
    "name",
    "opcode",
    "operands",
    "parameters",
    "root",
    "shape",
}


def assigned_fields(code: str) -> list[str]:
    """Returns the assignments to a field of another object that only its own methods may change."""
    targets = [
        target
        for node in statements(code)
        for target in (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
        )
    ]
    leaves = [leaf for target in targets for leaf in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [
        ast.unparse(leaf)
        for leaf in leaves
        if isinstance(leaf, ast.Attribute) and leaf.attr in FIELDS and ast.unparse(leaf.value) not in ("self", "cls")
    ]


def test_nobody_assigns_to_the_fields_of_the_graph() -> None:
    # The classes themselves, and the readers that make them, are the ones that may.
    makers = tuple(f"dialect_utils.hlo.{name}" for name in ("body", "computation", "module", "parse", "reading"))
    # These know no HLO.
    strangers = ("dialect_utils.layout", "dialect_utils.stablehlo", "relayout.lit_config")
    wrong = {
        name: found
        for name, file in modules()
        if name not in makers
        and not any(is_within(name, each) for each in strangers)
        and (found := assigned_fields(file.read_text("utf-8")))
    }
    assert wrong == {}


def test_a_planted_assignment_is_found() -> None:
    assert assigned_fields("item.shape = other") == ["item.shape"]
    assert assigned_fields("a, item.operands = b, c") == ["item.operands"]
    assert assigned_fields("self.shape = shape\nshape = item.shape") == []


def test_imports_point_one_way() -> None:
    wrong = {name: found for name, file in modules() if (found := violations(name, file.read_text("utf-8")))}
    assert wrong == {}


# One import a row that the row forbids.
PLANTED = {
    "dialect_utils.processes": "from dialect_utils.text import Source",
    "dialect_utils.sandbox": "from dialect_utils.text import Source",
    "dialect_utils.io.proto_edits": "from dialect_utils.text import Source",
    "dialect_utils": "from dialect_utils.text import Source",
    "dialect_utils.text": "from dialect_utils import layout",
    "dialect_utils.ops": "from dialect_utils.hlo import HloModule",
    "dialect_utils.layout": "import dialect_utils.ir",
    "dialect_utils.layout.element_type": "from dialect_utils.layout.shape import Shape",
    "dialect_utils.layout.layout": "from dialect_utils.layout.shape import Shape",
    "dialect_utils.layout.type_names": "from dialect_utils.layout.shape import Shape",
    "dialect_utils.layout.shape": "from dialect_utils.layout.picture import draw_shape",
    "dialect_utils.layout.index": "from dialect_utils.layout.moves.bitcast import classify_bitcast",
    "dialect_utils.layout.moves": "from dialect_utils.layout.text.parse import parse_shape",
    "dialect_utils.layout.arrays": "from dialect_utils.layout.text.parse import parse_shape",
    "dialect_utils.layout.proof": "from dialect_utils.layout.targets.known import TARGETS",
    "dialect_utils.layout.targets": "from dialect_utils.layout.text.parse import parse_shape",
    "dialect_utils.layout.notation": "from dialect_utils.layout.text.parse import parse_shape",
    "dialect_utils.layout.text": "from dialect_utils.layout.picture import draw_shape",
    "dialect_utils.layout.picture": "from dialect_utils.layout.text.parse import parse_shape",
    "dialect_utils.ir": "from dialect_utils.hlo import HloModule",
    "dialect_utils.ir.control_flow": "from dialect_utils.hlo import HloModule",
    "dialect_utils.ir.elementwise": "from dialect_utils.hlo import HloModule",
    "dialect_utils.ir.factors": "from dialect_utils.hlo import HloModule",
    "dialect_utils.ir.chains": "from dialect_utils.hlo import HloModule",
    "dialect_utils.ir.passed_arrays": "from dialect_utils.hlo import HloModule",
    "dialect_utils.tools": "from dialect_utils.verdict import Verdict",
    "dialect_utils.hlo": "from dialect_utils.stablehlo import parse_module",
    "dialect_utils.hlo.text": "from dialect_utils.hlo.instruction import Instruction",
    "dialect_utils.stablehlo": "from dialect_utils.hlo import HloModule",
    "dialect_utils.stablehlo.rewrites": "from dialect_utils.stablehlo.module import StableHloModule",
    "dialect_utils.engine_names": "from dialect_utils.execution import Worker",
    "dialect_utils.lazy_names": "from dialect_utils.execution import Worker",
    "dialect_utils.io": "from dialect_utils.verdict import Verdict",
    "dialect_utils.io.containers": "from dialect_utils.io.files import parse_bytes",
    "dialect_utils.io.decompression": "from dialect_utils.io.files import read_bytes",
    "dialect_utils.io.remote": "from dialect_utils.io.files import read_bytes",
    "dialect_utils.io.dump_names": "from dialect_utils.io.files import parse_bytes",
    "dialect_utils.io.protos": "from dialect_utils.hlo import HloModule",
    "dialect_utils.mosaic": "from dialect_utils.stablehlo.module import StableHloModule",
    "dialect_utils.mosaic.kernel_reader": "from dialect_utils.execution import Worker",
    "dialect_utils.memory": "from dialect_utils.execution import Worker",
    "dialect_utils.history": "from dialect_utils.io.inputs import Input",
    "dialect_utils.execution": "from dialect_utils.verdict import Verdict",
    "dialect_utils.verdict": "from passes.framework.base import Pass",
    "dialect_utils.verdict.rules": "from dialect_utils.verdict.proof import try_prove",
    "dialect_utils.verdict.terms": "from dialect_utils.verdict.proof import try_prove",
    "dialect_utils.verdict.replay": "from dialect_utils.verdict.proof.terms import Terms",
    "passes": "from passes.framework.base import Pass",
    "passes.framework": "from passes.layouts.verify_layouts import verify_layouts",
    "passes.tiling": "from passes.layouts.constraints import edges",
    "passes.layouts": "from passes.dumps.make_portable import make_portable",
    "passes.bitcasts": "from passes.dumps.make_portable import make_portable",
    "passes.shapes": "from passes.dumps.make_portable import make_portable",
    "passes.fusions": "from passes.dumps.make_portable import make_portable",
    "passes.dumps": "from passes.tiling.expand_tiling import expand_tiling",
    "relayout": "import jax.numpy",
    "relayout.shadowing": "from passes import framework",
    "relayout.inside": "from relayout.console import Console",
    "relayout.api": "from relayout.console import Console",
    "relayout.jax": "from relayout.commands.opt import COMMAND",
    "relayout.testing": "from relayout.commands.opt import COMMAND",
    "relayout.reporting": "from relayout.commands.opt import COMMAND",
    "relayout.tuning": "from relayout.commands.opt import COMMAND",
    "relayout.commands": "import numpy",
}
# One package a row that the row does not list.
PLANTED_HEAVY = {
    "numpy": "dialect_utils.hlo.module",
    "ml_dtypes": "passes.dumps.expand_custom_calls",
    "islpy": "passes.tiling.fold_tiling",
    "scipy": "dialect_utils.verdict.sampling.values",
    "PIL": "dialect_utils.layout.text.explain",
    "jaxlib.mlir": "passes.tiling.fold_tiling",
    "jaxlib.version": "passes.framework.base",
    "jaxlib": "dialect_utils.stablehlo.bindings",
    "jax": "relayout.cli",
    "fsspec": "dialect_utils.io.inputs",
    "distributed": "relayout.batch.run",
}


def test_every_row_has_a_planted_violation() -> None:
    assert PLANTED.keys() == OWN_IMPORTS.keys()
    assert PLANTED_HEAVY.keys() == HEAVY_IMPORTS.keys()


@pytest.mark.parametrize("package", PLANTED)
def test_a_planted_import_is_found(package: str) -> None:
    assert violations(f"{package}.planted", PLANTED[package])
    assert violations(f"{package}.planted", f"def f():\n    {PLANTED[package]}")


@pytest.mark.parametrize("heavy", PLANTED_HEAVY)
def test_a_planted_heavy_import_is_found(heavy: str) -> None:
    assert violations(PLANTED_HEAVY[heavy], f"import {heavy}") == [heavy]


def test_a_package_without_a_row_may_import_nothing() -> None:
    assert violations("dialect_utils.new.module", "from dialect_utils.text import Source")
    assert violations("passes.new.module", "from passes.framework.base import Pass")


def test_one_module_of_the_stablehlo_package_imports_jaxlib() -> None:
    adapters = {
        name
        for name, file in modules()
        if is_within(name, "dialect_utils.stablehlo")
        and any(is_within(each, "jaxlib") for each in imported(file.read_text("utf-8")))
    }
    assert adapters == {"dialect_utils.stablehlo.bindings"}


def heavy_modules_after(code: str) -> list[str]:
    probe = f"{code}\nimport sys\nprint([m for m in {sorted(HEAVY_IMPORTS)} if m in sys.modules], file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    loaded: list[str] = ast.literal_eval(result.stderr.splitlines()[-1])
    return loaded


@pytest.mark.parametrize("command", TEXT_ONLY_COMMANDS, ids=" ".join)
def test_text_commands_import_nothing_heavy(command: list[str]) -> None:
    assert heavy_modules_after(f"from relayout.cli import main\nassert main({command}) == 0") == []


def test_packages_import_nothing_heavy() -> None:
    assert (
        heavy_modules_after("import dialect_utils.layout, dialect_utils.hlo, passes.framework.pipeline, relayout.cli")
        == []
    )


def test_a_heavy_import_is_seen() -> None:
    assert heavy_modules_after("import numpy") == ["numpy"]


@pytest.mark.parametrize("name", BUILTIN_PASSES)
def test_every_pass_has_a_file_of_its_name_and_a_docstring(name: str) -> None:
    step = load_pass(name)
    assert step.name == name
    assert step.function.__module__.rpartition(".")[2] == name.replace("-", "_")
    assert step.summary.endswith(".")
    assert all(part in step.doc for part in ("1. ", "Before", "After")), step.doc


@pytest.mark.parametrize("name", BUILTIN_PASSES)
def test_every_pass_has_its_lit_files(name: str) -> None:
    suffix = {"hlo": "hlo", "stablehlo": "mlir"}
    wanted = {
        f"{case}.{suffix[dialect]}" for dialect in load_pass(name).dialects for case in ("basic", "no-change", "errors")
    }
    present = {file.name for file in (ROOT / "lit_tests" / "passes" / name).glob("*")}
    assert wanted - present == set()


# Past so many lines a file says why it is no two.
LONG = 400


def is_long_without_a_reason(code: str) -> bool:
    return len(code.splitlines()) > LONG and "Longer than" not in (ast.get_docstring(ast.parse(code)) or "")


def test_long_files_say_why() -> None:
    assert [name for name, file in modules() if is_long_without_a_reason(file.read_text("utf-8"))] == []
    lines = "pass\n" * LONG
    assert not is_long_without_a_reason(lines)
    assert is_long_without_a_reason(lines + "pass\n")
    assert not is_long_without_a_reason(f'"""A.\n\nLonger than most: b.\n"""\n{lines}')


def test_every_development_tool_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {re.match(r"[\w.-]+", each)[0] for each in project["optional-dependencies"]["dev"]}  # type: ignore[index]  # each has a name
    lines = (ROOT / "dev-constraints.txt").read_text("utf-8").splitlines()
    pinned = {line.partition("==")[0] for line in lines if not line.startswith("#")}
    assert wanted - pinned == set()
    assert all("==" in line for line in lines if not line.startswith("#"))
