"""The brokers and the name server of a script: how they respond, and whether they are up."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from rocketdiff.simulation.script.answers import Answer, Route
from rocketdiff.simulation.script.vocabulary import Fault
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketmq_reference.rules.client.route import MASTER_ID, QueueData, TopicRoute

_SLAVE_ID = 1

_AT_ONCE = (Answer(),)


class Reply(Protocol):
    """What a server calls at the end of a request; never for a swallowed one."""

    def answered(self, code: int) -> None:
        """The response arrives now."""
        ...

    def broken(self, *, reset: bool) -> None:
        """The connection is reset or closed now, instead of a response."""
        ...


class Server:
    """
    One scripted server.

    Send requests take its answers in turn, round and round; other requests get the current one. A paused server keeps
    requests and responses until it resumes.
    """

    def __init__(self, kernel: Kernel, *, is_name_server: bool = False) -> None:
        self._kernel = kernel
        self._is_name_server = is_name_server
        self._answers: tuple[Answer, ...] = _AT_ONCE
        self._turn = 0
        self._paused = False
        self._dead = False
        self._held: list[Callable[[], None]] = []
        self._hanging: list[Callable[[], None]] = []

    def set(self, answers: tuple[Answer, ...]) -> None:
        """Set the answers, beginning with the first."""
        self._answers = answers
        self._turn = 0
        self._decide_what_hangs()

    @property
    def current(self) -> Answer:
        """The answer that the next send request would get."""
        return self._answers[self._turn]

    @property
    def refuses(self) -> bool:
        """Whether connects are refused now."""
        return self._dead or self.current.fault is Fault.REFUSED

    def accepts(self, *, is_send: bool) -> bool:
        """Whether a connect is accepted; one that is made for a send uses up a refusal in a list of answers."""
        refuses = self.refuses
        if refuses and is_send and not self._dead:
            self._take()
        return not refuses

    @property
    def is_silent(self) -> bool:
        """Whether connects hang."""
        return not self._dead and self.current.fault is Fault.SILENT

    def hang(self, decide: Callable[[], None]) -> None:
        """A connect hangs until the answers change or the server is killed; then it is decided, as an event."""
        self._hanging.append(decide)

    def give_up(self, decide: Callable[[], None]) -> bool:
        """Give a connect up at its timeout; False if it does not hang any more."""
        hung = decide in self._hanging
        if hung:
            self._hanging.remove(decide)
        return hung

    def pause(self) -> None:
        """Freeze."""
        self._paused = True

    def resume(self) -> None:
        """Go on: what was kept comes first."""
        self._paused = False
        held, self._held = self._held, []
        for action in held:
            action()

    def kill(self) -> None:
        """The process is gone, with all that was kept."""
        self._dead = True
        self._paused = False
        self._held.clear()
        self._decide_what_hangs()

    def restart(self) -> None:
        """The process is back."""
        self._dead = False

    def arrive(self, reply: Reply, *, is_send: bool) -> None:
        """
        A request arrives; its answer is chosen when the server reads it, which a paused one does when it resumes.

        Requests that are no sends get neither broken connections nor error codes, except from the name server.
        """
        if self._paused:
            self._held.append(lambda: self.arrive(reply, is_send=is_send))
            return
        answer = self._take() if is_send else self.current
        fault = answer.fault
        if fault is None:
            code = answer.code if is_send or self._is_name_server else 0
            self._kernel.after(answer.latency_ms, lambda: self._deliver(reply, code))
        elif is_send and fault in {Fault.RESET, Fault.FIN, Fault.REFUSED}:
            self._kernel.after(0, lambda: reply.broken(reset=fault is not Fault.FIN))
        elif fault in {Fault.RESET, Fault.FIN}:
            self._kernel.after(0, lambda: self._deliver(reply, 0))

    def _decide_what_hangs(self) -> None:
        hanging, self._hanging = self._hanging, []
        for decide in hanging:
            self._kernel.after(0, decide)

    def _take(self) -> Answer:
        answer = self._answers[self._turn]
        self._turn = (self._turn + 1) % len(self._answers)
        return answer

    def _deliver(self, reply: Reply, code: int) -> None:
        if self._paused:
            self._held.append(lambda: self._deliver(reply, code))
        elif not self._dead:
            reply.answered(code)


@dataclass(slots=True)
class NameServer:
    """The scripted name server and its route of the topic (None: it does not know the topic)."""

    server: Server
    route: TopicRoute | None


class Servers:
    """All servers of a script; a broker without answers of its own responds at once."""

    __slots__ = ("_brokers", "_kernel", "name_server")

    def __init__(self, kernel: Kernel, route: Route) -> None:
        self._kernel = kernel
        self._brokers: dict[str, Server] = {}
        self.name_server = NameServer(Server(kernel, is_name_server=True), topic_route(route))

    def broker(self, name: str) -> Server:
        """The broker of that name."""
        broker = self._brokers.get(name)
        if broker is None:
            broker = self._brokers[name] = Server(self._kernel)
        return broker


def topic_route(route: Route) -> TopicRoute | None:
    """A script's route as a name server returns it; the address of a broker is its name."""
    if route is None:
        return None
    queues = tuple(QueueData(broker.name, broker.queues, broker.queues, broker.perm) for broker in route)
    brokers: Mapping[str, Mapping[int, str]] = {
        broker.name: {MASTER_ID if broker.master else _SLAVE_ID: broker.name} for broker in route
    }
    return TopicRoute(queues, brokers)
