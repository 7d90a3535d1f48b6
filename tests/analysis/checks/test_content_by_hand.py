"""The checks ``content`` and ``order`` on manually built sends."""

from dataclasses import replace
from typing import Any

import pytest

from rocketdiff.analysis.checks.case_facts import CaseFacts
from rocketdiff.analysis.checks.storage.content import Content
from rocketdiff.analysis.checks.storage.order import Order
from rocketdiff.analysis.send_view import Copy, SendView
from rocketdiff.core.arm import Arm
from rocketdiff.core.sends.message import body_digest, padded, properties_text
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.traces.manifest import ClockAnchor
from tests.analysis.by_hand import ENTRY, MS, S, facts_of, made, pair, signatures, tried

BASELINE, CANDIDATE = Arm.BASELINE, Arm.CANDIDATE
SLOW = "RemotingTimeoutException"
NO_CLOCK = replace(ENTRY, clock=None)


def copy(send: int = 0, *, broker: str = "broker-b", queue_id: int = 0, offset: int = 0, at_ms: int = 0, born_ms: int | None = None, **properties: str) -> Copy:  # fmt: skip
    """A message with its id, a body of 32 bytes and these properties."""
    carried = properties_text({"rocketdiff.id": f"r/{send}", **properties})
    digest = body_digest(padded(f"r/{send}", 32))
    return Copy(broker, queue_id, offset, at_ms, True, 0, carried, digest, 0, born_ms)


def send(arm: Arm, *copies: Copy, number: int = 0, kept: tuple[Copy, ...] = (), **row: Any) -> SendView:
    return replace(made(arm, number, tried(S, S + 10 * MS), copies=copies, **row), kept=kept)


def facts(make: Any, *sides: SendView, **named: Any) -> CaseFacts:
    alone = [pair(one, None) if one.arm is BASELINE else pair(None, one) for one in sides]
    return facts_of(alone, make, **named)


def examples(found: CaseFacts) -> dict[str, tuple[str, str]]:
    """Expected and observed, by signature without its check."""
    return {
        one.signature.partition(".")[2]: (one.example.expected, one.example.observed)
        for each in found.divergences.values()
        for one in each
    }


OLD = replace(copy(), properties=None)


@pytest.mark.parametrize(
    ("side", "counts"),
    [
        (send(CANDIDATE, copy()), 1),
        (send(CANDIDATE, copy(), copy()), 1),
        (send(CANDIDATE, kept=(copy(),)), 1),
        (send(CANDIDATE), 0),
        (send(CANDIDATE, OLD), 0),
        (send(CANDIDATE, OLD, kept=(copy(),)), 1),
        (replace(send(CANDIDATE, copy()), copies=None), 0),
    ],
)
def test_messages_that_tell_what_they_carry_are_counted(side: SendView, counts: int) -> None:
    """A send counts once if a copy has properties; copies of traces before schema 1.2 have none."""
    assert facts(Content, side).n("content", "copy", arm=CANDIDATE, phase="calm") == counts


@pytest.mark.parametrize(
    ("sides", "wanted"),
    [
        ([send(CANDIDATE, copy(UNIQ_KEY="A")), send(CANDIDATE, copy(1, UNIQ_KEY="B"), number=1)], []),
        ([send(CANDIDATE, copy(UNIQ_KEY="A")), send(BASELINE, copy(1, UNIQ_KEY="A"), number=1)], []),
        ([send(CANDIDATE, copy(UNIQ_KEY="A"), copy(UNIQ_KEY="A"))], []),
        ([send(CANDIDATE, copy(), copy(UNIQ_KEY="A"))], []),
        (
            [send(CANDIDATE, copy(UNIQ_KEY="A")), send(CANDIDATE, copy(1, UNIQ_KEY="A"), number=1)],
            ["content.key-used-before/UNIQ_KEY 1"],
        ),
        ([send(CANDIDATE, copy(UNIQ_KEY="A"), copy(UNIQ_KEY="B"))], ["content.key-differs-between-copies/UNIQ_KEY 1"]),
        (
            [send(CANDIDATE, copy(UNIQ_KEY="A"), kept=(copy(UNIQ_KEY="B"),))],
            ["content.key-differs-between-copies/UNIQ_KEY 1"],
        ),
        (
            [
                send(CANDIDATE, copy(UNIQ_KEY="A")),
                send(CANDIDATE, copy(1, UNIQ_KEY="B"), number=1),
                send(CANDIDATE, copy(2, UNIQ_KEY="A"), copy(2, UNIQ_KEY="B"), number=2),
            ],
            ["content.key-differs-between-copies/UNIQ_KEY 1", "content.key-used-before/UNIQ_KEY 1"],
        ),
    ],
)
def test_keys_are_a_messages_own(sides: list[SendView], wanted: list[str]) -> None:
    """A UNIQ_KEY belongs to one send and all its copies; a send is noted once."""
    assert signatures(facts(Content, *sides)) == wanted


