"""Imports point one way, and heavy ones stand where docs/architecture.md says."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from passes.registry import BUILTIN_PASSES, load_pass

ROOT = Path(__file__).parents[1]
PACKAGES = ("dialect_utils", "passes", "relayout")

# What each room may import from this project. A file stands in the longest prefix that fits.
OWN_IMPORTS = {
    "dialect_utils.text": (),
    "dialect_utils.layout": ("dialect_utils.text",),
    "dialect_utils.ir": ("dialect_utils.text", "dialect_utils.layout"),
    "dialect_utils.hlo": ("dialect_utils.text", "dialect_utils.layout", "dialect_utils.ir"),
    "dialect_utils.stablehlo": ("dialect_utils.text", "dialect_utils.layout", "dialect_utils.ir"),
    "dialect_utils": ("dialect_utils",),
    "passes": ("dialect_utils", "passes"),
    "relayout": ("dialect_utils", "passes", "relayout"),
}
# Which rooms may import a heavy package; a name such as jaxlib.mlir counts as itself only.
HEAVY_IMPORTS = {
    "numpy": (
        "dialect_utils.layout",
        "dialect_utils.stablehlo",
        "dialect_utils.execution",
        "dialect_utils.verdict",
        "passes",
    ),
    "ml_dtypes": ("dialect_utils.layout", "dialect_utils.execution", "dialect_utils.verdict"),
    "islpy": ("dialect_utils.layout", "dialect_utils.verdict"),
    "PIL": ("dialect_utils.layout.picture",),
    "jaxlib.mlir": ("dialect_utils.stablehlo", "dialect_utils.execution"),
    "jaxlib.version": ("dialect_utils.stablehlo", "dialect_utils.execution"),
    "jaxlib": ("dialect_utils.execution",),
    "jax": ("dialect_utils.execution",),
}

TEXT_ONLY_COMMANDS = [
    ["--help"],
    ["opt", "--help"],
    ["opt", "--list-passes"],
    ["opt", "examples/attention.hlo"],
    ["opt", "examples/attention.hlo", "-p", "annotate-layouts{target=tpu-v5e},expand-tiling"],
    ["explain", "f32[3,5]{1,0:T(2,2)}"],
    ["index", "f32[3,5]{1,0:T(2,2)}", "2,3"],
    ["bitcast", "f32[3,5]", "f32[15]"],
]


def is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def longest(module: str, packages: object) -> str | None:
    assert isinstance(packages, dict)
    return max((each for each in packages if is_within(module, each)), key=len, default=None)


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            # `from a import b` may import the module a.b; both are of the same room or package here.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def violations(module: str, code: str) -> list[str]:
    """Returns what the code of a module imports although its room must not."""
    room = longest(module, OWN_IMPORTS)
    assert room is not None
    allowed = (room, *OWN_IMPORTS[room])
    wrong = []
    for name in imported(ast.parse(code)):
        if name.partition(".")[0] in PACKAGES and not any(is_within(name, each) for each in allowed):
            wrong.append(name)
        heavy = longest(name, HEAVY_IMPORTS)
        if heavy is not None and not any(is_within(module, each) for each in HEAVY_IMPORTS[heavy]):
            wrong.append(name)
    return wrong


def modules() -> Iterator[tuple[str, Path]]:
    for package in PACKAGES:
        for file in sorted((ROOT / package).rglob("*.py")):
            yield ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), file


def test_imports_point_one_way() -> None:
    wrong = {name: found for name, file in modules() if (found := violations(name, file.read_text("utf-8")))}
    assert wrong == {}


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("dialect_utils.text.source", "from dialect_utils import layout"),
        ("dialect_utils.layout.plan", "import dialect_utils.ir"),
        ("dialect_utils.hlo.module", "import numpy as np"),
        ("dialect_utils.hlo.module", "from dialect_utils.stablehlo import parse_module"),
        ("dialect_utils.verdict.check", "from passes import base"),
        ("dialect_utils.stablehlo.bindings", "import jaxlib._jax"),
        ("passes.fold_tiling", "def f():\n    from jaxlib import mlir"),
        ("passes.fold_tiling", "from relayout.console import Console"),
        ("relayout.cli", "import jax.numpy"),
    ],
)
def test_a_planted_import_is_found(module: str, code: str) -> None:
    assert violations(module, code)


def test_one_module_of_the_stablehlo_room_imports_jaxlib() -> None:
    seams = {
        name
        for name, file in modules()
        if is_within(name, "dialect_utils.stablehlo")
        and any(is_within(each, "jaxlib") for each in imported(ast.parse(file.read_text("utf-8"))))
    }
    assert seams == {"dialect_utils.stablehlo.bindings"}


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
    assert heavy_modules_after("import dialect_utils.layout, dialect_utils.hlo, passes.pipeline, relayout.cli") == []


def test_a_heavy_import_is_seen() -> None:
    assert heavy_modules_after("import numpy") == ["numpy"]


@pytest.mark.parametrize("name", BUILTIN_PASSES)
def test_every_pass_has_a_file_of_its_name_and_a_docstring(name: str) -> None:
    cls = load_pass(name)
    assert cls.name == name
    assert cls.__module__ == f"passes.{name.replace('-', '_')}"
    assert cls.summary().endswith(".")
    doc = cls.__doc__ or ""
    assert all(part in doc for part in ("1. ", "Before", "After")), doc


@pytest.mark.parametrize("name", BUILTIN_PASSES)
def test_every_pass_has_its_lit_files(name: str) -> None:
    suffix = {"hlo": "hlo", "stablehlo": "mlir"}
    wanted = {f"{case}.{suffix[form]}" for form in load_pass(name).forms for case in ("basic", "no-change", "errors")}
    present = {file.name for file in (ROOT / "lit_tests" / "passes" / name).glob("*")}
    assert wanted - present == set()
