"""What a user feels of a group, in calm: joins, leaves, calls, and messages that wait, at each limit."""

from collections.abc import Callable
from typing import Any

import pytest

from rocketdiff.analysis.consuming.checks import consumption
from rocketdiff.analysis.consuming.returns import Return
from rocketdiff.analysis.facts import DifferenceFact
from rocketdiff.core.arm import Arm
from rocketdiff.core.units import NS_PER_S
from tests.analysis.consuming.group_story import BROKERS, EVERY_MS, LEAVE_MS, Group, Story, differences_of, ns, starved

A, B = BROKERS
LEAVE_FAILS, LEAVES_LATER, NEVER_JOINED = (
    "consumption.leave-fails",
    "consumption.leaves-later",
    "consumption.never-joined",
)
KEPT, LATER, CALLS = "consumption.kept-queue-waits", "consumption.later", "consumption.too-many-calls"
WAITS = "consumption.waits-longer"
BATCH, RESUMES_LATER, RESUMES_SOONER = (
    "consumption.batch-too-large",
    "consumption.resumes-later",
    "consumption.resumes-sooner",
)

Change = Callable[[Group], None]


def differences(story: Story) -> list[DifferenceFact]:
    return story.differences("consumption")


def signatures(*changes: Change, **story: Any) -> list[str]:
    return [fact.signature for fact in differences_of("consumption", *changes, **story)]


def nothing(_group: Group) -> None:
    """Leave everything as it is."""


def life(**changed: Any) -> Change:
    return lambda group: group.members[0].update(changed)


def another(**changed: Any) -> Change:
    return lambda group: group.members.append(group.members[0] | {"member": 1} | changed)


