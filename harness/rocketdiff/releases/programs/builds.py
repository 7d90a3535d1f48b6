"""
Unpublished builds of the Java client: a patched jar on the class path of a release, or a whole class path.

A whole class path is a folder of jars, a file written by `mvn dependency:build-classpath`, or the Maven resolution of
coordinates. The user names a build by path or coordinates (`patched.jar@5.3.3`, `dist/lib/`, `@classpath.txt`). From then
on its label is used, `5.3.3+1a2b3c4d`: the release whose rules it is held against, and eight digits of the sha256 of its
jars. The jars are copied into the cache, so a run can be repeated after the next `mvn package`. A build identical to a
published release gets that release's name.
"""

import hashlib
import json
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.text.nearest import nearest_releases
from rocketdiff.core.text.quoted import printable, word
from rocketdiff.releases.artifacts.class_paths import client_class_path
from rocketdiff.releases.artifacts.maven import class_path_of, is_coordinates
from rocketdiff.releases.cache import cache_dir, made_once, sha256_of, unwritable
from rocketdiff.releases.catalogue import base_of, is_known_client
from rocketdiff.releases.lock import Artifact, locked
from rocketdiff.releases.progress import ProgressListener

_SPEC = re.compile(r"(?P<path>.+\.jar|@.+?|.+/|[^:/]+:[^:/]+:[^:/@]+)(?:@(?P<base>[^@/]+))?")
_POM = re.compile(r"META-INF/maven/org\.apache\.rocketmq/(?P<name>[^/]+)/pom\.properties")
_PRODUCER = "org/apache/rocketmq/client/producer/DefaultMQProducer.class"
_NEEDED = ("org/apache/rocketmq/common/message/Message.class", "org/apache/rocketmq/remoting/RemotingClient.class")
"""Classes of the two artifacts without which no client can be loaded."""
_CLIENT = "rocketmq-client"
_GROUP = "org.apache.rocketmq"
_DESCRIPTION = "build.json"


@dataclass(frozen=True, slots=True)
class _Build:
    """jars: in class path order. replaced: names of the release's artifacts that they replace; None: all its jars."""

    base: str
    jars: tuple[Path, ...]
    replaced: tuple[str, ...] | None


def is_build(text: str) -> bool:
    """True for a jar, a folder ending in a slash, @ and a class path file, or coordinates."""
    return _SPEC.fullmatch(text) is not None


def is_kept(release: str) -> bool:
    """True for the label of a build in the cache."""
    return base_of(release) != release and (_folder(release) / _DESCRIPTION).is_file()


def kept(text: str) -> str:
    """
    Copy the build into the cache and return its label. Without ``@release`` the version in the jar selects the rules.

    Raises UsageError if it is not the Java client, or of an unknown release.
    """
    match = _SPEC.fullmatch(text)
    if match is None:
        raise UsageError(
            "the path of a jar", seen=printable(text, 200), hint="for example target/rocketmq-client.jar@5.3.3"
        )
    build = _read(match["path"], match["base"])
    digests = [sha256_of(jar) for jar in build.jars]
    published = [
        artifact
        for artifact in locked().clients[build.base]
        if build.replaced is None or _name(artifact) in build.replaced
    ]
    # Compared as a whole set: one additional jar could shadow classes of others.
    if {artifact.sha256 for artifact in published} == set(digests):
        return build.base
    # A single jar keeps its plain digest, which users can compute themselves.
    digest = digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()
    label = f"{build.base}+{digest[:8]}"
    if not is_kept(label):
        try:
            made_once(_folder(label), lambda draft: _copy(build, draft))
        except OSError as error:
            raise unwritable(_folder(label).parent, error) from error
    return label


def label_of(text: str) -> str:
    """The label of a build given by path, as from ``kept``. Any other release is returned unchanged."""
    return kept(text) if is_build(text) else text


def is_there(release: str) -> bool:
    """True for a published release or the label of a cached build."""
    return is_known_client(release) or is_kept(release)


def class_path(release: str, listener: ProgressListener | None = None) -> list[Path]:
    """Jars of a published release or cached build, in class path order. UsageError for an unknown release."""
    base = base_of(release)
    if base == release:
        return client_class_path(release, listener)
    if not is_kept(release):
        hint = "name the jar: java:path.jar@release"
        raise UsageError("a build that was named by its path before", seen=word(release), hint=hint)
    description = json.loads((_folder(release) / _DESCRIPTION).read_text("utf-8"))
    jars = [_folder(release) / name for name in description["jars"]]
    replaced = description["replaced"]
    if replaced is None:
        return jars
    artifacts = zip(client_class_path(base, listener), locked().clients[base], strict=True)
    return [*jars, *(path for path, artifact in artifacts if _name(artifact) not in replaced)]


def checksums(release: str) -> dict[str, str]:
    """The sha256 of each jar of a release or cached build, by file name."""
    if base_of(release) == release:
        return {artifact.path.name: artifact.sha256 for artifact in locked().clients.get(release, ())}
    return {jar.name: sha256_of(jar) for jar in class_path(release)}


