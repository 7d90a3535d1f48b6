"""Members of groups with one defect each: changes to the reference consumer, made before it joins."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from rocketmq_reference.api.lite_pull_consumer import LitePullConsumer
from rocketmq_reference.api.push_consumer import PushConsumer
from rocketmq_reference.client.codec import AsyncEnd
from rocketmq_reference.client.consuming.lite_pulling import Assigned
from rocketmq_reference.client.consuming.pulling import PullRequest
from rocketmq_reference.client.effects import Body, Running
from rocketmq_reference.client.memory import Thread
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.consumer.offsets import RETRY_PREFIX, TopicQueue
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue
from rocketmq_reference.rules.consumer.settings import ConsumeFromWhere

Defect = Callable[[PushConsumer], None]
PollDefect = Callable[[LitePullConsumer], None]
Pulled = ProcessQueue[StoredMessage]

_PERIOD = 10
_SILENCE_MS = 2_000


def _strikes(message: StoredMessage) -> bool:
    return message.queue_offset % _PERIOD == _PERIOD - 1


def honest(_consumer: PushConsumer) -> None:
    """Change nothing."""


def loses(consumer: PushConsumer) -> None:
    """Acknowledge every tenth message of a queue without calling the listener."""
    pulling = consumer.parts.pulling
    deliver = pulling.deliver

    def without_some(of: TopicQueue, queue: Pulled, messages: Sequence[StoredMessage]) -> None:
        queue.remove([message for message in messages if _strikes(message)])
        deliver(of, queue, [message for message in messages if not _strikes(message)])

    pulling.deliver = without_some


def doubles(consumer: PushConsumer) -> None:
    """Call the listener twice for every tenth message of a queue."""
    pulling = consumer.parts.pulling
    deliver = pulling.deliver

    def some_twice(of: TopicQueue, queue: Pulled, messages: Sequence[StoredMessage]) -> None:
        deliver(of, queue, messages)
        deliver(of, queue, [message for message in messages if _strikes(message)])

    pulling.deliver = some_twice


def commits_early(consumer: PushConsumer) -> None:
    """Remember the offset behind a message as soon as it is received."""
    pulling, committing = consumer.parts.pulling, consumer.parts.committing
    deliver = pulling.deliver

    def after_the_offset(of: TopicQueue, queue: Pulled, messages: Sequence[StoredMessage]) -> None:
        committing.update(of, messages[-1].queue_offset + 1)
        deliver(of, queue, messages)

    pulling.deliver = after_the_offset


def stands_still(consumer: PushConsumer) -> None:
    """Give up pulling from a queue that was silent for two seconds after it had messages."""
    parts = consumer.parts
    deliver = parts.pulling.deliver
    last_ms: dict[TopicQueue, int] = {}

    def until_a_silence(of: TopicQueue, queue: Pulled, messages: Sequence[StoredMessage]) -> None:
        now_ms = parts.client.host.now_ms
        if now_ms - last_ms.setdefault(of, now_ms) > _SILENCE_MS:
            return  # what it has pulled stays in the queue for ever, and holds further pulls back
        last_ms[of] = now_ms
        deliver(of, queue, messages)

    parts.pulling.deliver = until_a_silence


def takes_a_wrong_share(consumer: PushConsumer) -> None:
    """Take the share of the next member."""
    rebalancing = consumer.parts.rebalancing
    strategy = rebalancing.strategy

    def of_the_next(topic: str, queues: Sequence[Queue], ids: Sequence[str], own: str) -> tuple[Queue, ...]:
        neighbour = ids[(ids.index(own) + 1) % len(ids)] if own in ids else own
        return strategy(topic, queues, ids, neighbour)

    rebalancing.strategy = of_the_next


def leaves_a_queue(consumer: PushConsumer) -> None:
    """Take the share without its last queue, which then is nobody's."""
    rebalancing = consumer.parts.rebalancing
    strategy = rebalancing.strategy

    def without_the_last(topic: str, queues: Sequence[Queue], ids: Sequence[str], own: str) -> tuple[Queue, ...]:
        return strategy(topic, queues, ids, own)[:-1]

    rebalancing.strategy = without_the_last