PAUSED = {"pauses": ((LEAVE_MS - 1_000, 2_000),)}


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([life(error="E")], {}, [f"{NEVER_JOINED}/E"], id="a start fails"),
        pytest.param([life(error="E", join_start_ns=None)], {}, [], id="it was not ordered to start"),
        pytest.param([life(error="E")], {"pauses": ((-5_000, 1_000),)}, [], id="after a fault"),
        pytest.param([life(error="E", join_start_ns=ns(2_000))], {"pauses": ((1_000, 9_000),)}, [], id="in a fault"),
        pytest.param([life(error="E")], {"pauses": ((1_000, 9_000),)}, [f"{NEVER_JOINED}/E"], id="before a fault"),
        pytest.param([life(error="E"), another(member=0, incarnation=2, error=None, join_start_ns=ns(-1))], {}, [], id="it is repeated"),
        pytest.param(
            [life(error="E"), another(member=0, incarnation=2, error=None, join_start_ns=ns(0))], {}, [f"{NEVER_JOINED}/E"], id="it joins in the feed"
        ),
        pytest.param(
            [life(error="E"), another(member=0, incarnation=3, error=None)], {}, [f"{NEVER_JOINED}/E"], id="it joins once more later"
        ),
        pytest.param([life(error="E"), another(incarnation=2, error=None)], {}, [f"{NEVER_JOINED}/E"], id="another joins"),
        pytest.param(
            [life(error="E"), another(member=0, incarnation=2, error=None, join_start_ns=None)], {}, [f"{NEVER_JOINED}/E"], id="it is not ordered once more"
        ),
        pytest.param([life(leave_error="E")], {}, [f"{LEAVE_FAILS}/E"], id="a leave fails"),
        pytest.param([life(leave_error="E"), another(leave_error="E")], {}, [f"{LEAVE_FAILS}/E"], id="once for an error"),
        pytest.param([life(leave_error="E"), another(leave_error="F")], {}, [f"{LEAVE_FAILS}/E", f"{LEAVE_FAILS}/F"], id="two errors"),
        pytest.param([life(leave_error="E")], PAUSED, [], id="a leave fails beside a fault"),
        pytest.param([life(leave_error="E")], {"pauses": ((1_000, 1_000),)}, [f"{LEAVE_FAILS}/E"], id="a leave fails after a fault"),
        pytest.param([life(leave_end_ns=ns(LEAVE_MS + 5_520))], {}, [], id="a leave is long"),
        pytest.param([life(leave_end_ns=ns(LEAVE_MS + 5_521))], {}, [LEAVES_LATER], id="a leave is longer"),
        pytest.param([life(leave_end_ns=ns(LEAVE_MS + 5_920))], {"stall_ms": 200}, [], id="long on a machine that stalls"),
        pytest.param([life(leave_end_ns=ns(LEAVE_MS + 5_921))], {"stall_ms": 200}, [LEAVES_LATER], id="longer on it"),
        pytest.param([life(leave_end_ns=ns(LEAVE_MS + 9_000), leave_error="E")], {}, [f"{LEAVE_FAILS}/E"], id="one that fails is not long"),
        pytest.param([life(leave_end_ns=ns(LEAVE_MS + 9_000)), another()], {}, [LEAVES_LATER], id="the longest of two"),
        pytest.param(
            [life(leave_end_ns=ns(LEAVE_MS + 9_000)), another(leave_start_ns=ns(LEAVE_MS + 100), leave_end_ns=ns(LEAVE_MS + 120))],
            {},
            [LEAVES_LATER],
            id="the first of two",
        ),
        pytest.param([life(leave_start_ns=None, leave_error="E")], {}, [], id="one that fails without a beginning"),
        pytest.param([life(leave_end_ns=None)], {}, [], id="a leave without an end"),
        pytest.param([life(leave_start_ns=None)], {}, [], id="a leave without a beginning"),
        pytest.param([life(leave_end_ns=ns(LEAVE_MS + 9_000))], {"pauses": ((LEAVE_MS + 9_000, 9),)}, [], id="a fault as it ends"),
        pytest.param([life(leave_end_ns=ns(LEAVE_MS + 9_000))], {"pauses": ((1_000, 9), (LEAVE_MS + 9_000, 9))}, [], id="the second of two faults"),
        pytest.param([life(leave_end_ns=ns(LEAVE_MS + 9_000))], {"pauses": ((LEAVE_MS + 9_001, 9),)}, [LEAVES_LATER], id="a fault later"),
        pytest.param([life(leave_end_ns=ns(LEAVE_MS + 9_000))], {"pauses": ((1_000, LEAVE_MS - 6_001),)}, [], id="five seconds after a fault"),
        pytest.param([life(leave_end_ns=ns(LEAVE_MS + 9_000))], {"pauses": ((1_000, LEAVE_MS - 6_002),)}, [LEAVES_LATER], id="later after a fault"),
        pytest.param(
            [life(leave_end_ns=ns(LEAVE_MS + 9_000), pauses=[{"from_ns": ns(LEAVE_MS + 9_000), "until_ns": None}])], {}, [], id="a pause as it ends"
        ),
    ],
)  # fmt: skip
def test_members_join_and_leave(changes: list[Change], story: dict[str, Any], expected: list[str]) -> None:
    """A start that fails in calm, a leave that fails where no broker is down, and one far longer than the other group's."""
    assert sorted(signatures(*changes, **story)) == sorted(expected)


@pytest.mark.parametrize(("ended", "observed"), [("died", "the process ended with E"), ("left", "E")])
def test_a_leave_that_fails_is_described(ended: str, observed: str) -> None:
    """With its member and when it began; of the baseline, too, and none that both have."""
    story = Story()
    life(leave_error="E", ended=ended)(story.baseline)
    (found,) = differences(story)
    assert (found.arm, found.observed, found.thread, found.at_ns) == ("baseline", observed, 0, ns(LEAVE_MS))
    life(leave_error="E")(story.candidate)
    assert differences(story) == []


