"""Steps of an asynchronous send: a request to hand over, or the end by callback or exception."""

from dataclasses import dataclass

from rocketmq_reference.rules.producer.attempt import Finish


@dataclass(frozen=True, slots=True)
class Invoke:
    """
    Hand the request to remoting (RemotingClient.invokeAsync); attempts count from 0, began_ms is now.

    queue_id stays that of the first attempt, whatever the broker. dispatching: the application's call, or its job, is still
    on the stack. vip: use the port two below. previous: the broker whose failure led to this retry. A retry whose broker has
    no address goes to a name server, because remoting takes a null address for that.
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

    broker, since_ms: broker to credit with a result afterwards, and start of its latency. dispatching: as in Invoke.
    """

    finish: Finish
    dispatching: bool = False
    broker: str | None = None
    since_ms: int = 0


@dataclass(frozen=True, slots=True)
class Throw:
    """Throw from the application's call; its callback is never called (to 4.2.0)."""

    finish: Finish


AsyncStep = Invoke | CallBack | Throw
