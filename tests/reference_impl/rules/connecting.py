"""A client's connections in tests: requests that are on the wire already, and what steps say in short."""

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
    """Without any connection yet."""
    return Connections(dialect_of(release).remoting)


def written(made: Connections, kind: Kind, now: int = 0, timeout: int = 3_000, address: str = "a") -> Request:
    """A request on the wire, over a connection that comes about at once."""
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
    """Which requests are over, how, and where that is told."""
    return [(step.request.number, step.error, step.place) for step in steps if isinstance(step, Ended)]


def kinds(steps: Steps) -> list[type[ConnectionStep]]:
    """The steps by their names."""
    return [type(step) for step in steps]


def redirected(made: Connections, request: Request, now: int) -> Steps:
    """The steps after GO_AWAY, the new connection having come about."""
    assert made.answered(request.number, GO_AWAY) == (Redirect(request),)
    steps = made.redirect(request, now)
    assert isinstance(steps[0], Connect)
    (step,) = made.connected(request.connection)
    assert isinstance(step, GoOn) and step.waking is (Wait in kinds(steps))
    return made.go_on(request, now)
