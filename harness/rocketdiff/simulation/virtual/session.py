"""One script run on the reference, whatever the role of the client: clock, servers and answer lines."""

from collections.abc import Callable
from typing import Protocol

from rocketdiff.simulation.script.model import Action, Script, Step
from rocketdiff.simulation.script.vocabulary import DumpPart
from rocketdiff.simulation.virtual.assembly import VirtualClient
from rocketdiff.simulation.virtual.servers import Servers
from rocketdiff.simulation.virtual.worker import VirtualHost, VirtualWorker
from rocketmq_reference.client.effects import Body


class ScriptSession:
    """The clock, the servers and the answer lines of a running script."""

    def __init__(self, name: str, script: Script, *, trace: bool) -> None:
        self.name = name
        self.lines: list[str] = []
        self.kernel = VirtualHost(script.expired_wait_extra_ms)
        self.servers = Servers(self.kernel, script.route)
        self._trace = trace

    def answer(self, head: str, text: str, state: Callable[[], str]) -> None:
        """Add an answer line; in a trace, with the client's state after it."""
        after = f', "state": {state()}' if self._trace else ""
        self.add(f"{head}{text}{after}}}")

    def changed(self, head: str, step: str, state: Callable[[], str]) -> None:
        """In a trace, add a line for a step that changes the client but has no answer."""
        if self._trace:
            self.answer(head, f'"{step}": true', state)

    def add(self, line: str) -> None:
        self.lines.append(line)
        self.kernel.answered()


class RoleSession(Protocol):
    """The client of a running script in its role: what only this role's steps do."""

    session: ScriptSession

    @property
    def client(self) -> VirtualClient: ...

    def look_up(self) -> Body:
        """Look up the route before the first step, at no cost."""
        ...

    def do(self, head: str, step: Step) -> Body | None:
        """Do a step of the role; return an actor for one that takes time or has to wait its turn."""
        ...

    def thread_of(self, action: Action) -> int | None:
        """Return the application's thread that does an action of a timeline; None for one that happens by itself."""
        ...

    def worker(self, thread: int) -> VirtualWorker:
        """Return a thread of the application other than 0, which executes the script."""
        ...

    def perform(self, head: str, action: Action) -> Body:
        """Do an action on the thread that runs."""
        ...

    def finish(self) -> Body:
        """End the script: wait for what is outstanding and report it."""
        ...

    def part(self, part: DumpPart) -> str:
        """Return a part of the client's state that only this role has."""
        ...

    def state(self) -> str:
        """Return the state in a trace line."""
        ...
