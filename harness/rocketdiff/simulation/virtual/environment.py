"""Actions on servers, on routes and on connections."""

from rocketdiff.simulation.script.model import Step
from rocketdiff.simulation.script.steps.environment import (
    BrokerAnswers,
    Close,
    Heartbeat,
    Kill,
    NameServerAnswers,
    Pause,
    PollRoutes,
    Restart,
    Resume,
    RouteChange,
)
from rocketdiff.simulation.virtual.assembly import VirtualClient
from rocketdiff.simulation.virtual.servers import Servers, topic_route
from rocketdiff.simulation.virtual.session import RoleSession
from rocketmq_reference.client.effects import Body


def act(role: RoleSession, head: str, step: Step) -> Body | None:
    """Do a step of the environment or of the role; return an actor for one that takes time or has to wait its turn."""
    servers = role.session.servers
    match step:
        case PollRoutes():
            return _poll(role, head)
        case Heartbeat():
            return _beat(role.client)
        case Kill(broker):
            servers.broker(broker).kill()
            _hang_up(role.client, broker, reset=True)
        case Close(broker):
            _hang_up(role.client, broker, reset=False)
        case BrokerAnswers(name, answers):
            servers.broker(name).set(answers)
            if servers.broker(name).refuses and role.client.connected is not None:
                _hang_up(role.client, name, reset=True)
        case NameServerAnswers() | RouteChange() | Pause() | Resume() | Restart():
            _instruct(servers, step)
        case _:
            return role.do(head, step)
    return None


def _instruct(servers: Servers, step: NameServerAnswers | RouteChange | Pause | Resume | Restart) -> None:
    """Change a server; the client notices it at its next request."""
    match step:
        case NameServerAnswers(answer):
            servers.name_server.server.set((answer,))
        case RouteChange(route):
            servers.name_server.route = topic_route(route)
        case Pause(broker):
            servers.broker(broker).pause()
        case Resume(broker):
            servers.broker(broker).resume()
        case Restart(broker):
            servers.broker(broker).restart()


def _poll(role: RoleSession, head: str) -> Body:
    """Poll routes: at depth "remoting" by the client's own poll, elsewhere without a started client."""
    connected = role.client.connected
    if connected is not None:
        yield from connected.background.poll()
    else:
        yield from role.client.routes.poll(is_started=False)
    role.session.changed(head, "poll_routes", role.state)


def _beat(client: VirtualClient) -> Body:
    assert client.connected is not None
    yield from client.connected.background.beat()


def _hang_up(client: VirtualClient, broker: str, *, reset: bool) -> None:
    assert client.connected is not None
    client.connected.network.close_all(broker, reset=reset)