def keeps_a_lost_queue(consumer: PushConsumer) -> None:
    """Allocate rightly, but go on with one queue of a topic after it belongs to another member."""
    rebalancing, memory = consumer.parts.rebalancing, consumer.parts.memory
    take = rebalancing.take_share

    def with_a_lost_one(topic: str, share: Sequence[Queue]) -> Running[bool]:
        lost = sorted(memory.working_on(topic) - set(share))
        return take(topic, (*share, *lost[:1]))

    rebalancing.take_share = with_a_lost_one  # type: ignore[method-assign]  # the defect


def never_gives_a_queue_up_cleanly(consumer: PushConsumer) -> None:
    """Commit every few seconds and with pulls, but not when it gives a queue up or leaves."""
    committing = consumer.parts.committing
    commit_all = committing.commit_all

    def nothing(of: TopicQueue) -> Body:  # noqa: ARG001 - it commits nothing
        return
        yield  # a coroutine without waits

    def while_it_is_there() -> Body:
        if not consumer.has_left:
            yield from commit_all()

    committing.commit = nothing  # type: ignore[method-assign]  # the defect
    committing.commit_all = while_it_is_there  # type: ignore[method-assign]  # the defect


def pulls_in_a_loop(consumer: PushConsumer) -> None:
    """Ask for a queue again as soon as it was asked, and throw that answer away."""
    pulling = consumer.parts.pulling
    pull, ended = pulling.pull, pulling.ended
    further: list[PullRequest] = []

    def twice(request: PullRequest, own: Thread) -> Body:
        yield from pull(request, own)
        again = PullRequest(request.of, request.queue, request.next_offset)
        further.append(again)
        yield from pull(again, own)

    def once(request: PullRequest, end: AsyncEnd) -> Body:
        if any(request is each for each in further):
            further.remove(request)
            return
        yield from ended(request, end)

    pulling.pull = twice  # type: ignore[method-assign]  # the defect
    pulling.ended = once  # type: ignore[method-assign]  # the defect


def loses_tags(consumer: PushConsumer) -> None:
    """Show every tenth message of a queue without its tags."""
    pulling = consumer.parts.pulling
    deliver = pulling.deliver

    def without_tags(of: TopicQueue, queue: Pulled, messages: Sequence[StoredMessage]) -> None:
        for message in filter(_strikes, messages):
            message.properties.pop("TAGS", None)
        deliver(of, queue, messages)

    pulling.deliver = without_tags


def reorders_a_queue(consumer: PushConsumer) -> None:
    """Consume every tenth message of a queue after all that have come."""
    in_order = consumer.parts.in_order
    if in_order is None:
        return
    take = in_order.take

    def swapped(queue: Pulled) -> Sequence[StoredMessage]:
        first = take(queue)
        if not first or not _strikes(first[0]) or not queue.has_waiting:
            return first
        second = take(queue)
        queue.put_back(first)
        return second

    in_order.take = swapped  # type: ignore[method-assign]  # the defect


def ignores_locks(consumer: PushConsumer) -> None:
    """Consume in order without asking for locks."""
    in_order, memory, host = consumer.parts.in_order, consumer.parts.memory, consumer.parts.client.host
    if in_order is None:
        return

    def granted(of: TopicQueue) -> Running[bool]:  # noqa: ARG001 - it asks for none
        return True
        yield  # a coroutine without waits

    def renewed() -> Body:
        for queue in memory.process.values():
            queue.is_locked, queue.last_lock_ms = True, host.now_ms
        return
        yield  # a coroutine without waits

    in_order.locking.lock = granted  # type: ignore[method-assign]  # the defect
    in_order.locking.renew = renewed  # type: ignore[method-assign]  # the defect


def ignores_max_retries(consumer: PushConsumer) -> None:
    """Have a failed message come back as often as without the setting."""
    memory = consumer.parts.memory
    memory.settings = replace(memory.settings, max_reconsume_times=-1)


