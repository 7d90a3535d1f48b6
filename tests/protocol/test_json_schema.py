"""The published schema accepts and refuses the same lines as the codec."""

import json
from pathlib import Path

import pytest

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.protocol.commands import STOP, SubjectSetup, encode_go, encode_plan, encode_setup, encode_stop
from rocketdiff.protocol.consuming import Join, Leave, encode_member_setup, encode_order, encode_rules
from rocketdiff.protocol.records import decode_record
from tests.protocol.published import COMMAND, RECORD
from tests.protocol.test_commands import MEMBER, RULE

SETUP = SubjectSetup(("127.0.0.1:9876",), "T", "W", "G", "R", ClientSettings())
README = Path(__file__).parents[2] / "harness" / "rocketdiff" / "subjects" / "README.md"

ATTEMPT = '{"type":"attempt","send":0,"thread":0,"attempt":0,"broker":"a","queue_id":0,"start_ns":1'
SEND = '{"type":"send","send":0,"thread":0,"start_ns":1,"end_ns":2'
ALLOCATED = '{"type":"allocated","number":1,"incarnation":1,"at_ns":1,"topic":"T","strategy":"AVG","ids":["a@m"]'
OFFSET = '{"type":"offset","number":1,"incarnation":1,"at_ns":1,"topic":"T","broker":"a","queue_id":0'
RECEIVED = '{"type":"received","call":0,"incarnation":1,"thread":0,"at_ns":1,"topic":"T","broker":"a","queue_id":0'
HELLO = '{"type":"hello","protocol":1,"client":"go","version":"2.1.2","capabilities":["plain"],"pid":1,"clock_ns":1'


@pytest.mark.parametrize(
    "line",
    [
        f"{HELLO}}}",
        f'{HELLO},"attempt_timeout_ms":3000,"library":{{"name":"x"}}}}',
        '{"type":"ready","clock_ns":1}',
        '{"type":"route","route":1,"at_ns":2,"queues":[["a",0],["b",3]]}',
        f'{ATTEMPT},"end_ns":2,"status":"SEND_OK"}}',
        f"{ATTEMPT}}}",
        f'{ATTEMPT},"end_ns":2,"error":"timeout"}}',
        f'{SEND},"error":"RemotingTooMuchRequestException","code":-1,"message":"late"}}',
        f'{SEND},"error":"errors.errorString"}}',
        f'{SEND},"status":"SEND_OK","broker":"a","queue_id":1,"queue_offset":7,"error":null}}',
        '{"type":"callback","send":1,"thread":0,"at_ns":3}',
        '{"type":"done","sends":2}',
        '{"type":"failed","stage":"setup","message":"no route"}',
        f'{HELLO},"roles":["producer","consumer"]}}',
        '{"type":"joined","incarnation":1,"start_ns":1,"end_ns":2,"client_id":"192.0.2.2@b-m0"}',
        '{"type":"left","incarnation":1,"start_ns":1,"end_ns":2,"error":"IllegalStateException"}',
        f'{ALLOCATED},"queues":[["a",0]],"result":[]}}',
        '{"type":"owned","number":1,"incarnation":1,"at_ns":1,"queues":[["T","a",0],["%RETRY%G","a",0]]}',
        f'{OFFSET},"what":"query","value":-1}}',
        f'{RECEIVED},"messages":[{{"offset":0,"times":1,"send":7,"topic":"T","store_ms":1,"body_ok":true,"mood":"fine"}}]}}',
        '{"type":"consumed","call":0,"at_ns":2,"result":"later","delay_level":-1}',
        '{"type":"done","calls":2}',
    ],
)
def test_a_record_that_is_taken_fits_the_schema(line: str) -> None:
    """Codec and schema accept these records."""
    assert decode_record(line.encode()).record is not None
    RECORD.validate(json.loads(line))


@pytest.mark.parametrize(
    "line",
    [
        '{"type":"sing"}',
        '{"type":"done"}',
        '{"type":"done","sends":"two"}',
        f'{SEND},"error":"time-out"}}',
        f'{SEND},"queue_id":-1}}',
        f'{SEND},"queue_id":2147483648}}',
        f'{SEND},"status":"a\\u0007b"}}',
        f'{SEND},"status":"{"x" * 1_001}"}}',
        f'{HELLO},"attempt_timeout_ms":0}}',
        f'{HELLO},"attempt_timeout_ms":60001}}',
        '{"type":"route","route":1,"at_ns":2,"queues":[["",0]]}',
        '{"type":"route","route":1,"at_ns":2,"queues":[["a"]]}',
        ATTEMPT.replace('"broker":"a"', '"broker":""') + "}",
        '{"type":"joined","incarnation":-1,"start_ns":1,"end_ns":2}',
        f'{ALLOCATED},"queues":[["a",-1]],"result":[]}}',
        f'{ALLOCATED},"queues":[["a",0,0]],"result":[]}}',
        ALLOCATED.replace('["a@m"]', '[""]') + ',"queues":[],"result":[]}',
        '{"type":"owned","number":1,"incarnation":1,"at_ns":1,"queues":[["T","",0]]}',
        f'{OFFSET},"what":"guess"}}',
        f'{RECEIVED},"messages":[{{"offset":-1,"times":1,"store_ms":1,"body_ok":true}}]}}',
        f'{RECEIVED},"messages":[{{"offset":0,"times":1,"store_ms":1}}]}}',
        '{"type":"consumed","call":0,"at_ns":2,"result":"maybe"}',
    ],
)
def test_a_record_that_is_refused_does_not_fit_the_schema(line: str) -> None:
    """Codec and schema refuse these records."""
    with pytest.raises(SubjectBroken):
        decode_record(line.encode())
    assert not RECORD.is_valid(json.loads(line))


def test_the_commands_of_a_runner_fit_the_schema() -> None:
    """Commands fit the schema: sends with defaults or with everything, the setup with all settings."""
    whole = PlannedSend(1, 0, 5, SendKind.QUEUE, 3, 64, SendMode.ASYNC, 2, "k", "t", (("a", "b"),))
    plan = Plan(1, 1, (PlannedSend(0, 0, 0, SendKind.PLAIN, 0, 64), whole))
    of_members = (*encode_rules([RULE]), encode_member_setup(MEMBER), encode_order(Join(0)), encode_order(Leave(1)))
    for line in (*encode_plan(plan), encode_setup(SETUP, 1), encode_go(7), STOP, encode_stop(9), *of_members):
        COMMAND.validate(json.loads(line))
        assert not RECORD.is_valid(json.loads(line))


def test_the_conversation_of_the_guide_fits_the_schema() -> None:
    """The example lines of the authors' guide fit the schema."""
    text = README.read_text()
    records = [line[2:] for line in text.splitlines() if line.startswith("← {")]
    commands = [line[2:] for line in text.splitlines() if line.startswith("→ {")]
    assert len(records) > 5 and len(commands) > 3
    for line in records:
        RECORD.validate(json.loads(line))
    for line in commands:
        if "…" not in line:
            COMMAND.validate(json.loads(line))
