"""Servers in containers have no more rights than they need."""

from typing import Any

import pytest
from testcontainers.core.container import DockerContainer

from rocketdiff.cluster.containers.container import Deployment, ServerContainer
from rocketdiff.cluster.containers.engine import Engine
from rocketdiff.cluster.containers.images import ServerImage
from rocketdiff.cluster.containers.networking import NetworkMode, ServerPlan
from rocketdiff.core.resources import resource


def arguments_of(image: ServerImage, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return what the engine is asked for, besides the image."""
    kept: dict[str, Any] = {}
    monkeypatch.setattr(DockerContainer, "__init__", lambda *_, **__: None)
    for name in ("with_name", "with_envs", "with_command", "with_copy_into_container"):
        monkeypatch.setattr(DockerContainer, name, lambda self, *_, **__: self)
    monkeypatch.setattr(DockerContainer, "with_kwargs", lambda _, **given: kept.update(given))
    deployment = Deployment(Engine(None, "x"), image, NetworkMode.HOST, None, {}, "r")
    ServerContainer(deployment, ServerPlan(files={}, command=("java",), environment={}, ports=()), "broker-a")
    return kept


@pytest.mark.parametrize(("is_foreign", "dropped"), [(False, ["ALL"]), (True, None)])
def test_a_server_gets_no_capability(
    is_foreign: bool, dropped: list[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Our image has no capability at all, and no program in any image can gain rights."""
    kept = arguments_of(ServerImage("rocketdiff/server:x", "5.3.3", is_foreign=is_foreign), monkeypatch)
    assert kept.get("cap_drop") == dropped
    assert kept["security_opt"] == ["no-new-privileges"]
    assert not {"privileged", "cap_add", "devices", "volumes", "pid_mode"} & kept.keys()


def test_the_compose_file_drops_capabilities_too() -> None:
    """Containers for manual use are confined alike."""
    text = resource("docker/compose.yaml").read_text(encoding="utf-8")
    assert "cap_drop: [ALL]" in text
    assert "security_opt: [no-new-privileges]" in text
