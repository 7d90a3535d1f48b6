"""What a member that reports no allocations or owned queues works on, from what its relay has seen until now."""

from collections import Counter
from collections.abc import Iterable

from rocketdiff.core.arm import Member
from rocketdiff.core.consuming.watched import GroupTopics, WireEvent, WireExchange
from rocketdiff.core.units import NS_PER_S
from rocketdiff.relay.remoting.group_exchanges import GroupReader
from rocketdiff.relay.remoting.record import WireTail
from rocketdiff.run.case.relays import CaseRelays

AGAIN_NS = NS_PER_S
"""After an answer the next pull follows at once; on a busy machine later, and no later than a second after an error (from 4.6.0)."""

PulledQueue = tuple[str, str, int]
"""Topic, broker and queue id."""


class WireView:
    """Of one member; each question looks at what its relay has recorded since the last one."""

    def __init__(self, member: Member, topics: GroupTopics, relays: CaseRelays) -> None:
        file = relays.journal(member)
        assert file is not None, "a relay stands before a member that does not report what it works on"
        self._tail = WireTail(file)
        self._reader = GroupReader(member, topics.group, frozenset((topics.fed, topics.retry)))

    def client_id(self, since_ns: int) -> str | None:
        """Return the id with which it registers; None if it has not done so since its start."""
        self._look()
        beats = (each.ids for each in self._reader.found if each.what is WireEvent.HEARTBEAT and each.in_ns >= since_ns)
        return next((ids[0] for ids in beats if ids), None)

    def pulled(self, now_ns: int) -> Counter[PulledQueue]:
        """Return how many pulls of each queue are under way; one that was just answered counts until the next one."""
        self._look()
        return pulled_queues(self._reader.found, self._reader.under_way, now_ns)

    def _look(self) -> None:
        for record in self._tail.read():
            self._reader.take(record)


def pulled_queues(exchanges: Iterable[WireExchange], under_way: frozenset[int], now_ns: int) -> Counter[PulledQueue]:
    """See ``WireView.pulled``. under_way: numbers of the exchanges whose answer may still come."""
    last_ns: dict[PulledQueue, int] = {}
    held: Counter[PulledQueue] = Counter()
    for each in exchanges:
        if each.what is not WireEvent.PULL or each.topic is None or each.broker is None or each.queue_id is None:
            continue
        queue = each.topic, each.broker, each.queue_id
        if each.number in under_way:
            held[queue] += 1
        elif each.answered_ns is not None:
            last_ns[queue] = max(each.answered_ns, last_ns.get(queue, 0))
    just = (queue for queue, at_ns in last_ns.items() if queue not in held and now_ns - at_ns <= AGAIN_NS)
    return held + Counter(just)
