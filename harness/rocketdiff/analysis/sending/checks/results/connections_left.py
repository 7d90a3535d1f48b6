"""
Connections that a client leaves open at rest, the most it holds at once, and those it makes anew without a fault.

Examines each client's TCP connections to each server, seen from outside (``run.json``, ``connections``). A RocketMQ
client has one per address for all threads, and no more at rest than before its first send. From 5.3.1 on a late close
evicts the connection's successor, which stays open (``LateClose`` of the rules). How often that happens is luck, but
each time takes a failed request, and those are counted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.fault_windows import first_fault_ns
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver
from rocketdiff.analysis.sending.checks.results.outcomes import CALM, FAILED, NAME, RETRIED
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import PairedCounts
from rocketdiff.core.answers.verdict import Divergence, Example, Measure
from rocketdiff.core.answers.where import NOWHERE
from rocketdiff.core.arm import Arm
from rocketdiff.core.tables.fault import KILLS, FaultKind
from rocketdiff.core.tables.signatures import (
    CONNECTIONS_AT_ONCE,
    CONNECTIONS_LEFT_OPEN,
    CONNECTIONS_MADE_ANEW,
    Signature,
)

LEFT_OPEN = "connections-left-open"
"""Name of the counts over all cases; their signature says more or less often."""

BY_RULE = "outcomes.connections"
"""Tally of failed attempts that may each leave a connection open by rule, by broker."""

NEVER, AFTER_REFUSALS, AT_TIMES = "known: never", "known: after refusals", "known: at times"
"""When a failed request may leave a connection open by the release's rules; not counted without known rules."""

_TIMEOUT_AND_REFUSAL = ("RemotingTimeoutException", "RemotingConnectException")

_REFUSING = KILLS | {FaultKind.WIRE_RESET}
"""Faults under which a heartbeat cannot connect."""

SPARE = 1
"""
Connections to a server that are luck in one case (two threads raced to connect); over a run's cases they are counted.
"""

SPARE_AT_ONCE = 2
"""
The same at any moment: a connection that is being closed beside the next. None of 80 arms of real clients had one
(2026-11-22).
"""

A_FAILURE = 2
"""Connections that a failed attempt may leave open: its own, and that of the heartbeat sent on each new one."""

HEARTBEATS = 2
"""Other requests that may fail at a broker: a heartbeat every 30 s, and the first one on a connection."""

LUCK = 5
"""New connections to a server in calm that are luck: a timeout on a crowded machine costs one each."""


Held = Callable[[CaseFacts, Arm], Counter[str] | None]
"""Connections of an arm by server; None if not observed."""


class LeftByRule(CaseObserver):
    """Counts failed attempts that may leave a connection open by the release's rules; counts nothing if those are unknown."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._may_leave_open = context.rulebook.may_leave_open

    def observe(self, send: AlignedSend) -> None:
        if self._may_leave_open is None:
            return
        for side in send.sides:
            for attempt in side.attempts:
                if self._may_leave_open(attempt.error):
                    self._collector.count(BY_RULE, str(side.arm), "", attempt.broker)

    def finish(self) -> None:
        if self._may_leave_open is not None:
            after_timeouts, after_refusals = map(self._may_leave_open, _TIMEOUT_AND_REFUSAL)
            known = AT_TIMES if after_timeouts else AFTER_REFUSALS if after_refusals else NEVER
            self._collector.count(BY_RULE, "", "", known)


def divergences_of(facts: CaseFacts) -> tuple[Divergence, ...]:
    """
    Connections the candidate holds, or makes anew, beyond what rules and luck explain, by kind of server.

    Empty if a client was not observed to the end or broke off. What is held is judged only with known rules.
    """
    if facts.entry.breaches:
        return ()
    return (*_too_many(facts), *_made_anew(facts))


def measures_of(facts: CaseFacts) -> Iterator[Measure]:
    """Connections to all servers that each arm held at rest, if observed."""
    for arm in Arm:
        held = _at_rest(facts, arm)
        if held is not None:
            yield Measure(f"connections-at-rest {arm}", sum(held.values()), "count", 1)


def paired(pool: Iterable[CaseFacts]) -> Iterator[PairedCounts]:
    """In how many cases each arm was left with more than the other, of cases where no rule explains any."""
    more = dict.fromkeys(Arm, 0)
    for facts in pool:
        grown = {arm: _grown(facts, arm, _at_rest(facts, arm)) for arm in Arm}
        baseline, candidate = grown[Arm.BASELINE], grown[Arm.CANDIDATE]
        is_ruled = not _are_rules_known(facts) or any(facts.n(BY_RULE, arm=str(arm)) for arm in Arm)
        if is_ruled or facts.entry.breaches or baseline is None or candidate is None:
            continue
        if baseline.total() != candidate.total():
            more[Arm.CANDIDATE if candidate.total() > baseline.total() else Arm.BASELINE] += 1
    if any(more.values()):
        yield PairedCounts(LEFT_OPEN, "cases", *(more[arm] for arm in Arm))


def _too_many(facts: CaseFacts) -> Iterator[Divergence]:
    if not _are_rules_known(facts):
        return
    left = _beyond(facts, _at_rest, SPARE)
    yield from _beyond_(facts, CONNECTIONS_LEFT_OPEN, left, "rest", "at rest, when every fault was over,")
    most = {server: counts for server, counts in _beyond(facts, _at_most, SPARE_AT_ONCE).items() if server not in left}
    yield from _beyond_(facts, CONNECTIONS_AT_ONCE, most, "any", "at any moment")


def _beyond(facts: CaseFacts, held_by: Held, spare: int) -> dict[str, tuple[int, int, int]]:
    """By server with too many: the candidate's connections, new ones, and allowed new ones."""
    held = held_by(facts, Arm.CANDIDATE)
    baseline, candidate = (_grown(facts, arm, held_by(facts, arm)) for arm in (Arm.BASELINE, Arm.CANDIDATE))
    if held is None or baseline is None or candidate is None:
        return {}
    limits = {server: _limit(facts, server, spare + 2 * baseline[server]) for server in candidate}
    return {
        server: (held[server], n, limit)
        for server, n in candidate.items()
        if (limit := limits[server]) is not None and n > limit
    }


