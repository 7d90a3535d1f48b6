"""
The image of the servers of a release: built from a base with Java and the locked jars, or named by the user.

The tag of a built image has a digest of its content, so an existing image is never built again. The base comes from
docker/base.sh (`make image`), or is any image with Java in ROCKETDIFF_BASE_IMAGE.

``make image`` runs this module for the given releases (default 5.3.3) and also tags each as ``rocketdiff/server:RELEASE``, for
manual use (docker/compose.yaml).
"""

import hashlib
import os
import sys
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from docker.errors import BuildError, ImageNotFound

from rocketdiff.cluster.containers.engine import Engine, engine_errors
from rocketdiff.cluster.launched.command_line import LAUNCHER_SOURCES
from rocketdiff.core.errors import ClusterError, EnvironmentMissing, HarnessError
from rocketdiff.core.resources import resource
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE
from rocketdiff.releases.artifacts.class_paths import require_server, server_class_path
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.lock import Artifact, locked
from rocketdiff.releases.programs.java_programs import compiled
from rocketdiff.releases.progress import ProgressListener

BASE_VARIABLE = "ROCKETDIFF_BASE_IMAGE"
IMAGE_VARIABLE = "ROCKETDIFF_SERVER_IMAGE"

LOCAL_BASE = "rocketdiff/base:latest"
REPOSITORY = "rocketdiff/server"

_DOCKERFILE = "docker/Dockerfile"
_INSIDE = PurePosixPath("/opt/rocketmq")

# Sending 100 MB of jars to the engine and storing them as a layer takes 3 to 6 s, ten times that on a busy machine.
_BUILD_TIMEOUT_S = 300

_BASE_HINT = (
    f"make image, which makes it (as root, with debootstrap), or let {BASE_VARIABLE} name an image with Java 17"
)


@dataclass(frozen=True, slots=True)
class ServerImage:
    """
    The image of the servers of a release.

    is_foreign: an image with its own start script and class path (apache/rocketmq). class_path: inside an image of ours.
    """

    name: str
    release: str
    is_foreign: bool
    class_path: tuple[str, ...] = ()


def image_for(engine: Engine, release: str, listener: ProgressListener | None = None) -> ServerImage:
    """
    Return the image for servers of that release, built if the engine does not have it.

    Raises UsageError for an unknown release, EnvironmentMissing without the image, the base or the jars.
    """
    named = os.environ.get(IMAGE_VARIABLE)
    if named:
        return _foreign(engine, named.replace("{release}", release), release)
    require_server(release)
    base, base_id = _base(engine)
    jars = locked().servers[release]
    launcher = compiled("loopback", resource(LAUNCHER_SOURCES), (), find_java(listener))
    dockerfile = resource(_DOCKERFILE).read_text()
    name = f"{REPOSITORY}:{release}-{digest_of(dockerfile, base_id, jars, launcher.name)}"
    if _id_of(engine, name) is None:
        paths = server_class_path(release, listener)
        _build(engine, name, {"BASE": base}, context_of(dockerfile, jars, paths, launcher))
    return ServerImage(name, release, is_foreign=False, class_path=inside_class_path(jars))


def require_release(release: str) -> None:
    """Raise UsageError for a release without server jars, unless the user names an image. Does not connect to an engine."""
    if not os.environ.get(IMAGE_VARIABLE):
        require_server(release)


def look_for_base(engine: Engine) -> tuple[str, bool]:
    """Return the base image in words, and whether the engine has it. Fetches nothing."""
    image = os.environ.get(IMAGE_VARIABLE)
    if image:
        return f"not needed: {IMAGE_VARIABLE} is {image}", True
    name = os.environ.get(BASE_VARIABLE) or LOCAL_BASE
    found = _id_of(engine, name)
    return (f"{name}, {found.removeprefix('sha256:')[:12]}", True) if found else (f"the engine has no {name}", False)


def digest_of(dockerfile: str, base_id: str, jars: Sequence[Artifact], launcher: str) -> str:
    """Digest of a built image's content. launcher: name of its folder, which is a digest too."""
    parts = (dockerfile, base_id, launcher, *(jar.sha256 for jar in jars))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def inside_class_path(jars: Sequence[Artifact]) -> tuple[str, ...]:
    """The class path inside a built image, our launcher first."""
    return (str(_INSIDE / "loopback"), *(str(_INSIDE / "lib" / jar.path) for jar in jars))


