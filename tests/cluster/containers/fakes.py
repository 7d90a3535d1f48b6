"""A fake engine with the Docker client's containers and networks."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import requests
from docker.errors import APIError, ImageNotFound, NotFound

from rocketdiff.cluster.containers.engine import Engine


@dataclass
class FakeContainer:
    """One container; every call fails if its ``world`` is gone."""

    world: "FakeWorld"
    name: str
    labels: dict[str, str]
    status: str = "running"
    began: str = "t0"
    exit_code: int = 0
    pid: int = 0
    log: str = ""
    files: dict[str, str] = field(default_factory=dict)

    @property
    def attrs(self) -> dict[str, Any]:
        state = {"Status": self.status, "StartedAt": self.began, "ExitCode": self.exit_code, "Pid": self.pid}
        return {"State": state}

    @property
    def id(self) -> str:
        return f"id-of-{self.name}"

    def reload(self) -> None:
        self.world.answer()
        if self not in self.world.containers:
            raise NotFound("no such container")

    def start(self) -> None:
        self._become("running")
        self.began += "+"

    def pause(self) -> None:
        self._become("paused")
        self.world.events.append((self.id, "pause"))

    def unpause(self) -> None:
        self._become("running")
        self.world.events.append((self.id, "unpause"))

    def kill(self) -> None:
        if self.status == "paused":
            raise APIError("500", explanation="container is paused, unpause it before it is killed")
        self._become("exited")
        self.exit_code = 137

    def remove(self, **_how: object) -> None:
        self.world.answer()
        self.world.containers.remove(self)

    def logs(self, **_how: object) -> bytes:
        self.world.answer()
        return self.log.encode()

    def get_archive(self, path: str) -> tuple[list[bytes], object]:
        self.world.answer()
        raise NotFound(f"no such file: {path}")

    def _become(self, status: str) -> None:
        self.world.answer()
        self.status = status


@dataclass
class FakeNetwork:
    """One network."""

    world: "FakeWorld"
    name: str
    labels: dict[str, str]

    @property
    def attrs(self) -> dict[str, Any]:
        return {"Labels": self.labels}

    def remove(self) -> None:
        self.world.answer()
        self.world.networks.remove(self)


@dataclass
class FakeWorld:
    """The content of an engine; after ``is_gone`` every call fails."""

    containers: list[FakeContainer] = field(default_factory=list)
    networks: list[FakeNetwork] = field(default_factory=list)
    images: dict[str, str] = field(default_factory=dict)
    built: list[str] = field(default_factory=list)
    events: list[tuple[str, str]] = field(default_factory=list)
    """Container and action; one a second of the engine's clock."""
    is_gone: bool = False

    def answer(self) -> None:
        if self.is_gone:
            raise requests.ConnectionError("connection refused")

    def engine(self) -> Engine:
        def listed(found: list[Any]) -> Callable[..., list[Any]]:
            def of_run(*, filters: dict[str, str], **_how: object) -> list[Any]:
                self.answer()
                label, _, value = filters["label"].partition("=")
                return [one for one in found if label in one.labels and value in ("", one.labels[label])]

            return of_run

        client = SimpleNamespace(
            containers=SimpleNamespace(list=listed(self.containers)),
            networks=SimpleNamespace(list=listed(self.networks)),
            images=SimpleNamespace(get=self._image, pull=self._pull, build=self._build),
            ping=self.answer,
            info=self._info,
            events=self._events,
            close=lambda: None,
        )
        return Engine(client, "Fake 1.0")

    def _info(self) -> dict[str, str]:
        self.answer()
        return {"SystemTime": datetime.fromtimestamp(len(self.events), UTC).isoformat()}

    def _events(self, *, since: str, until: str, filters: dict[str, Any], **_how: object) -> list[dict[str, str]]:
        self.answer()
        happened = self.events[int(float(since)) : int(float(until))]
        return [{"Action": action} for container, action in happened if container == filters["container"]]

    def _image(self, name: str) -> object:
        self.answer()
        if name not in self.images:
            raise ImageNotFound(f"no such image {name}")
        return SimpleNamespace(id=self.images[name])

    def _pull(self, name: str) -> object:
        """There is no registry."""
        self.answer()
        raise APIError("500", explanation=f"no such host, asked for {name}")

    def _build(self, *, tag: str, **_how: object) -> None:
        self.answer()
        self.built.append(tag)
        self.images[tag] = f"sha256:{tag}"