def _beyond_(
    facts: CaseFacts, signature: Signature, beyond: Mapping[str, tuple[int, int, int]], phase: str, when: str
) -> Iterator[Divergence]:
    for kind, servers in _by_kind(beyond):
        yield _divergence(
            facts,
            signature.text(kind),
            sum(beyond[server][1] for server in servers),
            phase,
            f"{when} no more connections than before the first send, and at most "
            + ", ".join(f"{beyond[server][2]} to {server} besides" for server in servers),
            ", ".join(f"{beyond[server][1]} more to {server}, {beyond[server][0]} in all" for server in servers),
        )


def _limit(facts: CaseFacts, server: str, limit: int) -> int | None:
    """How many new connections to a server are no leak; None for any number."""
    if facts.n(BY_RULE, NEVER):
        return limit
    if not facts.n(BY_RULE, AFTER_REFUSALS) or any(fault.kind in _REFUSING for fault in facts.faults):
        limit += HEARTBEATS
    if _kind(server) == "broker":
        return limit + A_FAILURE * facts.n(BY_RULE, server.removesuffix(" vip"), arm=str(Arm.CANDIDATE))
    return None if any(fault.kind is FaultKind.PAUSE_NAME_SERVER for fault in facts.faults) else limit


def _made_anew(facts: CaseFacts) -> Iterator[Divergence]:
    baseline, candidate = _anew_in_calm(facts, Arm.BASELINE), _anew_in_calm(facts, Arm.CANDIDATE)
    if baseline is None or candidate is None:
        return
    failures = facts.n(NAME, FAILED, RETRIED, arm=str(Arm.CANDIDATE), phase=CALM)
    limits = {server: 2 * max(1, baseline[server]) + LUCK + failures for server in candidate}
    beyond = {server: n for server, n in candidate.items() if n > limits[server]}
    for kind, servers in _by_kind(beyond):
        yield _divergence(
            facts,
            CONNECTIONS_MADE_ANEW.text(kind),
            sum(beyond[server] for server in servers),
            "calm",
            "a connection that is kept: before any fault at most "
            + ", ".join(f"{limits[server]} new ones to {server}" for server in servers),
            ", ".join(f"{beyond[server]} to {server}" for server in servers) + ", of those that were seen",
        )


def _divergence(facts: CaseFacts, signature: str, count: int, phase: str, expected: str, observed: str) -> Divergence:
    example = Example(NOWHERE, phase, expected, observed)
    return Divergence(signature, facts.subjects[Arm.CANDIDATE], count, example)


def _by_kind(servers: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    kinds = {
        kind: [server for server in sorted(servers) if _kind(server) == kind] for kind in ("broker", "name-server")
    }
    return ((kind, names) for kind, names in kinds.items() if names)


def _kind(server: str) -> str:
    return "name-server" if server.startswith("name-server") else "broker"


def _are_rules_known(facts: CaseFacts) -> bool:
    return facts.n(BY_RULE, NEVER, AFTER_REFUSALS, AT_TIMES) > 0


def _grown(facts: CaseFacts, arm: Arm, held: Counter[str] | None) -> Counter[str] | None:
    """By server, connections beyond those before the first send; one is always allowed."""
    samples = facts.entry.connections.get(arm, ())
    if held is None or not samples or samples[0].held is None:
        return None
    before = Counter(samples[0].held)
    return Counter({server: n - max(1, before[server]) for server, n in held.items()}) + Counter()


def _at_rest(facts: CaseFacts, arm: Arm) -> Counter[str] | None:
    """By server, the fewest in any sample at rest, because one that is being closed is not left open."""
    looks = [sample.held for sample in facts.entry.connections.get(arm, ()) if sample.is_at_rest]
    seen = [Counter(look) for look in looks if look is not None]
    if not seen or len(seen) < len(looks):
        return None
    fewest = seen[0]
    for look in seen[1:]:
        fewest &= look
    return fewest


def _at_most(facts: CaseFacts, arm: Arm) -> Counter[str] | None:
    looks = [sample.held for sample in facts.entry.connections.get(arm, ())]
    most: Counter[str] = Counter()
    for seen in looks:
        most |= Counter(seen)
    return most if looks and None not in looks else None


def _anew_in_calm(facts: CaseFacts, arm: Arm) -> Counter[str] | None:
    """By server, connections first seen after the start and before the first fault."""
    samples = facts.entry.connections.get(arm, ())
    calm_ns = first_fault_ns(facts.faults)
    calm = [sample for sample in samples[1:] if calm_ns is None or sample.at_ns < calm_ns]
    if not samples or any(sample.held is None for sample in (samples[0], *calm)):
        return None
    return sum((Counter(sample.opened) for sample in calm), Counter())
