"""
Does a blocked attempt end when the rules end it, throughout a case?

Examines the attempts of synchronous sends at brokers that were certainly silent from before the request until well after its
timeout, and compares by how much they exceeded it with the other arm's (``lateness``). A single late one is excused
(``steps.excuses``). Timeouts that a thread's stall may have delayed together count once. It gates as part of the check
``attempts``, which also compares how many of these sends were retried.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf
from statistics import median

import numpy as np

from rocketdiff.analysis.case_trace import rows_at
from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.fault_windows import FaultPeriods
from rocketdiff.analysis.sending.checks.context import TableObserver
from rocketdiff.analysis.sending.checks.durations.lateness import (
    ERROR_BUDGET,
    chance_of_delays,
    grows,
    growth_ms,
    limit_ms,
)
from rocketdiff.analysis.sending.checks.results.moments import slowest_in_a_hundred
from rocketdiff.analysis.sending.send_arrays import Ints, is_one_of
from rocketdiff.analysis.sending.sends import attempts_by_send
from rocketdiff.core.answers.evidence import ComparedShares
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.tables.fault import PAUSES, FaultRecord
from rocketdiff.core.tables.signatures import LATE_TIMEOUTS, OUTLASTED_TIMEOUT, WAITS_LONGER_EACH_TIME, Signature
from rocketdiff.core.tables.topology import may_meet
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer.durations import ROUNDED_MS, AttemptTimeouts
from rocketdiff.traces.schema import TableName

BLOCKED, RETRIED = "attempts.blocked", "attempts.retried-after-silence"
"""Tallies of first attempts that a silent broker blocked with time left for another, and of those followed by another."""

FAR_APART = 0.5
"""Least difference of the shares that were retried: attempts of one pause share its cause."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """An attempt at a silent broker, with times in ns. late_ms: by how much it exceeded its timeout."""

    send: int
    thread: int
    attempt: int
    due_ns: int
    end_ns: int
    late_ms: float
    silent_ms: float
    may_retry: bool
    is_retried: bool


class SilentBrokers(TableObserver):
    """Compares the arms' attempts at silent brokers."""

    def finish(self) -> None:
        """Count retries, and note at most one difference of each kind."""
        if not self._context.rulebook.rules:
            return
        blocked = {arm: list(self._blocked(arm)) for arm in Arm}
        machine_ms = self._machine_ms() if all(blocked.values()) else 0.0
        limit = limit_ms([each.late_ms for each in blocked[Arm.BASELINE]], machine_ms)
        kept = {arm: [each for each in of if each.silent_ms > limit] for arm, of in blocked.items()}
        for arm, of in kept.items():
            able = _apart([each for each in of if each.may_retry])
            self._collector.count(BLOCKED, str(arm), "", BLOCKED, n=len(able))
            self._collector.count(RETRIED, str(arm), "", RETRIED, n=sum(each[0].is_retried for each in able))
        delays = [[_delay(group, arm) for group in _apart(kept[arm])] for arm in Arm]
        chance = chance_of_delays(delays[0], delays[1], machine_ms)
        found = {fact.signature for fact in self._collector.differences() if fact.arm == Arm.CANDIDATE}
        if chance <= ERROR_BUDGET and OUTLASTED_TIMEOUT.name not in found:  # the exact answer says the same
            self._differ(
                LATE_TIMEOUTS,
                kept[Arm.CANDIDATE],
                f"at most {limit:,.0f} ms beyond their timeout: the baseline's {len(delays[0])} up to {max(delays[0]):,.0f} ms",
                f"{len(delays[1])} by {median(delays[1]):,.0f} ms in the median, up to {max(delays[1]):,.0f} ms (p = {chance:.2g})",
            )
        ordered = [[each.late_ms for each in kept[arm]] for arm in Arm]
        if grows(ordered[0], ordered[1], machine_ms):
            self._differ(
                WAITS_LONGER_EACH_TIME,
                kept[Arm.CANDIDATE],
                f"waits for silent brokers that grow no more than the baseline's, from {min(ordered[0]):,.0f} to"
                f" {max(ordered[0]):,.0f} ms beyond the timeout",
                f"{len(ordered[1])} waits, the last third {growth_ms(ordered[1]):,.0f} ms longer than the first",
            )

    def _machine_ms(self) -> float:
        """What the slowest in a hundred of the quicker arm's sends in calm took."""
        periods = FaultPeriods.of(self._context.times.faults, self._context.entry.settings)
        slowest = []
        for arm in Arm:
            sends = self._context.sends(arm)
            calm = sends.went_well & ~periods.hold_many(sends.start, sends.end)
            slowest.append(slowest_in_a_hundred((sends.end - sends.start)[calm]))
        return min(slowest) / NS_PER_MS

    def _differ(self, signature: Signature, blocked: Sequence[Blocked], expected: str, observed: str) -> None:
        """Note a difference at the candidate's latest timeout."""
        worst = max(blocked, key=lambda each: each.late_ms)
        self._collector.differ_at(
            signature,
            Arm.CANDIDATE,
            thread=worst.thread,
            send=worst.send,
            attempt=worst.attempt,
            phase=str(self._context.times.phase_at(worst.due_ns)),
            at_ns=worst.due_ns,
            expected=expected,
            observed=observed,
        )

    def _blocked(self, arm: Arm) -> Iterator[Blocked]:
        """Attempts at brokers that were paused from before the request until after its timeout, in order of time."""
        trace, rules = self._context.trace, self._context.rulebook.rules[arm].fresh().dialect.producer.loop
        allowed = AttemptTimeouts(self._context.entry.settings, rules)
        pauses = [fault for fault in trace.faults if fault.kind in PAUSES]
        if not pauses:
            return
        attempts = trace.table(TableName.ATTEMPTS, arm)
        took_ns = attempts.column("end_ns").to_numpy() - attempts.column("start_ns").to_numpy()
        long = rows_at(attempts.select(_COLUMNS), np.flatnonzero(took_ns > allowed.shortest_ms * NS_PER_MS))
        began = self._waiting_sends(arm, long.column("send").to_numpy())
        made = attempts_by_send(trace, arm)
        for row in sorted(long.to_pylist(), key=lambda row: (row["start_ns"], row["send"])):
            if row["send"] not in began:
                continue
            (send_start_ns, is_plain), start_ns, number = began[row["send"]], row["start_ns"], row["attempt"]
            allowed_ms, has_rest = allowed.of(number if is_plain else None, (start_ns - send_start_ns) // NS_PER_MS)
            silent_ms = _silent_ms(row["broker"], start_ns, pauses) - allowed_ms
            late_ms = (row["end_ns"] - start_ns) / NS_PER_MS - allowed_ms
            if allowed_ms >= allowed.shortest_ms and silent_ms > 0 and late_ms >= -ROUNDED_MS:
                yield Blocked(
                    send=row["send"],
                    thread=row["thread"],
                    attempt=number,
                    due_ns=start_ns + allowed_ms * NS_PER_MS,
                    end_ns=row["end_ns"],
                    late_ms=late_ms,
                    silent_ms=silent_ms,
                    may_retry=number == 0 and has_rest,
                    is_retried=bool(made[row["send"]] > 1),
                )

    def _waiting_sends(self, arm: Arm, wanted: Ints) -> dict[int, tuple[int, bool]]:
        """When each wanted send that waits for its answer began, and whether it may be tried again."""
        sends, kinds = self._context.sends(arm), self._context.trace.table(TableName.SENDS, arm).column("kind")
        chosen = sends.waits & np.isin(sends.number, wanted)
        is_plain = is_one_of(kinds, SendKind.PLAIN, SendKind.BATCH)[chosen].tolist()
        began = zip(sends.start[chosen].tolist(), is_plain, strict=True)
        return dict(zip(sends.number[chosen].tolist(), began, strict=True))


_COLUMNS = ["send", "thread", "attempt", "broker", "start_ns", "end_ns"]


def _silent_ms(broker: str, start_ns: int, pauses: Sequence[FaultRecord]) -> float:
    """How long a broker certainly stayed silent after a request began, in ms; 0 if it may not have been paused."""
    silent = (
        inf if pause.heal_ns is None else (pause.heal_ns - start_ns) / NS_PER_MS
        for pause in pauses
        if may_meet(pause.node, broker) and pause.injected_ns <= start_ns
    )
    return max(silent, default=0.0)


def retried_shares(facts: CaseFacts) -> tuple[ComparedShares, ...]:
    """How many blocked attempts of each arm were followed by another, if nearly all of one arm's and few of the other's."""
    met = (facts.n(BLOCKED, arm=str(Arm.BASELINE)), facts.n(BLOCKED, arm=str(Arm.CANDIDATE)))
    ended = (facts.n(RETRIED, arm=str(Arm.BASELINE)), facts.n(RETRIED, arm=str(Arm.CANDIDATE)))
    if not all(met) or abs(ended[0] / met[0] - ended[1] / met[1]) <= FAR_APART:
        return ()
    situation = "where a broker stayed silent beyond the timeout of an attempt, with time left"
    return (ComparedShares("retried/after-silence", situation, "tried again", met, ended),)


def _apart(blocked: Sequence[Blocked]) -> list[list[Blocked]]:
    """Group timeouts that one stall may have delayed: each was due before another of its group ended."""
    groups: list[list[Blocked]] = []
    end_ns = 0
    for each in sorted(blocked, key=lambda each: each.due_ns):
        if groups and each.due_ns < end_ns:
            groups[-1].append(each)
        else:
            groups.append([each])
        end_ns = max(end_ns, each.end_ns) if len(groups[-1]) > 1 else each.end_ns
    return groups


def _delay(group: Sequence[Blocked], arm: Arm) -> float:
    """The least telling of a group: the baseline's longest, the candidate's shortest."""
    delays = [max(each.late_ms, 0.0) for each in group]
    return max(delays) if arm is Arm.BASELINE else min(delays)
