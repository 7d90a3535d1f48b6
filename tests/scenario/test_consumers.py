"""Scenarios about consumers: what a file may state, the group it makes, and the feeder's plan."""

import re

import pytest

from rocketdiff.core.consuming.plan import GroupPlan, ListenerKind, ListenerOutcome, ListenerRule, MessageModel
from rocketdiff.core.demand import GroupDemand
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.scenario import Scenario, parse, plan_of

TEXT = """\
format: 1
name: consuming/failing-listener
establishes: A failed message comes back after its delay.
topology: two-masters
topic: {queues_per_broker: 2}
workload: {call: queue, threads: 2, rate_per_s: 40, duration_s: 9}
consumers:
  members: 2
  listener: concurrent
  settings: {consume_from_where: first, max_reconsume_times: 2}
  properties: {rebalance_wait_interval_ms: 600000}
  rules: [{every: 7, offset: 3, tries: 1, outcome: later, delay_level: 1}]
  drain_s: 8
faults: [{kind: pause, broker: a, at_s: 5, for_s: 3}]
checks: [delivered, retries]
"""


def test_a_file_makes_a_group() -> None:
    """Only what is stated becomes a setting; rules are numbered; the role under test is the consumer."""
    scenario = parse(TEXT, "text")
    rule = ListenerRule(0, every=7, tries=1, outcome=ListenerOutcome.LATER, offset=3, delay_level=1)
    assert scenario.group == GroupPlan(
        members=2,
        listener=ListenerKind.CONCURRENT,
        rules=(rule,),
        settings={"consume_from_where": "first", "max_reconsume_times": 2},
        properties={"rebalance_wait_interval_ms": 600_000},
        drain_s=8.0,
    )
    assert scenario.role is ClientRole.CONSUMER
    named = ("consume_from_where", "max_reconsume_times", "rebalance_wait_interval_ms")
    claims = ("concurrent", "clustering", "listener:later", "listener:level")
    assert scenario.demands() == (GroupDemand(claims, named),)


def test_a_thread_of_the_feeder_sends_to_one_broker() -> None:
    """Message n goes to queue n of four, the first two of broker a by thread 0."""
    plan = plan_of(parse(TEXT, "text"), seed=1)
    assert [(send.argument, send.thread) for send in plan.sends[:6]] == [(0, 0), (1, 0), (2, 1), (3, 1), (4, 0), (5, 0)]
    assert len(plan.sends) == 360


