"""Each check about groups: defects that it finds, the same story without them, and what it must not accuse."""

import json
from collections.abc import Callable

import pytest

from rocketdiff.core.answers.evidence import Standing
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.run_info import Guard
from rocketdiff.core.sends.message import properties_text
from rocketdiff.verdict.judge import RunVerdict
from tests.analysis.consuming.group_story import (
    COUNT,
    END_MS,
    EVERY_MS,
    LEAVE_MS,
    Group,
    Story,
    candidate,
    faithful,
    ns,
    returned_properties_of,
    shown_of,
)

Change = Callable[[Group], None]


def test_two_faithful_groups_conform() -> None:
    """Two groups that do everything right conform, failing listeners included."""
    judgement = Story().judge().judgement
    assert (judgement.verdict, judgement.exit_code) == (RunVerdict.CONFORMS, ExitCode.CONFORMS)


def loses_some(group: Group) -> None:
    for send in range(10, COUNT, 10):
        group.drop(send)


def loses_the_end(group: Group) -> None:
    for send in range(COUNT - 10, COUNT):
        group.drop(send)


def never_gets_to(broker: str) -> Callable[[Group], None]:
    def spoil(group: Group) -> None:
        for send in range(int(broker == "broker-b"), COUNT, 2):
            group.drop(send)
        group.offsets = [row for row in group.offsets if row["broker"] != broker or row["what"] == "query"]
        group.committed = [row for row in group.committed if row["broker"] != broker]

    return spoil


@pytest.mark.parametrize(
    ("broker", "verdict", "reason"),
    [
        ("broker-b", RunVerdict.INCONCLUSIVE, "the rules leave 100 of 200 open for acme:1"),
        ("broker-a", RunVerdict.DIVERGES, ""),
    ],
    ids=["the broker that was paused", "the other broker"],
)
def test_a_group_that_was_watched_too_briefly_does_not_conform(broker: str, verdict: RunVerdict, reason: str) -> None:
    """Where the rules let messages wait for longer after a fault than the case lasted, half of them missing is no pass."""
    judgement = candidate(never_gets_to(broker), pauses=((10_000, 16_000),)).judge().judgement
    (answer,) = [result for result in judgement.results if result.check == "delivered"]
    assert (judgement.verdict, answer.reason) == (verdict, reason)


def shows_another_body(group: Group) -> None:
    group.deliveries[50]["body_ok"] = False


def shows_the_retry_topic(group: Group) -> None:
    for row in group.deliveries:
        if row["times"]:
            row["shown_topic"] = "retry"


def loses_the_key_of_what_comes_back(group: Group) -> None:
    for row in group.deliveries:
        if row["times"]:
            row["properties"] = '{"RETRY_TOPIC":"T","WAIT":"false"}'


def swaps_two(group: Group) -> None:
    rows = {row["send"]: row for row in group.deliveries if row["times"] == 0}
    rows[31]["send"], rows[33]["send"] = 33, 31


def invents_one(group: Group) -> None:
    group.deliver(1, 9_000, offset=COUNT)


def doubles(group: Group) -> None:
    for send in range(12, COUNT, 12):
        group.deliver(send, send * EVERY_MS + 30)


def doubles_within_a_call(group: Group) -> None:
    row = next(row for row in group.deliveries if row["send"] == 40)
    group.deliveries.append(row | {"place": 1})


def delivers_again_before_the_end(group: Group) -> None:
    (call,) = group.calls_of(11)
    call["end_ns"] = ns(5_000)
    group.deliver(11, 2_000)


def begins_again_from_the_start(group: Group) -> None:
    group.own(10_000, "a", "A", "B")
    group.offset("query", 10_999, "broker-b", 0)
    group.own(11_000, "a", "b", "A", "B")
    for send in range(1, 111, 2):
        group.deliver(send, 11_001)


def jumps_to_the_end(group: Group) -> None:
    for send in range(101, 151, 2):
        group.drop(send)
    group.own(10_050, "a", "A", "B")
    group.offset("query", 15_099, "broker-b", 76)
    group.own(15_100, "a", "b", "A", "B")


def commits_early(group: Group) -> None:
    (call,) = group.calls_of(51)
    call["end_ns"] = ns(11_000)


def commits_what_comes_later(group: Group) -> None:
    group.offset("commit", 4_000, "broker-a", 30)


def leaves_without_a_commit(group: Group) -> None:
    group.committed = [row for row in group.committed if row["answered_ns"] < ns(15_000)]
    for broker in ("broker-a", "broker-b"):
        group.answer(LEAVE_MS + 500, broker, 50)


def commits_backwards(group: Group) -> None:
    group.answer(12_500, "broker-a", 20)
    group.committed.sort(key=lambda row: row["answered_ns"])
    for poll, row in enumerate(group.committed):
        row["poll"] = poll


