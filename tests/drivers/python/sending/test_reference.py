"""The reference's setup, without a cluster."""

from contextlib import nullcontext

import pytest

from rocketdiff.core.records.received import Record
from rocketdiff.core.records.sending import UNSEEN_END, Attempt
from rocketdiff.core.sends.plan import PlannedSend, SendKind, SendMode
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.drivers.python.sending.identity import body_of, message_id
from rocketdiff.drivers.python.sending.reference import ReferenceClient, capabilities_of, repeat_send, settings_of
from rocketdiff.protocol.commands import SubjectSetup
from rocketmq_reference.api import listener as heard
from rocketmq_reference.remoting.errors import MQClientException

SETUP = SubjectSetup(
    ("127.0.0.1:1",),
    "T",
    "W",
    "G",
    "R",
    ClientSettings(
        send_latency_fault_enable=True,
        send_msg_timeout_ms=500,
        retry_times_when_send_failed=10,
        retry_another_broker_when_not_store_ok=True,
        compress_msg_body_over_howmuch=10,
        poll_name_server_interval_ms=200,
        heartbeat_broker_interval_ms=300,
        send_msg_max_timeout_per_request_ms=50,
    ),
)


def test_every_setting_of_a_scenario_reaches_the_reference() -> None:
    """Every setting of a scenario reaches the reference; else the arms would silently differ."""
    settings = settings_of(SETUP)
    for name in ClientSettings.__dataclass_fields__:
        assert getattr(settings, name) == getattr(SETUP.settings, name)


@pytest.mark.parametrize("refusals", [0, 2, 3])
def test_the_warm_up_outlasts_a_crowded_broker(refusals: int) -> None:
    """A send of the warm-up is made up to three times; a broker that refuses all of them fails the setup."""
    made: list[int] = []

    def send() -> None:
        made.append(1)
        if len(made) <= refusals:
            raise MQClientException("CODE: 2  DESC: [TIMEOUT_CLEAN_QUEUE]broker busy")

    with pytest.raises(MQClientException) if refusals == 3 else nullcontext():
        repeat_send(send)
    assert len(made) == min(refusals + 1, 3)


def test_settings_can_be_changed_for_the_warm_up() -> None:
    """The warm-up producer has its own timeout; other settings are the scenario's."""
    settings = settings_of(SETUP, send_msg_timeout_ms=5_000)
    assert (settings.send_msg_timeout_ms, settings.retry_times_when_send_failed) == (5_000, 10)


@pytest.mark.parametrize(("release", "has_batch"), [("4.0.0-incubating", False), ("4.1.0-incubating", True)])
def test_batches_came_with_4_1_0(release: str, has_batch: bool) -> None:
    """The reference has batches from 4.1.0-incubating on, as in Java."""
    assert ("batch" in capabilities_of(release)) is has_batch


@pytest.mark.parametrize(("size", "body"), [(0, b"R/T/7"), (5, b"R/T/7"), (8, b"R/T/7...")])
def test_a_body_begins_with_the_id(size: int, body: bytes) -> None:
    """A body is the message id, padded with dots to the planned size."""
    send = PlannedSend(7, 0, 0, SendKind.PLAIN, 0, size)
    assert body_of(message_id(SETUP, "T", 7), send) == body


def test_an_attempt_without_visible_end_is_reported_when_its_send_is_given_up() -> None:
    """
    An attempt without visible end is reported when its send is given up.

    Up to 4.6.1 another request may get its response, although the message is stored.
    """
    records: list[Record] = []
    client = ReferenceClient("4.2.0", SETUP, records.append)
    sends = [PlannedSend(number, 0, 0, SendKind.PLAIN, 0, 16, SendMode.ASYNC) for number in (1, 2)]
    messages = [client.message(send) for send in sends]
    for send, message in zip(sends, messages, strict=True):
        client._choosers.submitted(send, message)
        client.attempt_started(heard.AttemptStarted(message, 0, "broker-b", 2, 100))
        client.attempt_ended(heard.AttemptEnded(message, 0, "broker-b", 2, 100, 200, None, None))
        client.attempt_started(heard.AttemptStarted(message, 1, "broker-a", 2, 210))
    records.clear()
    client.gave_up(sends[1], 900)
    assert records == [Attempt(2, 0, 1, "broker-a", 2, 210, 900, error=UNSEEN_END)]
    client.attempt_ended(heard.AttemptEnded(messages[1], 1, "broker-a", 2, 210, 950, None, None))
    client.gave_up(sends[1], 990)
    assert len(records) == 1  # once
