"""A query of a module, or a request for a builder, does not change the text."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from dialect_utils.hlo import Computation, HloModule, Instruction, parse_module
from dialect_utils.text import DiagnosticError
from tests.hlo.texts import IN_TREE, MODULE, REJECTED, SHARED, read, shared_dumps

# Every query method, with arguments made from the object; properties are found by inspection.
QUERIES: dict[type, dict[str, Callable[[object], tuple[object, ...]]]] = {
    HloModule: {
        "try_entry": lambda _: (),
        "find": lambda _: ("nothing",),
        "clone": lambda _: (),
        "text": lambda _: (),
        "fresh_name": lambda _: ("name",),
    },
    Computation: {"find": lambda _: ("nothing",), "text": lambda _: ()},
    Instruction: {
        "attribute": lambda _: ("metadata",),
        "ints": lambda _: ("dimensions",),
        "locate": lambda _: ("shape",),
        "locate_name": lambda _: ("metadata", "name"),
        "text": lambda _: (),
    },
}


def objects_of(module: HloModule) -> Iterator[object]:
    yield module
    for computation in module.computations:
        yield computation
        yield from computation.instructions


def ask_everything(module: HloModule) -> int:
    """Reads every property, calls every query and requests every builder of a module; returns the number of answers."""
    asked = 0
    for thing in objects_of(module):
        cls = next(each for each in QUERIES if isinstance(thing, each))
        questions: list[Callable[[], object]] = [
            lambda thing=thing, name=name: getattr(thing, name)  # type: ignore[misc]
            for name in dir(cls)
            if isinstance(vars(cls).get(name), property)
        ]
        questions += [
            lambda thing=thing, name=name, make=make: getattr(thing, name)(*make(thing))  # type: ignore[misc]
            for name, make in QUERIES[cls].items()
        ]
        if isinstance(thing, Instruction):
            questions += [lambda item=thing: module.before(item), lambda item=thing: module.after(item)]  # type: ignore[misc]
        if isinstance(thing, Computation):
            questions.append(lambda function=thing: module.at_end(function))  # type: ignore[misc]
        for question in questions:
            try:
                question()
            except DiagnosticError:
                # An error is an answer: a fragment has no entry, a damaged attribute cannot be split.
                continue
            asked += 1
    return asked


def leaves_the_text(text: str) -> bool:
    module = parse_module(text)
    assert ask_everything(module) > len(list(objects_of(module)))
    if module.text() != text or module.clone().text() != text:
        return False
    # The joined parts also equal the text.
    module.mark_edited()
    for computation in module.computations:
        computation.edits.any = computation.owner is None
    return module.text() == text


@pytest.mark.parametrize("path", [p for p in IN_TREE if p.name not in REJECTED], ids=lambda path: path.stem)
def test_asking_never_edits(path: Path) -> None:
    assert leaves_the_text(read(path))


@pytest.mark.shared(SHARED)
def test_asking_never_edits_shared_dumps() -> None:
    for path in shared_dumps()[::8]:
        assert leaves_the_text(read(path)), path


def test_a_query_that_edits_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def metadata(item: Instruction) -> str | None:
        item.set_frontend_attribute("asked", "1")
        return None

    monkeypatch.setattr(Instruction, "metadata", property(metadata))
    assert not leaves_the_text(MODULE)


def test_an_unmarked_root_is_marked_only_where_something_comes_after_it() -> None:
    text = "ENTRY e {\n  p = f32[2]{0} parameter(0)\n  q = f32[2]{0} negate(p)\n}\n"
    module = parse_module(text)
    root = module.entry.root
    module.before(root).copy(root.operands[0], root.shape, name="c", like=root)
    assert module.text() == text.replace("  q", "  c = f32[2]{0} copy(p)\n  q")
    module.at_end(module.entry).copy(root, root.shape, name="d", like=root)
    assert "ROOT q = f32[2]{0} negate(p)" in module.text()
    assert parse_module(module.text()).entry.root.name == "q"