@pytest.mark.parametrize(
    ("stated", "instead", "expected"),
    [
        pytest.param("members: 2", "members: 7", "at most 6 at consumers.members", id="too many members"),
        pytest.param("members: 2", "members: 0", "at least 1 at consumers.members", id="no member"),
        pytest.param("members: 2", "members: -1", "at least 1 at consumers.members", id="a negative number"),
        pytest.param("members: 2", "members: 2.5", "a whole number", id="half a member"),
        pytest.param("listener: concurrent", "listener: parallel", "'concurrent', 'orderly'", id="no listener"),
        pytest.param("members: 2", "members: 2\n  allocation: random", "'avg', 'circle'", id="no allocation"),
        pytest.param("members: 2", "members: 2\n  work_ms: -1", "at least 0", id="negative work"),
        pytest.param("outcome: later", "outcome: retry", "one of 'success', 'later'", id="an unknown outcome"),
        pytest.param("tries: 1", "tries: 17", "at most 16", id="more tries than retries"),
        pytest.param("every: 7", "every: 0", "at least 1", id="every no message"),
        pytest.param("delay_level: 1", "delay_level: 19", "at most 18", id="no such level"),
        pytest.param("drain_s: 8", "drain_s: .nan", "a finite number", id="no time"),
        pytest.param("drain_s: 8", "drain_s: -8", "more than 0", id="a negative time"),
        pytest.param("interval_ms: 600000", "interval_ms: -1", "at least 100", id="a negative interval"),
        pytest.param("rebalance_wait", "rebalance", "one of the fields rebalance_wait", id="an unknown property"),
        pytest.param("max_reconsume_times", "max_reconsume_time", "one of the fields", id="an unknown setting"),
        pytest.param(
            "max_reconsume_times: 2", "consume_thread_min: 30", "consume_thread_max: 20", id="too many threads"
        ),
        pytest.param("members: 2", "members: 2\n  pop: true", "pop", id="an unknown field"),
        pytest.param("consume_from_where: first", "pull_batch_size: 0", "at least 1", id="an impossible setting"),
        pytest.param("call: queue", "call: plain", "call: queue", id="a feeder that chooses queues"),
        pytest.param("threads: 2", "threads: 1", "threads: 2", id="a thread for two brokers"),
        pytest.param("offset: 3", "offset: 7", "an offset below every: 7", id="a rule without a message"),
        pytest.param("outcome: later", "outcome: rollback", "listener: orderly", id="an outcome of the other listener"),
        pytest.param("listener: concurrent", "listener: orderly", "listener: concurrent", id="a level in order"),
        pytest.param("outcome: later", "outcome: ack-index", "several messages", id="an index in one message"),
        pytest.param(", delay_level: 1", "", "retries that end within drain_s: 8", id="a retry after the end"),
        pytest.param("tries: 1", "tries: 9", "retries that end within drain_s: 8", id="retries after the end"),
        pytest.param("at_s: 5", "at_s: 2", "no fault before 3 s", id="an early fault"),
        pytest.param("duration_s: 9", "duration_s: 60", None, id="a longer feed"),
        pytest.param("kind: pause", "kind: wire-reset, frames: requests, of: pull", None, id="pulls on the wire"),
        pytest.param("kind: pause", "kind: wire-reset, frames: requests", "of: one of pull", id="every frame"),
        pytest.param("kind: pause", "kind: wire-reset, of: pull", "frames", id="no direction"),
        pytest.param("kind: pause", "kind: pause, of: pull", "of", id="pulls of a paused broker"),
        pytest.param("kind: pause", "kind: wire-reset, frames: requests, of: lock", "orderly", id="locks out of order"),
        pytest.param("kind: pause", "kind: wire-swallow, frames: responses, of: send-back", None, id="failed messages"),
        pytest.param("[delivered, retries]", "[loss]", "one of 'delivered'", id="a check of producers"),
        pytest.param("[delivered, retries]", "[]", "at least 1 entry", id="no check"),
        pytest.param("outcome: later, delay_level: 1", "outcome: success", "comes back", id="no failing listener"),
        pytest.param("[delivered, retries]", "[flow-control]", "work_ms is 0", id="a listener without work"),
        pytest.param("[delivered, retries]", "[takeover-time]", "no member that comes", id="members that stay"),
        pytest.param("[delivered, retries]", "[promptness, resume-time]", None, id="calm, then a fault"),
        pytest.param(
            "at_s: 5, for_s: 3}]\nchecks: [delivered, retries]",
            "at_s: 3, for_s: 3}]\nchecks: [promptness]",
            None,
            id="a second of calm",
        ),
    ],
)
def test_a_file_that_shows_nothing_is_refused(stated: str, instead: str, expected: str | None) -> None:
    """Each change makes the file one that shows or proves nothing; a longer feed does not."""
    text = TEXT.replace(stated, instead)
    assert text != TEXT
    if expected is None:
        parse(text, "text")
        return
    with pytest.raises(UsageError, match=expected):
        parse(text, "text")


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param("{at_s: 4, join: 2}", None, id="a new member"),
        pytest.param("{at_s: 6, join: 0}, {at_s: 4, leave: 0}", None, id="one that comes back"),
        pytest.param("{at_s: 4, kill: 0}, {at_s: 4, pause: 1, for_s: 2}", None, id="one dies while one is paused"),
        pytest.param("{at_s: 4, pause: 0, for_s: 2}, {at_s: 7, leave: 0}", None, id="one leaves after its pause"),
        pytest.param("{at_s: 4}", "one of join, leave, kill, pause", id="no event"),
        pytest.param("{at_s: 4, join: 2, leave: 1}", "saw join and leave", id="two events in one"),
        pytest.param("{at_s: 4, pause: 1}", "for_s of a pause", id="a pause without end"),
        pytest.param("{at_s: 4, kill: 1, for_s: 2}", "no for_s", id="a death that ends"),
        pytest.param("{at_s: 4, pause: 1, for_s: 1}", "at least 2", id="a pause too short to be proven"),
        pytest.param("{at_s: 4, pause: 1, for_s: 61}", "at most 60", id="a pause that brokers do not survive"),
        pytest.param("{at_s: 2, kill: 1}", "no kill before 3 s", id="an early death"),
        pytest.param("{at_s: 2, pause: 1, for_s: 2}", "no pause before 3 s", id="an early pause"),
        pytest.param("{at_s: 4, kill: 2}", "is not there", id="a death of a member that is not there"),
        pytest.param(
            "{at_s: 4, leave: 1}, {at_s: 6, pause: 1, for_s: 2}", "is not there", id="a pause of one that left"
        ),
        pytest.param("{at_s: 4, kill: 1}, {at_s: 6, join: 1}", "let another member join", id="back from the dead"),
        pytest.param("{at_s: 4, kill: 1}, {at_s: 6, kill: 1}", "after its death", id="a second death"),
        pytest.param("{at_s: 4, pause: 1, for_s: 2}, {at_s: 5.5, kill: 1}", "1 s between", id="a death in a pause"),
        pytest.param("{at_s: 4, pause: 1, for_s: 2}, {at_s: 6.5, leave: 1}", "1 s between", id="just after a pause"),
        pytest.param("{at_s: 4, pause: 1, for_s: 5}", "an end before 9 s", id="a pause that outlasts the feed"),
        pytest.param("{at_s: 4, kill: 0}, {at_s: 5, kill: 1}", "there at the end", id="all dead"),
        pytest.param("{at_s: 4, join: 1}", "is there already", id="a member that is there"),
        pytest.param("{at_s: 4, leave: 2}", "is not there", id="a member that is not there"),
        pytest.param("{at_s: 4, leave: 0}, {at_s: 4.5, join: 0}", "1 s between two events", id="too soon"),
        pytest.param("{at_s: 9, leave: 0}", "an end before 9 s", id="after the feed"),
        pytest.param("{at_s: 4, leave: 0}, {at_s: 5, leave: 1}", "there at the end", id="all gone"),
        pytest.param("{at_s: 4, join: 3}", "a join of member 2", id="a gap in the numbers"),
        pytest.param("{at_s: 4, join: 6}", "at most 5", id="a seventh member"),
    ],
)
def test_members_come_and_go_as_they_can(events: str, expected: str | None) -> None:
    """Two members are there at the start; events are checked in the order of their times. A process that died is not replaced."""
    text = TEXT.replace("drain_s: 8", f"drain_s: 8\n  membership: [{events}]")
    if expected is None:
        assert len(parse(text, "text").group.membership) in (1, 2)  # type: ignore[union-attr]  # it has a group
        return
    with pytest.raises(UsageError, match=expected):
        parse(text, "text")


