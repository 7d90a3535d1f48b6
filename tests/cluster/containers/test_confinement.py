"""Servers in containers have no more rights than they need."""

import tarfile
from io import BytesIO
from pathlib import PurePosixPath
from typing import Any

import pytest
from testcontainers.core.container import DockerContainer

from rocketdiff.cluster.containers.container import USER_ID, Deployment, ServerContainer, owned_tar
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
    """Our image has no capability at all, and no program in any image is root's or can gain rights."""
    kept = arguments_of(ServerImage("rocketdiff/server:x", "5.3.3", is_foreign=is_foreign), monkeypatch)
    assert kept.get("cap_drop") == dropped
    assert kept["user"] == f"{USER_ID}:{USER_ID}"
    assert kept["security_opt"] == ["no-new-privileges"]
    assert not {"privileged", "cap_add", "devices", "volumes", "pid_mode"} & kept.keys()


def test_the_compose_file_drops_capabilities_too() -> None:
    """Containers for manual use are confined alike."""
    text = resource("docker/compose.yaml").read_text(encoding="utf-8")
    assert "cap_drop: [ALL]" in text
    assert "security_opt: [no-new-privileges]" in text
    assert "user:" not in text


def test_the_image_has_the_user_of_its_servers() -> None:
    """For manual use the image itself names the user, who owns the servers' folder."""
    text = resource("docker/Dockerfile").read_text(encoding="utf-8")
    assert f"\nUSER {USER_ID}:{USER_ID}\n" in text
    assert f"COPY --chown={USER_ID}:{USER_ID} home /var/lib/rocketdiff\n" in text


def test_a_server_owns_its_files_and_the_folders_from_its_home_on() -> None:
    """Folders above the server's own stay as the image has them."""
    packed = owned_tar(PurePosixPath("/var/lib/rocketdiff/conf/a.xml"), b"<a/>", 0o644)
    with tarfile.open(fileobj=BytesIO(packed)) as tar:
        members = [(member.name, member.isdir(), member.uid, member.gid, member.mode) for member in tar]
        content = tar.extractfile("var/lib/rocketdiff/conf/a.xml")
        assert content is not None
        assert content.read() == b"<a/>"
    assert members == [
        ("var/lib/rocketdiff", True, USER_ID, USER_ID, 0o755),
        ("var/lib/rocketdiff/conf", True, USER_ID, USER_ID, 0o755),
        ("var/lib/rocketdiff/conf/a.xml", False, USER_ID, USER_ID, 0o644),
    ]
