"""
Turns the answers of a release's classes to a scenario's script into the records of a live client.

All decisions are the release's own: this module knows no rule of the client. It adds what a cluster decides: instants
within the millisecond, offsets, and the messages stored by unanswered requests.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from operator import eq
from random import Random
from typing import Any

from rocketdiff.core.records.sending import NEVER_CALLED_BACK, UNSEEN_END, Attempt, CalledBackAgain, RouteSeen, Send
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.core.tables.fault import BROKER_KILLS, FaultKind, FaultSpec, Frames
from rocketdiff.core.tables.topology import TOPOLOGIES
from rocketdiff.lab.scenario_faults import broker_of_server, fault_entries, moved_name
from rocketdiff.lab.scenario_scripts import simulated
from rocketdiff.scenario import Scenario
from rocketdiff.simulation.script.answers import BrokerRoute, ServerAnswer
from rocketdiff.simulation.script.model import Action, Entry, Script, Timeline
from rocketdiff.simulation.script.steps.environment import BrokerAnswers
from rocketdiff.simulation.script.vocabulary import BrokerFault, Depth
from tests.analysis.synthetic import MS, ORIGIN_NS, ArmRecords, Stored

LATENCIES_MS = (1, 2, 1, 4, 1, 3)
"""Answer times of a healthy broker, in turn; never 0, as on any network."""

HEALTHY = tuple(map(ServerAnswer, LATENCIES_MS))

ERRORS = {
    "timeout": "RemotingTimeoutException",
    "refused": "RemotingConnectException",
    "reset": "RemotingSendRequestException",
    "too-much": "RemotingTooMuchRequestException",
    "code": "MQBrokerException",
}
STATUSES = ("SEND_OK", "FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE")
UNWRITTEN = ("refused", "too-much")
"""Ends of an asynchronous retry that no hook sees, because its request is never written."""

WIRE = {FaultKind.WIRE_DELAY, FaultKind.WIRE_SWALLOW, FaultKind.WIRE_RESET}


def script_of(scenario: Scenario, seed: int, draw: int) -> Script:
    """The scenario's script, with brokers that need time to answer and also do what relays would."""
    if SendKind.QUEUE in scenario.workload.calls:
        # A script names the queue, a driver its index in the current list, so the list must not change.
        poll_ms = 3_600_000
        scenario = replace(scenario, settings=replace(scenario.settings, poll_name_server_interval_ms=poll_ms))
    calm = simulated(replace(scenario, faults=()), seed).script
    assert calm is not None
    (timeline,) = calm.steps
    assert isinstance(timeline, Timeline)
    brokers = tuple(
        BrokerRoute(name, scenario.queues_per_broker) for name in TOPOLOGIES[scenario.topology].broker_names
    )
    moves = Counter(fault.node for fault in scenario.faults if fault.kind is FaultKind.MOVE)
    servers = [moved_name(one.name, number) for one in brokers for number in range(moves[one.name] + 1)]
    well = [Entry(0, BrokerAnswers(name, HEALTHY)) for name in servers]
    two_servers = TOPOLOGIES[scenario.topology].name_server_count > 1
    scripted = [
        fault
        for fault in scenario.faults
        if fault.kind not in WIRE and not (two_servers and fault.kind is FaultKind.PAUSE_NAME_SERVER)
    ]
    faults = [_slowed(one) for one in fault_entries(replace(scenario, faults=tuple(scripted)), brokers)]
    wire = [fault for fault in scenario.faults if fault.kind in WIRE]
    steps = (Timeline((*well, *_on_the_wire(faults, wire), *timeline.entries)),)
    return replace(calm, steps=steps, depth=Depth.REMOTING, seed=draw)


def _slowed(entry: Entry) -> Entry:
    action: Action = entry.action
    if isinstance(action, BrokerAnswers):
        action = replace(action, answers=tuple(replace(one, latency_ms=one.latency_ms + 1) for one in action.answers))
    return Entry(entry.at_ms, action)