def test_whose_key_it_was_is_said() -> None:
    """The example names the first send with the key."""
    sides = [send(CANDIDATE, copy(n, UNIQ_KEY="A"), number=n) for n in (3, 5, 7)]
    (one,) = examples(facts(Content, *sides)).values()
    assert one == ("a UNIQ_KEY of its own", "'A', as send 3")


@pytest.mark.parametrize(
    ("born_ms", "told"),
    [
        (990, None),
        (989, ("born-before-its-call", "11 ms before the call")),
        (1_020, None),
        (1_021, ("born-after-its-call", "11 ms after it")),
        (None, None),
    ],
)
def test_a_message_is_born_while_its_call_lasts(born_ms: int | None, told: tuple[str, str] | None) -> None:
    """A message is born from 1,000 to 1,010 ms, with 10 ms for the clocks, if these have an anchor."""
    side = send(CANDIDATE, copy(), copy(born_ms=born_ms))
    found = {name: seen for name, (_, seen) in examples(facts(Content, side)).items()}
    assert found == (dict([told]) if told else {})
    assert examples(facts(Content, side, entry=NO_CLOCK)) == {}


def test_a_call_is_as_long_as_its_last_attempt() -> None:
    """A call that returned at 1,010 ms lasts until its attempt ends at 1,500 ms. The clock anchor maps 1 s to 70,000 ms."""
    entry = replace(ENTRY, clock=ClockAnchor(S, 70_000))
    for born_ms, wanted in ((70_510, 0), (70_511, 1), (69_990, 0), (69_989, 1)):
        side = made(CANDIDATE, 0, tried(S, S + 500 * MS), copies=[copy(born_ms=born_ms)], end_ns=S + 10 * MS)
        assert len(signatures(facts(Content, side, entry=entry))) == wanted
    late = made(CANDIDATE, 0, tried(S, S + 10 * MS), copies=[copy(born_ms=1_500)], end_ns=S + 500 * MS)
    assert signatures(facts(Content, late)) == []


def compared(ours: SendView | None, theirs: SendView | None) -> dict[str, tuple[str, str]]:
    return examples(facts_of([pair(ours, theirs)], Content))


def test_copies_are_compared_like_with_like() -> None:
    """The first delivered copies of both arms are compared, or else their first kept-back ones."""
    plain, extra = copy(), copy(EXTRA="1")
    ours = send(BASELINE, plain, kept=(plain,))
    added = {"property-added/EXTRA": ("none, as baseline", "EXTRA='1'")}
    assert compared(ours, send(CANDIDATE, extra, kept=(plain,))) == added
    assert compared(ours, send(CANDIDATE, plain, extra, kept=(extra,))) == {}
    assert compared(ours, send(CANDIDATE, kept=(extra,))) == added
    assert compared(send(BASELINE, OLD), send(CANDIDATE, extra)) == {}
    assert compared(None, send(CANDIDATE, extra)) == compared(ours, None) == {}


def test_every_difference_of_two_copies_is_said() -> None:
    """Properties and flags must be equal, except keys, ids and places."""
    ours = copy(WAIT="true", CLUSTER="c", UNIQ_KEY="A", REAL_TOPIC="t", REAL_QID="0")
    theirs = replace(copy(1, WAIT="false", EXTRA="1", UNIQ_KEY="B", REAL_TOPIC="u", REAL_QID="1"), flag=3, sys_flag=4)
    assert compared(send(BASELINE, ours), send(CANDIDATE, theirs)) == {
        "property-missing/CLUSTER": ("CLUSTER='c' as baseline", "no such property"),
        "property-added/EXTRA": ("none, as baseline", "EXTRA='1'"),
        "property-differs/WAIT": ("'true' as baseline", "'false'"),
        "flag-differs": ("flag 0 as baseline", "flag 3"),
        "sys-flag-differs": ("system flag 0 as baseline", "system flag 4"),
    }


