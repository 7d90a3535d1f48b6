"""
The oracle at work: one arm of one case, send by send, against the rules of one dialect.

``Replay.judge`` takes the sends of one thread in order. Threads of one producer have nothing in common unless fault
latency is on; then they share the fault table (and, to 5.1.3, the publish list), and ``judge_all`` takes the sends of all
threads together.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields

from rocketdiff.core.errors import UsageError
from rocketdiff.core.sends.plan import SendMode
from rocketdiff.core.sends.records import Send
from rocketdiff.core.tables.settings import CLIENT_SETTINGS, ClientSettings
from rocketdiff.oracle.producer.interleave import judge_interleaved
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.oracle.producer.observation import Observation
from rocketdiff.oracle.producer.states.belief import Belief, settle_belief
from rocketdiff.oracle.producer.states.decision_point import decision_points_of
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
from rocketdiff.oracle.producer.states.known_calls import MOST_KNOWN, KnownCall, Shape, shape_of
from rocketdiff.oracle.producer.states.transition import Routes, Transitions
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.async_rules import AsyncThread
from rocketmq_reference.rules.dialect import Dialect
from rocketmq_reference.rules.settings import SendSettings


class Replay:
    """Judges the sends of one thread of one arm; remembers what its hidden state may be."""

    def __init__(
        self,
        dialect: Dialect,
        settings: ClientSettings,
        routes: Routes,
        *,
        witnessed: bool = True,
        causes_told: bool = True,
    ) -> None:
        """
        routes: queues of each version of the publish list, in the order of the list.

        witnessed: the subject shows its attempts. If not, only a result that contradicts itself is a difference.
        causes_told: its client can tell the cause of an exception.
        """
        self.dialect = dialect
        self.settings = _send_settings(settings)
        self.routes = routes
        self.witnessed = witnessed
        self.transitions = Transitions(dialect, self.settings, routes, causes_told=causes_told)
        self.belief = Belief([self._initial_state()])
        self.known: dict[Shape, KnownCall] = {}

    @property
    def calls_itself(self) -> bool:
        """Whether the application's own thread chooses for its asynchronous sends (to 4.2.0)."""
        return self.dialect.asynchronous.runs_on is AsyncThread.CALLER

    def judge(self, send: Send) -> SendJudgement:
        """The next send of the thread."""
        return self.judge_observation(Observation(self.transitions, send))

    def judge_observation(self, observation: Observation) -> SendJudgement:
        """As ``judge``, for somebody who wants to keep the observation."""
        send = observation.send
        unjudged = observation.judged_without_rules(self.witnessed)
        if unjudged is not None:
            if observation.moved_unseen:
                self.reopen(send.thread)
            return unjudged
        shape = None if observation.narrated or self.transitions.left_out else shape_of(self.belief, send)
        known = None if shape is None else self.known.get(shape)
        if known is not None:
            self.belief = Belief([known.after.copy(self.transitions.tape, send.thread)])
            return observation.judgement_of(known, self.belief)
        for point in decision_points_of(send, split=False):
            states = observation.observe(self.belief, point)
            if point.followed_by is None or send.mode is SendMode.ASYNC:
                for state in states:
                    self.transitions.end(state, send.thread)
            now_ms = point.from_ns // 1_000_000
            self.belief = settle_belief(states, self.transitions.explorer, now_ms, complete=self.belief.complete)
        if shape is not None:
            self._keep(shape, observation)
        return observation.judgement(self.belief)

    def _keep(self, shape: Shape, observation: Observation) -> None:
        """Remember what the rules made of a call that they explain."""
        is_certain = self.belief.complete and len(self.belief.states) == 1 and not self.transitions.left_out
        if not is_certain or not observation.is_explained:
            return
        if len(self.known) >= MOST_KNOWN:
            self.known.clear()
        after = self.belief.states[0].copy(self.transitions.tape, observation.send.thread)
        self.known[shape] = observation.as_known(after)

    def judge_all(self, sends: Iterable[Send]) -> Iterator[SendJudgement]:
        """
        All sends of an arm, in order of their start; the sends of each thread must follow one another.

        Threads that share state are judged together: decision points whose windows overlap are tried in every order.
        """
        yield from self.judge_observed([Observation(self.transitions, send) for send in sends])

    def judge_observed(self, observations: Iterable[Observation]) -> Iterator[SendJudgement]:
        """As ``judge_all``, for somebody who wants to keep the observations."""
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
        """A call went unjudged, or a thread chose unseen; with fault latency on, what it left in the fault table cannot be followed."""
        for state in self.belief.states:
            self.transitions.forget(state, thread)
        if self.settings.send_latency_fault_enable:
            self.belief.complete = False

    def stands_at(self, thread: int, route: int, position: int | None, now_ms: int) -> bool:
        """
        Whether calls from now on take the queues of this list one after another, because the last took that at ``position``.

        position None: the application says the queue, so that only the version of the list must be known. With fault latency
        nothing may be avoided any more and no queue of the list rewritten, in the one hidden state that is left.
        """
        queues = self.routes[route]
        known = [state.thread_states.get(thread) for state in self.belief.states]
        if any(one is None or one.version != route for one in known):
            return False
        if position is None:
            return True
        if self.settings.send_latency_fault_enable:
            if len(self.belief.states) > 1:
                return False
            (state,) = self.belief.states
            if not state.is_calm(now_ms) or tuple(state.infos[route].queues) != queues:
                return False
        indexes = [None if one is None else one.index.value for one in known]
        return all(index is not None and index % len(queues) == position for index in indexes)

    def pass_over(self, thread: int, calls: int) -> None:
        """
        That many calls of the thread were not shown, each of which took the next queue of its list and succeeded.

        Without fault latency nothing but the counter remembers them. With it, so does the fault table, of each broker the last
        call; so the last ones must be shown afterwards.
        """
        for state in self.belief.states:
            self.transitions.count_on(state, thread, calls)

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
    release: str, settings: ClientSettings, routes: Routes, *, witnessed: bool = True, causes_told: bool = True
) -> Replay:
    """
    A replay against the dialect of a release.

    Raises UsageError for a release without a dialect.
    """
    try:
        dialect = dialect_of(release)
    except ValueError as error:
        raise UsageError("a release whose rules are known", seen=repr(release), hint=str(error)) from error
    return Replay(dialect, settings, routes, witnessed=witnessed, causes_told=causes_told)


def _send_settings(settings: ClientSettings) -> SendSettings:
    """Those that rules depend on, under the same names."""
    known = {each.name for each in fields(SendSettings)}
    return SendSettings(**{name: getattr(settings, name) for name in CLIENT_SETTINGS if name in known})