def context_of(dockerfile: str, jars: Sequence[Artifact], paths: Sequence[Path], launcher: Path) -> IO[bytes]:
    """The build context as a tar in a temporary file, without times and owners."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  # closed by _build
    with tarfile.open(fileobj=file, mode="w") as tar:
        _add_text(tar, "Dockerfile", dockerfile)
        # The format of `java @file`, for manual use of the image.
        _add_text(tar, "class-path", f"-cp\n{':'.join(inside_class_path(jars))}\n")
        tar.addfile(_folder("home"))
        for source in sorted(launcher.rglob("*.class")):
            tar.add(source, f"loopback/{source.relative_to(launcher)}", filter=_plain)
        for jar, path in zip(jars, paths, strict=True):
            tar.add(path, f"lib/{jar.path}", filter=_plain)
    file.seek(0)
    return file


def _add_text(tar: tarfile.TarFile, name: str, text: str) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(text.encode())
    member.mode = 0o644
    tar.addfile(member, BytesIO(text.encode()))


def _folder(name: str) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.mode = tarfile.DIRTYPE, 0o755
    return member


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    member.mode = 0o644
    return member


def _build(engine: Engine, name: str, arguments: Mapping[str, str], context: IO[bytes]) -> None:
    with context, engine_errors(f"image {name} to be built"):
        try:
            engine.client.images.build(
                fileobj=context,
                custom_context=True,
                tag=name,
                buildargs=dict(arguments),
                rm=True,
                forcerm=True,
                labels={"org.rocketdiff.image": "server"},
                timeout=_BUILD_TIMEOUT_S,
            )
        except BuildError as error:
            raise ClusterError(f"image {name} to be built", seen=error.msg) from error


def _foreign(engine: Engine, name: str, release: str) -> ServerImage:
    _pulled(engine, name, IMAGE_VARIABLE)
    return ServerImage(name, release, is_foreign=True)


def _base(engine: Engine) -> tuple[str, str]:
    """Return name and id of the base image. An image is pulled only if the user named it."""
    named = os.environ.get(BASE_VARIABLE)
    if named:
        return named, _pulled(engine, named, BASE_VARIABLE)
    found = _id_of(engine, LOCAL_BASE)
    if found is None:
        expected = f"image {LOCAL_BASE}, which servers are put on"
        raise EnvironmentMissing(expected, seen="the engine has none", hint=_BASE_HINT)
    return LOCAL_BASE, found


def _pulled(engine: Engine, name: str, variable: str) -> str:
    """Return the image's id."""
    found = _id_of(engine, name)
    if found is not None:
        return found
    try:
        with engine_errors(f"image {name}"):
            return str(engine.client.images.pull(name).id)
    except ClusterError as error:
        raise EnvironmentMissing(
            f"image {name}, which {variable} names",
            seen=f"the engine has none and cannot pull it: {error.seen}",
            hint=f"docker pull {name}, or unset {variable}",
        ) from error


def _id_of(engine: Engine, name: str) -> str | None:
    with engine_errors(f"to look for image {name}"):
        try:
            image: Any = engine.client.images.get(name)
        except ImageNotFound:
            return None
        return str(image.id)


def make_images(releases: Sequence[str]) -> None:
    """Build missing images and print all names. Raises as image_for."""
    with closing(Engine.connect()) as engine:
        for release in releases:
            image = image_for(engine, release)
            with engine_errors(f"{image.name} to be tagged"):
                engine.client.images.get(image.name).tag(REPOSITORY, release)
            print(f"{image.name} = {REPOSITORY}:{release}")  # noqa: T201  # for `make image`


if __name__ == "__main__":
    try:
        make_images(sys.argv[1:] or [DEFAULT_RELEASE])
    except HarnessError as error:
        print(f"rocketdiff: {error}", file=sys.stderr)  # noqa: T201  # as the command line does
        sys.exit(int(error.exit_code))
