"""
Replay of one arm of one case against the rules of one dialect.

``Replay.judge`` takes the sends of one thread in order. Threads of a producer share state only with fault latency on:
the fault table and, up to 5.1.3, the publish list. ``judge_all`` takes the sends of all threads.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields

from rocketdiff.core.clock import STEADY, ClockAnchor
from rocketdiff.core.errors import UsageError
from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.tables.settings import CLIENT_SETTINGS, ClientSettings
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer.interleave import judge_interleaved
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.oracle.producer.observation import Observation
from rocketdiff.oracle.producer.states.belief import Belief, settle_belief
from rocketdiff.oracle.producer.states.decision_point import decision_points_of
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
from rocketdiff.oracle.producer.states.known_calls import MOST_KNOWN, KnownCall, Shape, shape_of
from rocketdiff.oracle.producer.states.stationary import Stationary
from rocketdiff.oracle.producer.states.transition import Routes, Transitions
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.producer.async_rules import AsyncThread
from rocketmq_reference.rules.producer.settings import SendSettings


class Replay:
    """Judges the sends of one thread of one arm and keeps the belief between them."""

    def __init__(
        self,
        dialect: Dialect,
        settings: ClientSettings,
        routes: Routes,
        *,
        witnessed: bool = True,
        causes_reported: bool = True,
        clock: ClockAnchor = STEADY,
    ) -> None:
        """
        routes: queues of each version of the publish list, in list order.

        witnessed: the subject's attempts are recorded; otherwise only a self-contradictory result is a difference.
        causes_told: the client can report causes of exceptions. clock: tells when the wall clock was stepped.
        """
        self.dialect = dialect
        self.settings = _send_settings(settings)
        self.routes = routes
        self.witnessed = witnessed
        self.transitions = Transitions(
            dialect,
            self.settings,
            routes,
            causes_reported=causes_reported,
            steps=tuple(clock.steps()),
            slipped_since_ns=clock.slipped_since_ns,
        )
        self.belief = Belief([self._initial_state()])
        self.known: dict[Shape, KnownCall] = {}

    @property
    def calls_itself(self) -> bool:
        """True if asynchronous sends choose their queue in the application's thread (up to 4.2.0)."""
        return self.dialect.producer.asynchronous.runs_on is AsyncThread.CALLER

    def judge(self, send: Send) -> SendJudgement:
        return self.judge_observation(Observation(self.transitions, send))

    def judge_observation(self, observation: Observation) -> SendJudgement:
        send = observation.send
        unjudged = observation.judged_without_rules(self.witnessed)
        if unjudged is not None:
            if observation.moved_unseen:
                self.reopen(send.thread)
            return unjudged
        if self.transitions.has_slipped(send.end_ns):
            self.belief.complete = False
        shape = None if observation.narrated else shape_of(self.belief, send)
        known = None if shape is None else self.known.get(shape)
        if known is not None:
            self.belief = Belief([known.after.copy(self.transitions.tape, send.thread)])
            return observation.judgement_of(known, self.belief)
        for point in decision_points_of(send, split=False):
            states = observation.observe(self.belief, point)
            if point.followed_by is None or send.mode is SendMode.ASYNC:
                for state in states:
                    self.transitions.end(state, send.thread)
            now_ms = point.from_ns // NS_PER_MS
            self.belief = settle_belief(states, self.transitions.explorer, now_ms, complete=self.belief.complete)
        if shape is not None:
            self._keep(shape, observation)
        return observation.judgement(self.belief)

    def _keep(self, shape: Shape, observation: Observation) -> None:
        is_certain = self.belief.complete and len(self.belief.states) == 1 and not self.transitions.left_out
        if not is_certain or observation.difference is not None:
            return
        if len(self.known) >= MOST_KNOWN:
            self.known.clear()
        after = self.belief.states[0].copy(self.transitions.tape, observation.send.thread)
        self.known[shape] = observation.as_known(after)

    def judge_all(self, sends: Iterable[Send]) -> Iterator[SendJudgement]:
        """
        Judge all sends of an arm in order of their start; the sends of each thread must not overlap.

        Threads that share state are judged together: overlapping decision points are tried in every order.
        """
        yield from self.judge_observed([Observation(self.transitions, send) for send in sends])

    def judge_observed(self, observations: Iterable[Observation]) -> Iterator[SendJudgement]:
        ordered = sorted(
            observations,
            key=lambda observation: (observation.send.start_ns, observation.send.thread, observation.send.send),
        )
        threads = {observation.send.thread for observation in ordered}
        if len(threads) < 2:
            yield from map(self.judge_observation, ordered)
        elif not self.settings.send_latency_fault_enable:
            replays = {thread: self._fresh() for thread in threads}
            for observation in ordered:
                yield replays[observation.send.thread].judge_observation(observation)
        else:
            yield from judge_interleaved(self.transitions, self.belief, ordered, witnessed=self.witnessed)

    def reopen(self, thread: int) -> None:
        """
        Make a thread's counters unknown after an unjudged call or an unseen choice.

        With fault latency on, the belief becomes incomplete: the call's notes in the fault table are unknown.
        """
        for state in self.belief.states:
            self.transitions.forget(state, thread)
        if self.settings.send_latency_fault_enable:
            self.belief.complete = False

    def stationary(self, thread: int, route: int) -> Stationary | None:
        """Return the belief that quick successful calls do not change, with fault latency; None if there is none."""
        return None if self.transitions.left_out else Stationary.of(self.belief, thread, route)

    def stands_at(self, thread: int, route: int, position: int | None) -> bool:
        """
        True if further successful calls take this list's queues in rotation after the one at ``position``.

        position None: the application names the queue, so only the list's version must match. Not for rotation with fault
        latency, see ``stationary``.
        """
        known = [state.thread_states.get(thread) for state in self.belief.states]
        if any(thread_state is None or thread_state.version != route for thread_state in known):
            return False
        if position is None:
            return True
        queues = self.routes[route]
        indexes = [None if thread_state is None else thread_state.index.value for thread_state in known]
        return all(index is not None and index % len(queues) == position for index in indexes)

    @property
    def remembers_calls(self) -> bool:
        """True if the fault table keeps when each broker was called last, so that the last calls passed over must be judged too."""
        return self.settings.send_latency_fault_enable and not self.dialect.producer.fault_table.extends_only

    def pass_over(self, thread: int, calls: int) -> None:
        """
        Advance past ``calls`` successful calls of a thread, each of which moved its counter by one.

        If it ``remembers_calls``, the caller must judge the last calls afterwards.
        """
        for state in self.belief.states:
            self.transitions.count_on(state, thread, calls)

    def pass_to(self, thread: int, position: int, brokers: Iterable[str]) -> None:
        """Advance past quick successful calls to these brokers, where the counter stops at the queue it selects: the last one's position."""
        for state in self.belief.states:
            self.transitions.stop_at(state, thread, position)
            state.note_quick_calls(brokers)

    def _fresh(self) -> "Replay":
        fresh = Replay.__new__(Replay)
        fresh.dialect, fresh.settings, fresh.routes = self.dialect, self.settings, self.routes
        fresh.witnessed = self.witnessed
        fresh.transitions = self.transitions
        fresh.belief = Belief([self._initial_state()])
        fresh.known = self.known
        return fresh

    def _initial_state(self) -> HiddenState:
        return HiddenState(self.dialect, self.transitions.explorer, latency_on=self.settings.send_latency_fault_enable)


def replay_for(
    release: str,
    settings: ClientSettings,
    routes: Routes,
    *,
    witnessed: bool = True,
    causes_reported: bool = True,
    clock: ClockAnchor = STEADY,
) -> Replay:
    """Return a replay against the dialect of a release; UsageError if the release has none."""
    try:
        dialect = dialect_of(release)
    except ValueError as error:
        raise UsageError("a release whose rules are known", seen=repr(release), hint=str(error)) from error
    return Replay(dialect, settings, routes, witnessed=witnessed, causes_reported=causes_reported, clock=clock)


def _send_settings(settings: ClientSettings) -> SendSettings:
    known = {field.name for field in fields(SendSettings)}
    return SendSettings(**{name: getattr(settings, name) for name in CLIENT_SETTINGS if name in known})
