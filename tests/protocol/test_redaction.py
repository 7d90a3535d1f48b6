"""Secrets are removed from a line; a correct record keeps its meaning, however short the secret."""

import json
from typing import Any

import pytest

from rocketdiff.core.security import LEFT_OUT
from rocketdiff.protocol.records import decode_record
from rocketdiff.protocol.redaction import without_secrets
from tests.subjects.conftest import HELLO, READY, attempt

LONG = 's3cret"of\\a-test'
FAILED = {"type": "failed", "stage": "ready", "message": ""}
SENT: dict[str, Any] = {
    "type": "send", "send": 1234, "thread": 0, "start_ns": 51234, "end_ns": 61234, "status": "SEND_OK", "broker": "broker-1234"
}  # fmt: skip
ROUTE = {"type": "route", "route": 1, "at_ns": 1234, "queues": [["broker-1234", 0], ["a", 1]]}
DONE = {"type": "done", "sends": 1234}
CORRECT = (HELLO, READY, attempt(1234) | {"broker": "1234", "start_ns": 1, "end_ns": 12345}, SENT, ROUTE, DONE)


def redacted(members: dict[str, Any], *secrets: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(without_secrets(json.dumps(members).encode(), secrets))
    return found


@pytest.mark.parametrize(
    "secret", ["1234", "1", "a", "r", '"', "\\", "type", "send", "broker-a", "broker-1234", ":", "{"]
)
def test_a_correct_record_is_unchanged(secret: str) -> None:
    """A short secret that occurs in names, numbers or syntax by chance damages no record."""
    for members in CORRECT:
        line = json.dumps(members).encode()
        assert decode_record(without_secrets(line, (secret,))) == decode_record(line)


@pytest.mark.parametrize(
    ("printed", "secret", "kept"),
    [
        (FAILED | {"message": "key 1234 is wrong"}, "1234", FAILED | {"message": "key (left out) is wrong"}),
        (FAILED | {"message": "pw=x1234y"}, "1234", FAILED | {"message": "pw=x(left out)y"}),
        (FAILED | {"message": f"<{LONG}>"}, LONG, FAILED | {"message": "<(left out)>"}),
        (FAILED | {"message": json.dumps(LONG)}, LONG, FAILED | {"message": '"(left out)"'}),
        (FAILED | {"message": json.dumps(json.dumps(LONG))}, LONG, FAILED | {"message": '"\\"(left out)\\""'}),
        (SENT | {"error": "bad password 1234", "send": 1}, "1234", SENT | {"error": "bad password (left out)", "send": 1}),
        (SENT | {"error": f"E{LONG}"}, LONG, SENT | {"error": "E(left out)"}),
        (READY | {"password": "1234", "x": [{"1234": 1234}]}, "1234", READY | {"password": LEFT_OUT, "x": [{LEFT_OUT: LEFT_OUT}]}),
        (READY | {"1234": True}, "1234", READY | {LEFT_OUT: True}),
        ({"type": "setup", "type2": "type"}, "type", {"type": "setup", "(left out)2": LEFT_OUT}),
        ({"type": LONG}, LONG, {"type": LEFT_OUT}),
    ],
)  # fmt: skip
def test_a_secret_is_left_out(printed: dict[str, Any], secret: str, kept: dict[str, Any]) -> None:
    """A secret is removed from text, quoted text, unknown fields and keys; a long one from names too."""
    assert redacted(printed, secret) == kept


@pytest.mark.parametrize(
    ("line", "secret"),
    [
        (b"java.lang.Error: s3cret-key", "s3cret-key"),
        (b"\xff\xfe s3cret-key", "s3cret-key"),
        (b'{"message": "s3cret-key"', "s3cret-key"),
        (b'["s3cret-key"]', "s3cret-key"),
        (b'{"type":"failed","message":"\\u00733cret-\\u006BEY"}', "s3cret-kEY"),
        (b'{"type":"failed","message":"s3cret-key","message":"x"}', "s3cret-key"),
        (b'{"type":"failed","message":"\\ud800 s3cret-key"}', "s3cret-key"),
    ],
)
def test_no_form_of_a_secret_remains(line: bytes, secret: str) -> None:
    """A line that is no record, a repeated key and escaped characters hide no secret."""
    kept = without_secrets(line, (secret,))
    assert secret.encode() not in kept
    assert b"u0073" not in kept


def test_a_line_of_backslashes_is_read_in_linear_steps() -> None:
    """Redaction is idempotent, and a long run of backslashes costs no more than other text."""
    line = without_secrets(b"\\" * 300_000 + b" t t", ("t", "left", "\\" * 9 + "x"))
    assert line.endswith(b" (left out) (left out)")
    assert without_secrets(line, ("t", "left")) == line
