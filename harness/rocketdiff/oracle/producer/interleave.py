"""
Interleavings of threads that share a fault table: all orders of their decision points that the times allow.

One decision point precedes another if its window ends before the other's begins. There is one belief per *progress*
(number of decision points passed, per thread); all paths to the same progress are merged. A choice reads the table many
times, and other threads' notes may fall between two reads (``DecisionPoint.meanwhile``). A difference is what no order
explains. With too many orders the sends concerned are undecided, never divergent.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rocketdiff.core.sends.plan import SendKind
from rocketdiff.core.units import NS_PER_MS
from rocketdiff.oracle.producer.judgement import SendJudgement
from rocketdiff.oracle.producer.observation import Observation
from rocketdiff.oracle.producer.states.belief import STATES_KEPT, Belief, settle_belief
from rocketdiff.oracle.producer.states.decision_point import DecisionPoint, decision_points_of
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
from rocketdiff.oracle.producer.states.shared_list import read_by_ns
from rocketdiff.oracle.producer.states.transition import Transitions

ORDERS_FOLLOWED = 64
"""
Upper bound of progresses followed at once. Four threads that overlap in both parts of a step have at most 81. With
more, the machine stood still for a while, and the trace does not determine the order.
"""

ORDERS_BEYOND = 4
"""
The bound after a progress was dropped. Then nothing can be a difference, but explained sends are still reported. More
would cost minutes with dozens of blocked threads.
"""

STATES_BEYOND = 16
"""
The bound of hidden states after something was dropped, for the same reason. Up to 5.1.3 three threads that fall back at
once, each stopped for some ms, otherwise kept all 128 for the rest of a trace, at seconds a decision point.
"""

STATES_OF_AN_ORDER = 8
"""Minimum of hidden states kept per progress, however many progresses are followed."""

TOO_LATE = "RemotingTooMuchRequestException"
"""The end of a call that selected a queue, and may have rewritten it, before it found its time spent."""

Progress = tuple[int, ...]
Frontier = dict[Progress, Belief]


class _Lane:
    """One thread: its decision points in order, and the observation of each."""

    __slots__ = ("observations", "points", "thread")

    def __init__(self, thread: int) -> None:
        self.thread = thread
        self.points: list[DecisionPoint] = []
        self.observations: list[Observation] = []

    def add(self, observation: Observation) -> None:
        for point in decision_points_of(observation.send, split=True):
            self.points.append(point)
            self.observations.append(observation)


def judge_interleaved(
    transitions: Transitions, belief: Belief, observations: Sequence[Observation], *, witnessed: bool
) -> Iterator[SendJudgement]:
    """Return judgements in the order of the observations, which are ordered by start of their sends."""
    unjudged = {id(observation): observation.judged_without_rules(witnessed) for observation in observations}
    threads = sorted({observation.send.thread for observation in observations})
    lanes = {thread: _Lane(thread) for thread in threads}
    for observation in observations:
        if unjudged[id(observation)] is None:
            lanes[observation.send.thread].add(observation)
    unknown_ns = min(
        (observation.send.start_ns for observation in observations if observation.moved_unseen), default=None
    )
    if transitions.slipped_since_ns is not None:
        unknown_ns = min(transitions.slipped_since_ns, unknown_ns or transitions.slipped_since_ns)
    states = _follow(transitions, belief, [lanes[thread] for thread in threads], unknown_ns)
    for observation in observations:
        yield unjudged[id(observation)] or observation.judgement(states[id(observation)])


def _follow(transitions: Transitions, belief: Belief, lanes: list[_Lane], unknown_ns: int | None) -> dict[int, Belief]:
    """
    Process all decision points of all lanes; return the belief at the end of each observation.

    unknown_ns: from then on an unjudged call may have changed the shared state, so no belief is complete.
    """
    ends: dict[int, Belief] = {}
    frontier: Frontier = {(0,) * len(lanes): belief}
    left = sum(len(lane.points) for lane in lanes)
    while left:
        left -= 1
        found: dict[Progress, list[HiddenState]] = {}
        complete = all(here.complete for here in frontier.values())
        most = ORDERS_FOLLOWED if complete else ORDERS_BEYOND
        for progress, here in frontier.items():
            enabled = _enabled(lanes, progress, here)
            complete = complete and not _reach(lanes, progress, enabled, unknown_ns)
            for lane in enabled:
                onward = _onward(progress, lane)
                if onward not in found and len(found) >= most:
                    complete = False  # not followed: dozens of threads blocked at once have thousands of progresses
                    continue
                states = _take(transitions, lanes, progress, lane, here, reopen=False)
                if states:
                    found.setdefault(onward, []).extend(states)
        if not found:
            progress, here = next(iter(frontier.items()))
            if (misread := _misread(lanes, frontier)) is not None:
                number = progress[misread] - 1
                lanes[misread].observations[number].note_doubt(Belief(here.states, complete))
                states = transitions.every_forced(here.states, lanes[misread].points[number])
                frontier = _settled(transitions, lanes, {progress: states}, complete)
                left += 1
                continue
            # Blame an enabled lane: only these were tried, and the rules may explain the next point of another lane.
            lane = _soonest(lanes, progress, _enabled(lanes, progress, here))
            blamed = Belief(here.states, complete)
            found = {_onward(progress, lane): _take(transitions, lanes, progress, lane, blamed, reopen=True)}
        frontier = _settled(transitions, lanes, found, complete)
        _note_ends(lanes, frontier, ends)
    return ends


def _take(
    transitions: Transitions, lanes: list[_Lane], progress: Progress, lane: int, here: Belief, *, reopen: bool
) -> list[HiddenState]:
    observation = lanes[lane].observations[progress[lane]]
    point = _beside_others(lanes, progress, lane)
    if transitions.rewrites and point.chooses and point.followed_by is not None:
        timeout_ms = transitions.settings.send_msg_timeout_ms
        point = replace(point, rivals=_rivals(lanes, progress, lane, here, timeout_ms))
    if reopen:
        observation.note_difference(here, point)
        states = observation.reopened(here.states, point)
    else:
        states = observation.filter(here.states, point)
    if point.chooses and point.followed_by is None:
        for state in states:
            transitions.end(state, point.send.thread)
    return states


def _beside_others(lanes: list[_Lane], progress: Progress, lane: int) -> DecisionPoint:
    """The next decision point of a lane; if it chooses, with the overlapping decision points of other threads."""
    point = lanes[lane].points[progress[lane]]
    if not point.chooses:
        return point
    meanwhile = tuple(_beside(lanes, progress, lane, point.to_ns))
    return replace(point, meanwhile=meanwhile) if meanwhile else point


def _rivals(
    lanes: list[_Lane], progress: Progress, lane: int, here: Belief, timeout_ms: int
) -> tuple[DecisionPoint, ...]:
    """Choices of other threads before the attempt after a choice ends that may fall back: some broker is or becomes avoided."""
    point = lanes[lane].points[progress[lane]]
    assert point.followed_by is not None
    beside = list(_beside(lanes, progress, lane, read_by_ns(point.send, point.followed_by, timeout_ms)))
    now_ms = point.from_ns // NS_PER_MS
    if not any(_may_avoid(rival) for rival in beside) and all(state.is_calm(now_ms) for state in here.states):
        return ()
    return tuple(
        rival
        for rival in beside
        if rival.chooses
        and rival.send.kind is SendKind.PLAIN
        and (rival.followed_by is not None or rival.send.error == TOO_LATE)
    )


def _may_avoid(rival: DecisionPoint) -> bool:
    """True for a note that may begin an avoidance, and for the choice of a retry, which may refuse the last broker."""
    if rival.settled is not None:
        return not rival.is_harmless
    return rival.number > 0 and rival.followed_by is not None


def _misread(lanes: list[_Lane], frontier: Frontier) -> int | None:
    """A lane of the first progress whose hook reported what none of the selected elements ever was; None if other points fail."""
    lost = [
        {
            lane: lanes[lane].points[number - 1].to_ns
            for lane, number in enumerate(progress)
            if number
            and lanes[lane].observations[number - 1].doubt is not None
            and all(_reads_in_vain(state, lanes[lane].thread) for state in here.states)
        }
        for progress, here in frontier.items()
    ]
    return min(lost[0], key=lost[0].__getitem__) if all(lost) else None


def _reads_in_vain(state: HiddenState, thread: int) -> bool:
    reading = state.readings.get(thread)
    return reading is not None and bool(reading.hook)


def _beside(lanes: list[_Lane], progress: Progress, lane: int, until_ns: int) -> Iterator[DecisionPoint]:
    """Pending decision points of other lanes that may precede a time."""
    for other, rival in enumerate(lanes):
        if other == lane:
            continue
        for number in range(progress[other], len(rival.points)):
            if rival.points[number].from_ns > until_ns:
                break
            yield rival.points[number]


def _enabled(lanes: list[_Lane], progress: Progress, here: Belief) -> list[int]:
    """
    Lanes whose next decision point may be the next of all.

    Partial-order reduction: one lane is enough if its point only chooses, no broker is avoided, and no point that may
    precede it can change that.
    """
    pending = [lane for lane in range(len(lanes)) if progress[lane] < len(lanes[lane].points)]
    limit_ns = min(lanes[lane].points[progress[lane]].to_ns for lane in pending)
    enabled = [lane for lane in pending if lanes[lane].points[progress[lane]].from_ns <= limit_ns]
    if len(enabled) > 1:
        for lane in enabled:
            point = lanes[lane].points[progress[lane]]
            if point.settled is None and _is_independent(lanes, progress, lane, point, here):
                return [lane]
    return enabled


def _reach(lanes: list[_Lane], progress: Progress, enabled: list[int], unknown_ns: int | None) -> bool:
    return unknown_ns is not None and any(lanes[lane].points[progress[lane]].to_ns >= unknown_ns for lane in enabled)


def _is_independent(lanes: list[_Lane], progress: Progress, lane: int, point: DecisionPoint, here: Belief) -> bool:
    beside = _beside(lanes, progress, lane, point.to_ns)
    if any(rival.settled is not None and not rival.is_harmless for rival in beside):
        return False
    now_ms = point.from_ns // NS_PER_MS
    return all(state.is_calm(now_ms) for state in here.states)


def _soonest(lanes: list[_Lane], progress: Progress, enabled: list[int]) -> int:
    return min(enabled, key=lambda lane: lanes[lane].points[progress[lane]].to_ns)


def _onward(progress: Progress, lane: int) -> Progress:
    return (*progress[:lane], progress[lane] + 1, *progress[lane + 1 :])


def _settled(
    transitions: Transitions, lanes: list[_Lane], found: dict[Progress, list[HiddenState]], complete: bool
) -> Frontier:
    kept = max((STATES_KEPT if complete else STATES_BEYOND) // len(found), STATES_OF_AN_ORDER)
    frontier: Frontier = {}
    for progress, states in found.items():
        now_ms = _certainly_past_ms(lanes, progress)
        frontier[progress] = settle_belief(states, transitions.explorer, now_ms, complete=complete, kept=kept)
    return frontier


def _certainly_past_ms(lanes: list[_Lane], progress: Progress) -> int:
    """A lower bound of all pending clock readings."""
    pending = [lane for lane in range(len(lanes)) if progress[lane] < len(lanes[lane].points)]
    return min((lanes[lane].points[progress[lane]].from_ns for lane in pending), default=0) // NS_PER_MS


def _note_ends(lanes: list[_Lane], frontier: Frontier, ends: dict[int, Belief]) -> None:
    for progress, here in frontier.items():
        for lane, number in enumerate(progress):
            if number and lanes[lane].points[number - 1].followed_by is None:
                ends.setdefault(id(lanes[lane].observations[number - 1]), here)
