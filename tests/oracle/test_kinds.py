"""The check to which a difference belongs, and when two ends are alike."""

from dataclasses import replace

import pytest

from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.oracle.choices import ChoiceExplorer
from rocketdiff.oracle.interval import Interval
from rocketdiff.oracle.producer.asynchronous.ends import async_difference
from rocketdiff.oracle.producer.difference import ends_alike
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.producer.attempt import Ending, Finish
from tests.oracle.async_sends import SETTINGS, faulty, trace
from tests.oracle.histories import send_of


def test_too_many_attempts_state_the_maximum() -> None:
    """Too many attempts report the maximum: three with two retries, one in calm."""
    found = async_difference(dialect_of("5.3.3"), SETTINGS, trace(10, 10, 10, 10), faulty)
    assert found is not None and found.expected == "the send over after 3 attempts"
    calm = async_difference(dialect_of("5.3.3"), SETTINGS, trace(10, 10), lambda *_: False)
    assert calm is not None and calm.expected == "the send over after 1 attempt"


CALL = send_of(0, 0, SendKind.PLAIN, 0, 0, 1, status="SEND_OK")
OK, SILENT = Finish(Ending.RESULT, status="SEND_OK"), Finish(Ending.RESULT)


@pytest.mark.parametrize(
    ("finish", "send", "alike"),
    [
        (OK, CALL, True),
        (OK, replace(CALL, status="FLUSH_DISK_TIMEOUT"), False),
        (OK, replace(CALL, status=None), True),
        (SILENT, CALL, True),
        (OK, replace(CALL, error="MQClientException", status=None), False),
        (SILENT, replace(CALL, mode=SendMode.ONEWAY, status=None), True),
        (SILENT, replace(CALL, mode=SendMode.ONEWAY), False),
        (Finish(Ending.GAVE_UP, error="E", code=-1), replace(CALL, error="E", status=None), True),
        (Finish(Ending.GAVE_UP, error="E", code=2), replace(CALL, error="E", status=None), False),
        (Finish(Ending.GAVE_UP, error="E"), replace(CALL, error="F", status=None), False),
    ],
)
def test_when_two_ends_are_alike(finish: Finish, send: Send, alike: bool) -> None:
    """A missing status is no difference, but a one-way call must have none; −1 is no code."""
    assert ends_alike(finish, send) is alike


def test_an_uncertain_time_is_read_as_one_figure_or_two() -> None:
    """An interval is shown as one figure or two, with thousands separators."""
    assert (repr(Interval(1_500, 1_500, ChoiceExplorer())), repr(Interval(1_500, 2_500, ChoiceExplorer()))) == (
        "1,500",
        "1,500–2,500",
    )
