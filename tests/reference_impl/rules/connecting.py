"""Helpers for connections: written requests, and steps in short form."""

from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.rules.client.connection_steps import (
    Connect,
    ConnectionStep,
    Ended,
    GoOn,
    Kind,
    Place,
    Redirect,
    Request,
    Steps,
    Wait,
    Write,
)
from rocketmq_reference.rules.client.connections import GO_AWAY, Connections

LOST, EXPIRED, REFUSED = "RemotingSendRequestException", "RemotingTimeoutException", "RemotingConnectException"


def client(release: str) -> Connections:
    return Connections(dialect_of(release).client.remoting)


def written(made: Connections, kind: Kind, now: int = 0, timeout: int = 3_000, address: str = "a") -> Request:
    """Return a written request on a connection that opens at once."""
    request, steps = made.invoke(kind, address, timeout, now)
    if any(isinstance(step, Connect) for step in steps):
        (step,) = made.connected(request.connection)
        assert isinstance(step, GoOn)
        steps = made.go_on(request, now)
    elif isinstance(steps[0], GoOn):
        steps = made.go_on(request, now)
    assert isinstance(steps[-1], Write)
    return request


def ends(steps: Steps) -> list[tuple[int, str | None, Place]]:
    return [(step.request.number, step.error, step.place) for step in steps if isinstance(step, Ended)]


def kinds(steps: Steps) -> list[type[ConnectionStep]]:
    return [type(step) for step in steps]


def redirected(made: Connections, request: Request, now: int) -> Steps:
    """Return the steps after GO_AWAY and a reconnect."""
    assert made.answered(request.number, GO_AWAY) == (Redirect(request),)
    steps = made.redirect(request, now)
    assert isinstance(steps[0], Connect)
    (step,) = made.connected(request.connection)
    assert isinstance(step, GoOn) and step.waking is (Wait in kinds(steps))
    return made.go_on(request, now)