def skips_the_dead_letters(consumer: PushConsumer) -> None:
    """Acknowledge a message that has failed as often as it may."""
    concurrent, memory = consumer.parts.concurrent, consumer.parts.memory
    if concurrent is None:
        return
    send_back = concurrent.send_back

    def unless_dead(message: StoredMessage, of: TopicQueue, delay_level: int, *, named: bool) -> Running[bool]:
        if message.reconsume_times >= memory.settings.most_reconsume_times or delay_level < 0:
            return True
        return (yield from send_back(message, of, delay_level, named=named))

    concurrent.send_back = unless_dead  # type: ignore[method-assign]  # the defect


def jumps_to_the_end(consumer: PushConsumer) -> None:
    """Begin at the end of a queue whose offset the group has committed, as if the question for it had failed."""
    committing, memory = consumer.parts.committing, consumer.parts.memory
    committed = committing.committed
    memory.settings = replace(memory.settings, consume_from_where=ConsumeFromWhere.LAST)

    def forgotten(of: TopicQueue) -> Running[int | None]:
        known = yield from committed(of)
        return None if known and not of.topic.startswith(RETRY_PREFIX) else known or 0

    committing.committed = forgotten  # type: ignore[method-assign]  # the defect


def keeps_threads(consumer: PushConsumer) -> None:
    """Start a thread for every tenth message, and never end it."""
    pulling = consumer.parts.pulling
    deliver = pulling.deliver
    never = threading.Event()

    def with_threads(of: TopicQueue, queue: Pulled, messages: Sequence[StoredMessage]) -> None:
        for _ in filter(_strikes, messages):
            threading.Thread(target=never.wait, daemon=True).start()
        deliver(of, queue, messages)

    pulling.deliver = with_threads


def keeps_polling(_consumer: LitePullConsumer) -> None:
    """Change nothing."""


def commits_before_the_poll(consumer: LitePullConsumer) -> None:
    """Remember the offset behind a batch as soon as it is pulled."""
    pulling, committing = consumer.parts.pulling, consumer.parts.committing
    put = pulling.put

    def and_commit(assigned: Assigned, messages: Sequence[StoredMessage]) -> None:
        committing.update(assigned.of, messages[-1].queue_offset + 1)
        put(assigned, messages)

    pulling.put = and_commit  # type: ignore[method-assign]  # the defect


def loses_at_a_rebalance(consumer: LitePullConsumer) -> None:
    """Commit what waits for a poll when its queue is given up, and never hand it out."""
    parts = consumer.parts
    give_up = parts.rebalancing.give_up

    def with_what_waits(of: TopicQueue) -> Running[bool]:
        waiting = [batch.messages[-1].queue_offset + 1 for batch in parts.pulling.batches if batch.of == of]
        if waiting:
            parts.committing.update(of, waiting[-1])
        return (yield from give_up(of))

    parts.rebalancing.give_up = with_what_waits  # type: ignore[method-assign]  # the defect


def never_commits(consumer: LitePullConsumer) -> None:
    """Forget what polls have handed out, whoever asks for a commit."""
    consumer.parts.pulling.commit_all = lambda: None  # type: ignore[method-assign]  # the defect


def assigns_only_the_first_queue(consumer: LitePullConsumer) -> None:
    """Take only the first queue of those that the application assigns, and never pull from the others."""
    pulling = consumer.parts.pulling
    assign = pulling.assign

    def only_the_first(queues: Sequence[TopicQueue]) -> None:
        assign(sorted(queues)[:1])

    pulling.assign = only_the_first  # type: ignore[method-assign]  # the defect


def ignores_seeks(consumer: LitePullConsumer) -> None:
    """Return from a seek, and go on with a queue where it was."""

    def nothing(of: TopicQueue, offset: int) -> Body:  # noqa: ARG001 - it goes nowhere
        return
        yield  # a coroutine without waits

    consumer.parts.pulling.seek = nothing  # type: ignore[method-assign]  # the defect


