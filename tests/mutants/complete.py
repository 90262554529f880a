"""Plants every one-line mutant of a file, one after the other, and prints those that the given tests do not notice.

    python -m tests.mutants.complete FILE [--lines L ...] [--jobs J] [--seconds S] -- PYTEST_ARGUMENT ...

The tests are collected once. Each mutant then gets a process of its own, in which the functions of the file have the
mutant's code, so that a mutant costs no more than its tests. Mutants of constants need the file's module to hold them.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from types import FunctionType, ModuleType
from typing import Any

import pytest

from tests.mutants.changes import changes
from tests.mutants.coverage_map import PRODUCT
from tests.mutants.sample import Drawn
from tests.paths import ROOT

# A run of tests may take this much longer than its processor time.
_SLACK = 10


def drawn_of(file: str) -> list[Drawn]:
    """Returns all mutants of a file of the product."""
    code = (ROOT / file).read_text("utf-8")
    found = [Drawn(file, code, change) for change in changes(code)]
    return [each for each in found if each.change.is_a_program(code)]


def planted(module: ModuleType, code: str) -> None:
    """Gives the functions, the methods and the constants of a module those of a changed code."""
    changed = ModuleType(module.__name__)
    changed.__file__ = module.__file__
    own = sys.modules[module.__name__]
    sys.modules[module.__name__] = changed
    try:
        exec(compile(code, str(module.__file__), "exec"), changed.__dict__)  # the product's own code
    finally:
        sys.modules[module.__name__] = own
    assigned = {name for node in ast.parse(code).body for name in _constants(node)}
    for name, value in vars(changed).items():
        _replaced(module, name, value, is_constant=name in assigned)


def _constants(node: ast.stmt) -> Iterator[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    yield from (each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name))


def _replaced(owner: Any, name: str, value: Any, *, is_constant: bool) -> None:
    """Gives an attribute of a module or class the value of its counterpart in changed code."""
    old: Any = vars(owner).get(name)
    new: Any
    old, new = (getattr(each, "__wrapped__", each) for each in (old, value))
    old, new = (each.fget if isinstance(each, property) else each for each in (old, new))
    if isinstance(old, FunctionType) and isinstance(new, FunctionType):
        if new.__module__ == old.__module__ and new.__code__.co_freevars == old.__code__.co_freevars:
            old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
    elif isinstance(old, type) and isinstance(new, type) and new.__module__ == old.__module__:
        for each, method in vars(new).items():
            _replaced(old, each, method, is_constant=False)
    elif is_constant and isinstance(old, dict):
        own = {key: old[key] for key in new if _is_same_function(old.get(key), new[key])}
        for table in [*_copies(old), old]:
            rest = {key: each for key, each in table.items() if key not in old}
            table.clear()
            table.update({**rest, **new, **own})
    elif is_constant:
        setattr(owner, name, value)
    with contextlib.suppress(AttributeError, KeyError):
        vars(owner)[name].cache_clear()


def _copies(table: dict[Any, Any]) -> list[dict[Any, Any]]:
    """Returns the tables of the product that were made of a table and others."""
    modules = [each for name, each in sys.modules.items() if name.partition(".")[0] in PRODUCT]
    tables = [each for module in modules for each in vars(module).values() if type(each) is dict]
    return [each for each in tables if each is not table and table and table.items() <= each.items()]


def _is_same_function(old: Any, new: Any) -> bool:
    return isinstance(old, FunctionType) and isinstance(new, FunctionType) and old.__qualname__ == new.__qualname__


class Planter:
    """A plugin of pytest that runs the collected tests with each mutant, in a process for each."""

    def __init__(self, mutants: Sequence[Drawn], module: ModuleType, jobs: int, seconds: int) -> None:
        self.mutants, self.module, self.jobs, self.seconds = mutants, module, jobs, seconds
        self.counts = {"died": 0, "survived": 0, "equivalent": 0}
        self._running: dict[int, Drawn] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Runs all tests without a mutant, and then with each."""
        if not _passes(session):
            print("the tests fail without any mutant")
            return True
        for one in self.mutants:
            if one.reason:
                self.counts["equivalent"] += 1
                continue
            if len(self._running) == self.jobs:
                self._wait()
            self._running[self._started(one, session)] = one
        while self._running:
            self._wait()
        return True

    def _started(self, one: Drawn, session: pytest.Session) -> int:
        """Starts a process that exits with 0 where a mutant survives; returns its number."""
        number = os.fork()
        if number:
            return number
        signal.setitimer(signal.ITIMER_PROF, self.seconds)  # both clocks: a test may wait for a process
        signal.alarm(_SLACK * self.seconds)
        code = 1
        with contextlib.suppress(BaseException):
            planted(self.module, one.change.applied(one.code))
            code = int(not _passes(session))
        os._exit(code)

    def _wait(self) -> None:
        number, status = os.wait()
        one = self._running.pop(number)
        self.counts["died" if status else "survived"] += 1
        if not status:
            print(f"survived {one}", flush=True)


def _passes(session: pytest.Session) -> bool:
    """Runs the collected tests until one fails."""
    for item in session.items:
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=None)
        if session.testsfailed:
            return False
    return True


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.complete")
    parser.add_argument("file", help="the file of the product, from the repository's folder on")
    parser.add_argument("--lines", type=int, nargs="+", help="mutants of these lines only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=10, help="more processor time counts as a failure")
    parser.add_argument("tests", nargs="+", help="tests, and other arguments of pytest")
    wanted = parser.parse_args(arguments)
    module = importlib.import_module(wanted.file.removesuffix(".py").replace("/", "."))
    mutants = [each for each in drawn_of(wanted.file) if not wanted.lines or each.change.line in wanted.lines]
    planter = Planter(mutants, module, wanted.jobs, wanted.seconds)
    pytest.main(["-s", "-p", "no:cacheprovider", "-p", "no:xdist", "--no-header", *wanted.tests], plugins=[planter])
    counts = ", ".join(f"{count} {word}" for word, count in planter.counts.items())
    print(f"{wanted.file}: {len(planter.mutants)} mutants, {counts}")
    return int(planter.counts["survived"] > 0 or sum(planter.counts.values()) < len(planter.mutants))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