def test_a_script_has_all_processes_and_those_that_remain() -> None:
    """Members that come later need a process too; the last event of a member is known."""
    text = TEXT.replace(
        "drain_s: 8", "drain_s: 8\n  membership: [{at_s: 7, join: 0}, {at_s: 4, join: 2}, {at_s: 5, leave: 0}]"
    )
    group = parse(text, "text").group
    assert group is not None
    assert [(event.at_s, event.member, event.change.value) for event in group.membership] == [
        (4, 2, "join"),
        (5, 0, "leave"),
        (7, 0, "join"),
    ]
    assert (group.processes, group.remaining) == (3, (0, 1, 2))
    assert [group.is_last_of(event) for event in group.membership] == [True, False, True]


@pytest.mark.parametrize(
    ("members", "mix", "mixed"),
    [(2, "none", ()), (2, "alternate", (1,)), (5, "alternate", (1, 3)), (1, "alternate", None)],
)
def test_every_other_member_of_a_mixed_group_is_the_baseline(
    members: int, mix: str, mixed: tuple[int, ...] | None
) -> None:
    """A group of one is not mixed."""
    text = TEXT.replace("members: 2", f"members: {members}\n  mix: {mix}")
    if mixed is None:
        with pytest.raises(UsageError, match="two members at least"):
            parse(text, "text")
        return
    group = parse(text, "text").group
    assert group is not None and group.mixed == mixed


