"""
The container engine: its connection, our containers and networks, its disk, and its errors as ours.

An engine that stops answering is EnvironmentMissing everywhere: the state of its containers is unknown, so measurements on them
are worthless. An engine that answers and refuses is a ClusterError.
"""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

import requests
from docker.client import DockerClient as EngineClient
from docker.errors import APIError, DockerException
from docker.models.containers import Container
from testcontainers.core.docker_client import DockerClient, get_docker_host

from rocketdiff.cluster.launched.node_slot import require_disk_space
from rocketdiff.core.errors import ClusterError, EnvironmentMissing

# Starting a container takes half a second; building an image has its own timeout. A hanging engine must not block a run.
TIMEOUT_S = 30

# By default all containers together get the CPU share of one other session, which starves brokers when anything else runs. At
# the top each gets the share of a session, as a server of the backend ``processes`` does. (The driver systemd does not accept
# this group; there they share a slice.)
_TOP_GROUP = "/"

LABEL_PREFIX = "org.rocketdiff."

RUN_LABEL = f"{LABEL_PREFIX}run"
"""Label of all our containers and networks; its value is unique per cluster."""

_UNIX = "unix://"
_DEFAULT_SOCKET = f"{_UNIX}/var/run/docker.sock"

_ABSENT_HINT = (
    "start Docker, or Podman's Docker socket (Debian, as root: apt-get install docker.io, then `setsid dockerd &`); "
    "DOCKER_HOST says where it listens; or run without it: --cluster processes"
)

LEFT_HINT = (
    "containers that are left are removed at the next start with --cluster containers, or by rocketdiff doctor --clean"
)


_DISK_HINT = "free some space where the engine keeps its containers, for instance with: docker system prune"


@dataclass(frozen=True, slots=True)
class Engine:
    """
    A connection to an engine that answered.

    cgroup_parent: control group of the containers; None for the engine's default. storage: folder on this host in which the
    engine keeps containers; None if they are not on this host.
    """

    client: EngineClient
    version: str
    cgroup_parent: str | None = None
    storage: Path | None = None

    @classmethod
    def connect(cls) -> Self:
        """Connect to the engine that testcontainers finds in the environment; EnvironmentMissing if none answers."""
        where = get_docker_host() or _DEFAULT_SOCKET
        try:
            _knock(where)
            client = DockerClient(timeout=TIMEOUT_S).client
            version: dict[str, Any] = client.version()
            info: dict[str, Any] = client.info()
        except (DockerException, requests.RequestException, OSError) as error:
            raise EnvironmentMissing(
                f"a container engine to answer at {where}", seen=_in_words(error), hint=_ABSENT_HINT
            ) from error
        platform = version.get("Platform", {}).get("Name") or "Docker"
        group = _TOP_GROUP if info.get("CgroupDriver") == "cgroupfs" else None
        return cls(client, f"{platform} {version['Version']}", group, storage_here(where, info))

    def ping(self) -> None:
        with engine_errors("the container engine to answer"):
            self.client.ping()

    def require_disk_space(self, nodes: int, bytes_each: int) -> None:
        """Check the engine's disk, because stores are inside the containers. Does nothing if it is on another host."""
        if self.storage is None:
            return
        try:
            require_disk_space(self.storage, nodes, bytes_each)
        except EnvironmentMissing as error:
            raise EnvironmentMissing(error.expected, seen=error.seen, hint=_DISK_HINT) from error

    def containers(self, run: str | None = None) -> list[Container]:
        """Our containers, of one run or of all, running or not."""
        with engine_errors("the container engine to list containers"):
            found: list[Container] = self.client.containers.list(all=True, filters=_of(run), ignore_removed=True)
        return found

    def networks(self, run: str | None = None) -> list[Any]:
        with engine_errors("the container engine to list networks"):
            found: list[Any] = self.client.networks.list(filters=_of(run))
        return found

    def clock(self) -> str:
        """Return the engine's time, from which ``pauses`` counts."""
        with engine_errors("the container engine to report its time"):
            text: str = self.client.info()["SystemTime"]
        return f"{datetime.fromisoformat(text).timestamp():.6f}"

    def pauses(self, container: Container, since: str) -> list[str]:
        """Return the engine's events ``pause`` and ``unpause`` of a container since then, in order."""
        wanted = {"container": container.id, "event": ["pause", "unpause"]}
        with engine_errors("the events of a container"):
            events = self.client.events(since=since, until=self.clock(), filters=wanted, decode=True)
            return [event["Action"] for event in events]

    def close(self) -> None:
        self.client.close()


@contextmanager
def engine_errors(expected: str, hint: str = "") -> Iterator[None]:
    """Convert the engine's errors into ours: EnvironmentMissing if it does not answer, ClusterError if it refuses."""
    try:
        yield
    except APIError as error:
        raise ClusterError(expected, seen=str(error.explanation or error), hint=hint) from error
    except (DockerException, requests.RequestException, OSError) as error:
        raise EnvironmentMissing(
            f"{expected}, and the container engine to stay up during the run", seen=_in_words(error), hint=LEFT_HINT
        ) from error


def storage_here(address: str, info: Mapping[str, Any]) -> Path | None:
    """Return the folder that an engine reports as its own; None unless the engine has a local socket and the folder exists."""
    folder = Path(str(info.get("DockerRootDir") or ""))
    if not address.startswith(_UNIX) or not folder.is_absolute():
        return None
    with suppress(OSError):  # no permission
        return folder if folder.is_dir() else None
    return None


def _knock(address: str) -> None:
    """Raise OSError if nothing listens. The engine's client would notice too, but leave a socket open."""
    if address.startswith(_UNIX):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
            knock.settimeout(TIMEOUT_S)
            knock.connect(address.removeprefix(_UNIX))


def _of(run: str | None) -> dict[str, str]:
    return {"label": RUN_LABEL if run is None else f"{RUN_LABEL}={run}"}


def _in_words(error: Exception) -> str:
    """Return the innermost cause: the engine's client wraps a refused connection four times."""
    passed: set[int] = set()  # a chain may be circular
    while id(error) not in passed:
        passed.add(id(error))
        inner = error.__cause__ or error.__context__
        if isinstance(inner, Exception):
            error = inner
    strerror = getattr(error, "strerror", None)
    return str(strerror or error) or type(error).__name__