def keeps_what_it_had_at_a_seek(consumer: LitePullConsumer) -> None:
    """Hand out what was pulled before a seek, and then go on where the application went."""
    pulling = consumer.parts.pulling
    seek = pulling.seek

    def with_what_waits(of: TopicQueue, offset: int) -> Body:
        waiting = [batch for batch in pulling.batches if batch.of == of]
        yield from seek(of, offset)
        for batch in waiting:
            batch.queue.put(batch.messages)
            pulling.batches.append(batch)

    pulling.seek = with_what_waits  # type: ignore[method-assign]  # the defect


def delivers_while_paused(consumer: LitePullConsumer) -> None:
    """Return from a pause, and go on pulling from the queue."""

    def nothing(of: TopicQueue, *, is_paused: bool) -> None:
        """It pauses nothing."""

    consumer.parts.pulling.pause = nothing  # type: ignore[method-assign]  # the defect


def loses_what_waits_at_a_pause(consumer: LitePullConsumer) -> None:
    """Throw away what waits for a poll when its queue is paused, and go on behind it."""
    pulling = consumer.parts.pulling
    pause = pulling.pause

    def and_throw_away(of: TopicQueue, *, is_paused: bool) -> None:
        pause(of, is_paused=is_paused)
        if is_paused:
            for batch in [batch for batch in pulling.batches if batch.of == of]:
                pulling.batches.remove(batch)
                batch.queue.remove(batch.messages)

    pulling.pause = and_throw_away  # type: ignore[method-assign]  # the defect


def never_resumes(consumer: LitePullConsumer) -> None:
    """Pull no more from a queue that was paused once."""
    pulling = consumer.parts.pulling
    pause = pulling.pause

    def for_good(of: TopicQueue, *, is_paused: bool) -> None:
        if is_paused:
            pause(of, is_paused=True)

    pulling.pause = for_good  # type: ignore[method-assign]  # the defect


POLLING_TOYS: Mapping[str, PollDefect] = MappingProxyType(
    {
        "honest-poller": keeps_polling,
        "commits-before-the-poll": commits_before_the_poll,
        "loses-at-a-rebalance": loses_at_a_rebalance,
        "never-commits": never_commits,
        "assigns-only-the-first-queue": assigns_only_the_first_queue,
        "ignores-seeks": ignores_seeks,
        "keeps-what-it-had-at-a-seek": keeps_what_it_had_at_a_seek,
        "delivers-while-paused": delivers_while_paused,
        "loses-what-waits-at-a-pause": loses_what_waits_at_a_pause,
        "never-resumes": never_resumes,
    }
)
"""By the names of ``subjects.kinds.toy``: lite pull consumers."""


@dataclass(frozen=True, slots=True)
class Toy:
    """A defect of a member, of either kind of consumer."""

    pushed: Defect = honest
    polled: PollDefect = keeps_polling


HONEST = Toy()

CONSUMER_TOYS: Mapping[str, Defect] = MappingProxyType(
    {
        "honest-member": honest,
        "loses": loses,
        "doubles": doubles,
        "commits-early": commits_early,
        "stands-still": stands_still,
        "pulls-in-a-loop": pulls_in_a_loop,
        "wrong-share": takes_a_wrong_share,
        "keeps-a-lost-queue": keeps_a_lost_queue,
        "never-gives-up-a-queue-cleanly": never_gives_a_queue_up_cleanly,
        "loses-tags": loses_tags,
        "reorders-a-queue": reorders_a_queue,
        "ignores-locks": ignores_locks,
        "ignores-max-retries": ignores_max_retries,
        "skips-the-dead-letters": skips_the_dead_letters,
        "jumps-to-the-end": jumps_to_the_end,
        "keeps-threads": keeps_threads,
        "hookless-member": honest,
        "hookless-loses": loses,
        "hookless-leaves-a-queue": leaves_a_queue,
        "hookless-pulls-in-a-loop": pulls_in_a_loop,
    }
)
"""By the names of ``subjects.kinds.toy``."""

MEMBER_TOYS: Mapping[str, Toy] = MappingProxyType(
    {name: Toy(pushed=defect) for name, defect in CONSUMER_TOYS.items()}
    | {name: Toy(polled=defect) for name, defect in POLLING_TOYS.items()}
)
