"""What a report draws and counts of two groups, of stories whose figures are worked out by hand."""

from dataclasses import replace

import pytest

from rocketdiff.analysis.consuming.pictures.figures import FIGURES
from rocketdiff.analysis.consuming.pictures.timeline import BARS
from rocketdiff.analysis.facts import Tally
from rocketdiff.analysis.registry import judge_case
from rocketdiff.core.answers.plots import GroupFigures, GroupTimeline, Work
from rocketdiff.report.formats import html, markdown
from rocketdiff.report.formats.markdown import SUMMARY_BYTES
from tests.analysis.consuming.group_story import BROKERS, COUNT, END_MS, EVERY_MS, Group, Story, candidate, faithful, ns

FAILING = len(range(0, COUNT, 7))
"""Messages of the faithful group that fail once."""


def timeline_of(story: Story) -> GroupTimeline:
    (timeline,) = story.analysis().plots.groups
    return timeline


def figures_of(story: Story) -> tuple[GroupFigures, GroupFigures]:
    baseline, candidate_ = story.analysis().plots.figures
    return baseline, candidate_


def loses_a_tenth(group: Group) -> None:
    for send in range(9, COUNT, 10):
        group.drop(send)


def doubles_a_tenth(group: Group) -> None:
    for send in range(9, COUNT, 10):
        group.deliver(send, send * EVERY_MS + 30)


def is_late(group: Group) -> None:
    for call in group.calls:
        if call["kind"] == "fed":
            call["start_ns"], call["end_ns"] = call["start_ns"] + ns(40) - ns(0), call["end_ns"] + ns(40) - ns(0)


def stands_still_at_broker_b(group: Group) -> None:
    """Its calls from 5 s to 8 s begin at 8 s, 1 s after the heal."""
    for call in group.calls:
        if call["broker"] == BROKERS[1] and ns(5_000) <= call["start_ns"] < ns(8_000):
            call["start_ns"], call["end_ns"] = ns(8_000), ns(8_001)


def test_a_faithful_group_has_all_messages_once_and_in_time() -> None:
    """Each message is delivered, those that fail once more, 2 ms after it was stored; nothing waits in the end."""
    for own in figures_of(Story()):
        assert (own.stored, own.delivered, own.again, own.retried, own.in_calm) == (COUNT, COUNT, 0, FAILING, COUNT)
        assert (own.p50_ms, own.p99_ms) == (pytest.approx(2.0), pytest.approx(2.0))
        assert own.faults == ()
    baseline, other = timeline_of(Story()).lags
    assert baseline.lag == other.lag
    assert baseline.lag[-1] == 0
    assert max(baseline.lag) == 3  # the message of the moment, and two that wait a second for their retry


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        (loses_a_tenth, (COUNT - 20, 0)),
        (doubles_a_tenth, (COUNT, 20)),
    ],
)
def test_lost_and_doubled_messages_are_counted(change: object, counts: tuple[int, int]) -> None:
    """Figures of the candidate have what it lost and what it was given again; the baseline's have neither."""
    baseline, own = figures_of(candidate(change))  # type: ignore[arg-type]  # a change of a group
    assert (own.delivered, own.again) == counts
    assert (baseline.delivered, baseline.again) == (COUNT, 0)


def test_lost_messages_wait_to_the_end() -> None:
    """The lag of a group that loses messages ends at their number."""
    baseline, own = timeline_of(candidate(loses_a_tenth)).lags
    assert (baseline.lag[-1], own.lag[-1]) == (0, 20)


def test_a_late_group_has_its_latency_in_calm() -> None:
    """Latency is from storing to the first call, of messages stored before the first fault."""
    story = candidate(is_late)
    baseline, own = figures_of(replace(story, pauses=((15_000, 1_000),)))
    assert (baseline.p50_ms, own.p50_ms) == (pytest.approx(2.0), pytest.approx(42.0))
    assert own.in_calm == 150


def test_each_fault_has_its_silence_and_its_resumption() -> None:
    """After a fault: the longest time without a delivery, and from the heal to the first one from the broker's queues."""
    story = candidate(stands_still_at_broker_b)
    baseline, own = figures_of(replace(story, pauses=((5_000, 2_000),)))
    ((first,), (second,)) = baseline.faults, own.faults
    assert (first.node, first.start_ms) == ("broker-b", pytest.approx(5_000))
    assert first.silent_ms == pytest.approx(100)  # faithful: one message every tenth of a second
    assert first.resumed_ms == pytest.approx(102)  # message 71, stored at 7.1 s; 70 is in the other queue
    assert (second.silent_ms, second.resumed_ms) == (pytest.approx(200), pytest.approx(1_000))


def tallied(story: Story) -> dict[str, dict[str, tuple[int, float]]]:
    """Tallies of figures by arm and key, which a record's questions read."""
    found: dict[str, dict[str, tuple[int, float]]] = {}
    for one in judge_case(story.trace()):
        if isinstance(one.fact, Tally) and one.fact.check == FIGURES:
            found.setdefault(one.fact.arm, {})[one.fact.key] = (one.fact.n, round(one.fact.total, 6))
    return found


