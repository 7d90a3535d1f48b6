"""One server's container, as testcontainers starts it: ours in ports, labels and files, and without a reaper container."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from docker.models.containers import Container
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer
from testcontainers.core.network import Network

from rocketdiff.cluster.containers.engine import TIMEOUT_S
from rocketdiff.cluster.containers.wiring import ServerPlan
from rocketdiff.cluster.interface import LOOPBACK
from rocketdiff.cluster.launched.server_set import ServerEnded
from rocketdiff.core.errors import ClusterError

_SETTING_RYUK = threading.Lock()


@dataclass(frozen=True, slots=True)
class Frame:
    """What all containers of a cluster have in common; ``network`` None: they share the host's."""

    image: str
    network: Network | None
    cgroup_parent: str | None


class ServerContainer(DockerContainer):
    """A container of a server."""

    def __init__(self, frame: Frame, plan: ServerPlan, labels: Mapping[str, str], name: str, alias: str) -> None:
        super().__init__(frame.image, docker_client_kw={"timeout": TIMEOUT_S})
        self.image = frame.image  # a prefix for images of public registries is not for one that is here
        self.with_name(name).with_envs(**plan.environment)
        if plan.command:
            self.with_command(list(plan.command))
        shared: dict[str, Any] = {"labels": dict(labels), "user": "0"}
        if frame.cgroup_parent is not None:
            shared["cgroup_parent"] = frame.cgroup_parent
        if frame.network is None:
            shared["network_mode"] = "host"
            shared["network"] = None  # else testcontainers looks for one
        else:
            self.with_network(frame.network).with_network_aliases(alias)
        self.with_kwargs(**shared)
        # An address and a port: testcontainers hands on to the engine's client what it is given here.
        self.ports = {f"{port}/tcp": (LOOPBACK, port) for port in plan.ports}  # type: ignore[misc]
        for path, text in plan.files.items():
            self.with_copy_into_container(text.encode(), path)

    def launch(self) -> Container:
        """Make and start it."""
        with _without_reaper():
            self.start()
        return self.get_wrapped_container()


def port_taken(name: str, error: ClusterError) -> ServerEnded | None:
    """What an engine's refusal means when it could not publish a port: another choice of ports cures it; else None."""
    if not any(sign in error.seen.lower() for sign in _TAKEN):
        return None
    return ServerEnded(name, None, (f"{error.seen} (Address already in use)",))


_TAKEN = ("port is already allocated", "address already in use", "bind: ")
"""In the words of Docker and Podman."""


@contextmanager
def _without_reaper() -> Iterator[None]:
    """
    Start no reaper: its image cannot be pulled everywhere, and sweeping is ours (see ``sweep``).

    The setting is the process's; whoever else uses testcontainers in it finds it as it was.
    """
    with _SETTING_RYUK:
        before = testcontainers_config.ryuk_disabled
        testcontainers_config.ryuk_disabled = True
        try:
            yield
        finally:
            testcontainers_config.ryuk_disabled = before
