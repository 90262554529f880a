"""Where the reads of two plans differ, asked of isl: the result's indices in parts, each of one pad or of elements."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from dialect_utils.layout.proof.backwards import Read, Stop
from dialect_utils.layout.proof.presburger import Terms


def _parts(terms: Terms, read: Read) -> Iterator[tuple[isl.Set, Stop | None]]:
    rest = terms.domain([])
    for stop in read.stops:
        kept = terms.domain(stop.conditions)
        yield rest.subtract(kept), stop
        rest = rest.intersect(kept)
    yield rest, None


def first_difference(terms: Terms, first: Read, second: Read) -> tuple[int, ...] | None:
    """Returns the first index of the result at which the reads differ, or None."""
    others = list(_parts(terms, second))
    found = isl.Set.empty(terms.local.get_space())
    for part, stop in _parts(terms, first):
        for other_part, other in others:
            both = part.intersect(other_part)
            if not both.is_empty() and (stop is None or stop.padding is not None):
                found = found.union(_different_in(terms, both, (first, stop), (second, other)))
    return None if found.is_empty() else terms.sample(found.lexmin())


def _different_in(
    terms: Terms, both: isl.Set, first: tuple[Read, Stop | None], second: tuple[Read, Stop | None]
) -> isl.Set:
    stop, other = first[1], second[1]
    if stop is None and other is None:
        places = first[0].place, second[0].place
        pairs = list(zip(places[0].coordinates, places[1].coordinates, strict=True))
        pairs.append((places[0].unit, places[1].unit))
    elif stop is None or other is None or stop.padding != other.padding:
        return both
    else:
        pairs = [(stop.unit, other.unit)]
    found = isl.Set.empty(both.get_space())
    for a, b in pairs:
        found = found.union(terms.aff(a).ne_set(terms.aff(b)).intersect(both))
    return found
