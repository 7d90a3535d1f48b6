"""Actions on servers, on routes and on the fault table."""

from rocketdiff.simulation.script.model import (
    Action,
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
    Update,
)
from rocketdiff.simulation.virtual.servers import Servers, topic_route
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketmq_reference.client.effects import Body


def act(session: ScriptSession, head: str, action: Action) -> Body | None:
    """Do an action; return an actor for one that takes time."""
    match action:
        case Update(broker, latency_ms, isolation, reachable):
            now_ms = session.kernel.now_ms
            session.memory.note(broker, latency_ms, now_ms, isolated=isolation, reachable=reachable)
            session.changed(head, "update")
        case PollRoutes():
            return _poll(session, head)
        case Heartbeat():
            return _beat(session)
        case Kill(broker):
            session.servers.broker(broker).kill()
            _hang_up(session, broker, reset=True)
        case Close(broker):
            _hang_up(session, broker, reset=False)
        case BrokerAnswers(name, answers):
            session.servers.broker(name).set(answers)
            if session.servers.broker(name).refuses and session.producer.connected is not None:
                _hang_up(session, name, reset=True)
        case _:
            _instruct(session.servers, action)
    return None


def _instruct(servers: Servers, action: Action) -> None:
    """Change a server; the client notices it at its next request."""
    match action:
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
        case _:
            raise TypeError(f"not done by the environment: {action}")


def _poll(session: ScriptSession, head: str) -> Body:
    """Poll routes: at depth "remoting" by the client's own poll, elsewhere without a started producer."""
    connected = session.producer.connected
    if connected is not None:
        yield from connected.background.poll()
    else:
        yield from session.producer.routes.poll(is_started=False)
    session.changed(head, "poll_routes")


def _beat(session: ScriptSession) -> Body:
    assert session.producer.connected is not None
    yield from session.producer.connected.background.beat()


def _hang_up(session: ScriptSession, broker: str, *, reset: bool) -> None:
    connected = session.producer.connected
    assert connected is not None
    connected.network.close_all(broker, reset=reset)
