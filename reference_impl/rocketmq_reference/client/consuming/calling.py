"""What both ways of consuming do around a call of the listener."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from rocketmq_reference.client.codec import FAILURES
from rocketmq_reference.client.effects import Running
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.remoting.properties import RETRY_TOPIC

CONSUME = "consume"
"""The pool that calls the listener."""

Messages = Sequence[StoredMessage]

Resend = Callable[[StoredMessage], Running[None]]
"""Sends a failed message by the client's own producer, because its broker did not take it back. Raises like a send."""

Status = TypeVar("Status")


Hook = Callable[[Messages], None]
"""The application's hook of consumption, called with messages before the listener (ConsumeMessageHook)."""


class CallRefused(Exception):
    """The pool that calls the listener is shut down (RejectedExecutionException)."""


def as_sent(messages: Messages) -> list[StoredMessage]:
    """Return messages as a listener sees them: with the topic that they were sent to (resetRetryAndNamespace)."""
    return [replace(message, topic=message.properties.get(RETRY_TOPIC, message.topic)) for message in messages]


def show_hook(hook: Hook | None, messages: Messages, shown: Messages, *, as_sent: bool) -> None:
    """Let the hook, if any, see messages before their call: as the listener does, or with the group's retry topic."""
    if hook is not None:
        hook(shown if as_sent else messages)


def status_of(call: Callable[[], Status | None]) -> Status | None:
    """Return what a listener returns; None for an exception of the application, which is a failed call."""
    try:
        return call()
    except Exception:  # noqa: BLE001 - the application may raise anything
        return None


def send_away(resend: Resend, message: StoredMessage) -> Running[bool]:
    """Send a failed message to the retry topic; False if that fails."""
    try:
        yield from resend(message)
    except FAILURES:
        return False
    return True
