"""
Whether a group is settled, proven by its members and by every broker.

Each living member was last allocated its share with exactly the living ids, of the fed and of the retry topic, and owns it; the
shares of a topic are all its queues, each once; every broker lists each living id once.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocketdiff.core.consuming.watched import ListedMembers
from rocketdiff.core.records.consuming import Allocated, Owned

Queues = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class LivingMember:
    """A member that has joined. allocated: its last allocation of each topic; owned: its last set of owned queues."""

    client_id: str
    allocated: Mapping[str, Allocated]
    owned: Owned | None

    def owned_of(self, topic: str) -> Queues:
        queues = () if self.owned is None else self.owned.queues
        return frozenset((broker, queue_id) for each, broker, queue_id in queues if each == topic)


def why_unsettled(
    members: Sequence[LivingMember],
    topics: Mapping[str, Queues],
    listed: Mapping[str, ListedMembers],
    brokers: Sequence[str],
    *,
    is_shared: bool = True,
) -> str:
    """
    Return why a group is not settled, as a sentence; empty if it is.

    topics: the queues of each of its topics. is_shared: False for a broadcasting group, whose members own all queues.
    """
    ids = sorted(member.client_id for member in members)
    flaw_of = _flaw_of if is_shared else _flaw_of_all
    return next(
        (flaw for topic, queues in topics.items() if (flaw := flaw_of(topic, queues, members, ids))), ""
    ) or next((flaw for broker in brokers if (flaw := _flaw_at(broker, listed.get(broker), ids))), "")


def _flaw_of(topic: str, queues: Queues, members: Sequence[LivingMember], ids: Sequence[str]) -> str:
    for member in members:
        last = member.allocated.get(topic)
        if last is None:
            return f"{member.client_id} was allocated nothing of {topic}"
        if sorted(last.ids) != ids:
            return f"{member.client_id} was allocated its share of {topic} among {list(last.ids)}, not {ids}"
        if member.owned_of(topic) != frozenset(last.result):
            return f"{member.client_id} does not own its share of {topic}"
    owners = Counter(queue for member in members for queue in member.owned_of(topic))
    if owners != Counter(queues):
        return f"queues of {topic} have {dict(owners)} owners, not one each of {sorted(queues)}"
    return ""


def _flaw_of_all(topic: str, queues: Queues, members: Sequence[LivingMember], _ids: Sequence[str]) -> str:
    lacking = (member.client_id for member in members if member.owned_of(topic) != queues)
    return next((f"{client_id} does not own every queue of {topic}" for client_id in lacking), "")


def _flaw_at(broker: str, listed: ListedMembers | None, ids: Sequence[str]) -> str:
    if listed is None or listed.answered_ns is None:
        return f"{broker} has not answered who is in the group"
    return "" if sorted(listed.ids) == ids else f"{broker} lists {list(listed.ids)}, not {ids}"
