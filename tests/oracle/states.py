"""Hidden states of a client's producer, built by hand."""

from rocketdiff.oracle.choices import ChoiceExplorer, ChoiceTape
from rocketdiff.oracle.interval import Interval, as_ms
from rocketdiff.oracle.producer.states.hidden_state import HiddenState
from rocketdiff.oracle.producer.states.uncertain import UncertainPublishInfo
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.producer.send_loop import SendLoop
from rocketmq_reference.rules.producer.settings import SendSettings

DEMON = ChoiceExplorer()


TAPE = ChoiceTape(DEMON, 4)


def between(lo: int, hi: int, *, shown: bool = False) -> int:
    return as_ms(Interval(lo, hi, DEMON, was_read=shown))


def state(release: str = "4.9.7", *, latency_on: bool = True) -> HiddenState:
    """Thread 0 holds list 1 of a and b at index 3, in a pending call; a is avoided until 50–60."""
    made = HiddenState(dialect_of(release), DEMON, latency_on=latency_on)
    made.infos[1] = UncertainPublishInfo([("a", 0), ("b", 0)], {"a": 1, "b": 1, "c": 1}, DEMON)
    thread_state = made.thread_state(0)
    thread_state.version, thread_state.index.value, thread_state.worst_index.value = 1, 3, 5
    thread_state.loop = SendLoop(made.dialect, SendSettings(), made.selector(0, thread_state, TAPE))
    thread_state.loop.began_ms, thread_state.loop.attempt_began_ms, thread_state.loop.pick = (
        between(1, 2),
        between(3, 4),
        1,
    )
    made.faults.update("a", between(10, 12), 1_000, True, 0)
    made.faults.items["a"].start_ms = between(50, 60)
    return made


def set_reachable(one: HiddenState) -> None:
    one.faults.items["a"].reachable = False


def set_shown(one: HiddenState) -> None:
    one.faults.items["a"].start_ms = between(50, 60, shown=True)


def avoiding_state(
    start: tuple[int, int], latency: tuple[int, int] = (1, 2), *, release: str = "4.9.7", index: int = 0
) -> HiddenState:
    """Return a state with one thread and broker a avoided until ``start``."""
    made = HiddenState(dialect_of(release), DEMON, latency_on=True)
    made.infos[1] = UncertainPublishInfo([("a", 0)], {}, DEMON)
    thread_state = made.thread_state(0)
    thread_state.version, thread_state.index.value = 1, index
    made.faults.update("a", as_ms(Interval(*latency, DEMON)), 1_000, True, 0)
    made.faults.items["a"].start_ms = as_ms(Interval(*start, DEMON))
    return made