BROADCAST = TEXT.replace("members: 2", "members: 2\n  model: broadcasting")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({"checks: [delivered, retries]": "checks: [delivered]", "outcome: later": "outcome: success"}, None, id="one check"),
        pytest.param({}, r"checks: \[delivered, redelivery\] of a broadcasting", id="another check"),
        pytest.param({"checks: [delivered, retries]": "checks: [delivered]"}, "does not come back", id="a failing listener"),
    ],
)  # fmt: skip
def test_members_that_share_nothing_are_judged_each_alone(changes: dict[str, str], expected: str | None) -> None:
    """Offsets are in a file of each, and what fails is lost."""
    text = BROADCAST
    for stated, instead in changes.items():
        assert stated in text
        text = text.replace(stated, instead)
    if expected is None:
        group = parse(text, "text").group
        assert group is not None and group.model is MessageModel.BROADCASTING
        return
    with pytest.raises(UsageError, match=expected):
        parse(text, "text")


def test_the_dead_do_not_remain_and_the_paused_do() -> None:
    """Members that are told to leave at the end are those that are left."""
    text = TEXT.replace("drain_s: 8", "drain_s: 8\n  membership: [{at_s: 4, kill: 0}, {at_s: 5, pause: 1, for_s: 2.5}]")
    scenario = parse(text, "text")
    group = scenario.group
    assert group is not None
    assert (group.processes, group.remaining, group.membership[1].end_s) == (2, (1,), 7.5)
    assert [str(event) for event in group.membership] == ["kill 0 at 4 s", "pause 1 at 5 s for 2.5 s"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("settings: {heartbeat_broker_interval_ms: 600000}", "heartbeat_broker_interval_ms up to 60000"),
        ("settings: {heartbeat_broker_interval_ms: 60000}", None),
    ],
)
def test_a_member_must_not_expire(change: str, expected: str | None) -> None:
    """Brokers forget a member after 120 s without a heartbeat, so a long case needs some."""
    text = TEXT.replace("drain_s: 8", "drain_s: 95").replace(TEXT.splitlines()[9].strip(), change)
    if expected is None:
        parse(text, "text")
        return
    with pytest.raises(UsageError, match=expected):
        parse(text, "text")


LITE_PULL = TEXT.replace("concurrent", "lite-pull").replace("max_reconsume_times: 2", "poll_timeout_ms: 500")
LITE_PULL = LITE_PULL.replace("later, delay_level: 1", "success").replace(
    "[delivered, retries]", "[delivered, offsets]"
)


@pytest.mark.parametrize(
    ("stated", "instead", "expected"),
    [
        pytest.param("drain_s: 8", "drain_s: 9", None, id="as it is"),
        pytest.param("outcome: success", "outcome: later", "success for lite-pull", id="a poll that fails"),
        pytest.param("poll_timeout_ms: 500", "consume_thread_min: 2", "a setting of listener", id="a setting of push"),
        pytest.param("listener: lite-pull", "listener: concurrent", "a setting of listener", id="a setting of polls"),
        pytest.param(
            "members: 2", "members: 2\n  commits: sync\n  model: broadcasting", "clustering with", id="broadcasting"
        ),
        pytest.param("[delivered, offsets]", "[pulling]", "delivered, redelivery, offsets", id="another check"),
        pytest.param("kind: pause", "kind: wire-reset, frames: requests, of: pull", "wire", id="on the wire"),
        pytest.param("members: 2", "members: 2\n  work_ms: 5", None, id="a poller that works"),
        pytest.param("members: 2", "members: 2\n  commits: sync", None, id="a poller that commits"),
        pytest.param("lite-pull", "concurrent\n  commits: sync", "a setting of", id="a listener that commits"),
        pytest.param(
            "poll_timeout_ms: 500}",
            "auto_commit_interval_ms: 2000}\n  commits: sync",
            "commits: auto",
            id="two that commit",
        ),
    ],
)
def test_a_group_that_polls_has_settings_of_its_own(stated: str, instead: str, expected: str | None) -> None:
    """It has settings and checks of its own; its messages are consumed when they are handed out."""
    text = LITE_PULL.replace(stated, instead)
    assert text != LITE_PULL
    if expected is None:
        (demand,) = parse(text, "text").demands()
        assert isinstance(demand, GroupDemand)
        assert demand.capabilities == ("lite-pull", "clustering")
        return
    with pytest.raises(UsageError, match=expected):
        parse(text, "text")


