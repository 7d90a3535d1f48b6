"""
One moment of a call, run through the reference's rules in one hidden state.

Everything here asks the rules; nothing here decides. What is not known (random numbers, which of two publish lists, an
attempt the witness cannot see) is a question to the explorer.
"""

from collections.abc import Mapping
from math import lcm

from rocketdiff.core.plan import SendKind, SendMode
from rocketdiff.core.records import Attempt, Send
from rocketdiff.oracle.choices import INDEX_BASE, ChoiceExplorer, ChoiceTape
from rocketdiff.oracle.decision_point import DecisionPoint
from rocketdiff.oracle.hidden_state import HiddenState, ThreadState
from rocketdiff.oracle.interval import Interval, Reading, as_ms, wall_ms
from rocketdiff.oracle.uncertain_list import UncertainPublishInfo, write_queues_in
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.attempt import BROKER_NOT_EXIST, AttemptResult, Step, Try
from rocketmq_reference.rules.producer.direct_send import direct_send_ended, send_by_selector, send_to_queue
from rocketmq_reference.rules.producer.one_way import OneWaySend
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.queue_choice.index import ThreadIndex
from rocketmq_reference.rules.settings import SendSettings

Routes = Mapping[int, tuple[tuple[str, int], ...]]

WAYS_FOLLOWED = 4_000
"""
Ways from all worlds through one moment. Of 99 drawn cases with fault latency and up to eight threads 95 had 64 at the most, three up
to 512, and one with a timeout of 1 ms 3,520. Such timeouts, and a fallback over several brokers, make millions, each a world in memory.
"""

WAYS_BEYOND = 64
"""Ways followed at each moment once some were left out: nothing can be a difference any more, and what is explained is still told."""

RUNS_FOLLOWED = 400_000
"""
Runs of the explorer at one moment, those for the order of a fault table among them. 4,000 ways of a hundred attempts without an address,
each with a fallback over three brokers, were 7,200,000, and 25 s; ways of one attempt are a dozen runs.
"""

_DIRECT = (SendKind.QUEUE, SendKind.SELECTOR)

_UNSEEN = AttemptResult.failed("MQClientException")
"""A broker whose address is unknown fails an attempt before the hook inside the client can see it."""


