"""The order of edited instructions against a plain list."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given, settings, strategies as st

from dialect_utils.hlo.graph import Order


@dataclass(eq=False)
class Item:
    position: int


def check(order: Order[Item], model: list[Item], gone: list[Item]) -> None:
    assert list(order) == model
    assert order.last is (model[-1] if model else None)
    for index, item in enumerate(model):
        assert item in order
        assert order.before(item) is (model[index - 1] if index else None)
        assert order.after(item) is (model[index + 1] if index + 1 < len(model) else None)
    for first, second in pairwise(model):
        assert order.precedes(first, second)
        assert not order.precedes(second, first)
    assert not any(item in order for item in gone)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 6), st.lists(st.tuples(st.integers(0, 4), st.integers(0, 1000)), max_size=60))
def test_against_a_list(count: int, edits: list[tuple[int, int]]) -> None:
    model = [Item(index) for index in range(count)]
    order, gone = Order(list(model)), []
    for kind, number in edits:
        if kind == 0 and model:
            removed = model.pop(number % len(model))
            order.remove(removed)
            gone.append(removed)
        else:
            # Always at one place, or anywhere.
            place = min(kind - 1, len(model)) if kind in (1, 2) else number % (len(model) + 1)
            made = Item(-1)
            order.insert_after(model[place - 1] if place else None, made)
            model.insert(place, made)
    check(order, model, gone)


def test_thousands_at_one_place() -> None:
    first, last = Item(0), Item(1)
    order = Order([first, last])
    model = [first, last]
    for _ in range(3000):
        made = Item(-1)
        order.insert_after(first, made)
        model.insert(1, made)
    check(order, model, [])


def test_several_at_once() -> None:
    first, last = Item(0), Item(1)
    order, model = Order([first, last]), [first, last]
    for count in (1, 5, 2, 40, 3000):
        made = [Item(-1) for _ in range(count)]
        order.insert_after(first, *made)
        model[1:1] = made
    made = [Item(-1), Item(-1)]
    order.insert_after(None, *made)
    check(order, [*made, *model], [])


def test_a_snapshot_stays_as_it_was() -> None:
    first, second = Item(0), Item(1)
    order = Order([first, second])
    snapshot = order.items
    order.remove(first)
    assert list(snapshot) == [first, second]
    assert list(order.items) == [second]


def test_an_item_of_another_order_is_not_in_it() -> None:
    assert Item(0) not in Order([Item(0)])