def test_a_long_leave_is_described() -> None:
    """Beside the other group's longest."""
    story = Story()
    life(leave_end_ns=ns(LEAVE_MS + 9_000))(story.candidate)
    another(leave_end_ns=ns(LEAVE_MS + 1_000))(story.baseline)
    another(leave_start_ns=ns(9_000), leave_end_ns=ns(9_100))(story.candidate)
    (found,) = differences(story)
    assert (found.expected, found.observed) == ("member 0 to have left after 1.0 s, the other group's longest", "9.0 s")
    assert (found.at_ns, found.thread) == (ns(LEAVE_MS), 0)


def joined(*sends: int) -> Change:
    """The first call is given the messages of the others, too."""

    def change(group: Group) -> None:
        (call,) = group.calls_of(sends[0])
        for send in sends[1:]:
            for row in group.deliveries:
                if row["send"] == send:
                    row["call"] = call["call"]

    return change


@pytest.mark.parametrize(("most", "expected"), [(0, []), (2, [BATCH]), (3, [])])
def test_messages_of_a_call(most: int, expected: list[str]) -> None:
    """No more than the group is set to, if it is: here three, in one call."""
    made = Story(settings={"consume_message_batch_max_size": most} if most else {})
    joined(3, 5, 9)(made.candidate)
    assert [(fact.signature, fact.send) for fact in differences(made)] == [(each, 3) for each in expected]


def lasts(send: int, until_ms: float | None) -> Change:
    def change(group: Group) -> None:
        (call,) = group.calls_of(send)
        call["end_ns"] = None if until_ms is None else ns(until_ms)
        call["result"] = None if until_ms is None else "success"

    return change


@pytest.mark.parametrize(
    ("changes", "threads", "expected"),
    [
        pytest.param([lasts(12, 1_302)], 1, [], id="one ends as the next begins"),
        pytest.param([lasts(12, 1_302.001)], 1, [CALLS], id="two at once"),
        pytest.param([lasts(12, None)], 1, [CALLS], id="one that does not end"),
        pytest.param([lasts(12, 1_502)], 2, [], id="two threads"),
        pytest.param([lasts(12, 1_502), lasts(13, 1_403)], 2, [CALLS], id="three at once"),
        pytest.param([lasts(12, 1_502), lasts(13, 1_402)], 2, [], id="the second ends first"),
        pytest.param([lasts(12, 1_502), lasts(13, 1_403)], 0, [], id="threads are not set"),
        pytest.param([joined(12, 16), lasts(12, 1_302)], 1, [], id="two messages of one call"),
    ],
)
def test_calls_at_once(changes: list[Change], threads: int, expected: list[str]) -> None:
    """No more of a member than its threads."""
    settings: dict[str, int | str] = {"consume_thread_min": threads} if threads else {}
    assert signatures(*changes, settings=settings) == expected


def test_members_and_lives_have_threads_of_their_own() -> None:
    """Calls of another member do not count."""

    def change(group: Group) -> None:
        lasts(12, 1_350)(group)
        (other,) = group.calls_of(13)
        for row in (*group.calls, *group.deliveries):
            row["member"] = int(row["call"] == other["call"])

    assert signatures(change, settings={"consume_thread_min": 1}) == []


EARLY = -60_000


def kept(at_ms: float, send: int = 51, begun_ms: float = EARLY) -> Change:
    """The member has its queues since begun_ms, leaves at 60 s, and gets a message at an instant."""

    def change(group: Group) -> None:
        times = {"join_start_ns": ns(-120_000), "join_end_ns": ns(-119_900)}
        group.members[0] |= times | {"leave_start_ns": ns(60_000), "leave_end_ns": ns(60_020)}
        group.offsets = [row | {"at_ns": ns(begun_ms)} for row in group.offsets if row["what"] == "query"]
        group.owned = group.owned[:1]
        group.owned[0]["at_ns"] = ns(begun_ms + 1)
        (call,) = group.calls_of(send)
        call["start_ns"], call["end_ns"] = ns(at_ms), ns(at_ms + 1)

    return change


