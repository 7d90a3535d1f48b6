"""
The image that servers of a release run from: made here from a base with Java and the locked jars, or one the user names.

A made image is tagged with a digest of everything that goes into it, so one that is there is the right one and nothing is made
twice. The base comes from docker/base.sh (`make image`), or is any image with a Java that ROCKETDIFF_BASE_IMAGE names.
"""

import hashlib
import os
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

from docker.errors import BuildError, ImageNotFound

from rocketdiff.cluster.containers.engine import Engine, engine_errors
from rocketdiff.cluster.launched.command_line import LAUNCHER_SOURCES
from rocketdiff.core.errors import ClusterError, EnvironmentMissing
from rocketdiff.core.resources import resource
from rocketdiff.releases.artifacts import require_server, server_class_path
from rocketdiff.releases.java_programs import compiled
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.lock import Artifact, locked
from rocketdiff.releases.progress import ProgressListener

BASE_VARIABLE = "ROCKETDIFF_BASE_IMAGE"
IMAGE_VARIABLE = "ROCKETDIFF_SERVER_IMAGE"

LOCAL_BASE = "rocketdiff/base:latest"
REPOSITORY = "rocketdiff/server"

_DOCKERFILE = "docker/Dockerfile"
_INSIDE = PurePosixPath("/opt/rocketmq")

# Sending 100 MB of jars to the engine and storing them as a layer takes 3 to 6 s; ten times that on a busy machine.
_BUILD_TIMEOUT_S = 300

_BASE_HINT = (
    f"make image, which makes it (as root, with debootstrap), or let {BASE_VARIABLE} name an image with Java 17"
)


@dataclass(frozen=True, slots=True)
class ServerImage:
    """
    What servers of a release run from.

    is_foreign: an image with a start script and a class path of its own (apache/rocketmq); class_path: of ours, inside.
    """

    name: str
    release: str
    is_foreign: bool
    class_path: tuple[str, ...] = ()


def image_for(engine: Engine, release: str, listener: ProgressListener | None = None) -> ServerImage:
    """
    The image for servers of that release, made if it is not there.

    Raises UsageError for an unknown release, EnvironmentMissing without the image or what it is made from.
    """
    named = os.environ.get(IMAGE_VARIABLE)
    if named:
        return _foreign(engine, named.replace("{release}", release), release)
    require_server(release)
    base, base_id = _base(engine)
    jars = locked().servers[release]
    # Compiling wants a JDK, which everything else here wants as well.
    launcher = compiled("loopback", resource(LAUNCHER_SOURCES), (), find_java(listener))
    dockerfile = resource(_DOCKERFILE).read_text()
    name = f"{REPOSITORY}:{release}-{digest_of(dockerfile, base_id, jars, launcher.name)}"
    if _id_of(engine, name) is None:
        paths = server_class_path(release, listener)
        _build(engine, name, {"BASE": base}, context_of(dockerfile, jars, paths, launcher))
    return ServerImage(name, release, is_foreign=False, class_path=inside_class_path(jars))


def require_release(release: str) -> None:
    """UsageError for a release of which no image can be made, unless the user names an image; no engine is asked."""
    if not os.environ.get(IMAGE_VARIABLE):
        require_server(release)


def look_for_base(engine: Engine) -> tuple[str, bool]:
    """What is known of the base without fetching anything, in words, and whether servers can be put on it."""
    image = os.environ.get(IMAGE_VARIABLE)
    if image:
        return f"not needed: {IMAGE_VARIABLE} is {image}", True
    name = os.environ.get(BASE_VARIABLE) or LOCAL_BASE
    found = _id_of(engine, name)
    return (f"{name}, {found.removeprefix('sha256:')[:12]}", True) if found else (f"the engine has no {name}", False)


def digest_of(dockerfile: str, base_id: str, jars: Sequence[Artifact], launcher: str) -> str:
    """Of everything that decides what is in a made image; the launcher's folder is named by its own digest."""
    parts = (dockerfile, base_id, launcher, *(jar.sha256 for jar in jars))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def inside_class_path(jars: Sequence[Artifact]) -> tuple[str, ...]:
    """The class path as it is inside a made image, our launcher first."""
    return (str(_INSIDE / "loopback"), *(str(_INSIDE / "lib" / jar.path) for jar in jars))


def context_of(dockerfile: str, jars: Sequence[Artifact], paths: Sequence[Path], launcher: Path) -> IO[bytes]:
    """The build context as a tar in a temporary file: Dockerfile, class path, launcher, jars; no times, no owners."""
    file = tempfile.TemporaryFile()  # noqa: SIM115  # whoever builds closes it
    with tarfile.open(fileobj=file, mode="w") as tar:
        _add_text(tar, "Dockerfile", dockerfile)
        # In the form that `java @file` reads, for whoever runs the image by hand.
        _add_text(tar, "class-path", f"-cp\n{':'.join(inside_class_path(jars))}\n")
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
    """Name and id of the image that ours are put on; one that nobody has named is never pulled, whoever may offer it."""
    named = os.environ.get(BASE_VARIABLE)
    if named:
        return named, _pulled(engine, named, BASE_VARIABLE)
    found = _id_of(engine, LOCAL_BASE)
    if found is None:
        expected = f"image {LOCAL_BASE}, which servers are put on"
        raise EnvironmentMissing(expected, seen="the engine has none", hint=_BASE_HINT)
    return LOCAL_BASE, found


def _pulled(engine: Engine, name: str, variable: str) -> str:
    """Id of an image that the user named, fetched if the engine has it not."""
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
