"""What a member gets otherwise, from literal answers."""

import json
from typing import Any

import pytest

from rocketdiff.simulation.comparison import Outcome, outcome_of, sends_end


def answer(*moments: tuple[int, str], start: Any = None) -> tuple[str, ...]:
    """Two lines: the start, and the requests and deliveries at their times in ms."""
    rounds = [{"at_ms": at_ms, "asked": text.split(", ")} for at_ms, text in moments]
    lines = ({"step": 0, "consumer": start or {"started": True}}, {"step": 1, "rounds": rounds})
    return tuple(json.dumps({"script": "s", **line}) for line in lines)


OLD = answer((0, "query a/0, pull a/0 0"), (500, "deliver a/0 0 times 0, deliver a/0 1 times 0"), (900, "commit a/0 2"))

CASES = {
    "the start fails with MQClientException, and succeeds before": answer(start={"exception": "MQClientException"}),
    "message a/0 1 is delivered never instead of once": answer((0, "pull a/0 0"), (500, "deliver a/0 0 times 0")),
    "message a/0 1 is delivered twice instead of once": (
        *OLD,
        *answer((9_000, "deliver a/0 1 times 1")),
    ),
    "the messages of a/0 are delivered in another order": answer(
        (0, "pull a/0 0"), (500, "deliver a/0 1 times 0, deliver a/0 0 times 0")
    ),
    "message a/0 1 is sent back once instead of never": answer(
        (0, "pull a/0 0"), (500, "deliver a/0 0 times 0, deliver a/0 1 times 0, back a/0 1 level 0")
    ),
    "offset 2 of a/0 is committed 100 ms sooner": answer(
        (0, "pull a/0 0"), (500, "deliver a/0 0 times 0, deliver a/0 1 times 0"), (800, "pull a/0 2 commit 2")
    ),
    "a/0 is committed up to 1 instead of 2": answer(
        (0, "pull a/0 0"), (500, "deliver a/0 0 times 0, deliver a/0 1 times 0"), (900, "pull a/0 2 commit 1")
    ),
    "message a/0 1 is delivered 1,500 ms later": answer(
        (0, "query a/0, pull a/0 0"), (500, "deliver a/0 0 times 0"), (2_000, "deliver a/0 1 times 0, commit a/0 2")
    ),
    "message a/0 0 is delivered 100 ms later": answer(
        (0, "query a/0, pull a/0 0"), (600, "deliver a/0 0 times 0, deliver a/0 1 times 0"), (900, "commit a/0 2")
    ),
    "a/0 is pulled 400 ms later": answer(
        (0, "query a/0"),
        (400, "pull a/0 0"),
        (500, "deliver a/0 0 times 0, deliver a/0 1 times 0"),
        (900, "commit a/0 2"),
    ),
    "a/0 is pulled until 900 ms instead of 0 ms": answer(
        (0, "query a/0, pull a/0 0"),
        (500, "deliver a/0 0 times 0, deliver a/0 1 times 0"),
        (900, "commit a/0 2, pull a/0 0"),
    ),
    "brokers get 2 requests for an offset instead of 1; messages come as before": answer(
        (0, "query a/0, query a/0, pull a/0 0"),
        (500, "deliver a/0 0 times 0, deliver a/0 1 times 0"),
        (900, "commit a/0 2"),
    ),
}


@pytest.mark.parametrize("words", CASES)
def test_the_gravest_difference_is_the_outcome(words: str) -> None:
    """What an application gets comes before what brokers are asked."""
    found = outcome_of(OLD, CASES[words])
    assert found is not None
    assert found.words == words


def test_equal_messages_at_other_requests_times_have_no_outcome() -> None:
    """A request at another time alone is nothing that an application gets."""
    calls = (500, "deliver a/0 0 times 0, deliver a/0 1 times 0")
    moved = answer((0, "query a/0, pull a/0 0"), calls, (901, "commit a/0 2"))
    assert outcome_of(OLD, moved) is None
    assert outcome_of(OLD, OLD) is None


def test_outcomes_are_ordered_as_they_are_asked() -> None:
    """The order of the questions is that of their gravity."""
    assert [outcome_of(OLD, lines).outcome for lines in CASES.values()] == [  # type: ignore[union-attr]
        Outcome.START, *[Outcome.MESSAGES] * 6, *[Outcome.WAITING] * 2, *[Outcome.QUEUES] * 2, Outcome.REQUESTS,
    ]  # fmt: skip


OK = {"result": "ok", "status": "SEND_OK", "broker": "a", "elapsed_ms": 0, "attempts": [1]}
FAILED = {
    "result": "exception",
    "exception": "MQClientException",
    "code": 10_002,
    "elapsed_ms": 3_000,
    "attempts": [1, 2],
}


@pytest.mark.parametrize(
    ("after", "words"),
    [
        ([OK, OK], ""),
        ([{**OK, "broker": "b"}, OK], "SEND_OK from a after 0 ms, attempts 1 → SEND_OK from b after 0 ms, attempts 1"),
        (
            [{**OK, "broker": "b"}, FAILED],
            "SEND_OK from a after 0 ms, attempts 1 → MQClientException 10002 after 3,000 ms, attempts 2",
        ),
    ],
    ids=["alike", "another broker", "a failure comes before another broker"],
)
def test_the_gravest_end_of_a_send_is_shown(after: list[dict[str, Any]], words: str) -> None:
    """A send whose result differs comes before one that ends at another broker."""
    old, new = (
        [json.dumps({"script": "s", "step": number, "send": send}) for number, send in enumerate(sends)]
        for sends in ([OK, OK], after)
    )
    assert sends_end(old, new) == words