ASSIGN = "members: 2\n  assign: [[a/0, b/0], [a/1, b/1]]"


def parsed(text: str, changes: dict[str, str], expected: str | None) -> Scenario | None:
    """The scenario of a changed text; None if it is refused, as expected."""
    for stated, instead in changes.items():
        assert stated in text
        text = text.replace(stated, instead)
    if expected is None:
        return parse(text, "text")
    with pytest.raises(UsageError, match=re.escape(expected)):
        parse(text, "text")
    return None


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, None, id="each queue once"),
        pytest.param({"a/1, b/1": "a/1"}, "each queue once: a/0, a/1, b/0, b/1", id="a queue of nobody"),
        pytest.param({"a/1, b/1": "a/1, b/1, a/0"}, "each queue once", id="a queue of two"),
        pytest.param({"[a/1, b/1]": "[a/1], [b/1]"}, "the queues of 2 members that stay", id="three lists"),
        pytest.param({"work_ms": "membership: [{at_s: 4, leave: 1}]\n  work_ms"}, "members that stay", id="one leaves"),
        pytest.param({"work_ms": "tags: [paid]\n  work_ms"}, "no tags with assign", id="tags"),
        pytest.param({"[delivered, offsets]": "[allocation]"}, "no allocation with assign", id="a check of shares"),
        pytest.param({"lite-pull": "concurrent", "poll_timeout_ms: 500": "pull_batch_size: 5"}, "lite-pull for assign", id="a listener"),
    ],
)  # fmt: skip
def test_an_application_assigns_each_queue_to_one_member(changes: dict[str, str], expected: str | None) -> None:
    """A queue without a member is not consumed, and one of two members would be consumed twice."""
    text = LITE_PULL.replace("members: 2", f"{ASSIGN}\n  work_ms: 5")
    scenario = parsed(text, changes, expected)
    if scenario is None:
        return
    group, (demand,) = scenario.group, scenario.demands()
    assert group is not None
    assert [list(map(str, queues)) for queues in group.assign] == [["a/0", "b/0"], ["a/1", "b/1"]]
    assert isinstance(demand, GroupDemand)
    assert demand.capabilities == ("lite-pull", "clustering", "assign")