def comes_back(at_ms: float) -> Change:
    """The copy of a failed message is delivered at an instant."""
    return lambda group: group.calls_of(77)[1].update(start_ns=ns(at_ms), end_ns=ns(at_ms + 1))


LATEST_MS = 5_100 + 31_000 + 1_500
"""Of message 51: the next heartbeat, a refused pull, and a busy machine."""


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([kept(LATEST_MS)], {}, [], id="at the limit"),
        pytest.param([kept(LATEST_MS + 0.001)], {}, [KEPT], id="later"),
        pytest.param([kept(LATEST_MS + 700)], {"settings": {"pull_interval_ms": 700}}, [], id="with an interval"),
        pytest.param([kept(LATEST_MS + 701)], {"settings": {"pull_interval_ms": 700}}, [KEPT], id="later with it"),
        pytest.param([kept(11_600)], {"settings": {"heartbeat_broker_interval_ms": 1_000}}, [], id="a broker's look is longer"),
        pytest.param([kept(11_601)], {"settings": {"heartbeat_broker_interval_ms": 1_000}}, [KEPT], id="longer than it"),
        pytest.param([kept(LATEST_MS + 400)], {"stall_ms": 200}, [], id="on a machine that stalls"),
        pytest.param([kept(LATEST_MS + 300)], {"resources": starved(300)}, [], id="in a process without a core"),
        pytest.param([kept(LATEST_MS + 301)], {"resources": starved(300)}, [KEPT], id="later in it"),
        pytest.param([kept(LATEST_MS + 401)], {"stall_ms": 200}, [KEPT], id="later on it"),
        pytest.param([kept(39_000, begun_ms=5_100 - 36_500)], {}, [KEPT], id="it has begun by then"),
        pytest.param([kept(39_000, begun_ms=5_101 - 36_500)], {}, [], id="it may not have begun"),
        pytest.param([kept(39_000)], {"pauses": ((LATEST_MS, 9),)}, [], id="a fault meanwhile"),
        pytest.param([kept(39_000)], {"pauses": ((LATEST_MS + 1, 9),)}, [KEPT], id="a fault later"),
        pytest.param([kept(39_000), life(pauses=[{"from_ns": ns(LATEST_MS), "until_ns": ns(50_000)}])], {}, [], id="a pause of its process"),
        pytest.param([kept(39_000), life(pauses=[{"from_ns": ns(LATEST_MS + 1), "until_ns": ns(50_000)}])], {}, [KEPT], id="a pause later"),
        pytest.param([kept(39_000, 53), lasts(51, 6_000)], {}, [KEPT], id="the one before it ends later"),
        pytest.param([kept(39_000, 53), lasts(51, 6_500)], {}, [], id="due as that ends"),
        pytest.param([kept(39_000, 53), lasts(51, None)], {}, [], id="the one before it does not end"),
        pytest.param([kept(39_000), lasts(50, 39_000)], {"settings": {"consume_thread_min": 1}}, [CALLS], id="its thread is busy"),
        pytest.param([kept(39_000), lasts(50, LATEST_MS)], {"settings": {"consume_thread_min": 1}}, [CALLS, KEPT], id="its thread is free"),
        pytest.param([kept(39_000), another(join_start_ns=ns(8_000))], {}, [KEPT], id="another member comes"),
        pytest.param([kept(39_000), kept(80_000, 53), life(leave_start_ns=ns(120_000), leave_end_ns=ns(120_020))], {}, [KEPT], id="two of its messages"),
        pytest.param([kept(5_102), comes_back(50_000)], {}, [], id="a failed message comes back late"),
    ],
)  # fmt: skip
def test_a_message_waits_in_a_queue_that_is_kept(
    changes: list[Change], story: dict[str, Any], expected: list[str]
) -> None:
    """Whoever comes or goes, but not beside a fault or a pause, nor for want of a thread."""
    assert sorted(signatures(*changes, **story)) == sorted(expected)


