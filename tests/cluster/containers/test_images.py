"""The image that servers run from."""

import tarfile
from pathlib import Path

import pytest

from rocketdiff.cluster.containers.images import (
    BASE_VARIABLE,
    IMAGE_VARIABLE,
    context_of,
    digest_of,
    image_for,
    inside_class_path,
)
from rocketdiff.core.errors import EnvironmentMissing, UsageError
from rocketdiff.releases.lock import Artifact
from tests.cluster.containers.fakes import FakeWorld

JARS = (Artifact("org.a:x:1", "aa", 3), Artifact("org.b:x:1", "bb", 4))


@pytest.fixture(autouse=True)
def nothing_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(BASE_VARIABLE, raising=False)
    monkeypatch.delenv(IMAGE_VARIABLE, raising=False)


def test_jars_of_one_name_have_places_of_their_own() -> None:
    """The class path has the launcher, then the jars in lock order under different paths."""
    assert inside_class_path(JARS) == (
        "/opt/rocketmq/loopback",
        "/opt/rocketmq/lib/org/a/x/1/x-1.jar",
        "/opt/rocketmq/lib/org/b/x/1/x-1.jar",
    )


def test_a_digest_depends_on_everything_in_the_image() -> None:
    """An image's digest depends on the Dockerfile, base, launcher, jars and their order."""
    reported = {
        digest_of("FROM x", "sha256:1", JARS, "loopback-1"),
        digest_of("FROM y", "sha256:1", JARS, "loopback-1"),
        digest_of("FROM x", "sha256:2", JARS, "loopback-1"),
        digest_of("FROM x", "sha256:1", JARS, "loopback-2"),
        digest_of("FROM x", "sha256:1", JARS[:1], "loopback-1"),
        digest_of("FROM x", "sha256:1", JARS[::-1], "loopback-1"),
    }
    assert len(reported) == 6


def test_the_context_holds_jars_launcher_and_class_path(tmp_path: Path) -> None:
    """The build context has no times and owners, so equal content gives equal layers."""
    (tmp_path / "launcher" / "p").mkdir(parents=True)
    (tmp_path / "launcher" / "p" / "L.class").write_bytes(b"L")
    paths = [tmp_path / "1.jar", tmp_path / "2.jar"]
    for path in paths:
        path.write_bytes(b"jar")
    with context_of("FROM x", JARS, paths, tmp_path / "launcher") as file, tarfile.open(fileobj=file) as tar:
        members = {member.name: member for member in tar}
        class_path = tar.extractfile("class-path")
        assert class_path is not None
        assert class_path.read().decode().splitlines() == ["-cp", ":".join(inside_class_path(JARS))]
    jars = {"lib/org/a/x/1/x-1.jar", "lib/org/b/x/1/x-1.jar"}
    assert set(members) == {"Dockerfile", "class-path", "home", "loopback/p/L.class", *jars}
    assert {(member.mtime, member.uid, member.uname) for member in members.values()} == {(0, 0, "")}


def test_an_image_is_made_once() -> None:
    """An image is built once per base; its tag has the release."""
    world = FakeWorld(images={"rocketdiff/base:latest": "sha256:1"})
    first, second = image_for(world.engine(), "5.3.3"), image_for(world.engine(), "5.3.3")
    assert first == second
    assert world.built == [first.name]
    assert first.name.startswith("rocketdiff/server:5.3.3-")
    world.images["rocketdiff/base:latest"] = "sha256:2"
    image_for(world.engine(), "5.3.3")
    assert len(world.built) == 2


@pytest.mark.parametrize(
    ("variable", "image", "message"),
    [
        (None, "", r"rocketdiff/base:latest.*make image"),
        (BASE_VARIABLE, "a-jre:17", r"a-jre:17.*no such host"),
        (
            IMAGE_VARIABLE,
            "apache/rocketmq:{release}",
            r"apache/rocketmq:5\.3\.3.*ROCKETDIFF_SERVER_IMAGE.*no such host",
        ),
    ],
)
def test_an_image_that_cannot_be_had_is_one_clear_message(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, image: str, message: str
) -> None:
    """
    Without an image the message names the variable of a user's and the engine's reason, else ``make image``.

    Our own base is not pulled, because a stranger may own the name.
    """
    if variable is not None:
        monkeypatch.setenv(variable, image)
    with pytest.raises(EnvironmentMissing, match=message) as reported:
        image_for(FakeWorld().engine(), "5.3.3")
    assert reported.value.exit_code == 69
    assert ("no such host" in str(reported.value)) is (variable is not None)


def test_an_image_of_the_users_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's image is used unchanged; ``{release}`` in its name is replaced."""
    monkeypatch.setenv(IMAGE_VARIABLE, "apache/rocketmq:{release}")
    image = image_for(FakeWorld(images={"apache/rocketmq:5.3.1": "sha256:1"}).engine(), "5.3.1")
    assert (image.name, image.is_foreign) == ("apache/rocketmq:5.3.1", True)


def test_an_unknown_release_is_the_users_mistake() -> None:
    """An unknown release is a usage error even without an engine."""
    with pytest.raises(UsageError):
        image_for(FakeWorld(is_gone=True).engine(), "0.0.0")
