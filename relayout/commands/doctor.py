"""`relayout doctor`: says what is installed, what hides what, whether the sandbox works, and runs a small module.

It works where numpy, jaxlib or the sandbox are missing or broken: each import is tried in a process of its own.
"""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import MAGIC_NUMBER, cache_from_source, find_spec
from shlex import quote
from time import perf_counter
from typing import TYPE_CHECKING, Literal

import relayout
from relayout import __version__
from relayout.batch.unit import Unit
from relayout.command import Command
from relayout.console import DONE, FAILED, Console, print_json
from relayout.extensions import extensions
from relayout.shadowing import OWN_PACKAGES, ROOT, hidden_by_own

if TYPE_CHECKING:
    from dialect_utils.ir import Module

Status = Literal["ok", "missing", "warning", "broken", "skipped"]


@dataclass(frozen=True, slots=True)
class Requirement:
    """A distribution, the module that it installs, and its least version; `extra` is empty for one that is needed."""

    name: str
    module: str
    least: str
    extra: str = ""


# The dependencies and the extras for users in pyproject.toml; a test compares both.
REQUIREMENTS = (
    Requirement("jax", "jax", "0.10"),
    Requirement("jaxlib", "jaxlib", "0.10"),
    Requirement("numpy", "numpy", "2.0"),
    Requirement("ml_dtypes", "ml_dtypes", "0.5"),
    Requirement("islpy", "islpy", "2025.1"),
    Requirement("scipy", "scipy", "1.14"),
    Requirement("pillow", "PIL", "10.1"),
    Requirement("shtab", "shtab", "1.7"),
    Requirement("tqdm", "tqdm", "4.66"),
    Requirement("libtpu", "libtpu", "", "tpu"),
    Requirement("jax-cuda12-plugin", "jax_plugins.xla_cuda12", "0.10", "gpu"),
    Requirement("highspy", "highspy", "1.8", "tpu"),
    Requirement("zstandard", "zstandard", "0.20", "zstd"),
    Requirement("pyarrow", "pyarrow", "15", "report"),
    Requirement("distributed", "distributed", "2024.5", "cluster"),
    Requirement("fsspec", "fsspec", "2024.2", "remote"),
    Requirement("s3fs", "s3fs", "2024.2", "remote"),
    Requirement("gcsfs", "gcsfs", "2024.2", "remote"),
    Requirement("aiohttp", "aiohttp", "3.9", "remote"),
    Requirement("junitparser", "junitparser", "3.1", "ci"),
    Requirement("sarif-pydantic", "sarif_pydantic", "0.5", "ci"),
    Requirement("filecheck", "filecheck", "1.0.3", "lit"),
    Requirement("lit", "lit", "18", "lit"),
    Requirement("msgpack", "msgpack", "1.0", "checkpoints"),
    Requirement("tensorstore", "tensorstore", "0.1.71", "checkpoints"),
)

MODULE = """HloModule doctor

ENTRY main {
  x = f32[3,5] parameter(0)
  y = f32[5,3] parameter(1)
  t = f32[5,3] transpose(x), dimensions={1,0}
  n = f32[5,3] negate(t)
  ROOT m = f32[5,3] maximum(n, y)
}
"""

_CRASH = "crashes"
# Each program gets the path of modules of this process as its first argument.
_PATH = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
_IMPORT = """
import importlib
for name in sys.argv[2:]:
    print(json.dumps([name, "crashes"]), flush=True)
    try:
        importlib.import_module(name)
        said = ""
    except BaseException as error:
        said = f"{type(error).__name__}: {error}"
    print(json.dumps([name, said]), flush=True)
"""
_SANDBOX = """
from dialect_utils.sandbox import enter_sandbox
reason = enter_sandbox()
if reason is not None:
    sys.exit(reason)
try:
    open("/dev/null", "w").close()
except PermissionError:
    sys.exit(0)
sys.exit("a file was opened for writing")
"""
_PROGRAM_SECONDS = 120.0
# The header of a compiled file: magic number, flags, time and size of the source, 4 bytes each.
_HEADER = 16
_UNCHECKED = 0b11


@dataclass(frozen=True, slots=True)
class Finding:
    """One row: its part of the report, its name, the status, what was found, and the seconds that this took."""

    part: str
    name: str
    status: Status
    detail: str
    seconds: float | None = None

    @property
    def is_wrong(self) -> bool:
        """Is true where something necessary is missing or does not work."""
        return self.status == "broken"

    def __str__(self) -> str:
        took = "" if self.seconds is None else f" ({self.seconds:.2f} s)"
        return f"  {self.status:8} {self.name:18} {self.detail}{took}".rstrip()


@dataclass(frozen=True, kw_only=True)
class Doctor(Command):
    """A check of the installation."""

    examples = ("relayout doctor", "relayout doctor --json")
    notes = """exit codes:
  0  everything that is necessary works
  1  something necessary is missing or broken
  2  the command is wrong"""
    is_supervised = False

    def work(self, unit: Unit, console: Console) -> int:
        found: list[Finding] = []
        for finding in examine():
            if not self.json:
                if not found or found[-1].part != finding.part:
                    print(finding.part)
                print(finding, flush=True)
            found.append(finding)
        wrong = [each.name for each in found if each.is_wrong]
        if self.json:
            print_json({"version": __version__, "healthy": not wrong, "findings": [asdict(each) for each in found]})
        else:
            print(f"broken: {', '.join(wrong)}" if wrong else "everything that is necessary works")
        return FAILED if wrong else DONE