def test_a_message_that_waits_is_described() -> None:
    """With its limit, and since when it was due; the first of its queue alone."""
    story = Story()
    kept(39_000)(story.candidate)
    (found,) = differences(story)
    assert (found.send, found.at_ns, found.observed) == (51, ns(5_100), "33.9 s")
    assert (
        found.expected
        == "message 51 within 32.5 s, since all before it were finished and member 0 keeps queue 0 of broker-b"
    )


def delay(group: Group, second: int, late_ms: float, broker: str = B) -> None:
    """All messages of a queue that are stored in a second begin so long after it."""
    for call in group.calls:
        at_ms = (call["start_ns"] - ns(0)) / 1e6
        if call["kind"] == "fed" and call["broker"] == broker and second * 1_000 <= at_ms < (second + 1) * 1_000:
            (send,) = (row["send"] for row in group.deliveries if row["call"] == call["call"])
            call["start_ns"], call["end_ns"] = ns(send * EVERY_MS + late_ms), ns(send * EVERY_MS + late_ms + 1)


BOTH_STARVED = starved(300) | starved(300, arm="baseline")
STARVED_LATER = starved(12_000, since_s=12) | starved(12_000, arm="baseline", since_s=12)


def early(story: Story) -> Story:
    for group in (story.baseline, story.candidate):
        life(join_start_ns=ns(-120_000), join_end_ns=ns(-119_900))(group)
    return story


@pytest.mark.parametrize(
    ("seconds", "late_ms", "story", "accused"),
    [
        pytest.param(11, 252.001, {}, True, id="eleven seconds"),
        pytest.param(11, 252, {}, False, id="250 ms more than the others' 2 ms"),
        pytest.param(10, 300, {}, False, id="ten may be chance"),
        pytest.param(16, 52.001, {}, True, id="sixteen of twenty by a bit"),
        pytest.param(16, 52, {}, False, id="50 ms more"),
        pytest.param(15, 60, {}, False, id="fifteen of twenty by a bit"),
        pytest.param(11, 953, {"settings": {"pull_interval_ms": 700}}, True, id="with an interval"),
        pytest.param(11, 952, {"settings": {"pull_interval_ms": 700}}, False, id="within it"),
        pytest.param(11, 552.001, {"resources": BOTH_STARVED}, True, id="later than waiting for a core explains"),
        pytest.param(11, 552, {"resources": BOTH_STARVED}, False, id="as late as that explains"),
        pytest.param(11, 12_200, {"resources": STARVED_LATER}, False, id="explained until they are delivered"),
        pytest.param(20, 300, {"pauses": ((11_000, 9),)}, True, id="eleven before a fault"),
        pytest.param(20, 300, {"pauses": ((10_000, 9),)}, False, id="ten before a fault"),
    ],
)
@pytest.mark.parametrize("arm", ["baseline", "candidate"])
def test_a_group_is_later_in_calm(arm: str, seconds: int, late_ms: float, story: dict[str, Any], accused: bool) -> None:
    """By the median of the queue in which it is longest, in either group."""
    made = early(Story(**story))
    for second in range(seconds):
        delay(made.baseline if arm == "baseline" else made.candidate, second, late_ms)
    found = [fact for fact in differences(made) if fact.signature == LATER]
    assert [(fact.arm, fact.at_ns) for fact in found] == [(arm, ns(0) // NS_PER_S * NS_PER_S)] * accused


@pytest.mark.parametrize(("other_ms", "accused"), [(199.9, True), (200, False)])
def test_three_times_as_late(other_ms: float, accused: bool) -> None:
    """And not only by an amount."""
    made = early(Story())
    for second in range(12):
        delay(made.candidate, second, 600)
        delay(made.baseline, second, other_ms)
        delay(made.baseline, second, other_ms, A)
    assert bool([fact for fact in differences(made) if fact.signature == LATER]) is accused


def test_a_later_group_is_described() -> None:
    """With the queue and both medians of the first second."""
    made = early(Story())
    for second in range(12):
        delay(made.candidate, second, 400)
    (found,) = [fact for fact in differences(made) if fact.signature == LATER]
    assert found.expected == "messages in calm as soon as the other group's: 2 ms in the median"
    assert found.observed == "400 ms from queue 0 of broker-b; slower in 12 of 20 seconds without a fault, faster in 0"


@pytest.mark.parametrize(("since", "observed"), [(3, []), (2, ["11 of 13 seconds without a fault, faster in 0"])])
@pytest.mark.parametrize("joined_ms", [8_000, 8_500])
def test_seconds_beside_a_change_of_members_do_not_count(joined_ms: int, since: int, observed: list[str]) -> None:
    """A member joins one group in the ninth second: 1.5 s, and five of a busy machine, so that those from 8 to 14 are left out."""
    made = early(Story())
    another(join_start_ns=ns(joined_ms), join_end_ns=ns(joined_ms))(made.baseline)
    for second in range(since, 20):
        delay(made.candidate, second, 400)
    found = [fact for fact in differences(made) if fact.signature == LATER]
    assert [fact.observed.partition("slower in ")[2] for fact in found] == observed


def without_first_calls(group: Group) -> None:
    """Its retries alone were seen."""
    group.calls = [row for row in group.calls if row["kind"] == "retry"]
    calls = {row["call"] for row in group.calls}
    group.deliveries = [row for row in group.deliveries if row["call"] in calls]


def delivered_again(group: Group) -> None:
    for send in range(200):
        group.deliver(send, send * EVERY_MS + 400)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(without_first_calls, id="retries alone"),
        pytest.param(delivered_again, id="further deliveries"),
        pytest.param(lambda group: group.deliver(201, 5_000), id="a message that is not held"),
    ],
)
def test_the_first_delivery_of_a_stored_message_counts(change: Change) -> None:
    """From the fed topic, in either group."""
    for arm in Arm:
        made = early(Story())
        change(made.candidate if arm is Arm.CANDIDATE else made.baseline)
        assert [fact for fact in differences(made) if fact.signature == LATER] == []