class Stepper:
    """Runs moments in worlds of one arm."""

    def __init__(self, dialect: Dialect, settings: SendSettings, routes: Routes, *, causes_told: bool = True) -> None:
        """causes_told: the client can tell the cause of an exception."""
        self.dialect = dialect
        self.settings = settings
        self.routes = routes
        self.causes_told = causes_told
        self.left_out = False
        self.explorer = ChoiceExplorer()
        self.tape = ChoiceTape(self.explorer)
        self._worst_modulus = 1 if dialect.fault_table.extends_only else _worst_modulus(routes)
        self._every_queue = write_queues_in({queue for queues in routes.values() for queue in queues})
        self._moduli = {version: self._modulus(queues) for version, queues in routes.items()}

    def every_outcome(self, worlds: list[HiddenState], moment: DecisionPoint) -> list[tuple[HiddenState, Step | None]]:
        """
        What the rules may do at a moment: every world after it, with the step taken.

        None for a moment at which nothing is chosen. Beyond WAYS_FOLLOWED, or RUNS_FOLLOWED, they are ``left_out``, and from then on nothing the
        rules do not lead to is a difference.
        """
        outcomes: list[tuple[HiddenState, Step | None]] = []
        most = WAYS_BEYOND if self.left_out else WAYS_FOLLOWED
        last_run = self.explorer.runs + RUNS_FOLLOWED
        for world in worlds:
            self.explorer.restart()
            while True:
                clone = world.copy(self.tape, moment.send.thread)
                outcomes.append((clone, self._run(clone, moment)))
                self._normalise(clone.minds[moment.send.thread])
                if not self.explorer.advance():
                    break
                if len(outcomes) >= most or self.explorer.runs >= last_run:
                    self.left_out = True
                    return outcomes
        return outcomes

    def every_forced(self, worlds: list[HiddenState], moment: DecisionPoint) -> list[HiddenState]:
        """
        Worlds in which the client did at this moment what was seen, whatever the rules say.

        Its index is unknown from here on, and its publish list is as the route gives it: what the rules would have
        rewritten in the list, a client that does not follow them has not.
        """
        forced: list[HiddenState] = []
        for world in worlds:
            self.explorer.restart()
            while True:
                clone = world.copy(self.tape, moment.send.thread)
                self._force(clone, moment)
                forced.append(clone)
                if not self.explorer.advance():
                    break
        return forced

    def forget(self, world: HiddenState, thread: int) -> None:
        """A call of a thread went unjudged: its counters may stand anywhere, and the lists are as the route gives them."""
        world.forget_index(thread)
        if world.latency_on:
            for version, info in world.infos.items():
                info.queues[:] = [Queue(*queue) for queue in self.routes[version]]

    def end(self, world: HiddenState, thread: int) -> None:
        """The call is over, and nothing of it matters any more."""
        world.story = None
        mind = world.mind(thread)
        mind.loop = mind.finish = None

    def versions_of(self, send: Send) -> list[int]:
        """Versions of the publish list the call may have used, of those whose queues are known."""
        return [version for version in dict.fromkeys((send.route, send.route_after)) if self.routes.get(version)]

    def _run(self, world: HiddenState, moment: DecisionPoint) -> Step | None:
        send = moment.send
        now_ms = self._now(moment)
        if send.kind in _DIRECT:
            return self._run_direct(world, moment, now_ms)
        if moment.number == 0 and moment.settled is None:
            mind = self._enter(world, send)
            step = self._begin(mind, world, moment, now_ms)
        else:
            mind = world.minds[send.thread]
            if moment.settled is not None:
                mind.finish = _loop(mind).settle(now_ms, _result_of(moment.settled, send.mode))
            if not moment.chooses:
                return mind.finish
            self.tape.modulus = lcm(self._moduli[mind.version], self._worst_modulus)
            step = mind.finish or _loop(mind).choose(now_ms)
        while isinstance(step, Try) and self._may_be_unseen(send, step.queue) and self.explorer.choose(2):
            step = _loop(mind).attempt_ended(now_ms, _UNSEEN)
        return step

    def _normalise(self, mind: ThreadState) -> None:
        """Bring the counters back to their representatives, so that equal worlds look equal."""
        modulus = self._moduli[mind.version]
        if mind.index.value is not None:
            mind.index.value = INDEX_BASE * modulus + mind.index.value % modulus
        modulus = self._worst_modulus
        if mind.worst_index.value is not None:
            mind.worst_index.value = INDEX_BASE * modulus + mind.worst_index.value % modulus

    def _begin(self, mind: ThreadState, world: HiddenState, moment: DecisionPoint, now_ms: int) -> Step:
        began_ms = as_ms(Interval(*wall_ms(moment.from_ns, moment.to_ns), self.explorer))
        return self._new_loop(moment.send, mind, world).begin(began_ms, now_ms)

    def _run_direct(self, world: HiddenState, moment: DecisionPoint, now_ms: int) -> Step | None:
        send = moment.send
        if moment.settled is not None:
            world.minds[send.thread].finish = direct_send_ended(_result_of(moment.settled, send.mode))
        if moment.number or moment.settled is not None:
            return world.minds[send.thread].finish
        mind = self._enter(world, send)
        spent_ms = now_ms - as_ms(Interval(*wall_ms(moment.from_ns, moment.to_ns), self.explorer))
        queues = world.infos[mind.version].queues
        timeout_ms = self.settings.send_msg_timeout_ms
        if send.kind is SendKind.QUEUE:
            chosen = Queue(*sorted(self.routes[mind.version])[send.argument % len(queues)])
            step = send_to_queue(self.dialect, chosen, timeout_ms, spent_ms)
        else:
            chosen = queues[send.argument % len(queues)]
            step = send_by_selector(self.dialect, chosen, timeout_ms, spent_ms)
        if isinstance(step, Try) and send.error == "MQClientException" and self.explorer.choose(2):
            return direct_send_ended(_UNSEEN)
        return step

    def _enter(self, world: HiddenState, send: Send) -> ThreadState:
        """The thread's mind with a publish list the call may have used; a new list has a counter of its own."""
        versions = self.versions_of(send)
        version = versions[self.explorer.choose(len(versions)) if len(versions) > 1 else 0]
        mind = world.mind(send.thread)
        mind.finish = None
        if mind.version != version:
            if version not in world.infos:
                world.infos[version] = UncertainPublishInfo(self.routes[version], self._every_queue, self.explorer)
            mind.version = version
            mind.index = ThreadIndex(self.dialect.index)
            world.forget_unused_lists()
        self.tape.modulus = lcm(self._moduli[version], self._worst_modulus)
        return mind

    def _force(self, world: HiddenState, moment: DecisionPoint) -> None:
        now_ms = self._now(moment)
        direct = moment.send.kind in _DIRECT
        if moment.number == 0 and moment.settled is None:
            mind = self._enter(world, moment.send)
            if not direct:
                loop = self._new_loop(moment.send, mind, world)
                loop.began_ms = as_ms(Interval(*wall_ms(moment.from_ns, moment.to_ns), self.explorer))
        else:
            mind = world.minds[moment.send.thread]
        if direct:
            return
        loop = _loop(mind)
        if moment.settled is not None:
            loop.settle(now_ms, _result_of(moment.settled, moment.send.mode))
        mind.finish = None
        mind.index.value = None
        world.infos[mind.version].queues[:] = [Queue(*queue) for queue in self.routes[mind.version]]
        if moment.followed_by is not None:
            queue = Queue(moment.followed_by.broker, moment.followed_by.queue_id)
            queues = world.infos[mind.version].queues
            loop.pick = queues.index(queue) if queue in queues else queue
            loop.attempt_began_ms = +now_ms

    def _new_loop(self, send: Send, mind: ThreadState, world: HiddenState) -> SendLoop:
        loop = SendLoop if send.mode is SendMode.SYNC else OneWaySend
        mind.loop = loop(self.dialect, self.settings, world.selector(send.thread, mind, self.tape))
        return mind.loop

    def _now(self, moment: DecisionPoint) -> int:
        return as_ms(Reading(*wall_ms(moment.from_ns, moment.to_ns), self.explorer))

    def _may_be_unseen(self, send: Send, queue: Queue) -> bool:
        """
        Whether an attempt at this queue can have failed for want of an address.

        Only a broker that has left the route has none, or the call itself says so at its end.
        """
        if send.error == "MQClientException" and send.code == BROKER_NOT_EXIST:
            return True
        versions = self.versions_of(send)
        return len(versions) > 1 or all(queue.broker != broker for broker, _ in self.routes[versions[0]])

    def _modulus(self, queues: tuple[tuple[str, int], ...]) -> int:
        """Indexes that are equal modulo this select alike: list length and write queues of each broker the fallback may know."""
        # Tables that only extend avoidances came with the end of the fallback, which alone counts write queues.
        fallback = () if self.dialect.fault_table.extends_only else tuple(self._every_queue.values())
        return lcm(len(queues) or 1, *fallback)


def _loop(mind: ThreadState) -> SendLoop:
    if mind.loop is None:
        raise AssertionError("a call without a beginning")
    return mind.loop


def _result_of(attempt: Attempt, mode: SendMode) -> AttemptResult:
    if attempt.error is not None:
        return AttemptResult.failed(attempt.error, attempt.code)
    if mode is SendMode.ONEWAY:
        return AttemptResult()
    return AttemptResult.ok(attempt.status or "SEND_OK")


def _worst_modulus(routes: Routes) -> int:
    """The second counter is taken modulo half the number of fault items, of which there is one a broker at most."""
    brokers = {broker for queues in routes.values() for broker, _ in queues}
    return lcm(*range(1, max(len(brokers) // 2, 1) + 1))
