"""
Does a gRPC client get messages through again once a proxy is back, or through another proxy?

Examines an arm's longest time without a successful send. The time starts when a proxy was shown to answer again, or
when one was killed for good while another remained, and ends with the arm's last send. gRPC reconnects with a published
backoff (doc/connection-backoff.md): 1 s, each wait 1.6 times the last, 20 per cent earlier or later. So the time of the
next try is luck, but bounded. Exact, and part of the check ``outcomes``; the times are measures of it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.verdict import Measure
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.outcome import Outcome
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.fault import OF_PROXIES, FaultRecord
from rocketdiff.core.tables.signatures import RECOVERED_LATE
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.core.units import NS_PER_MS

WITHOUT_SUCCESS = "outcomes.without-success"
"""Tally of the longest times without a success; its totals are milliseconds."""

FIRST_WAIT_NS = 1_200_000_000
"""First wait of the backoff: one second plus 20 per cent of jitter."""

OF_THE_TIME_AWAY = 0.9
"""
The next wait as a share of the time since the connection was lost: after n waits of 0.8 x 1.6^k s it is at most 1.2 x
1.6^n s, which is 0.9 times their sum plus 1.2 s.
"""


@dataclass(frozen=True, slots=True)
class _Ended:
    end_ns: int
    is_ok: bool
    send: AlignedSend


@dataclass(frozen=True, slots=True)
class _Gap:
    lasted_ns: int
    is_open: bool
    send: AlignedSend


class Recovery(CaseObserver):
    """Keeps the ends of all sends of a case in which a proxy is paused or killed."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._faults = tuple(fault for fault in context.times.faults if fault.kind in OF_PROXIES)
        self._timeout_ns = context.entry.settings.send_msg_timeout_ms * NS_PER_MS
        self._ended: dict[Arm, list[_Ended]] = {arm: [] for arm in Arm}

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides if self._faults else ():
            if side.row is not None and side.row.mode is not SendMode.ONEWAY:
                self._ended[side.arm].append(_Ended(side.row.end_ns, side.row.outcome is Outcome.OK, send))

    def finish(self) -> None:
        """Note at most one difference per fault, at the send that ended the gap."""
        for ended in self._ended.values():
            ended.sort(key=lambda one: one.end_ns)
        for fault in self._faults:
            from_ns = self._reachable_from(fault)
            gaps = {arm: None if from_ns is None else _longest(self._ended[arm], from_ns) for arm in Arm}
            for arm, gap in gaps.items():
                if gap is not None:
                    self._collector.count(
                        WITHOUT_SUCCESS, str(arm), "", str(fault.kind), total=gap.lasted_ns / NS_PER_MS
                    )
            usual, late = gaps[Arm.BASELINE], gaps[Arm.CANDIDATE]
            if usual is not None and late is not None:
                self._compare(fault, usual, late)

    def _compare(self, fault: FaultRecord, usual: _Gap, late: _Gap) -> None:
        away_ns = 0 if fault.heal_proven_ns is None else fault.heal_proven_ns - fault.inject_ns
        allowed_ns = usual.lasted_ns + self._timeout_ns + FIRST_WAIT_NS + int(OF_THE_TIME_AWAY * away_ns)
        side = late.send.candidate
        if late.lasted_ns <= allowed_ns or side is None:
            return
        since = (
            f"{fault.node} was back" if fault.heal_ns is not None else f"{fault.node} was killed beside another proxy"
        )
        end = ", to the end of the case" if late.is_open else ""
        self._collector.differ(
            RECOVERED_LATE,
            late.send,
            side,
            place=str(fault.kind),
            expected=f"no more than {allowed_ns / 1e9:,.1f} s without a success after {since}: baseline's"
            f" {usual.lasted_ns / 1e9:,.1f} s, one timeout, and one wait of gRPC's backoff",
            observed=f"{late.lasted_ns / 1e9:,.1f} s without a success{end}",
        )

    def _reachable_from(self, fault: FaultRecord) -> int | None:
        """When a client can reach a proxy again after this fault; None if never or unknown."""
        if fault.heal_ns is not None:
            return fault.heal_proven_ns
        proxies = topology_named(self._context.entry.topology).proxy_names
        return fault.injected_ns if set(proxies) - {each.node for each in self._faults} else None


def _longest(ended: list[_Ended], from_ns: int) -> _Gap | None:
    last_ns, longest = from_ns, None
    later = [send for send in ended if send.end_ns > from_ns]
    for send in later:
        if send.is_ok or send is later[-1]:
            gap = _Gap(send.end_ns - last_ns, not send.is_ok, send.send)
            longest = gap if longest is None or gap.lasted_ns > longest.lasted_ns else longest
            last_ns = send.end_ns
    return longest


def recovery_measures(facts: CaseFacts) -> Iterator[Measure]:
    """Each arm's longest time without a success, in ms, by kind of fault."""
    for kind in facts.keys(WITHOUT_SUCCESS, str(Arm.BASELINE)):
        for arm in Arm:
            mean_ms = facts.mean(WITHOUT_SUCCESS, kind, arm=str(arm))
            if mean_ms is not None:
                n = facts.n(WITHOUT_SUCCESS, kind, arm=str(arm))
                yield Measure(f"longest-without-success-after-{kind} {arm}", mean_ms, "ms", n)
