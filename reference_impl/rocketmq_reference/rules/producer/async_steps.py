"""What comes out of an asynchronous send: a request to hand over, or the end, by callback or by exception."""

from dataclasses import dataclass

from rocketmq_reference.rules.producer.attempt import Finish


@dataclass(frozen=True, slots=True)
class Invoke:
    """
    Hand the request over (RemotingClient.invokeAsync); attempts count from 0, began_ms is now.

    queue_id stays that of the first attempt, whatever the broker. dispatching: the call by the application, or its job,
    is still under way below this. vip: to the port two below. previous: the broker whose failure led here. An attempt
    but the first whose broker has no address goes to a name server, because none at all stands for one.
    """

    attempt: int
    broker: str
    queue_id: int
    timeout_ms: int
    began_ms: int
    dispatching: bool
    vip: bool = False
    previous: str | None = None


@dataclass(frozen=True, slots=True)
class CallBack:
    """
    Call the application's callback: onSuccess for a result, onException otherwise.

    broker, since_ms: whom a result is to be credited to afterwards, and when that began. dispatching as in Invoke.
    """

    finish: Finish
    dispatching: bool = False
    broker: str | None = None
    since_ms: int = 0


@dataclass(frozen=True, slots=True)
class Throw:
    """The application's call itself ends in an exception, and its callback is never called (to 4.2.0)."""

    finish: Finish


AsyncStep = Invoke | CallBack | Throw