def test_each_heal_has_what_waits_and_when_it_is_done() -> None:
    """At the heal message 63 waits for its retry; in the candidate 51, 53 … 69 and the retry of 49, for a second."""
    story = replace(candidate(stands_still_at_broker_b), pauses=((5_000, 2_000),))
    found = tallied(story)
    assert (found["baseline"]["waiting 0"], found["baseline"]["caught-up-ms 0"]) == ((1, 0.0), (1, 351.0))
    assert (found["candidate"]["waiting 0"], found["candidate"]["caught-up-ms 0"]) == ((11, 0.0), (1, 1_001.0))


def test_a_message_that_never_comes_is_waited_for_without_end() -> None:
    """A backlog with a lost message is never caught up."""
    found = tallied(candidate(loses_a_tenth, pauses=((5_000, 2_000),)))["candidate"]
    assert found["waiting 0"] == (8, 0.0)  # 9, 19 … 69, and the retry of 63
    assert "caught-up-ms 0" not in found


def leaves_a_queue(group: Group) -> None:
    """It gives up a queue from 5 s to 8 s."""
    last = group.owned.pop()
    group.own(5_000, "b", "A", "B")
    group.own(8_000, "a", "b", "A", "B")
    group.owned.append({**last, "number": last["number"] + 2})


def test_a_queue_without_an_owner_has_its_longest_time() -> None:
    """A faithful group has an owner all the time; one that gives a queue up for three seconds has none for as long."""
    found = tallied(candidate(leaves_a_queue))
    assert found["baseline"]["unowned-ms"] == (1, 0.0)
    assert found["candidate"]["unowned-ms"] == (1, 3_000.0)


def test_bars_show_how_calls_end_and_who_owns_a_queue() -> None:
    """Calls that follow each other are one bar; failed and repeated ones stand out; a tenure is a bar of no calls."""
    bars = timeline_of(candidate(doubles_a_tenth)).bars
    own = [bar for bar in bars if bar.arm == "candidate"]
    calls = {work: sum(bar.calls for bar in own if bar.work is work) for work in Work}
    assert calls == {
        Work.OWNED: 0,
        Work.OK: COUNT,
        Work.AGAIN: 20,
        Work.FAILED: FAILING,
        Work.OPEN: 0,
    }
    owned = {(bar.topic, bar.broker) for bar in own if bar.work is Work.OWNED}
    assert owned == {(topic, broker) for topic in ("fed", "retry") for broker in BROKERS}
    assert {(mark.member, mark.what) for mark in timeline_of(Story()).marks} == {(0, "joins"), (0, "leaves")}


def test_marks_show_what_is_done_to_a_member() -> None:
    """A pause has two ends; one that is killed does not leave."""
    group = faithful()
    pauses = [{"from_ns": ns(3_000), "proven_ns": ns(3_050), "until_ns": ns(5_000)}]
    group.members[0] |= {"leave_start_ns": None, "ended": "killed", "killed_ns": ns(9_000), "pauses": pauses}
    marks = [mark for mark in timeline_of(Story(candidate=group)).marks if mark.arm == "candidate"]
    expected = {("joins", -3_000), ("is paused", 3_000), ("goes on", 5_000), ("is killed", 9_000)}
    assert {(mark.what, mark.at_ms) for mark in marks} == expected


def test_many_calls_make_no_larger_picture() -> None:
    """However often calls of different ends alternate, a group has at most BARS bars; they hold all calls."""
    group = faithful()
    for number in range(2_000):
        group.deliver(number % COUNT, 100 + number * END_MS / 2_000, offset=number % COUNT // 2)
        group.calls[-1]["result"] = "later" if number % 2 else "success"
    timeline = timeline_of(Story(candidate=group))
    own = [bar for bar in timeline.bars if bar.arm == "candidate"]
    assert len(own) <= BARS
    assert sum(bar.calls for bar in own) == len(group.calls)


def test_the_page_and_the_summary_speak_of_messages() -> None:
    """A case about consumers shows lag and ownership before all else, and no sentence of it is about sends."""
    document = candidate(doubles_a_tenth, pauses=((5_000, 2_000),)).judge().document
    page = html.render(document)
    case = page[page.index('id="cases"') : page.index('id="validity"')]
    assert case.index("<b>Lag:</b>") < case.index("<b>Ownership:</b>") < case.index("<h3 style")
    assert "member 0 owns queue 0 of broker-b" in case
    assert "broker-b paused at 5.0 s" in case
    assert "delivery 2" in page
    for of_producers in ("attempt", "sends", "Send ", "send "):
        assert of_producers not in case, of_producers
    summary = markdown.render(document, SUMMARY_BYTES)
    assert "| acme:1 | 200 | 200 | 20 | 29 | 2 ms |" in summary
