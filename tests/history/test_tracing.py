"""The first module with an instruction: the modules of a compilation are read backwards, as far as needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from dialect_utils.history.tracing import History, Introduced, Load
from dialect_utils.hlo import parse_module
from dialect_utils.ir import Module
from dialect_utils.layout import Layout
from dialect_utils.text import Diagnostic, DiagnosticError

HEAD = "HloModule m\n\nENTRY e {\n  x = f32[4,8]{1,0} parameter(0)\n  "
PLAIN = HEAD + "ROOT r = f32[4,8]{1,0} negate(x)\n}\n"
COPIED = HEAD + "c = f32[4,8]{0,1} copy(x)\n  ROOT r = f32[4,8]{0,1} negate(c)\n}\n"
RENAMED = COPIED.replace("c = ", "copy.7 = ").replace("(c)", "(copy.7)")


class Dumps:
    """The texts of a compilation, None for a file that cannot be read; `read` has the numbers that were loaded."""

    def __init__(self, *texts: str | None) -> None:
        self.texts = texts
        self.read: list[int] = []

    def loads(self) -> list[Load]:
        def load(number: int) -> Load:
            def read() -> Module | None:
                self.read.append(number)
                text = self.texts[number]
                return None if text is None else parse_module(text)

            return read

        return [load(number) for number in range(len(self.texts))]

    def files(self) -> list[Callable[[], bytes]]:
        return [partial(_data, text) for text in self.texts]


def _data(text: str | None) -> bytes:
    if text is None:
        raise DiagnosticError(Diagnostic("no such file"))
    return text.encode()


def traced(dumps: Dumps, name: str, layout: Layout | None = None, *, has_files: bool = False) -> Introduced:
    history = History(dumps.loads(), dumps.files() if has_files else ())
    assert history.final is not None
    _, graph = history.final
    [node] = [each for each in graph.nodes if each.name == name]
    return history.trace({node: layout})[node]


@pytest.mark.parametrize(
    ("texts", "number", "before", "name"),
    [
        ((PLAIN, COPIED), 1, 0, "c"),
        ((PLAIN, COPIED, COPIED), 1, 0, "c"),
        ((PLAIN, RENAMED, COPIED), 1, 0, "copy.7"),
        ((PLAIN, PLAIN, COPIED, RENAMED, COPIED), 2, 1, "c"),
        ((COPIED, RENAMED, COPIED), 0, None, "c"),
        ((COPIED, PLAIN, COPIED), 2, 1, "c"),
    ],
)
def test_an_instruction_begins_after_the_last_module_without_it(
    texts: tuple[str, ...], number: int, before: int | None, name: str
) -> None:
    for has_files in (False, True):
        found = traced(Dumps(*texts), "c", has_files=has_files)
        assert (found.number, found.before and found.before[0], found.node.name) == (number, before, name)
        assert found.node in found.graph.nodes


def test_a_module_with_the_same_lines_is_not_parsed() -> None:
    changed = COPIED.replace("negate", "abs")
    dumps = Dumps(PLAIN, COPIED, COPIED, None, changed, COPIED)
    found = traced(dumps, "c", has_files=True)
    assert (found.number, found.before and found.before[0]) == (1, 0)
    assert dumps.read == [5, 3, 0, 1]


def test_a_file_that_cannot_be_read_is_passed_over_and_named() -> None:
    dumps = Dumps(PLAIN, None, COPIED)
    history = History(dumps.loads())
    assert history.final is not None
    number, graph = history.final
    [node] = [each for each in graph.nodes if each.name == "c"]
    found = history.trace({node: None})[node]
    assert (number, found.number, found.before and found.before[0]) == (2, 2, 0)
    assert history.unread == [1]


def test_without_a_module_nothing_is_final() -> None:
    assert History(Dumps(None, None).loads()).final is None
    assert History([]).final is None
    found = History(Dumps(PLAIN, None).loads()).final
    assert found is not None
    assert found[0] == 0


def test_modules_before_the_begin_are_not_read() -> None:
    dumps = Dumps(PLAIN, PLAIN, PLAIN, COPIED)
    traced(dumps, "c")
    assert dumps.read == [3, 2]


def test_a_layout_begins_where_the_array_first_has_it() -> None:
    other = COPIED.replace("{0,1} negate", "{1,0} negate")
    dumps = Dumps(PLAIN, other, COPIED, COPIED)
    layout = Layout((0, 1))
    assert (traced(dumps, "r").number, traced(dumps, "r", layout).number) == (0, 2)
    assert traced(Dumps(COPIED, COPIED), "r", layout).number == 0


def test_two_instructions_have_two_begins() -> None:
    wide = "s = f32[4,8,2]{2,1,0} broadcast(c), dimensions={0,1}"
    both = f"negate(c)\n  {wide}\n  ROOT t = (f32[4,8], f32[4,8,2]) tuple(r, s)"
    last = COPIED.replace("ROOT r", "r").replace("negate(c)", both)
    history = History(Dumps(PLAIN, COPIED, last).loads())
    assert history.final is not None
    nodes = {each.name: each for each in history.final[1].nodes}
    found = history.trace({nodes["c"]: None, nodes["s"]: None, nodes["x"]: None})
    assert {name: found[nodes[name]].number for name in "csx"} == {"c": 1, "s": 2, "x": 0}
