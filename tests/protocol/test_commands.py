"""Commands as JSON lines, written and read."""

import json

import pytest

from rocketdiff.core.consuming.plan import Allocation, ListenerKind, ListenerOutcome, ListenerRule, MessageModel
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.commands import (
    STOP,
    Go,
    Prepare,
    Stop,
    SubjectSetup,
    decode_command,
    encode_go,
    encode_plan,
    encode_setup,
    encode_stop,
)
from rocketdiff.protocol.consuming import Join, Leave, MemberSetup, encode_member_setup, encode_order, encode_rules

SETUP = SubjectSetup(("127.0.0.1:1", "127.0.0.1:2"), "T", "W", "G", "R", ClientSettings(send_msg_timeout_ms=500))


def test_a_plan_line_is_one_send() -> None:
    """A plan line is one send with the fields of PlannedSend."""
    send = PlannedSend(3, 1, 20_000_000, SendKind.SELECTOR, 7, 128)
    (line,) = encode_plan(Plan(1, 2, (send,)))
    assert line == (
        b'{"type":"plan","send":3,"thread":1,"due_ns":20000000,"kind":"selector","argument":7,"body_bytes":128}\n'
    )
    assert decode_command(line) == send


def test_setup_names_everything_a_client_needs() -> None:
    """The setup line has settings under the client's own names, and the plan's threads."""
    line = encode_setup(SETUP, 2)
    reported = json.loads(line)
    assert (reported["type"], reported["protocol"], reported["threads"]) == ("setup", 1, 2)
    assert reported["name_servers"] == ["127.0.0.1:1", "127.0.0.1:2"]
    assert reported["settings"]["send_msg_timeout_ms"] == 500
    assert decode_command(line) == Prepare(SETUP, 2)


def test_go_and_stop_are_decoded_as_encoded() -> None:
    """Go and stop are decoded as encoded."""
    assert decode_command(encode_go(123)) == Go(123)
    assert decode_command(STOP) == Stop()
    assert decode_command(encode_stop(9)) == Stop(limit_ms=9)


MEMBER = MemberSetup(
    member=0,
    instance="b-m0",
    name_servers=("127.0.0.1:1",),
    topic="T",
    warm_topic="W",
    group="G",
    warm_group="G-warm",
    run="R",
    listener=ListenerKind.ORDERLY,
    model=MessageModel.CLUSTERING,
    strategy=Allocation.AVG,
    work_ms=3,
    body_bytes=(64, 128),
    settings={"consume_from_where": "first", "pull_batch_size": 8},
    properties={"rebalance_wait_interval_ms": 600_000},
)
RULE = ListenerRule(2, every=7, tries=1, outcome=ListenerOutcome.NULL, offset=3)


def test_commands_to_a_member_are_decoded_as_encoded() -> None:
    """Rules, the setup of a consumer and orders are decoded as encoded; defaults are left out."""
    assert [decode_command(line) for line in encode_rules([RULE])] == [RULE]
    assert decode_command(encode_member_setup(MEMBER)) == MEMBER
    orders = (Join(5), Leave(0), Leave(7, last=True))
    assert tuple(decode_command(encode_order(order)) for order in orders) == orders
    assert encode_order(Leave(0)) == b'{"type":"leave","at_ns":0}\n'


def test_unknown_fields_of_a_command_are_ignored() -> None:
    """Unknown fields are ignored: a later runner may add some."""
    assert decode_command(b'{"type":"go","start_ns":5,"hurry":true}') == Go(5)


NO_ROLE = encode_setup(SETUP, 2)[:-2] + b',"role":"singer"}\n'
"""A setup of a role that this version does not know."""


@pytest.mark.parametrize(
    "line", [b"go", b'{"type":"run"}', b'{"type":"go"}', b'{"type":"setup","protocol":2}', NO_ROLE, b"[]"]
)
def test_anything_else_is_refused(line: bytes) -> None:
    """Other lines are refused: a subject must not guess."""
    with pytest.raises(ValueError, match=r"."):
        decode_command(line)