def examine() -> Iterator[Finding]:
    """Yields the findings on the program, its packages, what others add to it, the sandbox, and a small module."""
    yield Finding("program", "relayout", "ok", f"{__version__}, {os.path.join(ROOT, 'relayout')}")
    yield Finding("program", "python", "ok", f"{platform.python_version()}, {sys.executable}, {platform.platform()}")
    yield _bytecode()
    yield from map(_own_package, OWN_PACKAGES)
    broken: list[str] = []
    errors = _import_errors([each.module for each in REQUIREMENTS if not each.extra and _version(each) is not None])
    for requirement in REQUIREMENTS:
        finding = _requirement(requirement, errors.get(requirement.module, ""))
        if finding.is_wrong:
            broken.append(requirement.name)
        yield finding
    yield from (Finding("added", name, "warning" if why else "ok", why) for name, why in extensions())
    yield _sandbox()
    yield from _self_test(broken)


def _bytecode() -> Finding:
    """Returns the finding on compiled modules: pip compiles what it installs, other installers may not."""
    packages = (*OWN_PACKAGES, "relayout")
    outdated, count = modules_to_compile(ROOT, packages)
    if not outdated:
        return Finding("program", "bytecode", "ok", f"all {count} modules are compiled")
    command = " ".join(
        map(quote, [sys.executable, "-m", "compileall", "-q", *(os.path.join(ROOT, each) for each in packages)])
    )
    what = f"{len(outdated)} of {count} modules are not compiled, which delays every command: {command}"
    return Finding("program", "bytecode", "warning", what)


# A sandboxed child, which writes no file, compiles again.
def modules_to_compile(root: str, packages: tuple[str, ...]) -> tuple[list[str], int]:
    """Returns the files of packages that each import compiles again, and the number of all files."""
    folders = [each for package in packages for each in os.walk(os.path.join(root, package))]
    files = [
        os.path.join(within, name) for within, _, names in folders for name in sorted(names) if name.endswith(".py")
    ]
    return [file for file in files if not _is_compiled(file)], len(files)


def _is_compiled(file: str) -> bool:
    """Is true where a compiled file belongs to this version of Python and to this version of the source."""
    try:
        source = os.stat(file)
        with open(cache_from_source(file), "rb") as compiled:
            header = compiled.read(_HEADER)
    except (OSError, NotImplementedError):
        return False
    magic, flags, time, size = (header[start : start + 4] for start in range(0, _HEADER, 4))
    if int.from_bytes(flags, "little") & _UNCHECKED:
        # A hash-based file, as in reproducibly built packages: the header holds a hash of the source, not its time.
        return magic == MAGIC_NUMBER
    numbers = int.from_bytes(time, "little"), int.from_bytes(size, "little")
    return magic == MAGIC_NUMBER and numbers == (int(source.st_mtime) & 0xFFFFFFFF, source.st_size & 0xFFFFFFFF)


def _own_package(name: str) -> Finding:
    """Returns the finding on a package whose name another package may have."""
    others = hidden_by_own(name)
    if not others:
        return Finding("program", name, "ok", "no other package of this name is on the path")
    files = [file if _is_relayout(file) else _with_modules(file, same) for file, same in others.items()]
    return Finding("program", name, "warning", f"relayout's own is used, which hides {'; '.join(files)}")


def _is_relayout(file: str) -> bool:
    """Is true for a package of another installation of this program."""
    return os.path.isfile(os.path.join(os.path.dirname(os.path.dirname(file)), "relayout", "shadowing.py"))


def _with_modules(file: str, same: Sequence[str]) -> str:
    return f"{file} and its modules {', '.join(same)}" if same else f"{file}, but none of its modules"


def _requirement(requirement: Requirement, error: str) -> Finding:
    """Returns the finding on a distribution; `error` is that of its import."""
    part = "extras" if requirement.extra else "packages"
    name, found = requirement.name, _distribution(requirement.name)
    version = _version(requirement)
    hint = f"pip install 'relayout[{requirement.extra}]'" if requirement.extra else f"pip install {name}"
    if version is None:
        return Finding(part, name, "missing" if requirement.extra else "broken", f"not installed: {hint}")
    if found is not None and (other := _hiding_file(found, requirement.module)) is not None:
        return Finding(part, name, "broken", f"{version}, but {other} hides it: rename that, or leave its folder")
    if error:
        return Finding(part, name, "broken", f"{version} cannot be imported: {error}")
    if requirement.least and _numbers(version) < _numbers(requirement.least):
        return Finding(part, name, "broken", f"{version}, but {requirement.least} or newer is needed: {hint}")
    return Finding(part, name, "ok", version)


