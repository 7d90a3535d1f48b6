"""Secrets of a setup that a client prints are kept nowhere."""

from dataclasses import replace

import pytest

from rocketdiff.core.errors import SubjectBroken
from rocketdiff.core.sends.plan import Plan
from rocketdiff.subjects.sending.talk import SendingTalk
from tests.subjects.conftest import HELLO, Start, setup_of

SECRET = 's3cret"of\\a-test'  # noqa: S105 - of a test
"""Has characters that JSON escapes."""


def test_a_printed_setup_has_no_secret(start: Start) -> None:
    """A secret that a client prints is removed from journal, error and stderr log."""
    lines: list[bytes] = []
    process = start(["say", HELLO], ["echo"], lines=lines)
    process.await_hello()
    account = {"access_key": "me", "secret_key": SECRET}
    process.prepare(SendingTalk(Plan(1, 1, ()), replace(setup_of(), security={"account": account})))
    with pytest.raises(SubjectBroken, match="me") as raised:
        process.await_ready()
    process.close()
    kept = (process.folder / "stderr.log").read_text() + b"".join(lines).decode() + str(raised.value)
    assert "s3cret" not in kept
    assert kept.count("(left out)") >= 2