def forgets_a_failure(group: Group) -> None:
    group.drop(70)
    group.deliver(70, 7_002, result="later", delay_level=1)
    group.returned = [row for row in group.returned if row["send"] != 70]


def retries_at_once(group: Group) -> None:
    for call in group.calls_of(77)[1:]:
        call["start_ns"], call["end_ns"] = ns(7_900), ns(7_901)


def ignores_the_delay_level(group: Group) -> None:
    for copy in group.returned:
        copy["delay_level"] = 3


def retries_for_ever(group: Group) -> None:
    group.deliver(77, 12_000, kind="retry", offset=COUNT // 14 + 1, times=2)


def counts_failures_wrongly(group: Group) -> None:
    for row in group.deliveries:
        if row["times"]:
            row["times"] = 3


def changes_one_property(name: str, value: str | None, place: str = "waiting") -> Change:
    def spoil(group: Group) -> None:
        copy = next(row for row in group.returned if row["send"] == 77 and row["place"] == place)
        kept = {each: seen for each, seen in json.loads(copy["properties"]).items() if each != name}
        copy["properties"] = properties_text(kept if value is None else kept | {name: value})

    return spoil


def shows_another_property(group: Group) -> None:
    row = next(row for row in group.deliveries if row["send"] == 77 and row["times"])
    row["properties"] = returned_properties_of(77, ORIGIN_MESSAGE_ID="id-78")


def comes_back_late(group: Group) -> None:
    for call in group.calls_of(77)[1:]:
        call["start_ns"], call["end_ns"] = ns(20_100), ns(20_101)


def hands_to_the_other_broker(group: Group) -> None:
    for copy in group.returned:
        if copy["send"] == 77:
            copy["broker"] = "broker-a"


def asks_for_the_dead_letters(place: str | None) -> Change:
    def spoil(group: Group) -> None:
        group.drop(70)
        group.deliver(70, 7_002, result="later", delay_level=-1)
        group.returned = [row for row in group.returned if row["send"] != 70]
        if place is not None:
            group.copy(place, 70, 1)

    return spoil


def delivers_late(group: Group) -> None:
    for call in group.calls:
        call["start_ns"] += 400_000_000
        call["end_ns"] += 400_000_000


def starves_a_queue(group: Group) -> None:
    for call in group.calls:
        if call["broker"] == "broker-b":
            call["start_ns"] += 400_000_000
            call["end_ns"] += 400_000_000


def never_joins(group: Group) -> None:
    group.members[0]["error"] = "MQClientException"


def dies_when_it_leaves(group: Group) -> None:
    group.members[0] |= {"leave_error": "SIGSEGV", "ended": "died"}


@pytest.mark.parametrize(("sends", "verdict"), [(2, RunVerdict.CONFORMS), (4, RunVerdict.DIVERGES)])
def test_a_crowded_broker_may_refuse_few_messages_that_failed(sends: int, verdict: RunVerdict) -> None:
    """The client sends these itself, with a level of its own."""

    def sends_some_itself(group: Group) -> None:
        for copy in group.returned:
            if copy["send"] < 7 * sends:  # every seventh fails
                copy |= {"delay_level": 3, "properties": returned_properties_of(copy["send"], level=3)}
        for row in group.deliveries:
            if row["send"] < 7 * sends and row["times"]:
                row["properties"] = returned_properties_of(row["send"], level=3)

    assert candidate(sends_some_itself).judge().judgement.verdict is verdict


@pytest.mark.parametrize(
    ("change", "signature"),
    [
        (loses_some, "delivered.never"),
        (loses_the_end, "delivered.not-yet"),
        (shows_another_body, "delivered.damaged"),
        (shows_the_retry_topic, "delivered.other-topic"),
        (loses_the_key_of_what_comes_back, "delivered.other-properties"),
        (swaps_two, "delivered.other-message"),
        (invents_one, "delivered.other-message"),
        (doubles, "redelivery.without-cause"),
        (doubles_within_a_call, "redelivery.without-cause"),
        (delivers_again_before_the_end, "redelivery.without-cause"),
        (begins_again_from_the_start, "redelivery.below-the-committed-offset"),
        (jumps_to_the_end, "redelivery.above-the-committed-offset"),
        (commits_early, "offsets.unfinished-committed"),
        (commits_what_comes_later, "offsets.unfinished-committed"),
        (leaves_without_a_commit, "offsets.not-at-the-end"),
        (commits_backwards, "offsets.went-back"),
        (forgets_a_failure, "retries.missing"),
        (retries_at_once, "retries.early"),
        (ignores_the_delay_level, "retries.other-level"),
        (retries_for_ever, "retries.too-many"),
        (counts_failures_wrongly, "retries.other-times"),
        (changes_one_property("RETRY_TOPIC", None), "retries.property/RETRY_TOPIC"),
        (changes_one_property("ORIGIN_MESSAGE_ID", "id-78", "retry"), "retries.property/ORIGIN_MESSAGE_ID"),
        (changes_one_property("UNIQ_KEY", "78"), "retries.property/UNIQ_KEY"),
        (changes_one_property("DELAY", "2"), "retries.property/DELAY"),
        (changes_one_property("RECONSUME_TIME", "1"), "retries.property/RECONSUME_TIME"),
        (shows_another_property, "retries.property/ORIGIN_MESSAGE_ID"),
        (comes_back_late, "retries.late"),
        (hands_to_the_other_broker, "retries.other-broker"),
        (asks_for_the_dead_letters(None), "retries.not-dead"),
        (asks_for_the_dead_letters("retry"), "retries.dead-too-late"),
        (delivers_late, "consumption.later"),
        (starves_a_queue, "consumption.later"),
        (never_joins, "consumption.never-joined/MQClientException"),
        (dies_when_it_leaves, "consumption.leave-fails/SIGSEGV"),
    ],
)
def test_a_defective_group_is_found(change: Change, signature: str) -> None:
    """The verdict is 1, and the signature is that of the defect."""
    ended = candidate(change).judge()
    assert ended.judgement.exit_code is ExitCode.DIVERGES
    assert signature in {cluster.signature for cluster in ended.document.clusters}


def hold_broker_b(group: Group, until_ms: int) -> None:
    """Deliver what broker-b holds from 8 s on at until_ms at the earliest, retries a second later, and commit then."""
    late = {"fed": (ns(until_ms), ns(until_ms + 1)), "retry": (ns(until_ms + 1_100), ns(until_ms + 1_101))}
    for call in group.calls:
        if call["broker"] == "broker-b" and call["start_ns"] >= ns(8_000):
            start_ns, end_ns = late[call["kind"]]
            call["start_ns"], call["end_ns"] = max(call["start_ns"], start_ns), max(call["end_ns"], end_ns)
    for row in group.committed:
        if row["broker"] == "broker-b" and ns(8_000) < row["answered_ns"] < ns(until_ms):
            row["value"] = 38


def paused(candidate_until_ms: int) -> Story:
    """Return a case with broker-b paused from 8 to 11 s; the baseline goes on 50 ms later."""
    story = Story(pauses=((8_000, 3_000),))
    hold_broker_b(story.baseline, 11_050)
    hold_broker_b(story.candidate, candidate_until_ms)
    return story


@pytest.mark.parametrize("until_ms", [11_050, 12_000, 15_900])
def test_a_pause_that_both_groups_wait_out_conforms(until_ms: int) -> None:
    """After the heal a broker may hold a pull for up to 5 s, in one group and not in the other."""
    assert not paused(until_ms).signatures()


def test_a_group_that_stands_still_after_a_pause_is_found() -> None:
    """Messages that never come after the heal are found."""
    story = paused(11_050)
    for send in range(81, COUNT, 2):
        story.candidate.drop(send)
    assert "delivered.not-yet" in story.signatures()


def test_messages_behind_the_acknowledged_index_come_back() -> None:
    """A call with several messages that acknowledges the first of them hands the others back."""

    def acknowledges_the_first(group: Group) -> None:
        group.drop(11)
        (call,) = group.calls_of(9)
        call |= {"messages": 2, "ack_index": 0, "delay_level": 1}
        first = next(row for row in group.deliveries if row["send"] == 9)
        group.deliveries.append(first | {"send": 11, "place": 1, "queue_offset": 5} | shown_of(11))
        group.deliver(11, 1_950, kind="retry", offset=COUNT // 14, times=1)
        group.copy("retry", 11, 1)

    assert not candidate(acknowledges_the_first).signatures()


def test_a_rebalance_delivers_again_from_the_committed_offset() -> None:
    """A tenure that ends before its commit lets the next one begin at the committed offset: allowed."""

    def moves(group: Group) -> None:
        group.own(10_002, "a", "A", "B")
        group.offset("query", 10_499, "broker-b", 50)
        group.own(10_500, "a", "b", "A", "B")
        for send in (101, 103):
            group.deliver(send, 10_501)

    assert not candidate(moves).signatures()


def test_the_same_offset_locally_after_a_failed_hand_back_is_allowed() -> None:
    """A failed message may be consumed again by the same member."""

    def again(group: Group) -> None:
        group.drop(77)
        group.returned = [row for row in group.returned if row["send"] != 77]
        group.deliver(77, 7_702, result="throw")
        group.deliver(77, 12_750, times=1)

    assert "redelivery.without-cause" not in candidate(again).signatures()


def test_a_queue_that_returns_between_two_looks_begins_anew() -> None:
    """A member that asks for its offset again may deliver again what was not committed."""

    def returns(group: Group) -> None:
        group.offset("query", 6_000, "broker-b", 25)
        for send in (51, 53, 55, 57, 59):
            group.deliver(send, 6_600)

    assert not candidate(returns).signatures()


def test_a_hand_back_under_way_holds_the_offset_back() -> None:
    """A message that failed just before the leave may be handed back too late for the last commit."""

    def fails_late(group: Group) -> None:
        for call in group.calls_of(198):
            call["result"], call["end_ns"] = "later", ns(LEAVE_MS - 3_000)
        for row in (*group.committed, *group.offsets):
            if row["broker"] == "broker-a" and row["value"] == COUNT // 2:
                row["value"] -= 1

    assert not candidate(fails_late).signatures()


def test_a_group_that_never_settled_shows_nothing() -> None:
    """Without a settled group every check is invalid, whatever it found."""
    guard = Guard("settled-candidate", held=False, expected="settled within 70 s", seen="not settled", case="c")
    ended = candidate(loses_some, guards=(guard,)).judge()
    assert ended.judgement.verdict is RunVerdict.INVALID


def test_a_start_that_was_repeated_is_not_a_member_that_never_joins() -> None:
    """While the group is prepared, the runner orders a start that threw once more."""

    def joins_again(group: Group) -> None:
        second = group.members[0] | {"incarnation": 2, "join_start_ns": ns(-2_000), "join_end_ns": ns(-1_900)}
        group.members[0] |= {"error": "MQClientException", "leave_start_ns": ns(-2_500), "leave_end_ns": ns(-2_400)}
        group.members.append(second)
        for row in (*group.calls, *group.owned, *group.offsets, *group.allocations):
            row["incarnation"] = 2

    assert not candidate(joins_again).signatures()


@pytest.mark.parametrize(("most", "verdict"), [(2, RunVerdict.CONFORMS), (1, RunVerdict.DIVERGES)])
def test_a_call_has_no_more_messages_than_are_set(most: int, verdict: RunVerdict) -> None:
    """Both groups are given two messages of one queue in one call."""

    def two_in_a_call(group: Group) -> None:
        group.drop(5)
        (call,) = group.calls_of(3)
        (row,) = [each for each in group.deliveries if each["send"] == 3]
        group.deliveries.append(row | shown_of(5) | {"place": 1, "send": 5, "queue_offset": 2})
        call["messages"] = 2

    story = candidate(two_in_a_call, settings={"consume_message_batch_max_size": most}, checks=("delivered",))
    judged = story.judge()
    assert judged.judgement.verdict is verdict
    assert {each.signature for each in judged.document.clusters} <= {"consumption.batch-too-large"}


def test_leaves_that_fail_alike_in_both_groups_are_no_difference() -> None:
    """A client against itself conforms, even one that dies."""
    story = candidate(dies_when_it_leaves)
    dies_when_it_leaves(story.baseline)
    assert not story.signatures()


def test_both_arms_are_judged_by_the_same_rules() -> None:
    """A defect of the baseline is found too."""
    story = Story()
    loses_some(story.baseline)
    assert story.judge().judgement.exit_code is ExitCode.DIVERGES


def test_a_member_that_died_has_not_left() -> None:
    """Only a member that left must have committed everything."""

    def dies(group: Group) -> None:
        leaves_without_a_commit(group)
        group.members[0] |= {"ended": "died", "leave_start_ns": None, "leave_end_ns": None}

    assert "offsets.not-at-the-end" not in candidate(dies).signatures()


def test_the_faithful_group_ends_in_time() -> None:
    """The builder's own times: every retry comes before the member leaves."""
    assert max(row["end_ns"] for row in faithful().calls) < ns(END_MS + 2_000)


def takes_no_share(group: Group) -> None:
    group.divide(8_000, "a")


@pytest.mark.parametrize(("mixed", "subject"), [((), "acme:1"), ((0,), "java:5.3.3")])
def test_a_difference_of_a_mixed_group_is_its_members(mixed: tuple[int, ...], subject: str) -> None:
    """It is charged to the client of the member that shows it, whichever arm its group is."""
    (cluster,) = candidate(takes_no_share, mixed=mixed).judge().document.clusters
    assert (cluster.signature, cluster.subject) == ("allocation.other-result", subject)


@pytest.mark.parametrize("lacking", ["allocations", "owned"])
def test_a_client_that_does_not_report_its_share_conforms_in_nothing(lacking: str) -> None:
    """What is not reported is undecided, never a pass."""
    claims = tuple(claim for claim in Story().claims if claim != lacking)
    (found,) = (each for each in Story(claims=claims).analysis().evidence if each.check == "allocation")
    assert (found.standing, found.reason) == (Standing.INDECISIVE, f"java:5.3.3 does not report {lacking}")