def calls(what: str, at_ms: float) -> dict[str, Any]:
    """A call of an application about broker-b's queue."""
    times = {"start_ns": ns(at_ms), "end_ns": ns(at_ms + 5)}
    return {"what": what, "broker": B, "queue_id": 0, "offset": None, "error": None} | times


applies = life(applied=[calls("resume", 9_000)])
"""Its application resumes a queue that it has not paused."""


def pauses_queue(until_ms: float) -> Change:
    return life(applied=[calls("pause", 8_000), calls("resume", until_ms)])


def comes(send: int, waited_ms: float) -> Change:
    def change(group: Group) -> None:
        at_ns = ns(send * EVERY_MS + waited_ms)
        group.calls_of(send)[0].update(start_ns=at_ns, end_ns=at_ns + 1)

    return change


def without_queue(group: Group) -> None:
    for send in range(1, 200, 2):
        group.drop(send)


WAITS_MS = 2 + 1_000 + 1_500
"""The other group's longest, a look whether a queue is resumed, and a busy machine."""


@pytest.mark.parametrize(
    ("changes", "story", "expected"),
    [
        pytest.param([applies, comes(51, WAITS_MS)], {}, [], id="at the limit"),
        pytest.param([applies, comes(51, WAITS_MS + 0.001)], {}, [51], id="later"),
        pytest.param([comes(51, 9_000)], {}, [], id="without a call"),
        pytest.param([applies, another(), comes(51, 9_000)], {}, [51], id="a call at one of two members"),
        pytest.param([applies, comes(51, WAITS_MS + 400)], {"stall_ms": 200}, [], id="on a machine that stalls"),
        pytest.param([applies, comes(51, WAITS_MS + 401)], {"stall_ms": 200}, [51], id="later on it"),
        pytest.param([applies, comes(51, WAITS_MS + 300)], {"resources": starved(300)}, [], id="in a process without a core"),
        pytest.param([applies, comes(51, WAITS_MS + 301)], {"resources": starved(300)}, [51], id="later in it"),
        pytest.param([pauses_queue(12_000), comes(81, 3_900)], {}, [], id="as it is resumed"),
        pytest.param([pauses_queue(12_000.001), comes(81, 3_900)], {}, [81], id="before it is resumed"),
        pytest.param([applies, comes(51, 4_000), comes(50, 5_000)], {}, [50], id="the longest of two queues"),
        pytest.param([applies, comes(51, 4_000), comes(151, 4_001)], {}, [151], id="the longest of one"),
        pytest.param([applies, comes_back(29_000)], {}, [], id="a failed message comes back late"),
    ],
)  # fmt: skip
def test_a_queue_about_which_applications_call_waits(
    changes: list[Change], story: dict[str, Any], expected: list[int]
) -> None:
    """The longest wait beside the other group's."""
    found = [fact for fact in differences_of("consumption", *changes, **story) if fact.signature == WAITS]
    assert [fact.send for fact in found] == expected


