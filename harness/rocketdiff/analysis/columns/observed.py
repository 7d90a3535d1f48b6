"""
The pass over a case in columns: sends that are not calm become objects and are observed in order; calm sends are tallied.

``Loss``, ``Order`` and ``Avoidance`` keep state from earlier sends; they receive the part that comes from calm sends.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from rocketdiff.analysis.case_trace import CaseTrace
from rocketdiff.analysis.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.checks.sending.by_rules.avoidance import Avoidance
from rocketdiff.analysis.checks.storage.loss import Loss, note_strays
from rocketdiff.analysis.checks.storage.order import Order
from rocketdiff.analysis.columns.arm_columns import MISSING, Ints, integers_or
from rocketdiff.analysis.columns.calm_sends import add_calm_sends
from rocketdiff.analysis.columns.calm_tallies import OrderedCollector
from rocketdiff.analysis.columns.case_columns import CaseColumns, wall_ms
from rocketdiff.analysis.columns.judged_views import JudgedViews
from rocketdiff.analysis.send_view import SendView
from rocketdiff.analysis.steps.aligned import AlignedSend, aligned
from rocketdiff.analysis.steps.reconciled import reconciled
from rocketdiff.analysis.steps.rulebook import Rulebook
from rocketdiff.core.arm import Arm
from rocketdiff.traces.schema import TableName

STRETCH = 1 << 20
"""Planned sends per stretch, which bounds the objects in memory; usually a few per cent become objects."""


def observe_in_columns(
    trace: CaseTrace,
    case: CaseColumns,
    rulebook: Rulebook,
    context: CaseContext,
    collector: OrderedCollector,
    observers: Sequence[CaseObserver],
    *,
    is_replayed: bool = True,
) -> None:
    """Pass the sends that are not calm to the observers, tally the calm ones. is_replayed: an observer needs judgements."""
    for arm in Arm:
        stored = case.arms[arm].stored
        collector.count("stored", str(arm), "", "message", n=stored.rows)
        collector.count("foreign", str(arm), "", "message", n=stored.foreign)
        if stored.foreign:
            note_strays(arm, stored.strays().strays(), context)
    rest = _Rest(trace, case, rulebook, context, collector, observers, is_replayed=is_replayed)
    done = 0
    while done < case.keys.size:
        done = rest.observe(done, min(done + STRETCH, case.keys.size))
    rest.tell_last_attempts()
    collector.at = case.keys.size
    for observer in observers:
        observer.finish()
    add_calm_sends(case, context, collector)


class _Rest:
    def __init__(
        self,
        trace: CaseTrace,
        case: CaseColumns,
        rulebook: Rulebook,
        context: CaseContext,
        collector: OrderedCollector,
        observers: Sequence[CaseObserver],
        *,
        is_replayed: bool,
    ) -> None:
        self._trace = trace
        self._case = case
        self._collector = collector
        self._observers = observers
        self._is_replayed = is_replayed
        self._loss = next((each for each in observers if isinstance(each, Loss)), None)
        self._avoidance = next((each for each in observers if isinstance(each, Avoidance)), None)
        self._order = None if case.rotates else next((each for each in observers if isinstance(each, Order)), None)
        self._clocks = () if self._loss is None else tuple(_running_bounds(case, context))
        self._judged = {
            arm: JudgedViews(trace, rulebook.rules[arm], part.columns, part.turns, context.times, rotates=case.rotates)
            for arm, part in case.arms.items()
        }

    def observe(self, begin: int, end: int) -> int:
        """Pass the sends of a stretch that are not calm to the observers; returns its end, which may be later."""
        found, end = self._found(begin, end)
        places = np.flatnonzero(self._case.slow[begin:end]) + begin
        sides = [self._reconciled(arm, found[arm], places) for arm in Arm]
        bounds = [np.searchsorted(clock.places, places) - 1 for clock in self._clocks]
        for number, send in enumerate(aligned(*sides)):
            self._collector.at = int(places[number])
            for clock, before in zip(self._clocks, bounds, strict=True):
                if self._loss is not None and before[number] >= 0:
                    self._loss.tell_clock(clock.broker, float(clock.least_ms[before[number]]))
            if self._order is not None:
                self._tell_order(send, int(places[number]), self._order)
            for observer in self._observers:
                observer.observe(send)
        return end

    def _tell_order(self, send: AlignedSend, place: int, order: Order) -> None:
        for side in send.sides:
            lanes, view = self._case.arms[side.arm].lanes, int(self._case.views[side.arm][place])
            assert lanes is not None, "the application names the queues"
            for copy in side.copies or ():
                before = lanes.before(view, self._case.brokers.code(copy.broker), copy.queue_id)
                if before is not None:
                    order.tell(side, copy, before)

    def tell_last_attempts(self) -> None:
        """Pass each thread's last start: an absence that did not end lasted at least until then."""
        for arm, part in self._case.arms.items() if self._avoidance is not None else ():
            assert self._avoidance is not None
            columns = part.columns
            tried = np.flatnonzero(columns.attempts > 0)
            last = tried[np.append(np.diff(columns.threads[tried]) > 0, tried.size > 0)[: tried.size]]
            rows = columns.first_attempt[last] + columns.attempts[last] - 1
            starts_ns = integers_or(self._trace.tables[TableName.ATTEMPTS, arm].column("start_ns"), 0)[rows]
            self._avoidance.tell_last_attempts(
                arm, zip(columns.threads[last].tolist(), starts_ns.tolist(), strict=True)
            )

    def _found(self, begin: int, end: int) -> tuple[dict[Arm, dict[int, SendView]], int]:
        """Judge the views of a stretch; returns them by number, and the end, which replayed views may have moved."""
        found: dict[Arm, dict[int, SendView]] = {arm: {} for arm in Arm}
        done, case = begin if self._is_replayed else end, self._case
        while done < end:
            places = np.flatnonzero(case.slow[done:end]) + done
            done = end
            for arm in Arm:
                views = case.views[arm][places]
                new = [view for view in views.tolist() if view != MISSING and view not in found[arm]]
                judged = self._judged[arm].judged(np.array(new, dtype=np.int64))
                found[arm].update(judged)
                own = case.arms[arm].columns.keys[np.array(list(judged), dtype=np.int64)]
                where = np.searchsorted(case.keys, own)
                case.slow[where] = True
                end = max(end, int(where.max(initial=-1)) + 1)
        return found, end

    def _reconciled(self, arm: Arm, found: dict[int, SendView], places: Ints) -> Iterator[SendView]:
        views = self._case.views[arm][places]
        views = views[views != MISSING]
        more = np.array([view for view in views.tolist() if view not in found], dtype=np.int64)
        found = found | self._judged[arm].as_expected(more)
        part = self._case.arms[arm]
        copies = part.stored.only_of(part.columns.sends[views])
        return reconciled((found[view] for view in views.tolist()), copies)


@dataclass(frozen=True, slots=True)
class _RunningBound:
    """Upper bound of a broker clock's lead after each baseline send that shows it; places are sorted."""

    broker: str
    places: Ints
    least_ms: "np.ndarray[tuple[int], np.dtype[np.float64]]"


def _running_bounds(case: CaseColumns, context: CaseContext) -> Iterator[_RunningBound]:
    """Yield what ``Acknowledged`` would learn from simple sends; it observes the others itself."""
    part, clock = case.arms[Arm.BASELINE], context.entry.clock
    if clock is None:
        return
    columns = part.columns
    telling = np.flatnonzero(columns.simple & part.stored.at_home)
    bounds = part.stored.store_ms[telling] - wall_ms(clock, columns.start_ns[telling])
    places = np.searchsorted(case.keys, columns.keys[telling])
    for code, broker in enumerate(case.brokers.words):
        here = columns.broker[telling] == code
        if bool(here.any()):
            yield _RunningBound(broker, places[here], np.minimum.accumulate(bounds[here]))
