"""
Judges the views that become objects: by the replay, or with the certain result where a view keeps its turn.

The replay skips stretches of calm by counting their calls. If it does not know the hidden state at the beginning of a stretch,
the views of the stretch are replayed one by one until it does.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pyarrow as pa

from rocketdiff.analysis.case_trace import CaseTrace, TableKey, rows_at
from rocketdiff.analysis.sending.columns.arm_columns import ArmColumns, Ints, WordDictionary
from rocketdiff.analysis.sending.columns.avoidance import explained_views
from rocketdiff.analysis.sending.columns.turns import Turns
from rocketdiff.analysis.sending.send_view import SendView
from rocketdiff.analysis.sending.sends import sends_of
from rocketdiff.analysis.sending.steps.attempts_in_context import FaultTimes, attempts_in_context
from rocketdiff.analysis.sending.steps.excuses import Excuses
from rocketdiff.analysis.sending.steps.replayed import forgiven
from rocketdiff.analysis.sending.steps.rulebook import ArmRules
from rocketdiff.analysis.sending.steps.torn_connections import TornConnections
from rocketdiff.oracle.producer.asynchronous.ends import Troubled
from rocketdiff.oracle.producer.judgement import Decision, SendJudgement
from rocketdiff.traces.schema import TableName

STRETCHES_APART_NS = 5_000_000
"""
Every millisecond clock distinguishes calls this far apart, so the fault table from before a stretch does not narrow what is
replayed after it.
"""


FEW, MANY = 4, 512
"""Initial and maximum batch of calm views to replay: usually one view is enough; of a client with other rules many are needed."""


class JudgedViews:
    """Views of one arm as objects with their judgements. Call it stretch by stretch, in order."""

    def __init__(
        self,
        trace: CaseTrace,
        rules: ArmRules,
        columns: ArmColumns,
        turns: Turns,
        times: FaultTimes,
        brokers: WordDictionary,
        *,
        rotates: bool,
    ) -> None:
        self._trace = trace
        self._rules = rules
        self._columns = columns
        self._turns = turns
        self._times = times
        self._rotates = rotates
        self._thread: int | None = None
        self._replay = rules.fresh()
        self._near: dict[int, SendView] = {}
        self._ahead: dict[int, SendView] = {}
        self._many = FEW
        self._is_latency_on = trace.entry.settings.send_latency_fault_enable
        self._brokers = brokers
        self._at = -1
        self._out_of_turn = np.append(np.flatnonzero(~turns.keeps), columns.keys.size)
        tables = ((name, trace.tables.get((name, rules.arm))) for name in (TableName.SENDS, TableName.ATTEMPTS))
        self._tables = {name: table.unify_dictionaries() for name, table in tables if table is not None}

    def judged(self, views: Ints) -> dict[int, SendView]:
        """
        Judge these views and those that must be replayed with them, by number.

        No view that misses its turn may be left out.
        """
        found: dict[int, SendView] = {}
        made = np.union1d(views, self._last_before(views))
        self._near = dict(zip(made.tolist(), self.of(made), strict=True))
        for view in views.tolist():
            if view not in found:
                found.update(self._judged(view, self._near[view]))
        self._near = {}
        return self._excused(found)

    def as_expected(self, views: Ints) -> dict[int, SendView]:
        made = zip(views.tolist(), self.of(views), strict=True)
        return {view: self._expected(view, send) for view, send in made}

    def of(self, views: Ints) -> Iterator[SendView]:
        if not views.size:
            return iter(())
        columns, arm = self._columns, self._rules.arm
        rows = columns.send_row[views]
        counts, firsts = columns.attempts[views], columns.first_attempt[views]
        within = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        chosen = {TableName.SENDS: rows[rows >= 0], TableName.ATTEMPTS: np.repeat(firsts, counts) + within}
        tables: dict[TableKey, pa.Table] = {
            (name, arm): rows_at(table, chosen[name]) for name, table in self._tables.items()
        }
        part = CaseTrace(self._trace.run, self._trace.subjects, self._trace.entry, tables)
        return attempts_in_context(sends_of(part, arm), self._times)

    def _judged(self, view: int, send: SendView) -> Iterator[tuple[int, SendView]]:
        if self._turns.keeps[view]:
            yield view, self._expected(view, send)
            return
        yield view, self._replayed(view, send)
        while (lost := self._lost_after(view)) is not None:
            view = lost
            yield view, self._replayed(view, self._made(view))

    def _made(self, view: int) -> SendView:
        """A calm view as an object; the views that follow it are made with it, more of them where many are replayed."""
        if view not in self._ahead:
            end = max(self._ahead, default=-MANY) + 1
            self._many = min(self._many * 2, MANY) if end <= view < end + self._many else FEW
            views = np.arange(view, min(view + self._many, self._columns.keys.size))
            self._ahead = dict(zip(views.tolist(), self.of(views), strict=True))
        return self._ahead[view]

    def _replayed(self, view: int, send: SendView) -> SendView:
        if send.thread != self._thread:
            self._thread, self._replay, self._at = send.thread, self._rules.fresh(), view - 1
        if self._rotates:
            self._catch_up(send.thread, view)
        self._at = view
        if send.row is not None:
            send.judgement = self._replay.judge(send.row)
        return send

    def _catch_up(self, thread: int, view: int) -> None:
        """Skip the calm calls before a view. A fault table that keeps times keeps the last one at each broker: replay it."""
        if view - self._at <= 1:
            return
        if self._is_latency_on and not self._replay.remembers_calls:
            used = np.unique(self._columns.broker[self._at + 1 : view]).tolist()
            names = [self._brokers.words[code] for code in used]
            self._replay.pass_to(thread, int(self._turns.position[view - 1]), names)
            return
        for last in self._shown(view) if self._is_latency_on else ():
            self._replay.pass_over(thread, last - self._at - 1)
            row = (self._near[last] if last in self._near else self._made(last)).row
            assert row is not None, "it keeps its turn"
            self._replay.judge(row)
            self._at = last
        self._replay.pass_over(thread, view - self._at - 1)

    def _shown(self, view: int) -> list[int]:
        """Calm views that the fault table remembers; all if they are few or follow each other quickly."""
        first, columns = self._at + 1, self._columns
        last = _last_of_each(columns.broker, first, view)
        if last[0] <= first or columns.start_ns[last[0]] - columns.end_ns[self._at] < STRETCHES_APART_NS:
            return list(range(first, view))
        return last

    def _last_before(self, views: Ints) -> Ints:
        """Views that ``_catch_up`` will probably replay before these; making them together is cheaper."""
        if not (self._replay.remembers_calls and self._rotates):
            return views[:0]
        keeps, total = self._turns.keeps, self._turns.total
        ends = [view for view in views.tolist() if not keeps[view] and view and keeps[view - 1]]
        near = {
            last for view in ends for last in _last_of_each(self._columns.broker, view - int(total[view - 1]), view)
        }
        return np.array([last for last in near if keeps[last]], dtype=np.int64)

    def _lost_after(self, view: int) -> int | None:
        """Return the next view that may keep its turn, but for which the replay does not know the required state; None without one."""
        end = int(self._out_of_turn[np.searchsorted(self._out_of_turn, view, side="right")])
        assert self._thread is not None
        if end == view + 1:
            return None
        route = int(self._columns.route[view])
        if not (self._is_latency_on and self._rotates):
            position = int(self._turns.position[view]) if self._rotates else None
            return None if self._replay.stands_at(self._thread, route, position) else view + 1
        belief = self._replay.stationary(self._thread, route)
        if belief is None:
            return view + 1
        explained = explained_views(belief, self._columns, self._brokers, view + 1, end)
        lost = view + 1 + explained.size
        self._turns.avoided[view + 1 : lost] = explained
        return lost if lost < end else None

    def _expected(self, view: int, send: SendView) -> SendView:
        decisions = (Decision(0, int(self._turns.total[view]), 1, int(self._turns.avoided[view])),)
        send.judgement = SendJudgement(send.send, send.thread, decisions, None, len(self._replay.belief.states))
        return send

    def _excused(self, found: dict[int, SendView]) -> dict[int, SendView]:
        if all(send.judgement is None or send.judgement.difference is None for send in found.values()):
            return found
        return dict(zip(found, forgiven(found.values(), self._torn, self._excuses), strict=True))

    @cached_property
    def _troubled(self) -> Troubled:
        return self._rules.troubled()

    @cached_property
    def _torn(self) -> TornConnections:
        return self._rules.torn_connections()

    @cached_property
    def _excuses(self) -> Excuses:
        return self._rules.excuses()


def _last_of_each(brokers: Ints, first: int, end: int) -> list[int]:
    first = max(first, 0)
    last = {broker: first + at for at, broker in enumerate(brokers[first:end].tolist())}
    return sorted(last.values())
