"""
The pass over a case in columns: sends that are not calm become objects and are observed in order.

Observers that keep state from earlier sends ask what calm ones show (``CalmBefore``).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rocketdiff.analysis.case_trace import integers
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.sending.checks.storage.loss import note_strays
from rocketdiff.analysis.sending.columns.arm_columns import MISSING, Ints
from rocketdiff.analysis.sending.columns.calm_tallies import OrderedCollector
from rocketdiff.analysis.sending.columns.case_columns import CaseColumns
from rocketdiff.analysis.sending.columns.judged_choices import JudgedChoices
from rocketdiff.analysis.sending.columns.judged_views import JudgedViews
from rocketdiff.analysis.sending.send_view import Copy, SendView
from rocketdiff.analysis.sending.steps.aligned import aligned
from rocketdiff.analysis.sending.steps.reconciled import reconciled
from rocketdiff.analysis.sending.wall_times import wall_range_ms
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.traces.schema import TableName

STRETCH = 1 << 20
"""Planned sends per stretch, which bounds the objects in memory; usually a few per cent become objects."""


class ColumnPass:
    """Passes the sends that are not calm to the observers. is_replayed: an observer needs judgements."""

    def __init__(
        self,
        case: CaseColumns,
        context: CaseContext,
        collector: OrderedCollector,
        observers: Sequence[CaseObserver],
        *,
        is_replayed: bool,
    ) -> None:
        trace, rules = context.trace, context.rulebook.rules
        self._case = case
        self._context = context
        self._collector = collector
        self._observers = observers
        self._is_replayed = is_replayed
        self._calm = _CalmBefore(case, context)
        self._with_state = [each for each in observers if type(each).calm_before is not CaseObserver.calm_before]
        self._judged = {
            arm: (JudgedViews if part.turns.choices is None else JudgedChoices)(
                trace, rules[arm], part.columns, part.turns, context.times, case.brokers, rotates=case.rotates
            )
            for arm, part in case.arms.items()
        }

    def run(self) -> None:
        for arm in Arm:
            stored = self._case.arms[arm].stored
            self._collector.count("stored", str(arm), "", "message", n=stored.rows)
            self._collector.count("foreign", str(arm), "", "message", n=stored.foreign)
            if stored.foreign:
                note_strays(arm, stored.strays().strays(), self._context)
        done, sends = 0, self._case.keys.size
        while done < sends:
            done = self._observe(done, min(done + STRETCH, sends))
        self._finish()

    def _observe(self, begin: int, end: int) -> int:
        """Pass the sends of a stretch that are not calm to the observers; returns its end, which may be later."""
        found, end = self._found(begin, end)
        places = np.flatnonzero(self._case.slow[begin:end]) + begin
        sides = [self._reconciled(arm, found[arm], places) for arm in Arm]
        self._calm.begin(places)
        for place, send in zip(places.tolist(), aligned(*sides), strict=True):
            self._collector.at = place
            self._calm.go_to(place)
            for observer in self._with_state:
                observer.calm_before(send, self._calm)
            for observer in self._observers:
                observer.observe(send)
        return end

    def _finish(self) -> None:
        self._collector.at = self._case.keys.size
        for observer in self._observers:
            observer.calm_at_end(self._calm)
        for observer in self._observers:
            observer.finish()

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


class _CalmBefore:
    """What calm sends show before the planned send at hand (``CalmBefore``)."""

    def __init__(self, case: CaseColumns, context: CaseContext) -> None:
        self._case = case
        self._context = context
        self.has_lanes = not case.rotates
        self._leads: list[tuple[str, list[float | None]]] = []

    def begin(self, places: Ints) -> None:
        """Look up all places of a stretch at once, which is faster than one after another."""
        self._number = -1
        self._leads = [(bound.broker, bound.before(places)) for bound in self._bounds]

    def go_to(self, place: int) -> None:
        """Go on to the next place of the stretch."""
        self._place, self._number = place, self._number + 1

    def clock_leads(self) -> Iterator[tuple[str, float]]:
        for broker, leads_ms in self._leads:
            lead_ms = leads_ms[self._number]
            if lead_ms is not None:
                yield broker, lead_ms

    def last_in_lane(self, side: SendView, copy: Copy) -> tuple[int, int] | None:
        lanes = self._case.arms[side.arm].lanes
        if lanes is None:
            return None
        view = int(self._case.views[side.arm][self._place])
        return lanes.before(view, self._case.brokers.code(copy.broker), copy.queue_id)

    def calls_ms(self) -> tuple[Iterable[float], Iterable[float]]:
        case = self._case
        if case.mode is SendMode.SYNC:
            return (), ()
        calm = np.flatnonzero(~case.slow & case.returned)
        arms = [(case.arms[arm].columns, case.views[arm][calm]) for arm in Arm]
        usual_ms, took_ms = ((each.returned_ns - each.start_ns)[views] / NS_PER_MS for each, views in arms)
        return usual_ms.tolist(), took_ms.tolist()

    def last_attempts(self, arm: Arm) -> Iterable[tuple[int, int]]:
        columns = self._case.arms[arm].columns
        tried = np.flatnonzero(columns.attempts > 0)
        last = tried[np.append(np.diff(columns.threads[tried]) > 0, True)[: tried.size]]
        rows = columns.first_attempt[last] + columns.attempts[last] - 1
        table = self._context.trace.tables[TableName.ATTEMPTS, arm]
        starts_ns = integers(table.column("start_ns"))[rows]
        return zip(columns.threads[last].tolist(), starts_ns.tolist(), strict=True)

    @cached_property
    def _bounds(self) -> tuple["_RunningBound", ...]:
        return tuple(_running_bounds(self._case, self._context))


@dataclass(frozen=True, slots=True)
class _RunningBound:
    """Upper bound of a broker clock's lead after each baseline send that shows it; places are sorted."""

    broker: str
    places: Ints
    least_ms: "np.ndarray[tuple[int], np.dtype[np.float64]]"

    def before(self, places: Ints) -> list[float | None]:
        """Return the bound before each place; None before the first."""
        numbers = np.searchsorted(self.places, places) - 1
        leads_ms: list[float | None] = self.least_ms[numbers].tolist()
        return [None if number < 0 else lead_ms for number, lead_ms in zip(numbers.tolist(), leads_ms, strict=True)]


def _running_bounds(case: CaseColumns, context: CaseContext) -> Iterator[_RunningBound]:
    """Yield what ``Acknowledged`` would learn from simple sends; it observes the others itself."""
    part, clock = case.arms[Arm.BASELINE], context.entry.clock
    if clock is None or case.mode is SendMode.ONEWAY:
        return
    columns = part.columns
    telling = np.flatnonzero(columns.simple & part.stored.at_home)
    began_ms, _ = wall_range_ms(clock, columns.start_ns[telling], columns.end_ns[telling])
    bounds = part.stored.store_ms[telling] - began_ms
    places = np.searchsorted(case.keys, columns.keys[telling])
    for code, broker in enumerate(case.brokers.words):
        here = columns.broker[telling] == code
        if bool(here.any()):
            yield _RunningBound(broker, places[here], np.minimum.accumulate(bounds[here]))
