"""
A member's requests about its group with their answers, from the records of its relay.

An answer belongs to the pending request with its connection and number, as in ``exchanges``. One that was swallowed, or came after
its connection had ended, leaves the request without an answer. Requests about other groups (a warm-up's) are left out.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from rocketdiff.core.arm import Member
from rocketdiff.core.consuming.watched import WireEvent, WireExchange
from rocketdiff.core.tables.topology import master_of
from rocketdiff.relay.remoting.consuming import LOCK_BATCH_MQ, PULLS, UNLOCK_BATCH_MQ, GroupFrame
from rocketdiff.relay.remoting.record import Closed, Passed, WireRecord
from rocketmq_reference.remoting.codes import RequestCode

_EVENTS: Mapping[int, WireEvent] = {
    **dict.fromkeys(PULLS, WireEvent.PULL),
    RequestCode.QUERY_CONSUMER_OFFSET: WireEvent.QUERY,
    RequestCode.UPDATE_CONSUMER_OFFSET: WireEvent.COMMIT,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: WireEvent.BY_TIME,
    RequestCode.GET_MAX_OFFSET: WireEvent.LIMIT,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: WireEvent.IDS,
    RequestCode.NOTIFY_CONSUMER_IDS_CHANGED: WireEvent.NOTIFY,
    RequestCode.HEART_BEAT: WireEvent.HEARTBEAT,
    RequestCode.UNREGISTER_CLIENT: WireEvent.UNREGISTER,
    RequestCode.CONSUMER_SEND_MSG_BACK: WireEvent.BACK,
    LOCK_BATCH_MQ: WireEvent.LOCK,
    UNLOCK_BATCH_MQ: WireEvent.UNLOCK,
}

NOTHING = GroupFrame()


def group_exchanges_of(
    records: Iterable[WireRecord], member: Member, group: str, topics: frozenset[str]
) -> list[WireExchange]:
    """Return the requests of a member's group, or about its topics, and the ends of its connections, in the order of arrival."""
    reader = GroupReader(member, group, topics)
    for record in records:
        reader.take(record)
    return reader.found


class GroupReader:
    """Takes the records of a relay one by one. found: the exchanges so far, those that are under way included."""

    def __init__(self, member: Member, group: str, topics: frozenset[str]) -> None:
        assert member.arm is not None, "the feeder is in no group"
        self.found: list[WireExchange] = []
        self._arm, self._member, self._group, self._topics = member.arm, member.number or 0, group, topics
        # Pending requests are indices of what was found, by connection and number.
        self._pending: dict[tuple[int, int], list[int]] = {}

    @property
    def under_way(self) -> frozenset[int]:
        """The numbers of the requests whose answer may still come."""
        return frozenset(number for numbers in self._pending.values() for number in numbers)

    def take(self, record: WireRecord) -> None:
        match record:
            case Passed(response=False, code=code) if code in _EVENTS:
                self._ask(record)
            case Passed(to="client", response=True) if record.has_arrived:
                self._answer(record)
            case Closed():
                self._end(record)
            case _:
                pass

    def _ask(self, record: Passed) -> None:
        said = record.group or NOTHING
        if self._group not in said.groups if said.groups else record.topic not in self._topics:
            return
        asked = self._of(record, _EVENTS[record.code], record.in_ns)
        own = replace(
            asked,
            out_ns=record.out_ns,
            topic=record.topic,
            broker=said.broker or asked.broker,
            queue_id=record.queue_id,
            offset=said.offset,
            commit_offset=said.commit_offset,
            ids=said.ids,
        )
        first = len(self.found)
        for topic, broker, queue_id in said.queues or ():
            count = 0 if own.what is WireEvent.LOCK else None
            number = len(self.found)
            self.found.append(replace(own, number=number, topic=topic, broker=broker, queue_id=queue_id, count=count))
        if said.queues is None:
            self.found.append(own)
        if record.to == "server":
            self._pending[record.connection, record.opaque] = list(range(first, len(self.found)))

    def _answer(self, record: Passed) -> None:
        said = record.group or NOTHING
        for index in self._pending.pop((record.connection, record.opaque), ()):
            asked = replace(self.found[index], answered_ns=record.let_go_ns, code=record.code)
            if asked.what is WireEvent.LOCK:
                queue = (asked.topic, asked.broker, asked.queue_id)
                asked = replace(asked, count=int(queue in (said.queues or ())))
            elif asked.what is WireEvent.PULL:
                asked = replace(
                    asked,
                    next_offset=said.next_offset,
                    first_offset=said.first_offset,
                    last_offset=said.last_offset,
                    count=said.count,
                    suggested=said.suggested,
                )
            elif asked.what is WireEvent.IDS:
                asked = replace(asked, ids=said.ids)
            elif asked.offset is None:
                asked = replace(asked, offset=said.offset)
            self.found[index] = asked

    def _end(self, record: Closed) -> None:
        """No answer comes any more."""
        for key in [key for key in self._pending if key[0] == record.connection]:
            del self._pending[key]
        self.found.append(self._of(record, WireEvent.END, record.at_ns))

    def _of(self, record: Passed | Closed, what: WireEvent, at_ns: int) -> WireExchange:
        number = len(self.found)
        broker = master_of(record.node)
        return WireExchange(self._arm, self._member, number, record.connection, record.node, what, at_ns, broker=broker)
