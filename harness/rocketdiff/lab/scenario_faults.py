"""
Translates a scenario's faults into timed actions on scripted servers.

A script has no slaves, because they affect clients only through their master's responses. A fault changes the route as name
servers would, so that a route poll gets the same response as on a cluster.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rocketdiff.cluster.server_settings import SLAVE_TIMEOUT_MS
from rocketdiff.core.tables.fault import FaultKind, FaultSpec
from rocketdiff.core.tables.topology import TOPOLOGIES, master_of
from rocketdiff.scenario import Scenario
from rocketdiff.simulation.script.answers import BrokerRoute, Route, ServerAnswer
from rocketdiff.simulation.script.model import Action, Entry
from rocketdiff.simulation.script.steps.environment import (
    BrokerAnswers,
    Kill,
    NameServerAnswers,
    Pause,
    Restart,
    Resume,
    RouteChange,
)
from rocketdiff.simulation.script.vocabulary import BrokerFault
from rocketmq_reference.remoting.codes import ResponseCode

_MS_PER_S = 1_000

_READ_ONLY = 4

_ELSEWHERE = "-elsewhere"


def fault_entries(scenario: Scenario, route: tuple[BrokerRoute, ...]) -> Iterator[Entry]:
    """
    Yield the actions on the servers, ordered by time.

    A killed broker leaves the route immediately, because name servers see its connection close, and returns at its restart.
    A broker with a slave stays in the route, without a master. A moved broker is another server, whose old one stays dead.
    """
    moments = [(fault.at_s, fault, True) for fault in scenario.faults]
    moments += [(fault.at_s + fault.for_s, fault, False) for fault in scenario.faults if fault.for_s is not None]
    stage = _Stage(scenario, route)
    for at_s, fault, begins in sorted(moments, key=lambda moment: (moment[0], moment[1].episode)):
        for action in stage.actions(fault, begins=begins):
            yield Entry(round(at_s * _MS_PER_S), action)


@dataclass(slots=True)
class _Stage:
    scenario: Scenario
    route: tuple[BrokerRoute, ...]
    dead: set[str] = field(default_factory=set)
    read_only: set[str] = field(default_factory=set)
    answers: dict[int, tuple[str, ServerAnswer]] = field(default_factory=dict)
    """By episode: the broker and its response under that fault."""
    moves: dict[str, int] = field(default_factory=dict)
    """How often each broker has moved."""

    def actions(self, fault: FaultSpec, *, begins: bool) -> Iterator[Action]:
        """The client-visible actions at the beginning or end of a fault."""
        server = self._server_of(fault.node)
        match fault.kind:
            case FaultKind.PAUSE:
                yield Pause(server) if begins else Resume(server)
            case FaultKind.PAUSE_NAME_SERVER:
                yield NameServerAnswers(ServerAnswer(fault=BrokerFault.TIMEOUT) if begins else ServerAnswer())
            case FaultKind.KILL:
                _enter(self.dead, fault.node, begins=begins)
                yield Kill(server) if begins else Restart(server)
                yield RouteChange(self._route_now())
            case FaultKind.MOVE:
                _enter(self.dead, fault.node, begins=begins)
                if begins:
                    yield Kill(server)
                else:
                    self.moves[fault.node] = self.moves.get(fault.node, 0) + 1
                yield RouteChange(self._route_now())
            case FaultKind.READ_ONLY:
                _enter(self.read_only, fault.node, begins=begins)
                yield from self._answers_now(fault, begins=begins)
                yield RouteChange(self._route_now())
            case _:
                yield from self._answers_now(fault, begins=begins)

    def _answers_now(self, fault: FaultSpec, *, begins: bool) -> Iterator[Action]:
        """The broker's new responses; its other faults may still be in effect."""
        answer = self._answer_under(fault)
        if answer is None:
            return
        broker = master_of(fault.node)
        self.answers.pop(fault.episode, None)
        if begins:
            self.answers[fault.episode] = (broker, answer)
        standing = (each for name, each in self.answers.values() if name == broker)
        yield BrokerAnswers(self._server_of(broker), (max(standing, key=_refuses, default=ServerAnswer()),))

    def _answer_under(self, fault: FaultSpec) -> ServerAnswer | None:
        """The broker's response under a fault; None if the fault does not change it."""
        match fault.kind:
            case FaultKind.PAUSE_SLAVE | FaultKind.KILL_SLAVE if TOPOLOGIES[self.scenario.topology].waits_for_slave:
                return ServerAnswer(latency_ms=SLAVE_TIMEOUT_MS, code=int(ResponseCode.FLUSH_SLAVE_TIMEOUT))
            case FaultKind.READ_ONLY if self.scenario.ordered:
                return ServerAnswer(code=int(ResponseCode.NO_PERMISSION))
            case FaultKind.FLOW_CONTROL:
                return ServerAnswer(code=int(ResponseCode.SYSTEM_BUSY))
            case FaultKind.FLUSH_TIMEOUT:
                return ServerAnswer(code=int(ResponseCode.FLUSH_DISK_TIMEOUT))
        return None

    def _server_of(self, broker: str) -> str:
        return moved_name(broker, self.moves.get(broker, 0))

    def _route_now(self) -> Route:
        has_slaves = TOPOLOGIES[self.scenario.topology].has_slaves
        brokers = (
            replace(
                broker,
                perm=_READ_ONLY if broker.name in self.read_only else broker.perm,
                master=broker.name not in self.dead,
                at=self._server_of(broker.name) if broker.name in self.moves else None,
            )
            for broker in self.route
        )
        return tuple(broker for broker in brokers if broker.master or has_slaves) or None


def moved_name(broker: str, moves: int) -> str:
    """Name of the server to which a broker has moved: an address in a script is a name."""
    return f"{broker}{_ELSEWHERE * moves}"


def broker_of_server(server: str) -> str:
    """Return the broker that is or was at a server."""
    return server.replace(_ELSEWHERE, "")


def _enter(names: set[str], name: str, *, begins: bool) -> None:
    if begins:
        names.add(name)
    else:
        names.discard(name)


def _refuses(answer: ServerAnswer) -> bool:
    """True for a refusal, which precedes waiting for disk or slave."""
    return answer.code in (ResponseCode.SYSTEM_BUSY, ResponseCode.NO_PERMISSION)