def _on_the_wire(entries: Iterable[Entry], faults: Iterable[FaultSpec]) -> Iterator[Entry]:
    """Yield the entries, and what relays do meanwhile: they hold back, swallow or cut off what the broker answers at the time."""
    moments: list[tuple[int, Entry | FaultSpec]] = [(entry.at_ms, entry) for entry in entries]
    for fault in faults:
        assert fault.for_s is not None
        moments += [(round(at_s * 1_000), fault) for at_s in (fault.at_s, fault.at_s + fault.for_s)]
    standing: dict[str, tuple[ServerAnswer, ...]] = {}
    met: defaultdict[str, list[FaultSpec]] = defaultdict(list)
    for at_ms, moment in sorted(moments, key=lambda each: each[0]):
        if isinstance(moment, FaultSpec):
            name = moment.node
            (met[name].remove if moment in met[name] else met[name].append)(moment)
        elif isinstance(moment.action, BrokerAnswers):
            name = moment.action.name
            standing[name] = moment.action.answers
        else:
            yield moment
            continue
        answers = standing.get(name, HEALTHY)
        for fault in met[name]:
            answers = tuple(_met_by(fault, answer) for answer in answers)
        yield Entry(at_ms, BrokerAnswers(name, answers))


def _met_by(fault: FaultSpec, answer: ServerAnswer) -> ServerAnswer:
    if fault.kind is FaultKind.WIRE_DELAY:
        return replace(answer, latency_ms=answer.latency_ms + round(fault.delay_ms))
    return ServerAnswer(fault=BrokerFault.TIMEOUT if fault.kind is FaultKind.WIRE_SWALLOW else BrokerFault.RESET)


def changes_routes(scenario: Scenario) -> bool:
    """True if a client polls a route that changes."""
    polls = scenario.settings.poll_name_server_interval_ms < scenario.duration_s * 1_000 + 30_000
    return polls and any(fault.kind in BROKER_KILLS | {FaultKind.READ_ONLY} for fault in scenario.faults)


def arm_of(scenario: Scenario, plan: Plan, script: Script, lines: Iterable[str], noise: Random) -> ArmRecords:
    """The records of a live client; noise: instants and other values that the client does not decide."""
    answers = [json.loads(line) for line in lines]
    for attempt in (attempt for answer in answers for attempt in answer["send"]["attempts"]):
        attempt["broker"] = broker_of_server(attempt["broker"])  # a hook names the broker, a script its server
    return _Teller(scenario, plan, script, noise).converted(answers)


@dataclass(slots=True)
class _Copy:
    """A message on a broker; at_ms: when it was stored."""

    send: int
    attempt: int
    broker: str
    queue_id: int
    at_ms: float


