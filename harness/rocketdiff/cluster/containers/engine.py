"""
The container engine: whether it answers, what of ours it holds, and its errors as ours.

An engine that does not answer is the environment's failure wherever that is noticed: nothing measured on its containers is
worth anything, because nobody can tell any more what they did. An engine that answers and refuses is a ClusterError.
"""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import requests
from docker.client import DockerClient as EngineClient
from docker.errors import APIError, DockerException
from docker.models.containers import Container
from testcontainers.core.docker_client import DockerClient, get_docker_host

from rocketdiff.cluster.containers.ownership import RUN_LABEL
from rocketdiff.core.errors import ClusterError, EnvironmentMissing

# Starting a container takes half a second, building an image has a time of its own. An engine that hangs must not hang us.
TIMEOUT_S = 30

# By default all containers together get as much of the processor as one other session of the machine, which starves brokers
# as soon as anything else runs. At the top each gets as much as a server of the backend ``processes``, a session of its own.
# (With the driver systemd this cannot be said so; there they share a slice.)
_TOP_GROUP = "/"

_UNIX = "unix://"
_DEFAULT_SOCKET = f"{_UNIX}/var/run/docker.sock"

ABSENT_HINT = (
    "start Docker, or Podman's Docker socket (Debian, as root: apt-get install docker.io, then `setsid dockerd &`); "
    "DOCKER_HOST says where it listens; or run without it: --cluster processes"
)

LEFT_HINT = (
    "containers that are left are removed at the next start with --cluster containers, or by rocketdiff doctor --clean"
)


@dataclass(frozen=True, slots=True)
class Engine:
    """
    A connection to an engine that answered.

    cgroup_parent: where containers' control groups belong, None as it likes. storage: the folder of this host that
    containers are kept in, None where they are kept elsewhere.
    """

    client: EngineClient
    version: str
    cgroup_parent: str | None = None
    storage: Path | None = None

    @classmethod
    def connect(cls) -> Self:
        """
        The engine that the environment names, as testcontainers finds it.

        Raises EnvironmentMissing if none answers.
        """
        where = get_docker_host() or _DEFAULT_SOCKET
        try:
            _knock(where)
            client = DockerClient(timeout=TIMEOUT_S).client
            told: dict[str, Any] = client.version()
            info: dict[str, Any] = client.info()
        except (DockerException, requests.RequestException, OSError) as error:
            raise EnvironmentMissing(
                f"a container engine to answer at {where}", seen=_in_words(error), hint=ABSENT_HINT
            ) from error
        platform = told.get("Platform", {}).get("Name") or "Docker"
        group = _TOP_GROUP if info.get("CgroupDriver") == "cgroupfs" else None
        return cls(client, f"{platform} {told['Version']}", group, storage_here(where, info))

    def ping(self) -> None:
        """Raise EnvironmentMissing unless it still answers."""
        with engine_errors("the container engine to answer"):
            self.client.ping()

    def containers(self, run: str | None = None) -> list[Container]:
        """Ours, of one run or of all, running or not."""
        with engine_errors("the container engine to list containers"):
            found: list[Container] = self.client.containers.list(all=True, filters=_of(run), ignore_removed=True)
        return found

    def networks(self, run: str | None = None) -> list[Any]:
        """Ours, of one run or of all."""
        with engine_errors("the container engine to list networks"):
            found: list[Any] = self.client.networks.list(filters=_of(run))
        return found

    def close(self) -> None:
        """Give the connection back."""
        self.client.close()


@contextmanager
def engine_errors(expected: str, hint: str = "") -> Iterator[None]:
    """Turn the engine's errors into ours: EnvironmentMissing when it does not answer, ClusterError when it refuses."""
    try:
        yield
    except APIError as error:
        raise ClusterError(expected, seen=str(error.explanation or error), hint=hint) from error
    except (DockerException, requests.RequestException, OSError) as error:
        raise EnvironmentMissing(
            f"{expected}, and the container engine to live as long as the run", seen=_in_words(error), hint=LEFT_HINT
        ) from error


def storage_here(address: str, info: Mapping[str, Any]) -> Path | None:
    """The folder that an engine tells as its own, if it is one of this host: reached by a socket of it, and there."""
    folder = Path(str(info.get("DockerRootDir") or ""))
    if not address.startswith(_UNIX) or not folder.is_absolute():
        return None
    with suppress(OSError):  # a folder that may not be looked at
        return folder if folder.is_dir() else None
    return None


def _knock(address: str) -> None:
    """OSError if nobody listens; the engine's client would find that out too, and leave a socket open over it."""
    if address.startswith(_UNIX):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as knock:
            knock.settimeout(TIMEOUT_S)
            knock.connect(address.removeprefix(_UNIX))


def _of(run: str | None) -> dict[str, str]:
    return {"label": RUN_LABEL if run is None else f"{RUN_LABEL}={run}"}


def _in_words(error: Exception) -> str:
    """The cause at the bottom: the engine's client wraps a refused connection four times."""
    passed: set[int] = set()  # a chain may lead back into itself
    while id(error) not in passed:
        passed.add(id(error))
        inner = error.__cause__ or error.__context__
        if isinstance(inner, Exception):
            error = inner
    strerror = getattr(error, "strerror", None)
    return str(strerror or error) or type(error).__name__
