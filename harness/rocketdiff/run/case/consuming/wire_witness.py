"""
The wire as a witness of a group: what its members reported of deliveries and commits must have passed their relays.

A message that was delivered came in an answer to a pull. A commit that a member reports left it, unless its broker was lost or the
member was killed; and every commit on the wire was reported. The value on the wire may be newer: a member reports before it sends.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from rocketdiff.core.arm import Member
from rocketdiff.core.consuming.watched import GroupTopics, WireEvent, WireExchange
from rocketdiff.core.records.consuming import OFFSETS, Left, OffsetEvent, OffsetSeen, Received
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.tables.topology import NodeKind, master_of
from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer.windows import REGISTERS_NS
from rocketdiff.protocol.transcript import Transcript
from rocketdiff.relay.remoting.exchanges import END_OF_TIME_NS, BlindSpot, losses_of, past_the_relay
from rocketdiff.relay.remoting.group_exchanges import group_exchanges_of
from rocketdiff.relay.remoting.record import read_wire
from rocketdiff.run.case.guards import WireReport
from rocketdiff.run.case.relays import CaseRelays
from rocketdiff.subjects.subject_process import SubjectProcess
from rocketdiff.traces.recorder import Recorder

Queue = tuple[str, str, int]
"""Topic, broker and queue id."""

SENT_WITHIN_NS = 30 * NS_PER_S
"""A member reports all commits of a round first, and then waits up to 3 s for each address that does not answer."""

AHEAD_NS = NS_PER_S
"""Two threads, one of which reports and one of which sends, wait for a core."""


def wire_report_of(
    members: Mapping[Member, SubjectProcess],
    topics: GroupTopics,
    relays: CaseRelays,
    journal: Recorder,
    *,
    without_route: Sequence[BlindSpot] = (),
    commits_to_brokers: bool = True,
) -> tuple[WireReport, dict[tuple[str, int], int]]:
    """
    Record the exchanges of a group's members in a journal, and compare them with what each member reported.

    Return the report, and when the first message of each queue of the fed topic was handed to a member, by broker and queue id.
    """
    handed_ns: dict[tuple[str, int], int] = {}
    unseen: list[str] = []
    against: list[str] = []
    pulls = commits = 0
    for member, subject in members.items():
        file = relays.journal(member)
        records = [] if file is None else list(read_wire(file))
        exchanges = group_exchanges_of(records, member, topics.group, frozenset((topics.fed, topics.retry)))
        for exchange in exchanges:
            journal.line(msgspec.json.encode(exchange))
        for queue, at_ns in handed_of(exchanges, topics.fed).items():
            handed_ns[queue] = min(at_ns, handed_ns.get(queue, at_ns))
        unseen += past_the_relay(records)
        found = contradictions(
            subject.transcript,
            exchanges,
            losses_of(records),
            without_route=without_route,
            commits_to_brokers=commits_to_brokers,
        )
        against += (f"{member}: {words}" for words in found)
        pulls += sum(each.what is WireEvent.PULL for each in exchanges)
        commits += sum(each.what is WireEvent.COMMIT for each in exchanges)
    words = f"the members, and the wire: {pulls} pulls, {commits} commits"
    report = WireReport(words, tuple(unseen), tuple(against), of="deliveries and commits", differing="records")
    return report, handed_ns


def handed_of(exchanges: Iterable[WireExchange], topic: str) -> dict[tuple[str, int], int]:
    """Return when the first message of each queue of a topic came in an answer, by broker and queue id."""
    found: dict[tuple[str, int], int] = {}
    for each in exchanges:
        queue = _queue_of(each)
        if each.what is WireEvent.PULL and each.count and each.answered_ns is not None and queue and queue[0] == topic:
            found[queue[1:]] = min(each.answered_ns, found.get(queue[1:], each.answered_ns))
    return found


def without_route(faults: Iterable[FaultRecord]) -> list[BlindSpot]:
    """Return when routes may lack a broker: a name server that was silent may have dropped it, until it registers anew."""
    return [
        BlindSpot(fault.inject_ns, END_OF_TIME_NS if fault.healed_ns is None else fault.healed_ns + REGISTERS_NS)
        for fault in faults
        if fault.kind.traits.node is NodeKind.NAME_SERVER
    ]


def contradictions(
    transcript: Transcript,
    exchanges: Sequence[WireExchange],
    losses: Mapping[str, Sequence[BlindSpot]],
    *,
    without_route: Sequence[BlindSpot] = (),
    commits_to_brokers: bool = True,
) -> Iterator[str]:
    """
    Yield where a member's records contradict the wire, in words. losses: by node, when its connections were refused or lost.

    without_route: when a member may have known no address of some broker: what it reports to commit then is not sent.
    A client that does not report offsets is not asked for its commits, nor is one that keeps them in a file (broadcasting).
    """
    received = [each for each in transcript.others.get(Received, ()) if isinstance(each, Received)]
    yield from _not_answered(received, exchanges)
    if not commits_to_brokers or transcript.hello is None or OFFSETS not in transcript.hello.capabilities:
        return
    seen = [each for each in transcript.others.get(OffsetSeen, ()) if isinstance(each, OffsetSeen)]
    left = {each.incarnation for each in transcript.others.get(Left, ()) if isinstance(each, Left)}
    reported = _reported(seen, left)
    sent = _sent(exchanges)
    for queue, commits in reported.items():
        passed, spots = sent.get(queue, []), [*_spots(losses, queue[1]), *without_route]
        for at_ns, value in commits:
            is_sent = any(_is_near(at_ns, in_ns) and later >= value for in_ns, later in passed)
            if not is_sent and not any(_meets(spot, at_ns) for spot in spots):
                yield f"commit of {value} for queue {queue[2]} of {queue[1]}: not on the wire"
    known = _reported(seen, None)
    for queue, passed in sent.items():
        for in_ns, value in passed:
            if not any(_is_near(at_ns, in_ns) for at_ns, _ in known.get(queue, ())):
                yield f"commit of {value} for queue {queue[2]} of {queue[1]} on the wire: not reported"


def _is_near(reported_ns: int, sent_ns: int) -> bool:
    return reported_ns - AHEAD_NS <= sent_ns <= reported_ns + SENT_WITHIN_NS


def _not_answered(received: Sequence[Received], exchanges: Sequence[WireExchange]) -> Iterator[str]:
    """Yield the messages that were delivered, and in no earlier answer to a pull of their queue."""
    answered: dict[tuple[Queue, int], int] = {}
    for each in exchanges:
        queue = _queue_of(each)
        if each.what is WireEvent.PULL and each.count and queue is not None and each.answered_ns is not None:
            for offset in range(each.first_offset or 0, (each.last_offset or 0) + 1):
                known_ns = answered.get((queue, offset), each.answered_ns)
                answered[queue, offset] = min(known_ns, each.answered_ns)
    for call in received:
        for message in call.messages:
            queue = (call.topic, call.broker, call.queue_id)
            by_ns = answered.get((queue, message.offset))
            if by_ns is None or by_ns > call.at_ns:
                when = "in no answer" if by_ns is None else "before it was in an answer"
                yield f"offset {message.offset} of queue {queue[2]} of {queue[1]} delivered: {when}"


def _reported(seen: Sequence[OffsetSeen], left: set[int] | None) -> dict[Queue, list[tuple[int, int]]]:
    """Return times and values of commits. left: a member that was killed may not have sent what it reported last."""
    last_ns: dict[int, int] = {}
    for each in seen:
        last_ns[each.incarnation] = max(each.at_ns, last_ns.get(each.incarnation, 0))
    found: defaultdict[Queue, list[tuple[int, int]]] = defaultdict(list)
    for each in seen:
        if each.what is not OffsetEvent.COMMIT or each.value is None:
            continue
        if left is None or each.incarnation in left or each.at_ns < last_ns[each.incarnation] - AHEAD_NS:
            found[each.topic, each.broker, each.queue_id].append((each.at_ns, each.value))
    return found


def _sent(exchanges: Sequence[WireExchange]) -> dict[Queue, list[tuple[int, int]]]:
    """Return times and values of the commits that a member sent. Those with a pull are sent besides, and not reported."""
    found: defaultdict[Queue, list[tuple[int, int]]] = defaultdict(list)
    for each in exchanges:
        queue = _queue_of(each)
        if each.what is WireEvent.COMMIT and queue is not None and each.offset is not None:
            found[queue].append((each.in_ns, each.offset))
    return found


def _queue_of(each: WireExchange) -> Queue | None:
    if each.topic is None or each.broker is None or each.queue_id is None:
        return None
    return each.topic, each.broker, each.queue_id


def _spots(losses: Mapping[str, Sequence[BlindSpot]], broker: str) -> list[BlindSpot]:
    return [spot for node, spots in losses.items() if master_of(node) == broker for spot in spots]


def _meets(spot: BlindSpot, at_ns: int) -> bool:
    return spot.begin_ns <= at_ns + SENT_WITHIN_NS and at_ns - AHEAD_NS <= spot.end_ns
