"""Helpers for asynchronous sends."""

from rocketmq_reference.rules.client.publish import Queue
from rocketmq_reference.rules.producer.async_send import AsyncSend, Form
from rocketmq_reference.rules.producer.async_steps import Invoke
from rocketmq_reference.rules.producer.attempt import AttemptResult, Ending, Finish
from tests.reference_impl.rules.toys import Toy

LOST = AttemptResult.failed("RemotingSendRequestException")
TOO_MUCH = AttemptResult.failed("RemotingTooMuchRequestException")
CALL_TIMEOUT = Finish(Ending.CALL_TIMEOUT, error="RemotingTooMuchRequestException")


def started(toy: Toy, form: Form = Form.SELECTED) -> tuple[AsyncSend, Invoke]:
    """Return a send and its first request before the hand-over to remoting."""
    send = AsyncSend(toy.dialect, toy.settings, toy.faults, form)
    assert send.accepted(0, 0) is None
    step = send.begin(toy.selector, 0) if form is Form.SELECTED else send.begin_at(Queue("a", 3), 0)
    assert isinstance(step, Invoke)
    return send, step


def dispatched(toy: Toy, form: Form = Form.SELECTED) -> tuple[AsyncSend, Invoke]:
    """The same after the hand-over."""
    send, invoke = started(toy, form)
    send.returned(invoke, 0)
    return send, invoke


def gave_up(attempt: int, cause: str | None, code: int | None = None) -> Finish:
    """The end of a send whose queue the client selected."""
    return Finish(Ending.GAVE_UP, attempt, error="MQClientException", code=code, cause=cause)


def rethrown(attempt: int, error: str, code: int | None = None) -> Finish:
    return Finish(Ending.RETHROWN, attempt, error=error, code=code)
