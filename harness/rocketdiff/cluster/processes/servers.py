"""The processes of one cluster by node name: started, stopped, continued, killed and inspected."""

import os
import signal
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from rocketdiff.cluster.interface import Node, NodeState, Span, by_name, pause_broken
from rocketdiff.cluster.launched.command_line import Installation, environment, java_command, proxy_command
from rocketdiff.cluster.launched.node_slot import (
    SPACE_TO_CONTINUE_BYTES,
    NodeSlot,
    clear,
    keep_settings,
    moved,
    require_disk_space,
)
from rocketdiff.cluster.launched.security import UNSECURED, ServerSecurity
from rocketdiff.cluster.launched.server_set import copy_evidence, last_words, server_ended
from rocketdiff.cluster.launched.sockets import unread_bytes
from rocketdiff.cluster.processes.server import ServerProcess
from rocketdiff.cluster.processes.supervisor_client import SupervisorClient
from rocketdiff.core.errors import ClusterError
from rocketdiff.core.tables.topology import NodeKind

# A killed JVM is gone in about ten ms, mostly spent releasing memory.
_EXIT_TIMEOUT_S = 5.0


class ProcessServers:
    """A ServerSet of processes under one supervisor. folder: holds the folders of all slots."""

    def __init__(
        self,
        slots: Iterable[NodeSlot],
        installation: Installation,
        supervisor: SupervisorClient,
        folder: Path,
        security: ServerSecurity = UNSECURED,
    ) -> None:
        self._folder = folder
        self._security = security
        self._slots = {slot.name: slot for slot in slots}
        self._left: list[NodeSlot] = []
        self._installation = installation
        self._supervisor = supervisor
        self._lock = threading.Lock()
        self._processes: dict[str, ServerProcess] = {}

    @property
    def slots(self) -> tuple[NodeSlot, ...]:
        return tuple(self._slots.values())

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._slots)

    @property
    def launched(self) -> tuple[str, ...]:
        return tuple(self._processes)

    def slot(self, name: str) -> NodeSlot:
        return by_name(self._slots, name)

    def role(self, name: str) -> NodeKind:
        return self.slot(name).role

    def nodes(self, role: NodeKind) -> tuple[Node, ...]:
        return tuple(self._node(slot) for slot in self.slots if slot.role is role)

    def grpc_endpoints(self) -> Mapping[str, str]:
        return {slot.name: slot.grpc_address for slot in self.slots if slot.is_proxy}

    def move(self, name: str) -> Node:
        slot = self.slot(name)
        self._slots[name] = moved(slot)
        self._left.append(slot)
        return self._node(self.slot(name))

    def launch(self, name: str) -> None:
        slot = self.slot(name)
        if not self._is_gone(name):
            raise ClusterError(f"{name} to be gone before it is started", seen=f"it is {self.state(name)}")
        command = self._command(slot)
        scratch = (*slot.scratch, *self._security.scratch)
        process = self._supervisor.start(name, command, slot.folder, environment(os.environ), slot.log, scratch)
        with self._lock:
            former = self._processes.get(name)
            self._processes[name] = process
        if former is not None:
            former.release()

    def stop(self, name: str) -> Span:
        """Send SIGSTOP; return when the kernel and /proc report every thread as stopped."""
        process = self._living(name)
        span = self._supervisor.stop(process.pid)
        _require(name, process, NodeState.PAUSED)
        return span

    def go_on(self, name: str) -> Span:
        """Send SIGCONT; return when the kernel and /proc report no thread as stopped."""
        process = self._living(name)
        span, was_held = self._supervisor.go_on(process.pid)
        _require(name, process, NodeState.RUNNING)
        if not was_held:
            raise pause_broken(name, "another process has continued it (SIGCONT)")
        return span

    def kill(self, name: str) -> Span:
        """Send SIGKILL; return when the process was reaped, so that its ports are closed."""
        process = self._living(name)
        begin_ns = time.monotonic_ns()
        process.send(signal.SIGKILL)
        status = self._supervisor.await_exit(process.pid, _EXIT_TIMEOUT_S)
        if status is None:
            raise ClusterError(f"{name} to end within {_EXIT_TIMEOUT_S:g} s of SIGKILL", seen="it is still running")
        return Span(begin_ns, time.monotonic_ns())

    def state(self, name: str) -> NodeState:
        self.slot(name)
        process = self._processes.get(name)
        return NodeState.GONE if process is None else process.state()

    def raise_if_ended(self, names: Iterable[str]) -> None:
        for name in names:
            if self._is_gone(name):
                raise server_ended(self, name)

    def exit_status(self, name: str) -> int | None:
        """Negative for a signal."""
        process = self._processes.get(name)
        if process is None or not process.is_gone:
            return None
        return self._supervisor.await_exit(process.pid, _EXIT_TIMEOUT_S)

    def log_tail(self, name: str, lines: int) -> tuple[str, ...]:
        try:
            with self.slot(name).log.open(errors="replace") as log:
                return last_words(log, lines)
        except FileNotFoundError:
            return ()

    def require_sound(self) -> None:
        brokers = sum(slot.role in (NodeKind.BROKER, NodeKind.SLAVE) for slot in self.slots)
        require_disk_space(self._folder, brokers, SPACE_TO_CONTINUE_BYTES)

    def unread_bytes(self, name: str) -> int | None:
        return unread_bytes(self.slot(name).client_ports)

    def facts(self) -> Mapping[str, object]:
        return {"backend": "processes"}

    def collect(self, facts: Mapping[str, object], folder: Path) -> None:
        for slot in self.slots:
            keep_settings(slot, self._security)
        copy_evidence([(slot.name, slot.folder) for slot in self.slots], facts, folder)

    def end(self) -> None:
        """End the supervisor and so every process, paused ones too; remove the stores, release the ports."""
        self._supervisor.close()
        for process in self._processes.values():
            process.release()
        for slot in self.slots:
            keep_settings(slot, self._security)
            clear(slot)
        for slot in (*self.slots, *self._left):
            slot.reserved.release()
        self._security.take_back()

    def _command(self, slot: NodeSlot) -> list[str]:
        if slot.is_proxy:
            return proxy_command(self._installation, slot.folder)
        settings = slot.secret_settings if slot.secret_settings.exists() else slot.settings
        return java_command(self._installation, slot.role, slot.folder, self._security.flags(slot.folder), settings)

    def _living(self, name: str) -> ServerProcess:
        if self._is_gone(name):
            raise server_ended(self, name)
        return self._processes[name]

    def _is_gone(self, name: str) -> bool:
        self.slot(name)
        process = self._processes.get(name)
        return process is None or process.is_gone

    def _node(self, slot: NodeSlot) -> Node:
        process = self._processes.get(slot.name)
        pid = None if process is None or process.is_gone else process.pid
        return Node(slot.role, slot.letter, slot.name, slot.address, pid, security=self._security.client)


def _require(name: str, process: ServerProcess, state: NodeState) -> None:
    if process.state() is not state:
        states = " ".join(sorted(set(process.thread_states()))) or "gone"
        raise ClusterError(f"every thread of {name} to be {state}", seen=f"thread states {states}")