def test_a_queue_of_which_the_other_group_got_nothing_is_not_compared() -> None:
    """There is no wait beside which its own would be long."""
    made = Story()
    without_queue(made.baseline)
    applies(made.candidate)
    comes(51, 9_000)(made.candidate)
    assert WAITS not in {fact.signature for fact in differences(made)}


def test_a_long_wait_is_described() -> None:
    """Since when it lasted, beside the other group's."""
    (found,) = differences_of("consumption", applies, comes(51, 4_000))
    assert (found.at_ns, found.send) == (ns(5_100), 51)
    assert found.expected == "messages of queue 0 of broker-b after 0.0 s, the other group's longest"
    assert found.observed == "message 51 after 4.0 s, while it could be pulled and all before it were finished"


SOON, LATE = Return(ns(7_500), ns(10_000), ns(8_000)), Return(ns(7_500), ns(10_000), ns(30_000))
NOT_BACK = Return(ns(7_500), ns(10_000), None)


@pytest.mark.parametrize(
    ("baseline", "candidate", "expected"),
    [
        pytest.param(
            [SOON] * 7, [LATE] * 7, [(RESUMES_LATER, "after 0 of 7; here 22.5 s after the restart")], id="later"
        ),
        pytest.param([SOON] * 7, [NOT_BACK] * 7, [(RESUMES_LATER, "after 0 of 7; here none at all")], id="not at all"),
        pytest.param(
            [LATE] * 7, [SOON] * 7, [(RESUMES_SOONER, "after 7 of 7; here 0.5 s after the restart")], id="sooner"
        ),
        pytest.param(
            [SOON] * 14,
            [SOON] + [LATE] * 9,
            [(RESUMES_LATER, "after 1 of 10; here 22.5 s after the restart")],
            id="mostly",
        ),
        pytest.param(
            [SOON] + [LATE] * 9,
            [SOON] * 14,
            [(RESUMES_SOONER, "after 14 of 14; here 0.5 s after the restart")],
            id="mostly sooner",
        ),
        pytest.param([SOON] * 6, [LATE] * 6, [], id="six may be chance"),
        pytest.param([LATE] * 9, [LATE] * 9, [], id="both late"),
    ],
)
def test_restarts_are_compared(
    monkeypatch: pytest.MonkeyPatch, baseline: list[Return], candidate: list[Return], expected: list[tuple[str, str]]
) -> None:
    """In either direction, as the candidate's."""
    monkeypatch.setattr(
        consumption, "returns", lambda _, group, __: candidate if group.arm == "candidate" else baseline
    )
    found = differences(Story())
    assert [(fact.signature, fact.observed) for fact in found] == expected
    assert all((fact.arm, fact.at_ns) == ("candidate", ns(10_000)) for fact in found)
    assert all(
        f"within 2.5 s of a broker's restart after {sum(one is SOON for one in baseline)} of " in fact.expected
        for fact in found
    )
