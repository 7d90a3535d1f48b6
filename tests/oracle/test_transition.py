"""One decision point run through the rules: its outcomes, the state after a difference, and what is invisible."""

from dataclasses import replace

import pytest

from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.oracle.choices import INDEX_BASE
from rocketdiff.oracle.producer.replay import Replay, replay_for
from rocketdiff.oracle.producer.states.decision_point import decision_points_of
from rocketdiff.oracle.producer.states.hidden_state import PendingRewrite
from rocketdiff.oracle.producer.states.transition import Routes, Transitions, _as_rewritten, _charged
from rocketdiff.oracle.producer.states.uncertain import UncertainPublishInfo
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.attempt import Try, call_timeout
from rocketmq_reference.rules.producer.settings import SendSettings
from tests.oracle.histories import MS, history, routes
from tests.oracle.judging import judged, legal
from tests.oracle.states import DEMON, state

OUT_OF_TURN = ["queue.out-of-turn/first"]


def latent(release: str, lists: Routes) -> Replay:
    return replay_for(release, ClientSettings(send_latency_fault_enable=True), lists)


@pytest.mark.parametrize(
    ("release", "text", "ways"),
    [
        ("5.3.3", "a4 b4", 8),
        ("5.3.3", "a3 b2", 5),
        ("4.9.7", "a4 b4", 8),
        ("4.9.7", "a3 b2", 30),  # five queues; the fallback counts modulo three and modulo two
        ("4.9.7", "a1 b1 c1", 3),
        ("4.9.7", "a1 b1 c1 d1 e1", 10),  # the second counter is taken modulo half of five brokers, two
        ("5.3.3", "a1 b1 c1 d1 e1", 5),
        ("4.9.7", "a1 b1 c1 d1 e1 f1", 6),  # modulo one to three
        ("4.9.7", "a1 b1 c1 d1 e1 f1 g1 h1", 24),  # modulo one to four: eight queues, and twelve
    ],
)
def test_a_first_choice_has_a_way_for_every_index_that_may_matter(release: str, text: str, ways: int) -> None:
    """A first choice has as many outcomes as the least common multiple of the index's moduli."""
    replay = latent(release, routes(text))
    (first, _) = decision_points_of(history("0 a0 1")[0], split=False)
    assert len(replay.transitions.every_outcome(replay.belief.states, first)) == ways


