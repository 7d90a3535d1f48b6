"""
Finds the views that the rules certainly explain, without the oracle, each from the previous view of its thread.

The thread's counter is known after any explained call. While no broker is avoided, the next first attempt goes to the next queue
of the list; with a given queue or selector, to the queue that follows from the argument. A view keeps its turn if it is simple
and its queue follows that of the last attempt of the previous view. A stretch of such views may begin after a failed or retried
call; the replay verifies that the counter was known there (``judged_views``). With fault latency a view may keep its turn if it
is so quick that its broker is not avoided afterwards; whether its queue is the right one is verified with the replay's state where
its stretch begins (``avoidance``).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from rocketdiff.analysis.sending.columns.arm_columns import (
    MISSING,
    ArmColumns,
    Ints,
    Mask,
    WordDictionary,
    longest_wait_ms,
    place_of,
)
from rocketdiff.analysis.sending.columns.choices import Choices
from rocketdiff.core.clock import STEADY, ClockAnchor
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.interval import PHASE_MS
from rocketdiff.oracle.producer.states.hidden_state import SLOW_MS

Routes = Mapping[int, tuple[tuple[str, int], ...]]

ROTATING = frozenset({SendKind.PLAIN, SendKind.BATCH})
"""Calls in which the client chooses the queue."""

GIVEN = frozenset({SendKind.QUEUE, SendKind.SELECTOR})
"""Calls in which the application names the queue."""


SPARE_MS = 10
"""Time left of an asynchronous send's timeout at its answer: more than the rounding that the rules of its end allow."""


@dataclass(frozen=True, slots=True)
class Turns:
    """
    Arrays by view.

    keeps: it keeps its turn, or with fault latency may. avoided: brokers that are avoided when it chooses, noted while stretches are
    verified. position: index of its last attempt's queue in its publish list, or MISSING. total: length of
    that list. choices: of asynchronous sends.
    """

    keeps: Mask
    position: Ints
    total: Ints
    avoided: Ints
    choices: Choices | None = None


def turns_of(
    columns: ArmColumns,
    routes: Routes,
    kind: SendKind,
    brokers: WordDictionary,
    settings: ClientSettings,
    clock: ClockAnchor = STEADY,
    choices: Choices | None = None,
) -> Turns:
    """Return the turns of an arm whose sends are all of one kind; a call during which the clock was stepped keeps none."""
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
    for from_ns, to_ns in clock.steps():
        simple &= (columns.end_ns < from_ns) | (columns.start_ns > to_ns)
    avoided = np.zeros(columns.keys.size, dtype=np.int64)
    if choices is not None:
        simple &= (columns.answered_ns - columns.start_ns) // NS_PER_MS <= settings.send_msg_timeout_ms - SPARE_MS
        keeps = choices.keeping(simple, position, total, columns.route)
        follows = np.zeros(columns.keys.size, dtype=np.bool_)
        follows[choices.views[keeps]] = True
        return Turns(follows, position, total, avoided, choices)
    follows = simple.copy()
    follows[:1] = False
    follows[1:] &= (columns.threads[1:] == columns.threads[:-1]) & (columns.route[1:] == columns.route[:-1])
    if kind in GIVEN:
        follows[1:] &= simple[:-1]
        follows &= columns.place == expected
    elif settings.send_latency_fault_enable:
        follows[1:] &= _costs_nothing(columns)[1:] & (columns.start_ns[1:] >= columns.end_ns[:-1])
    else:
        follows[1:] &= (position[:-1] >= 0) & (position[1:] == (position[:-1] + 1) % np.maximum(total[1:], 1))
    return Turns(follows, position, total, avoided)


def _costs_nothing(columns: ArmColumns) -> Mask:
    """True if an attempt was quicker than the lowest penalty threshold of any release, whatever its client's clock showed."""
    longest_ms = columns.end_ns // NS_PER_MS + PHASE_MS - columns.start_ns // NS_PER_MS
    return np.asarray(
        (longest_ms < SLOW_MS) & (columns.tried_ns >= columns.start_ns) & (columns.end_ns >= columns.answered_ns)
    )


def _positions(places: Ints, seen: Ints) -> Ints:
    order = np.argsort(places)
    found = np.minimum(np.searchsorted(places[order], seen), places.size - 1)
    return np.where(places[order][found] == seen, order[found], MISSING)


def _sorted_as_words(queues: tuple[tuple[str, int], ...], places: list[int]) -> list[int]:
    return [place for _, place in sorted(zip(queues, places, strict=True))]
