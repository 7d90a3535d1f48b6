"""The scripted brokers and name server: their responses and their liveness."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from rocketdiff.simulation.script.answers import Route, ServerAnswer
from rocketdiff.simulation.script.vocabulary import BrokerFault
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketmq_reference.rules.client.route import BrokerQueues, TopicRoute

_AT_ONCE = (ServerAnswer(),)


class Reply(Protocol):
    """Callbacks at the end of a request; a swallowed request calls neither."""

    def answered(self, code: int) -> None: ...

    def broken(self, *, reset: bool) -> None: ...


class Server:
    """
    One scripted server.

    Send requests cycle through its answers; other requests get the current one. A paused server holds requests and responses
    until it resumes.
    """

    def __init__(self, kernel: Kernel, *, is_name_server: bool = False) -> None:
        self._kernel = kernel
        self._is_name_server = is_name_server
        self._answers: tuple[ServerAnswer, ...] = _AT_ONCE
        self._turn = 0
        self._paused = False
        self._dead = False
        self._held: list[Callable[[], None]] = []
        self._hanging: dict[int, Callable[[], None]] = {}

    def set(self, answers: tuple[ServerAnswer, ...]) -> None:
        self._answers = answers
        self._turn = 0
        self._decide_what_hangs()

    @property
    def current(self) -> ServerAnswer:
        return self._answers[self._turn]

    @property
    def refuses(self) -> bool:
        return self._dead or self.current.fault is BrokerFault.REFUSED

    def accepts(self, *, is_send: bool) -> bool:
        """True if a connect is accepted; a connect made for a send consumes a refusal in a list of answers."""
        refuses = self.refuses
        if refuses and is_send and not self._dead:
            self._take()
        return not refuses

    @property
    def is_silent(self) -> bool:
        return not self._dead and self.current.fault is BrokerFault.SILENT

    def hang(self, connect: int, decide: Callable[[], None]) -> None:
        """Let a connect hang until the answers change or the server is killed, which schedules ``decide``; connect: its identity."""
        self._hanging[connect] = decide

    def give_up(self, connect: int) -> bool:
        """End a hanging connect at its timeout; False if it no longer hangs."""
        return self._hanging.pop(connect, None) is not None

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        """Resume; held requests and responses come first."""
        self._paused = False
        held, self._held = self._held, []
        for action in held:
            action()

    def kill(self) -> None:
        """Kill the process and drop what it held."""
        self._dead = True
        self._paused = False
        self._held.clear()
        self._decide_what_hangs()

    def restart(self) -> None:
        self._dead = False

    def arrive(self, reply: Reply, *, is_send: bool) -> None:
        """
        Receive a request; its answer is chosen when the server reads it, which a paused server does when it resumes.

        For requests other than sends, a fault RESET or FIN is a successful response, and only the name server returns an
        error code.
        """
        if self._paused:
            self._held.append(lambda: self.arrive(reply, is_send=is_send))
            return
        answer = self._take() if is_send else self.current
        fault = answer.fault
        if fault is None:
            code = answer.code if is_send or self._is_name_server else 0
            self._kernel.after(answer.latency_ms, lambda: self._deliver(reply, code))
        elif is_send and fault in {BrokerFault.RESET, BrokerFault.FIN, BrokerFault.REFUSED}:
            self._kernel.after(0, lambda: reply.broken(reset=fault is not BrokerFault.FIN))
        elif fault in {BrokerFault.RESET, BrokerFault.FIN}:
            self._kernel.after(0, lambda: self._deliver(reply, 0))

    def _decide_what_hangs(self) -> None:
        hanging, self._hanging = self._hanging, {}
        for decide in hanging.values():
            self._kernel.after(0, decide)

    def _take(self) -> ServerAnswer:
        answer = self._answers[self._turn]
        self._turn = (self._turn + 1) % len(self._answers)
        return answer

    def when_awake(self, action: Callable[[], None]) -> None:
        """Do something of its own accord: a paused server when it resumes, a dead one never."""
        if self._paused:
            self._held.append(lambda: self.when_awake(action))
        elif not self._dead:
            action()

    def _deliver(self, reply: Reply, code: int) -> None:
        if self._paused:
            self._held.append(lambda: self._deliver(reply, code))
        elif not self._dead:
            reply.answered(code)


@dataclass(slots=True)
class NameServer:
    """The scripted name server and its route of the topic (None: unknown topic)."""

    server: Server
    route: TopicRoute | None


class Servers:
    """All servers of a script; a broker without scripted answers responds immediately."""

    __slots__ = ("_brokers", "_kernel", "name_server")

    def __init__(self, kernel: Kernel, route: Route) -> None:
        self._kernel = kernel
        self._brokers: dict[str, Server] = {}
        self.name_server = NameServer(Server(kernel, is_name_server=True), topic_route(route))

    def broker(self, name: str) -> Server:
        broker = self._brokers.get(name)
        if broker is None:
            broker = self._brokers[name] = Server(self._kernel)
        return broker


def topic_route(route: Route) -> TopicRoute | None:
    """Return a script's route as a name server does; an address is the name of its server."""
    if route is None:
        return None
    queues = tuple(BrokerQueues(broker.name, broker.queues, broker.queues, broker.perm) for broker in route)
    brokers: Mapping[str, Mapping[int, str]] = {broker.name: broker.members for broker in route}
    return TopicRoute(queues, brokers)
