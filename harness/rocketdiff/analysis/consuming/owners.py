"""Who worked on each queue over time, and who had to by the rules, where these leave nothing open."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise

from rocketdiff.analysis.consuming.membership import Membership, Span, outside
from rocketdiff.analysis.consuming.story import CaseStory, GroupStory, Life, QueueOf, Round
from rocketdiff.core.arm import Arm
from rocketdiff.core.consuming.watched import TopicKind
from rocketdiff.core.units import NS_PER_S
from rocketdiff.oracle.consumer.shares import Place, Topic

FLICKER_NS = NS_PER_S
"""A client may give a queue up and take it again in one round, and an offset query that fails is repeated a second later."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which a queue had these owners; owner: the one that the rules say, None if that is left open."""

    queue: QueueOf
    from_ns: int
    until_ns: int
    members: tuple[int, ...]
    owner: int | None


class Owners:
    """Of one group of a case. topics: by kind, those whose queues and strategy are known."""

    def __init__(self, story: CaseStory, group: GroupStory, membership: Membership) -> None:
        self.topics = topics_of(story, group)
        self._group, self._membership = group, membership
        self._from_ns = story.trace.origin_ns
        self._until_ns = group.first_leave_ns

    @cached_property
    def settled(self) -> tuple[Span, ...]:
        """The times in which the rules leave nothing open; none if some member's end is unknown."""
        if any(life.is_cut_off for life in self._group.lives):
            return ()
        return tuple(outside(self._membership.unsettled, self._from_ns, self._until_ns))

    def wrong(self) -> Iterator[Stretch]:
        """Yield where a queue has no owner, two, or another than the rules say, for longer than they allow."""
        for kind, topic in self.topics.items():
            owners = Expected(self._membership, topic)
            for queue in topic.queues:
                yield from self._wrong(QueueOf(kind, *queue), queue, owners)

    def late(self) -> Iterator[tuple[Life, Round | None, Span]]:
        """Yield members whose last round of the fed topic had other ids than the group has, for longer than the rules allow."""
        for life in self._group.lives:
            own = self._group.fed_rounds.get((life.member, life.incarnation), ())
            found = ((last, span) for last, span in self._last_rounds(life, own) if self._is_late(life, last, span[0]))
            if (first := next(found, None)) is not None:
                yield life, *first

    def idle(self) -> Mapping[int, Iterable[Span]]:
        """Return, by member, when the rules give it no queue of the fed topic."""
        topic = self.topics.get(TopicKind.FED)
        if topic is None:
            return {}
        expected = Expected(self._membership, topic)
        found: dict[int, list[Span]] = {}
        for since_ns, until_ns in self._cut(self._edges()):
            owners = set(expected.at(since_ns).values())
            for life in self._membership.living_at(since_ns):
                if owners and life not in owners:
                    found.setdefault(life.member, []).append((since_ns, until_ns))
        return found

    def moved(self) -> int:
        """Return how many queues of the fed topic were taken where nothing had changed."""
        return sum(
            tenure.queue.kind is TopicKind.FED and not tenure.is_sought and since_ns <= tenure.from_ns < until_ns
            for tenure in self._group.tenures
            for since_ns, until_ns in self.settled
        )

    def _wrong(self, queue: QueueOf, place: Place, owners: "Expected") -> Iterator[Stretch]:
        tenures = self._group.tenures_of(queue)
        edges = self._edges(at_ns for each in tenures for at_ns in (each.from_ns, each.until_ns))
        parts = [self._stretch(queue, span, owners.at(span[0]).get(place)) for span in pairwise(edges)]
        for (members, owner), same in groupby(parts, lambda part: (part.members, part.owner)):
            own = list(same)
            whole = Stretch(queue, own[0].from_ns, own[-1].until_ns, members, owner)
            if owner is not None and members != (owner,) and self._is_certain(whole):
                yield whole

    def _stretch(self, queue: QueueOf, span: tuple[int, int], owner: Life | None) -> Stretch:
        """A paused member neither works on a queue nor gives it up, so whether it owns it is left open."""
        since_ns, until_ns = span
        lives = [
            life
            for tenure in self._group.tenures_within(queue, since_ns, since_ns)
            if tenure.covers(since_ns) and (life := self._group.life_of(tenure)) is not None
        ]
        awake = sorted(life.member for life in lives if not self._membership.is_frozen(life, since_ns))
        is_open = owner is not None and (self._membership.is_frozen(owner, since_ns) or (lives and not awake))
        expected = next(iter(awake), None) if owner is None or is_open else owner.member
        return Stretch(queue, since_ns, until_ns, tuple(awake), expected)

    def _is_certain(self, stretch: Stretch) -> bool:
        return any(
            min(until_ns, stretch.until_ns) - max(since_ns, stretch.from_ns) >= FLICKER_NS
            for since_ns, until_ns in self.settled
        )

    def _last_rounds(self, life: Life, rounds: Sequence[Round]) -> Iterator[tuple[Round | None, Span]]:
        """Yield the settled times of a life, each with the member's last round by then."""
        if life.join_ns is None:  # its process was killed before it joined
            return
        begins = [life.join_ns, *(each.at_ns for each in rounds)]
        over_ns = self._until_ns if life.gone_ns is None else life.gone_ns
        for last, since_ns, until_ns in zip([None, *rounds], begins, [*begins[1:], over_ns], strict=True):
            for begin_ns, end_ns in self.settled:
                begin, end = max(begin_ns, since_ns), min(end_ns, until_ns)
                if end - begin >= FLICKER_NS:
                    yield last, (begin, end)

    def _is_late(self, life: Life, last: Round | None, at_ns: float) -> bool:
        ids = [each.client_id for each in self._membership.living_at(at_ns)]
        is_open = None in ids or self._membership.is_frozen(life, at_ns)
        return not is_open and (last is None or Counter(last.ids) != Counter(ids))

    def _edges(self, others: Iterable[int | None] = ()) -> list[int]:
        lives = self._group.lives
        changes = [at_ns for life in lives for at_ns in (life.join_ns, life.gone_ns)]
        pauses = [at_ns for life in lives for pause in life.pauses for at_ns in (pause.from_ns, pause.until_ns)]
        woken = [self._membership.woken_ns(pause) for life in lives for pause in life.pauses]
        edges = (self._from_ns, self._until_ns, *others, *changes, *pauses, *woken)
        return sorted({max(self._from_ns, min(at_ns, self._until_ns)) for at_ns in edges if at_ns is not None})

    def _cut(self, edges: list[int]) -> Iterator[tuple[int, int]]:
        """Yield the settled times, cut at the edges."""
        for since_ns, until_ns in pairwise(edges):
            for begin_ns, end_ns in self.settled:
                begin, end = max(since_ns, begin_ns), min(until_ns, end_ns)
                if begin < end:
                    yield int(begin), int(end)


