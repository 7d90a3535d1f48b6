"""
Which views the rules explain for certain, each by the one before it in its thread: the oracle's part, without the oracle.

From call to call the rules know the thread's counter. It is known after any call that the rules explained, and while no broker is
avoided the next first attempt goes to the next queue of the list; with a queue or a selector given, to the one that follows from
the argument. A view keeps its turn if it is simple, and its queue follows that of the last attempt of the view before; with fault
latency, if it was also so quick that it costs its broker no avoidance. Whether the counter was known and nothing avoided where
such a stretch began, which may be after a call that failed or was made again, is asked of the replay (``judged_views``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rocketdiff.analysis.columns.arm_columns import MISSING, ArmColumns, Ints, Mask, Words, longest_wait_ms, place_of
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.sends.records import NS_PER_MS
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.interval import PHASE_MS
from rocketdiff.oracle.producer.states.hidden_state import SLOW_MS

Routes = Mapping[int, tuple[tuple[str, int], ...]]

ROTATING = frozenset({SendKind.PLAIN, SendKind.BATCH})
"""Calls that leave the queue to the client."""

GIVEN = frozenset({SendKind.QUEUE, SendKind.SELECTOR})
"""Calls in which the application says it."""


@dataclass(frozen=True, slots=True)
class Turns:
    """
    By view.

    keeps: whether it keeps its turn. position: of its last attempt's queue in its list, MISSING where it is not in it; total:
    length of that list.
    """

    keeps: Mask
    position: Ints
    total: Ints


def turns_of(columns: ArmColumns, routes: Routes, kind: SendKind, brokers: Words, settings: ClientSettings) -> Turns:
    """The turns of an arm whose sends are all of one kind."""
    position = np.full(columns.keys.size, MISSING, dtype=np.int64)
    expected = np.full(columns.keys.size, MISSING, dtype=np.int64)
    total = np.zeros(columns.keys.size, dtype=np.int64)
    for route, queues in routes.items():
        places = [int(place_of(np.array(brokers.code(broker)), np.array(queue))) for broker, queue in queues]
        if not places or len(set(places)) < len(places) or MISSING in places:
            continue
        here = slice(None) if bool((columns.route == route).all()) else np.flatnonzero(columns.route == route)
        total[here] = len(places)
        position[here] = _positions(np.array(places), columns.last_place[here])
        if kind in GIVEN:
            given = places if kind is SendKind.SELECTOR else _sorted_as_words(queues, places)
            expected[here] = np.array(given)[columns.argument[here] % len(given)]
    simple = columns.simple & (position >= 0) & (longest_wait_ms(columns) <= settings.send_msg_timeout_ms)
    follows = simple.copy()
    follows[:1] = False
    follows[1:] &= (columns.threads[1:] == columns.threads[:-1]) & (columns.route[1:] == columns.route[:-1])
    if kind in GIVEN:
        follows[1:] &= simple[:-1]
        follows &= columns.place == expected
    else:
        follows[1:] &= (position[:-1] >= 0) & (position[1:] == (position[:-1] + 1) % np.maximum(total[1:], 1))
        if settings.send_latency_fault_enable:
            follows[1:] &= _costs_nothing(columns)[1:] & (columns.start_ns[1:] >= columns.end_ns[:-1])
    return Turns(follows, position, total)


def _costs_nothing(columns: ArmColumns) -> Mask:
    """Whether an attempt was over sooner than any release takes note of, whatever its client's clock showed."""
    longest_ms = columns.end_ns // NS_PER_MS + PHASE_MS - columns.start_ns // NS_PER_MS
    return np.asarray(
        (longest_ms < SLOW_MS) & (columns.tried_ns >= columns.start_ns) & (columns.end_ns >= columns.answered_ns)
    )


def _positions(places: Ints, seen: Ints) -> Ints:
    order = np.argsort(places)
    found = np.minimum(np.searchsorted(places[order], seen), places.size - 1)
    return np.where(places[order][found] == seen, order[found], MISSING)


def _sorted_as_words(queues: tuple[tuple[str, int], ...], places: list[int]) -> list[int]:
    """Places in the order of their brokers' names and queue numbers."""
    return [place for _, place in sorted(zip(queues, places, strict=True))]