def test_counters_stay_at_their_representatives() -> None:
    """Counters stay at representatives, so that equal states have equal keys: after nine sends still in the 1,000th list."""
    replay = latent("4.9.7", routes("a4 b4"))
    turns = " | ".join(f"{20 * number} {'ab'[number // 4 % 2]}{number % 4} 1" for number in range(9))
    first, *others = replay.judge_all(history(turns))
    values = [state.thread_state(0).index.value for state in replay.belief.states]
    assert [one.difference for one in (first, *others)] == [None] * 9
    assert [value is not None and value // 8 for value in values] == [INDEX_BASE]


@pytest.mark.parametrize(("text", "modulus"), [("a1 b1", 1), ("a1 b1 c1 d1 e1", 2), ("a1 b1 c1 d1 e1 f1", 6)])
def test_the_second_counter_does_too(text: str, modulus: int) -> None:
    """The fallback's counter stays at representatives, too; it counts when all brokers are avoided, here after 700 ms each."""
    replay = latent("4.9.7", routes(text))
    brokers = text.replace("1", "").split()
    slow = " | ".join(f"{800 * number} {broker}0 700" for number, broker in enumerate(brokers))
    *reported, _ = replay.judge_all(history(f"{slow} | {800 * len(brokers)} a0 1"))
    assert [one.difference for one in reported] == [None] * len(brokers)
    values = {state.thread_state(0).worst_index.value for state in replay.belief.states}
    assert values <= set(range(INDEX_BASE * modulus, (INDEX_BASE + 1) * modulus)) and values


def test_a_retry_draws_from_its_own_list() -> None:
    """5.3.3 draws a new index for a retry from its own list, although another thread sent by a list of two."""
    text = "t0 0 a0 1 | t0 20 a1 10 refused > {} 1 | t1 25 r2 c0 1"
    for queue in ("b0", "b1", "b2", "b3"):
        judgements = judged("5.3.3", text.format(queue), "a4 b4", "c2", on=True)
        assert [one.difference for one in judgements] == [None] * 3
        assert legal(judgements) == [[8], [1, 4], [2]]


def test_a_queue_by_number_is_of_the_sorted_list_and_a_selector_s_of_the_list_itself() -> None:
    """A queue number refers to the sorted list, a selector's argument to the route's own order."""
    lists = {1: (("b", 0), ("b", 1), ("a", 0), ("a", 1))}
    for text, right in (("=q0", "a0"), ("=q3", "b1"), ("=s0", "b0"), ("=s3", "a1"), ("=s5", "b1")):
        for queue in ("a0", "a1", "b0", "b1"):
            (judgement,) = replay_for("5.3.3", ClientSettings(), lists).judge_all(history(f"0 {text} {queue} 1"))
            assert (judgement.difference is None) is (queue == right), (text, queue)


def test_an_attempt_without_a_status_was_answered() -> None:
    """An attempt without a status counts as stored."""
    (send,) = history("0 a0 1")
    bare = replace(send, attempts=tuple(replace(one, status=None) for one in send.attempts))
    for status, found in (("SEND_OK", True), ("SLAVE_NOT_AVAILABLE", False)):
        replay = replay_for("5.3.3", ClientSettings(), routes("a4 b4"))
        (judgement,) = replay.judge_all([replace(bare, status=status)])
        assert (judgement.difference is None) is found


def test_a_wrong_choice_has_its_own_time_for_all_attempts() -> None:
    """A wrong choice has its own time for all attempts, even 100 s into the run: a retry is legal."""
    (_, judgement) = judged("5.3.3", "0 a0 1 | 100000 b0 1 refused > a1 1")
    assert [(one.attempt, one.queues_legal) for one in judgement.decisions] == [(0, 1), (1, 4)]


def test_an_unjudged_call_leaves_lists_as_the_route_gave_them_and_counters_open() -> None:
    """With fault latency, an unjudged call resets rewritten lists, and counters become unknown."""
    replay = latent("4.7.1", routes("a2 b2"))
    list(replay.judge_all(history("0 a0 1 | 20 a1 1 refused > a0 1")))
    (state,) = replay.belief.states
    assert state.infos[1].queues[3] == Queue("a", 0)
    replay.reopen(0)
    assert state.infos[1].queues == [Queue("a", 0), Queue("a", 1), Queue("b", 0), Queue("b", 1)]
    assert (state.thread_state(0).index.value, replay.belief.complete) == (None, False)


@pytest.mark.parametrize(
    ("from_ns", "to_ns", "meets"), [(0, 9, False), (0, 10, True), (12, 14, True), (20, 30, True), (21, 30, False)]
)
def test_a_call_meets_a_step_of_the_clock(from_ns: int, to_ns: int, meets: bool) -> None:
    """A step somewhere between 10 and 20 ns."""
    transitions = Transitions(dialect_of("5.3.3"), SendSettings(), routes("a4"), steps=((10, 20),))
    assert transitions.meets_step(from_ns, to_ns) is meets


@pytest.mark.parametrize(
    ("to_ms", "queues"), [(0, {("b", 0)}), (30, {("b", 0), ("a", 0)}), (20, {("b", 0), ("a", 0)}), (19, {("a", 1)})]
)
def test_a_choice_may_come_before_or_after_the_rewrite_of_another_thread(
    to_ms: int, queues: set[tuple[str, int]]
) -> None:
    """Thread 0 writes a1 over b0, first the broker, which thread 1 is about to take at 20 ms; at 19 ms it has written."""
    replay = latent("4.9.7", routes("a2 b1"))
    sends = history("t1 0 a1 1 | t1 20 b0 1")
    assert replay.judge(sends[0]).difference is None
    for one in replay.belief.states if to_ms else ():
        one.rewritings[0] = PendingRewrite(1, 2, "a", 1, 10 * MS, to_ms * MS)
    first, *_ = decision_points_of(sends[1], split=False)
    outcomes = replay.transitions.every_outcome(replay.belief.states, first)
    assert {tuple(step.queue) for _, step in outcomes if isinstance(step, Try)} == queues


def test_an_unseen_attempt_has_rewritten_the_list_at_the_end_of_its_call() -> None:
    """Both brokers are avoided, so b1 becomes a0 or b0, which is as fast; the broker has no address, and the call gives up."""
    replay = replay_for(
        "4.9.7",
        ClientSettings(send_latency_fault_enable=True, retry_times_when_send_failed=0),
        routes("a2 b2"),
    )
    *before, send = history("0 a0 700 | 800 b0 700 | 1600 a0 1 ! client/10003")
    assert [replay.judge(one).difference for one in before] == [None, None]
    first, *_ = decision_points_of(send, split=False)
    beside = replace(first, meanwhile=(replace(first, send=replace(send, thread=1)),))
    outcomes = replay.transitions.every_outcome(replay.belief.states, beside)
    ended = {
        "".join(map("{0.broker}{0.queue_id} ".format, one.infos[1].queues))
        for one, step in outcomes
        if not isinstance(step, Try)
    }
    assert ended == {"a0 a1 b0 a0 ", "a0 a1 b0 b0 "}


def test_a_note_charges_what_its_thread_selected() -> None:
    """The list element as it is now; nothing before the thread's first call, after its last, or before a selection."""
    made = state()
    assert [_charged(made, thread) for thread in (0, 1)] == ["b", None]
    made.thread_state(1)
    assert _charged(made, 1) is None
    loop = made.thread_state(0).loop
    assert loop is not None
    loop.pick = None
    assert _charged(made, 0) is None


def test_a_call_may_end_after_its_selection_rewrote_an_element() -> None:
    """Its time was spent then; an attempt goes to the new queue."""
    info = UncertainPublishInfo([("a", 0)], {}, DEMON)
    info.rewritten = 0, Queue("b", 1)
    assert _as_rewritten(call_timeout(), info) == call_timeout()
    assert _as_rewritten(Try(Queue("a", 0), 5), info) == Try(Queue("b", 1), 5)


def test_without_fault_latency_an_unjudged_call_leaves_the_rest_certain() -> None:
    """Without fault latency, an unjudged call leaves the belief complete: nothing is shared or rewritten."""
    replay = replay_for("5.3.3", ClientSettings(), routes("a4 b4"))
    list(replay.judge_all(history("0 a0 1")))
    replay.reopen(0)
    assert (replay.belief.states[0].thread_state(0).index.value, replay.belief.complete) == (None, True)
