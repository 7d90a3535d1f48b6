"""
Whether a group is settled, proven by its members and by every broker.

Each living member was last allocated its share with exactly the living ids, of the fed and of the retry topic, and owns it; the
shares of a topic are all its queues, each once; every broker lists each living id once. A member that does not report its share
has the one of the rules, and one that does not report what it owns owns what it pulls: each queue by one pull, as its relay sees.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rocketdiff.core.consuming.watched import ListedMembers
from rocketdiff.core.records.consuming import Allocated
from rocketdiff.oracle.consumer.shares import Topic

Queues = frozenset[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class LivingMember:
    """
    A member that has joined. allocated: its last allocation of each topic; None if it reports none.

    owned: the queues that it works on, by topic, broker and queue id: once each, or as often as it pulls them at once.
    """

    client_id: str
    allocated: Mapping[str, Allocated] | None
    owned: Mapping[tuple[str, str, int], int]

    def owned_of(self, topic: str) -> Counter[tuple[str, int]]:
        return Counter({(broker, number): n for (each, broker, number), n in self.owned.items() if each == topic})


def why_unsettled(
    members: Sequence[LivingMember],
    topics: Mapping[str, Queues],
    listed: Mapping[str, ListedMembers],
    brokers: Sequence[str],
    *,
    strategy: str = "",
    is_shared: bool = True,
    assigned: Sequence[Queues] = (),
) -> str:
    """
    Return why a group is not settled, as a sentence; empty if it is.

    topics: the queues of each of its topics. strategy: divides them, by the name that clients report. is_shared: False for a
    broadcasting group, whose members own all queues. assigned: of the first topic to each member in order, by its application; none if
    they share them.
    """
    ids = sorted(member.client_id for member in members)
    flaw_of = partial(_flaw_of, strategy) if is_shared else _flaw_of_all
    if assigned:
        flaw_of = partial(_flaw_of_assigned, assigned)
    return next(
        (flaw for topic, queues in topics.items() if (flaw := flaw_of(topic, queues, members, ids))), ""
    ) or next((flaw for broker in brokers if (flaw := _flaw_at(broker, listed.get(broker), ids))), "")


def _flaw_of(strategy: str, topic: str, queues: Queues, members: Sequence[LivingMember], ids: Sequence[str]) -> str:
    rules = Topic(topic, tuple(sorted(queues)), strategy)
    for member in members:
        owned = member.owned_of(topic)
        if member.allocated is None:
            if flaw := _flaw_by_rules(member.client_id, owned, rules, ids):
                return flaw
            continue
        last = member.allocated.get(topic)
        if last is None:
            return f"{member.client_id} was allocated nothing of {topic}"
        if sorted(last.ids) != ids:
            return f"{member.client_id} was allocated its share of {topic} among {list(last.ids)}, not {ids}"
        if set(owned) != set(last.result):
            return f"{member.client_id} does not own its share of {topic}"
    owners = sum((member.owned_of(topic) for member in members), Counter[tuple[str, int]]())
    if owners != Counter(queues):
        return f"queues of {topic} have {dict(owners)} owners, not one each of {sorted(queues)}"
    return ""


def _flaw_by_rules(client_id: str, owned: Counter[tuple[str, int]], topic: Topic, ids: Sequence[str]) -> str:
    """A strategy without rules leaves open who owns which queue, and not that each has one owner."""
    share = {tuple(queue) for queue in topic.share(ids, client_id) or ()} if topic.is_known else set(owned)
    if set(owned) != share:
        return f"{client_id} works on {sorted(owned)} of {topic.name}, and its share among {ids} is {sorted(share)}"
    often = next(((queue, times) for queue, times in sorted(owned.items()) if times > 1), None)
    if often is not None:
        return (
            f"{client_id} has {often[1]} pulls of queue {often[0][1]} of {often[0][0]} ({topic.name}) under way at once"
        )
    return ""


def _flaw_of_all(topic: str, queues: Queues, members: Sequence[LivingMember], _ids: Sequence[str]) -> str:
    lacking = (member.client_id for member in members if set(member.owned_of(topic)) != queues)
    return next((f"{client_id} does not own every queue of {topic}" for client_id in lacking), "")


def _flaw_of_assigned(
    assigned: Sequence[Queues], topic: str, _queues: Queues, members: Sequence[LivingMember], _ids: Sequence[str]
) -> str:
    for member, queues in zip(members, assigned, strict=False):
        if set(owned := member.owned_of(topic)) != queues:
            return f"{member.client_id} works on {sorted(owned)} of {topic}, and {sorted(queues)} are assigned to it"
    return ""


def _flaw_at(broker: str, listed: ListedMembers | None, ids: Sequence[str]) -> str:
    if listed is None or listed.answered_ns is None:
        return f"{broker} has not answered who is in the group"
    return "" if sorted(listed.ids) == ids else f"{broker} lists {list(listed.ids)}, not {ids}"
