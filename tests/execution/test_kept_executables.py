"""The worker keeps the executables of the programs that it ran last."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dialect_utils.execution import adapter, engines

# The private names are those of the table itself, which no answer shows.
MOST, LONGEST = engines._MOST_KEPT, engines._MOST_KEPT_CHARACTERS  # noqa: SLF001


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, dict[str, int], int]]]:
    """Yields the list of the programs that are compiled from now on, with their options and devices."""
    found: list[tuple[str, dict[str, int], int]] = []
    monkeypatch.setattr(adapter, "cpu_client", lambda devices: None)
    monkeypatch.setattr(adapter, "compile_module", lambda client, *given: found.append(given))
    monkeypatch.setattr(engines, "signature", lambda program: ([], []))
    engines._kept.cache_clear()  # noqa: SLF001
    yield found
    engines._kept.cache_clear()  # noqa: SLF001


def test_a_program_that_runs_again_with_its_options_is_not_compiled_again(
    compiled: list[tuple[str, dict[str, int], int]],
) -> None:
    every = [("a", {}, 1), ("b", {}, 1), ("a", {"level": 0}, 1), ("a", {"level": 1}, 1), ("a", {}, 2)]
    for given in (*every, *every):
        engines.prepare_xla(*given)
    assert compiled == every


def test_only_the_last_programs_are_kept_and_no_long_one(compiled: list[tuple[str, dict[str, int], int]]) -> None:
    for number in range(MOST + 1):
        engines.prepare_xla(f"program {number}", {})
    engines.prepare_xla(f"program {MOST}", {})
    assert len(compiled) == MOST + 1
    engines.prepare_xla("program 0", {})
    assert len(compiled) == MOST + 2
    for length, count in ((LONGEST, 1), (LONGEST + 1, 2)):
        compiled.clear()
        engines.prepare_xla("a" * length, {})
        engines.prepare_xla("a" * length, {})
        assert len(compiled) == count