PLANNED: dict[str, Any] = {"properties": properties_text({"KEYS": "k", "colour": "blue"})}


@pytest.mark.parametrize(
    ("carried", "wanted"),
    [
        ({"KEYS": "k", "colour": "blue"}, {}),
        ({"KEYS": "k"}, {"property-missing/colour": ("colour='blue'", "no such property")}),
        ({"KEYS": "l", "colour": "blue"}, {"property-changed/KEYS": ("KEYS='k'", "'l'")}),
    ],
)
def test_what_was_planned_is_held_against_the_plan_alone(
    carried: dict[str, Any], wanted: dict[str, tuple[str, str]]
) -> None:
    """Planned properties of each copy are compared with the plan only."""
    right = send(BASELINE, copy(KEYS="k", colour="blue"), **PLANNED)
    assert compared(right, send(CANDIDATE, copy(**carried), **PLANNED)) == wanted
    second = send(CANDIDATE, copy(KEYS="k", colour="blue"), copy(**carried), **PLANNED)
    assert compared(right, second) == wanted


@pytest.mark.parametrize(
    ("body_bytes", "wanted"), [(32, {}), (33, {"body-changed": ("the 33 bytes sent", "another body")})]
)
def test_the_body_is_the_id_made_as_long_as_planned(body_bytes: int, wanted: dict[str, tuple[str, str]]) -> None:
    """The body is the id padded to the planned length; without an id it is not judged."""
    assert compared(None, send(CANDIDATE, copy(), body_bytes=body_bytes)) == wanted
    nameless = replace(copy(), properties="{}")
    assert compared(None, send(CANDIDATE, nameless, body_bytes=body_bytes)) == {}


def keyed(number: int, offset: int, *, arm: Arm = CANDIDATE, queue_id: int = 0, argument: int = 3, thread: int = 0, **row: Any) -> SendView:  # fmt: skip
    """A send with a selector's argument, stored at an offset."""
    told: dict[str, Any] = {"kind": SendKind.SELECTOR, "argument": argument, "thread": thread} | row
    return send(arm, copy(number, offset=offset, queue_id=queue_id), number=number, **told)


REORDERED = ["order.stored-before-an-earlier-message 1"]


@pytest.mark.parametrize(
    ("later", "pairs", "wanted"),
    [
        (keyed(1, 6), 1, []),
        (keyed(1, 4), 1, REORDERED),
        (keyed(1, 5), 1, REORDERED),
        (keyed(1, 4, kind=SendKind.QUEUE), 1, REORDERED),
        (keyed(1, 4, kind=SendKind.PLAIN), 0, []),
        (keyed(1, 4, argument=4), 0, []),
        (keyed(1, 4, queue_id=1), 0, []),
        (keyed(1, 4, thread=1), 0, []),
        (keyed(1, 4, arm=BASELINE), 0, []),
        (keyed(1, 4, mode=SendMode.ASYNC), 0, []),
        (keyed(1, 4, error=SLOW), 0, []),
        (keyed(1, 4, delay_level=1), 0, []),
    ],
)
def test_messages_of_one_key_lie_in_order(later: SendView, pairs: int, wanted: list[str]) -> None:
    """A later acknowledged message of the same arm, thread, key and queue must come after offset 5."""
    found = facts(Order, keyed(0, 5), later)
    assert (signatures(found), found.n("order", "pair")) == (wanted, pairs)
    if wanted:
        (said,) = examples(found).values()
        offset = later.copies[0].queue_offset if later.copies else None
        assert said == (
            "key 3 in broker-b queue 0 after offset 5, which send 0 has",
            f"send 1 at offset {offset}",
        )


def test_a_second_copy_is_no_disorder_and_a_low_one_lowers_no_bar() -> None:
    """A second copy is ignored, and a message at a low offset does not lower the limit for later ones."""
    twice = replace(keyed(1, 9), copies=(copy(1, offset=9), copy(1, offset=2)))
    assert signatures(facts(Order, keyed(0, 5), twice)) == []
    found = facts(Order, keyed(0, 5), keyed(1, 3), keyed(2, 4), keyed(3, 6))
    assert signatures(found) == ["order.stored-before-an-earlier-message 2"]
    assert found.n("order", "pair") == 3
