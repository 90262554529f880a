"""Texts on which this verifier and XLA disagree: each has a reason in the table of the campaign."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from itertools import islice

import pytest

from dialect_utils.execution import Worker
from tests.campaign_verifier.comparison import SECONDS, Comparer
from tests.campaign_verifier.mutations import Mutant, mutants
from tests.campaign_verifier.reasons import reason_for

_SEED, _COUNT = 3, 40


def _module(parameter: str, body: str = "ROOT n = f32[4,4] negate(p)", header: str = "", computations: str = "") -> str:
    return f"HloModule m{header}\n\n{computations}ENTRY e {{\n  {parameter}\n  {body}\n}}\n"


_P = "p = f32[4,4]{1,0} parameter(0)"
_RIGHT = _module(_P)
_UNUSED = "c {\n  x = f32[4,4] parameter(0)\n  y = f32[4,4] negate(x)\n  ROOT z = f32[4,4] abs(x)\n}\n\n"
# A text, whether only XLA rejects it, and a part of the reason.
DIFFERENCES = [
    (_module("p = f32[4,4]{1,0:T(*,8)} parameter(0)"), True, "aborts at tiles"),
    (_module("p = f32[?,4] parameter(0)", "ROOT n = f32[?,4] negate(p)"), True, "by option"),
    (_module(f"{_P}, sharding={{devices=[2,2]<=[2,2]T(1,1)}}"), False, "that repeats one"),
    (_module(_P, header=", replica_count=-1"), False, "counts of devices below 0"),
    (
        _module(_P, "ROOT f = f32[4,4] fusion(p), kind=kLoop, calls=c", computations=_UNUSED),
        False,
        "unused instructions",
    ),
    (_module(f'{_P}, origin={{({{"a"}})}}'), False, "drops origins"),
]
# Texts that both reject.
REJECTED = [
    _module(f"{_P}, sharding={{{{{{replicated}}}}}}"),
    _module(f"{_P}, sharding={{devices=[2,2]0,1,2,3, last_tile_dim_replicate}}"),
    _module(f"{_P}, sharding={{devices=[2,1,2]<=[4] last_tile_dims={{foo}}}}"),
    _module(f"{_P}, sharding={{maximal}}"),
    _module(f'{_P}, metadata={{op_name\n="a"}}'),
    _module(f"{_P}, parameter_replication={{true,false}}"),
    _module(_P, "ROOT n = f32[4,4] negate(p), parameter_replication={true}"),
    _module("p = f32[4,4]{1,0:#(u32)} parameter(0)"),
    _module("p = f32[4,\x0b4] parameter(0)"),
    _module(_P).replace("ENTRY e {", "ENTRY e (: f32[4,4]) -> f32[4,4] {"),
    _module(_P).replace("ENTRY e {", "ENTRY e (p: f32[4,4]) -> f32[4,4]] {"),
    _module("p = f32[4,4]{1,0} constant(...})"),
]


@pytest.fixture(scope="module")
def comparer() -> Iterator[Comparer]:
    with Worker(timeout=SECONDS) as worker:
        yield Comparer(worker)


@pytest.mark.parametrize(("text", "is_only_xla", "reason"), DIFFERENCES)
def test_each_difference_has_a_reason(comparer: Comparer, text: str, is_only_xla: bool, reason: str) -> None:
    found = comparer.compare(Mutant("written", _RIGHT, text))
    if is_only_xla and found.outcome == "both accept":
        pytest.skip(f"jaxlib {version('jaxlib')} accepts it, too")
    assert found.outcome == ("accepted here" if is_only_xla else "refused here"), found
    assert reason in (reason_for(found, text) or "")


@pytest.mark.parametrize("text", REJECTED)
def test_texts_that_xla_rejects_are_rejected(comparer: Comparer, text: str) -> None:
    assert comparer.compare(Mutant("written", _RIGHT, text)).outcome == "both refuse"


def test_mutated_texts_differ_for_known_reasons(comparer: Comparer) -> None:
    differences = ("accepted here", "refused here")
    found = [(mutant, comparer.compare(mutant)) for mutant in islice(mutants(_SEED), _COUNT)]
    assert [
        each for mutant, each in found if each.outcome in differences and reason_for(each, mutant.text) is None
    ] == []
