"""
The transition relation: from a hidden state and a decision point to all successor states.

The reference's rules decide. Unknowns (random numbers, which of two publish lists, an attempt invisible to the witness)
are the explorer's choices.
"""

from collections.abc import Mapping, Sequence
from math import lcm

from rocketdiff.core.records.sending import Attempt, Send
from rocketdiff.core.sends.outcome import ErrorWord, may_be
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.choices import INDEX_BASE, ChoiceExplorer, ChoiceTape
from rocketdiff.oracle.interval import Interval, Reading, as_ms, wall_ms
from rocketdiff.oracle.producer.states.decision_point import DecisionPoint
from rocketdiff.oracle.producer.states.hidden_state import (
    HiddenState,
    PendingReads,
    PendingRewrite,
    ThreadState,
    Values,
)
from rocketdiff.oracle.producer.states.shared_list import (
    begin_reading,
    begin_rewriting,
    catch_up,
    complete,
    may_become,
    read_by_ns,
)
from rocketdiff.oracle.producer.states.uncertain import UncertainPublishInfo, write_queues_in
from rocketmq_reference.rules.client.publish import Queue, picked_queue
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.attempt import BROKER_NOT_EXIST, AttemptResult, ErrorFamily, Step, Try, family_of
from rocketmq_reference.rules.producer.direct_send import direct_send_ended, send_by_selector, send_to_queue
from rocketmq_reference.rules.producer.one_way import OneWaySend
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.producer.settings import SendSettings
from rocketmq_reference.rules.queue_choice.index import ThreadIndex

Routes = Mapping[int, tuple[tuple[str, int], ...]]

WAYS_FOLLOWED = 4_000
"""
Upper bound of transitions at one decision point. Of 99 drawn cases with fault latency and up to eight threads, 95 had
at most 64, three up to 512, and one with a timeout of 1 ms 3,520. Such timeouts, and a fallback over several brokers,
make millions, each a state in memory.
"""

WAYS_BEYOND = 64
"""The bound after transitions were dropped: nothing can be a difference any more, but explained sends are still reported."""

RUNS_FOLLOWED = 400_000
"""
Upper bound of runs at one decision point, including those for the order of a fault table. 4,000 transitions of a
hundred attempts without an address, each with a fallback over three brokers, took 7,200,000 runs and 25 s; transitions
of one attempt take a dozen runs.
"""

_DIRECT = (SendKind.QUEUE, SendKind.SELECTOR)

_UNSEEN = AttemptResult.failed("MQClientException")
"""A broker without a known address fails an attempt before the hook inside the client sees it."""