def _distribution(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _version(requirement: Requirement) -> str | None:
    """Returns the version of a distribution, None for one that is not installed."""
    found = _distribution(requirement.name)
    if found is not None:
        return found.version
    try:
        return "of unknown version" if find_spec(requirement.module) is not None else None
    except (ImportError, ValueError):
        return None


def _hiding_file(found: Distribution, module: str) -> str | None:
    """Returns the file that Python imports in place of a distribution's module, or None."""
    own = [str(found.locate_file(name)) for name in (f"{module}/__init__.py", f"{module}.py")]
    spec = find_spec(module)
    origin = None if spec is None else spec.origin
    is_other = origin is not None and os.path.realpath(origin) not in map(os.path.realpath, own)
    return origin if is_other and any(map(os.path.exists, own)) else None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)[:3]))


def _python(code: str, arguments: Sequence[str] = (), given: str = "") -> tuple[int, str, str]:
    """Runs Python code in another process; returns its exit code, what it printed, and its errors."""
    import subprocess

    from dialect_utils.processes import python_command

    command = [*python_command(), "-c", _PATH + code, json.dumps([ROOT, *sys.path]), *arguments]
    try:
        result = subprocess.run(
            command, input=given, capture_output=True, text=True, timeout=_PROGRAM_SECONDS, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return 1, "", str(error)
    return result.returncode, result.stdout, result.stderr


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or [""])[-1]


def _import_errors(modules: Sequence[str]) -> dict[str, str]:
    """Returns why modules cannot be imported, by their names; a crash ends the import of one of them only."""
    from dialect_utils.processes import describe_exit

    errors: dict[str, str] = {}
    while modules:
        code, printed, said = _python(_IMPORT, modules)
        reported = [json.loads(line) for line in printed.splitlines() if line.startswith("[")]
        errors |= dict(reported)
        last = reported[-1][0] if reported else modules[0]
        if errors.get(last, _CRASH) == _CRASH:
            errors[last] = f"the process {describe_exit(code)} {_last_line(said)}".rstrip()
        modules = modules[modules.index(last) + 1 :]
    return {name: error for name, error in errors.items() if error}


def _sandbox() -> Finding:
    start = perf_counter()
    code, _, said = _python(_SANDBOX)
    seconds = perf_counter() - start
    if code:
        without = "without it, a process that reads files keeps your rights (docs/security.md)"
        return Finding("sandbox", "system calls", "warning", f"{_last_line(said)}; {without}", seconds)
    return Finding("sandbox", "system calls", "ok", "a process that reads files can write none", seconds)


# The functions of `relayout` are imported where a step uses them.
def _self_test(broken: Sequence[str]) -> Iterator[Finding]:
    """Yields a finding for each step of the work on a small module; steps after one that fails are skipped."""
    modules: list[Module] = []
    reason = ""
    for name, step, needs_packages in _STEPS:
        reason = reason or (f"needs {', '.join(broken)}" if needs_packages and broken else "")
        if reason:
            yield Finding("self-test", name, "skipped", reason)
            continue
        start = perf_counter()
        try:
            step(modules)
        except Exception as error:  # every error is a finding
            reason = "after a step that failed"
            message = f"{type(error).__name__}: {error}".splitlines()[0]
            yield Finding("self-test", name, "broken", message, perf_counter() - start)
        else:
            yield Finding("self-test", name, "ok", "", perf_counter() - start)


def _expect(condition: bool, what: str) -> None:
    if not condition:
        raise ValueError(what)


def _parse(modules: list[Module]) -> None:
    modules.append(relayout.parse(MODULE, "<doctor>"))
    _expect(modules[-1].text() == MODULE, "the text of the module is not what was read")


def _annotate(modules: list[Module]) -> None:
    modules.append(relayout.optimize(modules[-1], "annotate-layouts{target=tpu-v5e}"))
    _expect(":T(" in modules[-1].text(), "no array has tiles")


def _expand(modules: list[Module]) -> None:
    modules.append(relayout.optimize(modules[-1], "expand-tiling"))
    _expect("T(" not in modules[-1].text(), "an array still has tiles")


def _prove(modules: list[Module]) -> None:
    verdict = relayout.check(modules[0], modules[-1], engines=("proof",))
    _expect(verdict.verdict == "equal", str(verdict))


def _execute(modules: list[Module]) -> None:
    verdict = relayout.check(modules[0], modules[-1], engines=("xla",))
    _expect(verdict.found_no_difference, str(verdict))


def _command(modules: list[Module]) -> None:
    given = modules[0].text()
    code, printed, said = _python(
        "del sys.argv[1]; from relayout.__main__ import run; run()", ["opt", "-", "--verify-each"], given
    )
    _expect(code == 0 and printed == given, _last_line(said) or "another module was printed")


# Each step, and whether it needs the packages.
_STEPS: tuple[tuple[str, Callable[[list[Module]], None], bool], ...] = (
    ("parse", _parse, False),
    ("annotate-layouts", _annotate, False),
    ("expand-tiling", _expand, False),
    ("command", _command, False),
    ("proof", _prove, True),
    ("execution", _execute, True),
)