class Expected:
    """The owners of a topic's queues by the rules, for the members of a group."""

    def __init__(self, membership: Membership, topic: Topic) -> None:
        self._membership, self._topic = membership, topic
        self._known: dict[tuple[Life, ...], Mapping[Place, Life]] = {}

    def at(self, at_ns: int) -> Mapping[Place, Life]:
        """Return owners by queue; none if an id is unknown."""
        living = self._membership.living_at(at_ns)
        if living not in self._known:
            by_id = {life.client_id: life for life in living if life.client_id is not None}
            is_known = len(by_id) == len(living)
            owners = self._topic.owners(list(by_id)) if is_known else {}
            self._known[living] = {queue: by_id[one] for queue, one in owners.items()}
        return self._known[living]


def topics_of(story: CaseStory, group: GroupStory) -> Mapping[TopicKind, Topic]:
    """
    Return the topics of a group whose queues and strategy are known.

    A retry topic that was made before the group joined has one queue at each broker from the first round on.
    """
    entry, strategy = story.trace.entry, strategy_of(story)
    brokers = tuple(entry.brokers)
    topics = {
        TopicKind.FED: Topic(
            group.topics.fed,
            tuple((broker, number) for broker in brokers for number in range(entry.queues_per_broker)),
            strategy,
        ),
        TopicKind.RETRY: Topic(group.topics.retry, tuple((broker, 0) for broker in brokers), strategy),
    }
    seen = {kind: {queue[1:] for each in group.rounds if each.kind is kind for queue in each.queues} for kind in topics}
    return {
        kind: topic
        for kind, topic in topics.items()
        if topic.is_known and (kind is TopicKind.FED or seen[kind] == set(topic.queues))
    }


def strategy_of(story: CaseStory) -> str:
    """Return the strategy that the baseline's members report, else the candidate's; empty without one."""
    for arm in (Arm.BASELINE, Arm.CANDIDATE):
        names = Counter(each.strategy for each in story.groups[arm].rounds if each.error is None)
        if names:
            return names.most_common()[0][0]
    return ""