def _read(path: str, base: str | None) -> _Build:
    if path.endswith(".jar"):
        names, version = _contents(Path(path))
        base = _known(base or version, path)
        if _CLIENT in names and not _has_class(Path(path), _PRODUCER):
            raise _no_client(printable(path, 200), seen=f"its pom.properties, but no {_PRODUCER}")
        replaced = tuple(name for artifact in locked().clients[base] if (name := _name(artifact)) in names)
        if not replaced:
            raise UsageError(
                f"a jar that is part of the Java client {base}",
                seen=f"{printable(path, 200)} with {', '.join(sorted(names))}",
            )
        return _Build(base, (Path(path),), replaced)
    jars = class_path_of(path) if is_coordinates(path) else _listed(path)
    client = _only_client(jars, path)
    missing = [name for name in _NEEDED if not any(_has_class(jar, name) for jar in jars)]
    if missing:
        hint = "name the jars of its dependencies as well, or the client's jar alone: java:client.jar@release"
        raise UsageError(f"all that the client needs in {printable(path, 200)}", seen=f"no {missing[0]}", hint=hint)
    return _Build(_known(base or _contents(client)[1], path), jars, None)


def _only_client(jars: tuple[Path, ...], path: str) -> Path:
    """The jar with the producer. UsageError for several: their order would decide which one is loaded."""
    clients = [jar for jar in jars if _has_class(jar, _PRODUCER)]
    if not clients:
        raise _no_client(printable(path, 200))
    if len(clients) > 1:
        seen = " and ".join(printable(jar.name, 200) for jar in clients)
        raise UsageError(f"one client in {printable(path, 200)}", seen=seen, hint="leave one of them")
    return clients[0]


def _listed(path: str) -> tuple[Path, ...]:
    """Jars of a folder, by name, or of a class path file. UsageError if there is none."""
    try:
        if path.startswith("@"):
            # Maven separates jars by colons; other tools write one per line.
            text = Path(path[1:]).read_text("utf-8")
            entries = [entry for part in re.split(r"[:\r\n]", text) if (entry := part.strip())]
            _require_jars(entries, path)
            jars = tuple(map(Path, entries))
        else:
            jars = tuple(sorted(each for each in Path(path).iterdir() if each.suffix == ".jar"))
        missing = [jar for jar in jars if not jar.is_file()]
    except (OSError, ValueError) as problem:
        seen = _words_of(problem)
        raise UsageError(f"a class path in {printable(path, 200)}", seen=seen, hint="check the path") from problem
    if not jars or missing:
        seen = f"no {printable(str(missing[0]), 200)}" if missing else "no jar"
        raise UsageError(
            f"jars in {printable(path, 200)}",
            seen=seen,
            hint="a folder of jars, or the output of mvn dependency:build-classpath",
        )
    return jars


def _require_jars(entries: list[str], path: str) -> None:
    """UsageError for a folder of classes or a pattern: without it another client would be tested."""
    other = next((entry for entry in entries if not entry.endswith(".jar")), None)
    if other:
        hint = "package the classes as a jar, and name each jar"
        raise UsageError(f"only jars in {printable(path, 200)}", seen=printable(other, 200), hint=hint)


def _known(base: str | None, path: str) -> str:
    if base is None or base not in locked().clients:
        seen = word(base) if base else "a jar that does not say its release"
        hint = nearest_releases(base or "5", tuple(locked().clients), f"{printable(path, 200)}@")
        raise UsageError("a published release whose rules the build is compared with", seen=seen, hint=hint)
    return base


@contextmanager
def _opened(jar: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(jar) as archive:
            yield archive
    except (OSError, zipfile.BadZipFile, zlib.error, RuntimeError) as problem:  # RuntimeError: encrypted
        raise UsageError(
            f"a jar {printable(str(jar), 200)}", seen=_words_of(problem), hint="check the path"
        ) from problem


def _words_of(problem: Exception) -> str:
    """The message without errno."""
    if isinstance(problem, UnicodeDecodeError):
        return "a file that is not UTF-8 text"
    return (problem.strerror if isinstance(problem, OSError) else None) or str(problem)


def _has_class(jar: Path, name: str) -> bool:
    with _opened(jar) as archive:
        return name in archive.namelist()


def _contents(jar: Path) -> tuple[set[str], str | None]:
    """RocketMQ's artifacts in a jar, and its version. UsageError if there are none."""
    with _opened(jar) as archive:
        entries = archive.namelist()
        poms = {match["name"]: match[0] for entry in entries if (match := _POM.fullmatch(entry))}
        text = archive.read(next(iter(poms.values()))).decode("utf-8", "replace") if poms else ""
    names = set(poms) or ({_CLIENT} if _PRODUCER in entries else set())
    if not names:
        raise _no_client(printable(str(jar), 200))
    version = re.search(r"^version=(.+)$", text, re.MULTILINE)
    return names, version[1].strip() if version else None


def _name(artifact: Artifact) -> str:
    """Empty if the artifact is not RocketMQ's."""
    group, name, *_ = artifact.coordinate.split(":")
    return name if group == _GROUP else ""


def _folder(label: str) -> Path:
    return cache_dir() / "builds" / label


def _no_client(place: str, seen: str = f"neither {_PRODUCER} nor a pom.properties of {_GROUP}") -> UsageError:
    return UsageError(
        f"RocketMQ's Java client in {place}",
        seen=seen,
        hint="a fork under other package names is driven by a program of your own: exec:",
    )


def _copy(build: _Build, folder: Path) -> None:
    names = [f"{number:03}-{jar.name}" for number, jar in enumerate(build.jars)]
    for jar, name in zip(build.jars, names, strict=True):
        shutil.copyfile(jar, folder / name)
    description = {"base": build.base, "jars": names, "replaced": build.replaced}
    (folder / _DESCRIPTION).write_text(json.dumps(description), "utf-8")