FAULTS = "faults: [{kind: pause, broker: a, at_s: 5, for_s: 3}]"
CALLS = [
    "{at_s: 4, seek: a/0, offset: 7}",
    "{at_s: 4.5, seek_to_end: a/1}",
    "{at_s: 5, pause: b/0}",
    "{at_s: 9, resume: b/0}",
]
SEEK, END, PAUSE, RESUME = CALLS


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        pytest.param({}, None, id="as it is"),
        pytest.param({SEEK: "{at_s: 4, seek: a/0}"}, "an offset of a seek", id="a seek to nowhere"),
        pytest.param({END: "{at_s: 4, seek_to_end: a/1, offset: 3}"}, "of no other call", id="an offset of another"),
        pytest.param({END: "{at_s: 4}"}, "one of seek, seek_to_begin", id="no call"),
        pytest.param({END: "{at_s: 4, pause: a/1, resume: a/1}"}, "saw pause and resume", id="two calls"),
        pytest.param({END: "{at_s: 2, seek_to_end: a/1}"}, "calls from 3 s to 3 s before", id="too early"),
        pytest.param({RESUME: "{at_s: 11, resume: b/0}"}, "calls from 3 s to 3 s before", id="too late"),
        pytest.param({END: "{at_s: 4, member: 1, seek_to_end: a/1}"}, "a queue of member 1", id="nobody's"),
        pytest.param({RESUME: END}, "a resumption of b/0 at", id="never resumed"),
        pytest.param({RESUME: "{at_s: 8, resume: b/0}"}, "a pause of b/0 at least 4 s", id="resumed soon"),
        pytest.param({END: "{at_s: 5.5, pause: b/0}"}, "before another pause", id="paused twice"),
        pytest.param({"members: 1": "members: 2"}, "assign, or one member", id="two that share"),
        pytest.param({"members: 1": "members: 2\n  assign: [[a/0, b/0], [a/1, b/1]]"}, "a queue of member 0", id="another's"),
        pytest.param({"[delivered, offsets]": "[takeover-time]"}, "with application", id="a check of waiting"),
        pytest.param({"work_ms": "membership: [{at_s: 4, join: 1}]\n  work_ms"}, "saw membership", id="a join"),
        pytest.param({"faults: []": "faults: [{kind: pause, broker: a, at_s: 4, for_s: 2}]"}, "saw faults", id="a fault"),
        pytest.param({"lite-pull": "concurrent", "poll_timeout_ms: 500": "pull_batch_size: 5"}, "listener: lite-pull for app", id="a listener"),
    ],
)  # fmt: skip
def test_an_application_seeks_and_pauses_its_own_queues(changes: dict[str, str], expected: str | None) -> None:
    """Each call is followed by messages that show its effect, and nothing else changes what is consumed."""
    calls = f"members: 1\n  application: [{', '.join(CALLS)}]\n  work_ms: 5"
    text = LITE_PULL.replace("duration_s: 9", "duration_s: 13").replace(FAULTS, "faults: []")
    text = text.replace("members: 2", calls)
    scenario = parsed(text, changes, expected)
    if scenario is None:
        return
    group, (demand,) = scenario.group, scenario.demands()
    assert group is not None
    assert [str(event) for event in group.application] == [
        "seek a/0 to 7 by 0 at 4 s",
        "seek_to_end a/1 by 0 at 4.5 s",
        "pause b/0 by 0 at 5 s",
        "resume b/0 by 0 at 9 s",
    ]
    assert isinstance(demand, GroupDemand)
    assert demand.capabilities == ("lite-pull", "clustering", "seek", "pause")


def test_promptness_of_a_poller_that_works_is_not_asked() -> None:
    """While its one thread works, messages of every queue wait."""
    text = LITE_PULL.replace("[delivered, offsets]", "[promptness]")
    parse(text, "text")
    with pytest.raises(UsageError, match="work_ms: 0 for promptness"):
        parse(text.replace("members: 2", "members: 2\n  work_ms: 5"), "text")


@pytest.mark.parametrize(
    ("tags", "checks", "expected"),
    [
        pytest.param("[paid, sent]", "[delivered, retries]", None, id="one of them is sent"),
        pytest.param("[sent]", "[delivered, retries]", "a tag of workload.tags", id="none is sent"),
        pytest.param('["paid || sent"]', "[delivered, retries]", "tags", id="an expression"),
        pytest.param("[paid]", "[delivered, pulling]", "no check of pulling, flow-control", id="offsets of pulls"),
    ],
)
def test_a_group_subscribes_to_tags_that_are_sent(tags: str, checks: str, expected: str | None) -> None:
    """A client that claims no subscriptions leaves such a scenario out."""
    text = TEXT.replace("workload: {", "workload: {tags: [paid, other], ").replace("[delivered, retries]", checks)
    text = text.replace("members: 2", f"members: 2\n  tags: {tags}")
    if expected is None:
        (demand,) = parse(text, "text").demands()
        assert isinstance(demand, GroupDemand)
        assert "tags" in demand.capabilities
        return
    with pytest.raises(UsageError, match=expected):
        parse(text, "text")
