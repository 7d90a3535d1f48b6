"""Members of groups that misbehave, as processes in a whole case: each is found, and the case ends with its verdict."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.manifest import CaseStatus
from tests.run.consuming.staged import CANDIDATE, CLAIMS, Part, Stage, Step, hello, staged
from tests.subjects.processes import gone

Change = Callable[[Part], dict[str, list[Step]]]
HOURS: Step = ["sleep", 3_600]


@pytest.fixture
def stage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    with staged(tmp_path, monkeypatch) as made:
        yield made


def offset(number: int) -> Step:
    place = {"topic": "T", "broker": "broker-a", "queue_id": 0}
    return ["say", {"type": "offset", "number": number, "incarnation": 1, "at_ns": "@now", "what": "query"} | place]


def joins_by_itself(part: Part) -> dict[str, list[Step]]:
    """Its first start throws, yet its threads go on; it leaves and joins as it is ordered."""
    return {
        "joined": [part.joined(error="MQClientException"), ["say", part.allocated(1, part.topics.fed)[1]]],
        "shares": [
            *(["await", "leave"], part.left(), ["await", "join"], part.joined(2)),
            *(part.allocated(2, part.topics.fed, 2), part.allocated(3, part.topics.retry, 2)),
        ],
        "owned": [part.owned(1, 2)],
        "left": [part.left(2)],
    }


def test_faithful_members_keep_to_the_protocol(stage: Stage) -> None:
    """The twin of every member below: nothing is found, and every guard holds."""
    judgement = stage.play()
    entry = stage.run.entry(1)
    assert (entry.status, entry.breaches) == (CaseStatus.COMPLETE, {})
    assert [guard for guard in entry.guards if not guard.held] == []
    assert {result.check for result in judgement.results if result.verdict is Verdict.CONFORMS} >= {
        "protocol",
        "validity",
    }


@pytest.mark.parametrize(
    ("change", "signature"),
    [
        pytest.param(lambda part: {"works": [part.received(1)]}, "protocol.call-order", id="a gap in its calls"),
        pytest.param(lambda part: {"joined": [part.joined(2)]}, "protocol.before-join", id="another incarnation"),
        pytest.param(
            lambda part: {"joined": [part.joined(client_id="1@another")]}, "protocol.wrong-member", id="another member"
        ),
        pytest.param(
            lambda part: {"left": [part.left(), ["sleep", 0.01], part.received()]},
            "protocol.after-left",
            id="after left",
        ),
        pytest.param(lambda part: {"works": [part.owned(3)]}, "protocol.number-order", id="a gap in its owned sets"),
        pytest.param(
            lambda _: {"hello": [hello(CANDIDATE, *CLAIMS[:-1])], "works": [offset(1)]},
            "protocol.not-claimed",
            id="offset events that it does not claim",
        ),
        pytest.param(lambda _: {"works": [*map(offset, range(1, 12))]}, "protocol.too-much", id="an endless loop"),
        pytest.param(lambda _: {"joined": [HOURS]}, "protocol.stalled", id="a start without end"),
        pytest.param(lambda part: {"works": [part.received(), HOURS]}, "protocol.stalled", id="a call without end"),
        pytest.param(lambda _: {"left": [HOURS]}, "protocol.stalled", id="a leave without end"),
        pytest.param(lambda _: {"done": [HOURS]}, "protocol.stalled", id="no done"),
        pytest.param(lambda _: {"joined": [["exit", 3]]}, "protocol.died", id="a death in its start"),
        pytest.param(lambda part: {"works": [part.received(), ["exit", 3]]}, "protocol.died", id="a death in a call"),
        pytest.param(lambda _: {"works": [["close"], HOURS]}, "protocol.died", id="a closed output"),
        pytest.param(lambda _: {"works": [["raw", "who is there?\n"]]}, "protocol.bad-line", id="no record"),
        pytest.param(
            lambda _: {"done": [["say", {"type": "done", "calls": 7}]]}, "protocol.incomplete", id="a wrong count"
        ),
        pytest.param(lambda _: {"shares": []}, "allocation.never-settled", id="no share of the queues"),
    ],
)
def test_a_member_that_misbehaves_is_a_difference(stage: Stage, change: Change, signature: str) -> None:
    """The case goes on with the other arm and ends; the signature is the member's alone, and the run diverges."""
    stage.candidate.steps |= change(stage.candidate)
    judgement = stage.play()
    entry = stage.run.entry(1)
    assert {member: breach.signature for member, breach in entry.breaches.items()} == {"candidate-m0": signature}
    assert entry.status is CaseStatus.COMPLETE
    assert judgement.exit_code is ExitCode.DIVERGES, judgement.machine_line
    found = {each.signature for result in judgement.results for each in result.divergences}
    # A member under another id also divides among ids that its broker never listed.
    assert {each for each in found if not each.startswith("allocation.other-")} == {signature}