@dataclass(slots=True)
class _Teller:
    scenario: Scenario
    plan: Plan
    script: Script
    noise: Random
    copies: list[_Copy] = field(default_factory=list)
    told: ArmRecords = field(default_factory=ArmRecords)

    def converted(self, answers: Sequence[dict[str, Any]]) -> ArmRecords:
        (timeline,) = self.script.steps
        assert isinstance(timeline, Timeline)
        first = len(timeline.entries) - len(self.plan.sends)
        by_send: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
        for answer in answers:
            by_send[answer["at"] - first].append(answer)
        starts_ms = self._starts(timeline.entries[first:], by_send)
        routes = self._routes(starts_ms, by_send)
        clocks: dict[int, _Clock] = {}
        for planned in self.plan.sends:
            clock = clocks.setdefault(planned.thread, _Clock(self.noise))
            self._send(planned, starts_ms, clock, by_send[planned.send], routes)
        self._store()
        self.told.routes = [RouteSeen(n, ORIGIN_NS - MS, queues) for n, queues in enumerate(routes.lists, start=1)]
        return self.told

    def _starts(self, entries: Sequence[Entry], by_send: Mapping[int, list[dict[str, Any]]]) -> dict[int, int]:
        """The start of each send: its due time, or when its thread was free."""
        free_ms: defaultdict[int, int] = defaultdict(int)
        starts_ms = {}
        for planned, entry in zip(self.plan.sends, entries, strict=True):
            starts_ms[planned.send] = start_ms = max(entry.at_ms, free_ms[planned.thread])
            waits = planned.mode is not SendMode.ASYNC
            free_ms[planned.thread] = start_ms + (by_send[planned.send][0]["send"]["elapsed_ms"] if waits else 0)
        return starts_ms

    def _routes(self, starts_ms: Mapping[int, int], by_send: Mapping[int, list[dict[str, Any]]]) -> "_Routes":
        names = TOPOLOGIES[self.scenario.topology].broker_names
        every = tuple((name, queue) for name in names for queue in range(self.scenario.queues_per_broker))
        if not changes_routes(self.scenario):
            return _Routes((every,))
        threads = {planned.send: planned.thread for planned in self.plan.sends}
        found = [
            _Found(
                starts_ms[send] + line["send"]["elapsed_ms"],
                threads[send],
                line["state"]["index"],
                _queues(line["state"]["queues"] or []),
            )
            for send, lines in by_send.items()
            for line in lines
            if line["send"].get("elapsed_ms") is not None
        ]
        return _Routes.of(every, found)

    def _send(
        self,
        planned: PlannedSend,
        starts_ms: Mapping[int, int],
        clock: "_Clock",
        lines: list[dict[str, Any]],
        routes: "_Routes",
    ) -> None:
        is_async = planned.mode is SendMode.ASYNC
        answer, attempts = lines[0]["send"], lines[-1]["send"]["attempts"]
        start_ms = starts_ms[planned.send]
        start_ns = clock.began(start_ms)
        end_ms = start_ms + (answer["elapsed_ms"] if answer.get("elapsed_ms") is not None else 60_000)
        arm_of = self._attempts(planned, clock, start_ms, end_ms, attempts, answer)
        after = (
            other.send for other in self.plan.sends if other.thread == planned.thread and other.send > planned.send
        )
        end_ns = clock.ended(end_ms, next_ms=starts_ms.get(next(after, -1)))
        ended = Send(
            planned.send,
            planned.thread,
            ORIGIN_NS + start_ns,
            ORIGIN_NS + end_ns,
            route=routes.at(start_ms, after=False),
            route_after=routes.at(end_ms, after=True),
        )
        self.told.attempts += arm_of
        if is_async:
            ended = replace(ended, returned_ns=ended.start_ns + 20_000)
        self.told.sends.append(_with_end(ended, answer, arm_of))
        self.told.again += [
            CalledBackAgain(
                planned.send, planned.thread, ended.start_ns + (line["send"]["elapsed_ms"] or 0) * MS + 900_000
            )
            for line in lines[1:]
        ]
        if is_async:
            clock.back_to(start_ns + 30_000)

    def _attempts(
        self,
        planned: PlannedSend,
        clock: "_Clock",
        start_ms: int,
        end_ms: int,
        attempts: list[dict[str, Any]],
        answer: dict[str, Any],
    ) -> list[Attempt]:
        is_async = planned.mode is SendMode.ASYNC
        at_ms = start_ms
        seen: list[Attempt] = []
        if is_async and attempts and answer.get("elapsed_ms") is not None:
            at_ms = max(start_ms, end_ms - sum(one["elapsed_ms"] or 0 for one in attempts))
        for number, one in enumerate(attempts):
            began_ms, took_ms = at_ms, one["elapsed_ms"] if one["elapsed_ms"] is not None else end_ms - at_ms
            at_ms += took_ms
            self._may_store(planned, len(seen), one, began_ms, at_ms)
            if is_async and number and one["outcome"] in UNWRITTEN:
                continue
            start_ns = clock.decided(began_ms)
            end_ns = clock.heard(at_ms, is_answer=one["outcome"] in ("ok", "code", *STATUSES) and took_ms > 1)
            error, code, status = _ending(one)
            attempt = Attempt(
                planned.send, planned.thread, len(seen), one["broker"], one["queue_id"],
                ORIGIN_NS + start_ns, ORIGIN_NS + end_ns, error, code, status,
            )  # fmt: skip
            if is_async and seen:
                seen[-1] = replace(seen[-1], error=UNSEEN_END, code=None, status=None)
            seen.append(attempt)
        if is_async and seen and "exception" in answer:
            error = answer.get("cause") or answer["exception"]
            seen[-1] = replace(
                seen[-1], error=error, code=answer["code"] if error == "MQBrokerException" else None, status=None
            )
        if is_async and seen and answer["result"] == "pending":
            seen[-1] = replace(seen[-1], error=UNSEEN_END, code=None, status=None)
        return seen

    def _may_store(self, planned: PlannedSend, number: int, one: dict[str, Any], from_ms: int, to_ms: int) -> None:
        """Store the message of a request if the broker received it."""
        outcome = one["outcome"]
        stored_ms: float | None = None
        if outcome in ("ok", *STATUSES):
            stored_ms = to_ms
        elif outcome in ("timeout", "written", "reset", None):
            stored_ms = self._stored_unheard(one["broker"], from_ms, outcome)
        if stored_ms is not None:
            self.copies.append(_Copy(planned.send, number, one["broker"], one["queue_id"], stored_ms))

    def _stored_unheard(self, broker: str, from_ms: int, outcome: str | None) -> float | None:
        for fault in self.scenario.faults:
            begins_ms, ends_ms = fault.at_s * 1_000, (fault.at_s + (fault.for_s or 1e6)) * 1_000
            if fault.node != broker or not begins_ms - 1 <= from_ms <= ends_ms + 1:
                continue
            if fault.kind is FaultKind.PAUSE:
                return ends_ms + 1
            if fault.kind in WIRE:
                return from_ms + fault.delay_ms if fault.frames is Frames.RESPONSES else None
            if fault.kind in BROKER_KILLS:
                return from_ms if outcome == "timeout" and self.noise.random() < 0.5 else None
        return from_ms + 1

    def _store(self) -> None:
        offsets: defaultdict[tuple[str, int], int] = defaultdict(int)
        places: dict[tuple[int, str, int], int] = {}
        for copy in sorted(self.copies, key=lambda one: one.at_ms):
            offset = offsets[copy.broker, copy.queue_id]
            offsets[copy.broker, copy.queue_id] += 1
            places[copy.send, copy.broker, copy.queue_id] = offset
            stored_ms = (ORIGIN_NS // MS) + round(copy.at_ms)
            self.told.stored.append(Stored(copy.broker, copy.queue_id, offset, copy.send, store_timestamp_ms=stored_ms))
        self.told.sends = [
            replace(one, queue_offset=places.get((one.send, one.broker, one.queue_id)))
            if one.broker is not None and one.queue_id is not None
            else one
            for one in self.told.sends
        ]


class _Clock:
    """
    Instants of one thread, in ns from the origin, that never decrease.

    A decision lies between what its thread received before and does next. The order of decisions of different threads
    within a millisecond is unknown, so all threads share one instant in it: all decisions but the first begin there,
    and all but the last end there. Sometimes a thread is delayed between a decision and its hook.
    """

    def __init__(self, noise: Random) -> None:
        self._noise = noise
        self._now_ns = 0

    def began(self, at_ms: int) -> int:
        is_free = self._now_ns < at_ms * MS
        return self._at(at_ms * MS + self._noise.randrange(40_000) if is_free else _common_ns(at_ms))

    def decided(self, at_ms: int) -> int:
        return self._at(_common_ns(at_ms))

    def heard(self, at_ms: int, *, is_answer: bool) -> int:
        late_ns = MS - 60_000 if is_answer and self._noise.random() < 0.02 else 0
        return self._at(at_ms * MS + self._noise.randrange(50_000) - late_ns)

    def ended(self, at_ms: int, *, next_ms: int | None) -> int:
        """next_ms: when the thread's next call begins."""
        if next_ms is not None and next_ms <= at_ms:
            return self._at(_common_ns(at_ms))
        return self._at(at_ms * MS + 800_000 + self._noise.randrange(100_000))

    def back_to(self, now_ns: int) -> None:
        """Go back, since the thread did not wait for the last record."""
        self._now_ns = now_ns

    def _at(self, wanted_ns: int) -> int:
        self._now_ns = max(self._now_ns, wanted_ns)
        return self._now_ns


def _common_ns(at_ms: int) -> int:
    """The instant of a millisecond that all its decisions may share."""
    return at_ms * MS + 400_000 + at_ms * 7_919 % 100_000


@dataclass(frozen=True, slots=True)
class _Found:
    """A publish list after a call, and its thread's counter; None if the thread has not chosen from it."""

    at_ms: int
    thread: int
    index: int | None
    queues: tuple[tuple[str, int], ...]


MOST_TICKS = 10_000
"""More than one call can count, a hundred retries past all queues twice; a new list starts anywhere in 31 bits."""


@dataclass(frozen=True, slots=True)
class _Routes:
    """The client's publish lists; changes: two instants between which each list replaced the one before."""

    lists: tuple[tuple[tuple[str, int], ...], ...]
    changes: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(cls, first: tuple[tuple[str, int], ...], found: Iterable[_Found]) -> "_Routes":
        """
        Derive the lists from the calls; first: all queues.

        Some releases rewrite elements of a route's list (up to 4.9.7, and 5.0.0 to 5.1.3). A list that changed and
        changed back between two calls looks equal but is new: a thread that chose before counts from elsewhere. (From
        5.1.4 on a retry has the same effect; the same list under another number causes no alarm there.)
        """
        lists, changes, before_ms = [first], [], 0
        last: dict[int, tuple[int, _Found]] = {}
        for now in sorted(found, key=lambda one: one.at_ms):
            queues = _as_given(now.queues, first, lists[-1])
            version, before = last.get(now.thread, (0, None))
            if queues != lists[-1]:
                lists.append(queues)
                changes.append((before_ms, now.at_ms))
            elif before is not None and version == len(lists) and _counts_anew(before, now):
                lists.append(queues)
                changes.append((max(before.at_ms, changes[-1][0] if changes else 0), now.at_ms))
            last[now.thread] = len(lists), now
            before_ms = now.at_ms
        return cls(tuple(lists), tuple(changes))

    def at(self, at_ms: int, *, after: bool) -> int:
        """The earliest possible list before a call, or the latest possible list after it."""
        return 1 + sum((lo_ms < at_ms if after else hi_ms < at_ms) for lo_ms, hi_ms in self.changes)


def _counts_anew(before: _Found, now: _Found) -> bool:
    if before.index is None:
        return False
    return now.index is None or not 0 <= (now.index - before.index) % 2**32 <= MOST_TICKS


def _as_given(
    stood: tuple[tuple[str, int], ...], first: tuple[tuple[str, int], ...], last: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, int], ...]:
    """The list before elements were rewritten: as many brokers, and most queues in the same places."""
    brokers = tuple(dict.fromkeys(broker for broker, _ in first))
    given = [
        tuple(queue for queue in first if queue[0] in some)
        for number in range(len(brokers) + 1)
        for some in combinations(brokers, number)
    ]
    alike = [queues for queues in given if len(queues) == len(stood)]
    return max(alike, key=lambda queues: (sum(map(eq, queues, stood)), queues == last))


def _queues(names: list[str]) -> tuple[tuple[str, int], ...]:
    """Parse ``broker-a0`` to ("broker-a", 0)."""
    return tuple((name.rstrip("0123456789"), int(name[len(name.rstrip("0123456789")) :])) for name in names)


def _ending(one: dict[str, Any]) -> tuple[str | None, int | None, str | None]:
    outcome = one["outcome"]
    if outcome in ("ok", *STATUSES):
        return None, None, "SEND_OK" if outcome == "ok" else outcome
    if outcome == "written":
        return None, None, None
    return ERRORS.get(outcome, outcome or UNSEEN_END), one.get("code"), None


def _with_end(ended: Send, answer: dict[str, Any], attempts: list[Attempt]) -> Send:
    if answer["result"] == "pending":
        return replace(ended, error=NEVER_CALLED_BACK)
    if "exception" in answer:
        return replace(ended, error=answer["exception"], code=answer["code"], cause=answer.get("cause"))
    if answer["status"] is None:
        return ended
    return replace(ended, status=answer["status"], broker=answer["broker"], queue_id=answer["queue_id"])