class Transitions:
    """
    Transitions of one arm.

    ``left_out``: some were dropped, so no difference is certain any more. steps: intervals in ns within which the wall
    clock, which Java's rules read, was stepped. slipped_since_ns: since when it may be off by more than a steady one is.
    """

    def __init__(
        self,
        dialect: Dialect,
        settings: SendSettings,
        routes: Routes,
        *,
        causes_reported: bool = True,
        steps: Sequence[tuple[int, int]] = (),
        slipped_since_ns: int | None = None,
    ) -> None:
        self.steps = steps
        self.slipped_since_ns = slipped_since_ns
        self.dialect = dialect
        self.settings = settings
        self.routes = routes
        self.causes_reported = causes_reported
        self.left_out = False
        self.explorer = ChoiceExplorer()
        self.tape = ChoiceTape(self.explorer)
        self.rewrites = dialect.producer.rewrites_list
        self._worst_modulus = 1 if dialect.producer.fault_table.extends_only else _worst_modulus(routes)
        self._every_queue = write_queues_in({queue for queues in routes.values() for queue in queues})
        self._moduli = {version: self._modulus(queues) for version, queues in routes.items()}
        self._tape_moduli = {version: lcm(modulus, self._worst_modulus) for version, modulus in self._moduli.items()}
        self._versions: dict[tuple[int, int], tuple[int, ...]] = {}
        self._brokers = {version: frozenset(broker for broker, _ in queues) for version, queues in routes.items()}

    def every_outcome(self, states: list[HiddenState], point: DecisionPoint) -> list[tuple[HiddenState, Step | None]]:
        """
        Return every successor state at a decision point, with the step taken (None if the point only notes).

        Beyond WAYS_FOLLOWED or RUNS_FOLLOWED, transitions are dropped and ``left_out`` is set.
        """
        outcomes: list[tuple[HiddenState, Step | None]] = []
        most = WAYS_BEYOND if self.left_out else WAYS_FOLLOWED
        last_run = self.explorer.runs + RUNS_FOLLOWED
        for state in states:
            self.explorer.restart()
            while True:
                clone = state.copy(self.tape, point.send.thread)
                is_late = clone.rewritings or clone.readings
                if not is_late or catch_up(clone, point, self.explorer):
                    outcomes.append((clone, self._run(clone, point)))
                    self._normalise(clone.thread_states[point.send.thread])
                if not self.explorer.advance():
                    break
                if len(outcomes) >= most or self.explorer.runs >= last_run:
                    self.left_out = True
                    return outcomes
        return outcomes

    def every_forced(self, states: list[HiddenState], point: DecisionPoint) -> list[HiddenState]:
        """
        Return successor states in which the client did what was observed, against the rules.

        The index is then unknown, and the publish list is reset to the route's: a client that does not follow the rules
        did not make their rewrites.
        """
        forced: list[HiddenState] = []
        for state in states:
            self.explorer.restart()
            while True:
                clone = state.copy(self.tape, point.send.thread)
                self._force(clone, point)
                forced.append(clone)
                if not self.explorer.advance():
                    break
        return forced

    def forget(self, state: HiddenState, thread: int) -> None:
        """After an unjudged call: make the thread's counters unknown and reset the lists to the route's."""
        state.forget_index(thread)
        if state.latency_on:
            for version, info in state.infos.items():
                info.queues[:] = [Queue(*queue) for queue in self.routes[version]]

    def end(self, state: HiddenState, thread: int) -> None:
        state.story = None
        thread_state = state.thread_state(thread)
        thread_state.loop = thread_state.finish = None

    def count_on(self, state: HiddenState, thread: int, calls: int) -> None:
        thread_state = state.thread_states[thread]
        assert thread_state.index.value is not None, "asked of a thread whose counter is known"
        thread_state.index.value += calls
        self._normalise(thread_state)

    def stop_at(self, state: HiddenState, thread: int, position: int) -> None:
        """Set a thread's counter to the position of the queue it selected."""
        thread_state = state.thread_states[thread]
        thread_state.index.value = position
        self._normalise(thread_state)

    def versions_of(self, send: Send) -> tuple[int, ...]:
        """Versions of the publish list with known queues that the call may have used."""
        named = send.route, send.route_after
        if named not in self._versions:
            self._versions[named] = tuple(version for version in dict.fromkeys(named) if self.routes.get(version))
        return self._versions[named]

    def meets_step(self, from_ns: int, to_ns: int) -> bool:
        """True if the wall clock was stepped between two instants."""
        return any(step_from_ns <= to_ns and from_ns <= step_to_ns for step_from_ns, step_to_ns in self.steps)

    def has_slipped(self, at_ns: int) -> bool:
        """True if avoidances, which the client ends by the wall clock, may end at another time than the oracle's."""
        is_known = self.slipped_since_ns is not None and at_ns >= self.slipped_since_ns
        return is_known and self.settings.send_latency_fault_enable

    def _run(self, state: HiddenState, point: DecisionPoint) -> Step | None:
        send = point.send
        now_ms = self._now(point)
        if send.kind in _DIRECT:
            return self._run_direct(state, point, now_ms)
        state.faults.moving = self._moving(state, point)
        if point.number == 0 and point.settled is None:
            thread_state = self._enter(state, send)
            state.infos[thread_state.version].defers = bool(point.meanwhile or state.readings)
            step = self._begin(thread_state, state, point, now_ms)
        else:
            thread_state = state.thread_states[send.thread]
            if point.settled is not None:
                thread_state.finish = _loop(thread_state).settle(now_ms, _result_of(point.settled, send.mode))
            if not point.chooses:
                return thread_state.finish
            self.tape.modulus = self._tape_moduli[thread_state.version]
            state.infos[thread_state.version].defers = bool(point.meanwhile or state.readings)
            step = thread_state.finish or _loop(thread_state).choose(now_ms)
        info = state.infos[thread_state.version]
        step = _as_rewritten(step, info)
        while isinstance(step, Try) and self._may_be_unseen(send, step.queue) and self.explorer.choose(2):
            info.write_now()
            step = _as_rewritten(_loop(thread_state).attempt_ended(now_ms, _UNSEEN), info)
        state.faults.moving = {}
        pick = _loop(thread_state).pick
        if isinstance(pick, int) and (info.defers or point.rivals or state.rewritings):
            self._share(state, point, step, pick)
        return step

    def _share(self, state: HiddenState, point: DecisionPoint, step: Step, position: int) -> None:
        """Begin the selection's rewrite, and the reads of the selected element, beside other threads."""
        send, seen = point.send, point.followed_by
        info = state.infos[state.thread_states[send.thread].version]
        version, rewritten = state.thread_states[send.thread].version, info.rewritten
        if rewritten is not None:
            at, queue = rewritten
            pending = PendingRewrite(version, at, queue.broker, queue.queue_id, point.from_ns, point.to_ns)
            begin_rewriting(state, send.thread, pending)
            if not point.meanwhile:
                complete(state, send.thread)
        if seen is not None and isinstance(step, Try) and may_become(state, point, step.queue, (version, position)):
            named = self._named(send, seen)
            reading = PendingReads(
                version,
                position,
                (seen.broker, seen.queue_id),
                named,
                read_by_ns(send, seen, self.settings.send_msg_timeout_ms),
            )
            begin_reading(state, send.thread, reading)

    def _named(self, send: Send, seen: Attempt) -> Values | None:
        """What the client read of the selected element if the result of this attempt names another queue than its hook."""
        if send.error is not None or send.broker is None or send.queue_id is None or seen is not send.attempts[-1]:
            return None
        if (send.broker, send.queue_id) == (seen.broker, seen.queue_id):
            return None
        hook: Values = (seen.broker, seen.queue_id, send.queue_id)
        return (*hook, send.broker) if self.dialect.producer.reads_broker_again else (send.broker, *hook)

    def _moving(self, state: HiddenState, point: DecisionPoint) -> dict[str, frozenset[bool]]:
        """Brokers that other threads note during this choice, with whether they may be available afterwards."""
        if not point.meanwhile:
            return {}
        moving: dict[str, frozenset[bool]] = {}
        for other in point.meanwhile:
            if other.settled is None:
                continue
            after = self._available_after(other, other.settled)
            for broker in (other.settled.broker, _charged(state, other.send.thread)):
                if broker is not None:
                    moving[broker] = moving.get(broker, after) | after
        if all(after == {True} for after in moving.values()) and state.is_calm(point.from_ns // NS_PER_MS):
            return {}
        return moving

    def _available_after(self, point: DecisionPoint, settled: Attempt) -> frozenset[bool]:
        if point.is_harmless:
            return frozenset({True})
        family = None if settled.error is None else family_of(settled.error)
        isolates = family in (ErrorFamily.REMOTING, ErrorFamily.BROKER)
        return frozenset({False} if isolates else {True, False})

    def _normalise(self, thread_state: ThreadState) -> None:
        """Replace counters by representatives, so that equal states have equal keys."""
        modulus = self._moduli[thread_state.version]
        if thread_state.index.value is not None:
            thread_state.index.value = INDEX_BASE * modulus + thread_state.index.value % modulus
        modulus = self._worst_modulus
        if thread_state.worst_index.value is not None:
            thread_state.worst_index.value = INDEX_BASE * modulus + thread_state.worst_index.value % modulus

    def _begin(self, thread_state: ThreadState, state: HiddenState, point: DecisionPoint, now_ms: int) -> Step:
        began_ms = as_ms(Interval(*wall_ms(point.from_ns, point.to_ns), self.explorer))
        return self._new_loop(point.send, thread_state, state).begin(began_ms, now_ms)

    def _run_direct(self, state: HiddenState, point: DecisionPoint, now_ms: int) -> Step | None:
        send = point.send
        if point.settled is not None:
            state.thread_states[send.thread].finish = direct_send_ended(_result_of(point.settled, send.mode))
        if point.number or point.settled is not None:
            return state.thread_states[send.thread].finish
        thread_state = self._enter(state, send)
        spent_ms = now_ms - as_ms(Interval(*wall_ms(point.from_ns, point.to_ns), self.explorer))
        queues = state.infos[thread_state.version].queues
        timeout_ms = self.settings.send_msg_timeout_ms
        if send.kind is SendKind.QUEUE:
            chosen = Queue(*sorted(self.routes[thread_state.version])[send.argument % len(queues)])
            step = send_to_queue(self.dialect, chosen, timeout_ms, spent_ms)
        else:
            position = send.argument % len(queues)
            step = send_by_selector(self.dialect, queues[position], timeout_ms, spent_ms)
            if point.rivals or state.rewritings:
                self._share(state, point, step, position)
        if isinstance(step, Try) and may_be(send.error, "MQClientException") and self.explorer.choose(2):
            return direct_send_ended(_UNSEEN)
        return step

    def _enter(self, state: HiddenState, send: Send) -> ThreadState:
        """The thread's state with a publish list the call may have used; a new list has a new counter."""
        versions = self.versions_of(send)
        version = versions[self.explorer.choose(len(versions)) if len(versions) > 1 else 0]
        thread_state = state.thread_state(send.thread)
        thread_state.finish = None
        if thread_state.version != version:
            if version not in state.infos:
                state.infos[version] = UncertainPublishInfo(self.routes[version], self._every_queue, self.explorer)
            thread_state.version = version
            thread_state.index = ThreadIndex(self.dialect.producer.index)
            state.forget_unused_lists()
        self.tape.modulus = self._tape_moduli[version]
        return thread_state

    def _force(self, state: HiddenState, point: DecisionPoint) -> None:
        now_ms = self._now(point)
        direct = point.send.kind in _DIRECT
        if point.number == 0 and point.settled is None:
            thread_state = self._enter(state, point.send)
            if not direct:
                loop = self._new_loop(point.send, thread_state, state)
                loop.began_ms = as_ms(Interval(*wall_ms(point.from_ns, point.to_ns), self.explorer))
        else:
            thread_state = state.thread_states[point.send.thread]
        if direct:
            return
        loop = _loop(thread_state)
        state.rewritings.clear()
        state.readings.clear()
        if point.settled is not None:
            loop.settle(now_ms, _result_of(point.settled, point.send.mode))
        thread_state.finish = None
        thread_state.index.value = None
        state.infos[thread_state.version].queues[:] = [Queue(*queue) for queue in self.routes[thread_state.version]]
        if point.followed_by is not None:
            queue = Queue(point.followed_by.broker, point.followed_by.queue_id)
            queues = state.infos[thread_state.version].queues
            loop.pick = queues.index(queue) if queue in queues else queue
            loop.attempt_began_ms = +now_ms

    def _new_loop(self, send: Send, thread_state: ThreadState, state: HiddenState) -> SendLoop:
        loop = SendLoop if send.mode is SendMode.SYNC else OneWaySend
        thread_state.loop = loop(self.dialect, self.settings, state.selector(send.thread, thread_state, self.tape))
        return thread_state.loop

    def _now(self, point: DecisionPoint) -> int:
        return as_ms(Reading(*wall_ms(point.from_ns, point.to_ns), self.explorer))

    def _may_be_unseen(self, send: Send, queue: Queue) -> bool:
        """
        True if an attempt at this queue can have failed for want of an address.

        Only a broker that has left the route has none, unless the call's end reports a missing address.
        """
        no_address = send.error == "MQClientException" and send.code == BROKER_NOT_EXIST
        if no_address or send.error == ErrorWord.CLIENT_REFUSED:
            return True
        versions = self.versions_of(send)
        return len(versions) > 1 or queue.broker not in self._brokers[versions[0]]

    def _modulus(self, queues: tuple[tuple[str, int], ...]) -> int:
        """Indexes equal modulo this select alike: the lcm of the list length and of each fallback broker's write queues."""
        # Releases whose tables only extend avoidances have no fallback, which alone counts write queues.
        fallback = () if self.dialect.producer.fault_table.extends_only else tuple(self._every_queue.values())
        return lcm(len(queues) or 1, *fallback)


def _as_rewritten(step: Step, info: UncertainPublishInfo) -> Step:
    """An attempt at the queue to which its selection is about to rewrite the element."""
    return step._replace(queue=info.rewritten[1]) if isinstance(step, Try) and info.rewritten is not None else step


def _loop(thread_state: ThreadState) -> SendLoop:
    if thread_state.loop is None:
        raise AssertionError("a call without a beginning")
    return thread_state.loop


def _charged(state: HiddenState, thread: int) -> str | None:
    """The broker charged by a thread's next note: the picked list element may have been rewritten since the attempt."""
    thread_state = state.thread_states.get(thread)
    if thread_state is None or thread_state.loop is None or thread_state.loop.pick is None:
        return None
    return picked_queue(state.infos[thread_state.version], thread_state.loop.pick).broker


def _result_of(attempt: Attempt, mode: SendMode) -> AttemptResult:
    if attempt.error is not None:
        return AttemptResult.failed(attempt.error, attempt.code)
    if mode is SendMode.ONEWAY:
        return AttemptResult()
    return AttemptResult.ok(attempt.status or "SEND_OK")


def _worst_modulus(routes: Routes) -> int:
    """The second counter is taken modulo half the number of fault items, of which there is at most one per broker."""
    brokers = {broker for queues in routes.values() for broker, _ in queues}
    return lcm(*range(1, max(len(brokers) // 2, 1) + 1))