@pytest.mark.parametrize(
    ("baseline", "candidate", "reason"),
    [
        pytest.param(
            lambda _: {"shares": []},
            lambda _: {"shares": []},
            "not settled within 1 s: baseline: .* was allocated nothing of .*; candidate: ",
            id="two groups that do not settle",
        ),
        pytest.param(
            lambda _: {"shares": [["sleep", 0.8]], "owned": []},
            lambda part: {"shares": [["sleep", 0.8], *part.steps["shares"]]},
            "not settled within 1 s: baseline: ",
            id="a group that does not settle beside a slow one",
        ),
        pytest.param(
            lambda _: {},
            lambda part: {
                **joins_by_itself(part),
                "shares": [["await", "leave"], part.left(), ["await", "join"], part.joined(2, error="MQClientException")],
            },
            "member 0 of candidate could not start twice, while nothing was faulty: MQClientException",
            id="a start that throws twice",
        ),
        pytest.param(
            lambda _: {}, lambda _: {"hello": [hello(CANDIDATE, *CLAIMS, roles=("producer",))]},
            "acme:1 cannot be a consumer", id="no consumer",
        ),
    ],
)  # fmt: skip
def test_a_group_that_cannot_begin_is_invalid(stage: Stage, baseline: Change, candidate: Change, reason: str) -> None:
    """The case states why it has not begun; nothing conforms, and nothing is a difference."""
    stage.baseline.steps |= baseline(stage.baseline)
    stage.candidate.steps |= candidate(stage.candidate)
    judgement = stage.play()
    entry = stage.run.entry(1)
    assert entry.status is CaseStatus.ABORTED
    assert not entry.breaches
    assert re.search(reason, entry.reason), entry.reason
    assert judgement.exit_code is ExitCode.INCONCLUSIVE, judgement.machine_line


def test_a_start_that_throws_once_is_tried_again(stage: Stage) -> None:
    """It is possibly there until it has left; the second start counts."""
    stage.candidate.steps |= joins_by_itself(stage.candidate)
    judgement = stage.play()
    entry = stage.run.entry(1)
    assert (entry.status, entry.breaches) == (CaseStatus.COMPLETE, {})
    assert judgement.exit_code is not ExitCode.DIVERGES, judgement.machine_line
    orders = (stage.run.path / "journal" / "01-group.ndjson").read_text()
    assert orders.count('"what":"join"') == 3 and orders.count('"what":"leave"') == 3


@pytest.mark.parametrize(
    "steps",
    [pytest.param([["sleep", 3_600]], id="deaf to stop"), pytest.param([["child"]], id="a child that keeps the pipe")],
)
def test_nothing_of_a_member_survives_its_case(stage: Stage, steps: list[Step], tmp_path: Path) -> None:
    """A member that ignores stop, and a child in a session of its own, end with the case; neither is a breach."""
    stray = tmp_path / "stray"
    stage.candidate.steps |= {"works": [["daemon", str(stray)]], "stop": steps}
    stage.play()
    assert not stage.run.entry(1).breaches
    assert gone(int(stray.read_text()))
