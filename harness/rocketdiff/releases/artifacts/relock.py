"""
Maintainer command: resolve every release with Maven, once, and write the lock file.

    python -m rocketdiff.releases.artifacts.relock            needs `mvn` on PATH and a network; some minutes the first time
    python -m rocketdiff.releases.artifacts.relock --check    says what would change and exits 1 if anything would
    python -m rocketdiff.releases.artifacts.relock servers    resolves this section alone; the others stay as they are

Maven resolves because users of the client get its class path; range versions (grpc's `[1.53.0]`) break other resolvers.
"""

import argparse
import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from jgo.maven import MavenContext

from rocketdiff.core.errors import EnvironmentMissing, HarnessError
from rocketdiff.releases.cache import cache_dir
from rocketdiff.releases.catalogue import line_key
from rocketdiff.releases.lock import LOCK_FILE, SECTIONS, Artifact, ArtifactLock, read_lock, write_lock

GROUP = "org.apache.rocketmq"
GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath"
SEPARATOR = "|"
# Quiet batch mode; wrong checksums fail (-C); releases missing earlier are tried again (-U); `@` stands for the repository.
MAVEN_OPTIONS = (
    *("-B", "-q", "-ntp", "-C", "-U", "-DincludeScope=runtime"),
    *(f"-Dmdep.pathSeparator={SEPARATOR}", "-Dmdep.localRepoProperty=@"),
)
# The metadata of one module can lack existing releases (client: 4.3.1, 4.9.7), so several modules are read.
ASKED_MODULES = ("rocketmq-client", "rocketmq-common", "rocketmq-remoting", "rocketmq-broker", "rocketmq-namesrv")
FIRST_SERVERS = "4.3.0"
"""Every published release from here on is in the lock, except those that cannot be started."""

WITHOUT_SERVERS = {
    "4.3.0": "its topic for new topics is AUTO_CREATE_TOPIC_KEY, so a cluster that has no TBW102 never counts as ready",
}
"""Published releases whose servers are left out, and why (seen by ``python -m maintenance.servers``)."""

PROXY_RELEASES = ("5.3.3",)
# The gRPC Java client, which has its own release numbers.
GRPC_RELEASES = ("5.0.8", "5.1.0", "5.2.0")
# Libraries of our own Java programs, independent of RocketMQ's releases.
TOOLS = {"asm": ("org.ow2.asm", "9.8")}

ClassPaths = Mapping[str, tuple[Artifact, ...]]


def main(arguments: list[str] | None = None) -> int:
    """Write the lock, or compare it (--check)."""
    parser = argparse.ArgumentParser(
        prog="python -m rocketdiff.releases.artifacts.relock", description=__doc__.split("\n\n")[0]
    )
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the lock would change")
    parser.add_argument("sections", nargs="*", help=f"resolve these alone: {', '.join(SECTIONS)}")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.sections if name not in SECTIONS]:
        parser.error(f"expected sections of the lock; saw {', '.join(unknown)}; try: {', '.join(SECTIONS)}")
    try:
        lock = resolve_all(options.sections or SECTIONS)
    except HarnessError as error:
        print(error, file=sys.stderr)
        return int(error.exit_code)
    target = LOCK_FILE.with_suffix(".new") if options.check else LOCK_FILE
    write_lock(target, lock)
    print(f"{len(lock.clients)} clients, {len(lock.servers)} servers → {target.name}")
    if not options.check:
        return 0
    same = target.read_bytes() == LOCK_FILE.read_bytes()
    target.unlink()
    print("the lock is current" if same else "the lock would change")
    return 0 if same else 1


def resolve_all(sections: Collection[str] = SECTIONS) -> ArtifactLock:
    """Resolve the named sections and keep the others. A version without a published jar is printed and left out."""
    resolvers: dict[str, Callable[[], ClassPaths]] = {
        "clients": lambda: _published("client", published_releases(), "rocketmq-client"),
        "servers": lambda: _published("server", server_releases(), "rocketmq-namesrv", "rocketmq-broker"),
        "tools": lambda: {tool: resolve(version, (tool,), group) for tool, (group, version) in TOOLS.items()},
        "proxies": lambda: {release: _chosen("proxy", release, "rocketmq-proxy") for release in PROXY_RELEASES},
        "grpc_clients": lambda: {
            release: _chosen("gRPC client", release, "rocketmq-client-java") for release in GRPC_RELEASES
        },
    }
    return replace(read_lock(LOCK_FILE), **{name: resolvers[name]() for name in sections})


def server_releases() -> tuple[str, ...]:
    """Every published release from FIRST_SERVERS on, without those that cannot be started."""
    first = line_key(FIRST_SERVERS)
    return tuple(
        release for release in published_releases() if line_key(release) >= first and release not in WITHOUT_SERVERS
    )


def _published(kind: str, releases: Iterable[str], *modules: str) -> ClassPaths:
    """The releases that have all modules."""
    found: dict[str, tuple[Artifact, ...]] = {}
    for release in releases:
        jars = resolve(release, modules)
        print(f"{kind} {release}: {f'{len(jars)} jars' if jars else 'not published'}", flush=True)
        if jars:
            found[release] = jars
    return found


def _chosen(kind: str, release: str, *modules: str) -> tuple[Artifact, ...]:
    """Jars of a release listed above. EnvironmentMissing if it is not published."""
    jars = resolve(release, modules)
    print(f"{kind} {release}: {len(jars)} jars", flush=True)
    if not jars:
        raise EnvironmentMissing(f"{kind} {release} to be published", seen="Maven finds no such artifact")
    return jars


def published_releases() -> tuple[str, ...]:
    """Every version in the repository's metadata of RocketMQ's modules, in release-line order."""
    with tempfile.TemporaryDirectory() as folder:
        context = MavenContext(repo_cache=Path(folder))
        versions: set[str] = set()
        for module in ASKED_MODULES:
            project = context.project(GROUP, module)
            project.update()
            versions.update(project.metadata.versions)
    return tuple(sorted(versions, key=line_key))


def resolve(release: str, modules: Iterable[str], group: str = GROUP) -> tuple[Artifact, ...]:
    """The run-time class path in Maven's order. Empty if a module of RocketMQ is not published in this release."""
    maven = shutil.which("mvn")
    if maven is None:
        raise EnvironmentMissing("mvn on PATH", seen="none", hint="install Maven 3.8 or later")
    # A separate local repository, so that locally installed builds do not matter.
    repository = cache_dir() / "relock"
    with tempfile.TemporaryDirectory() as name:
        pom, listing = Path(name) / "pom.xml", Path(name) / "class-path"
        pom.write_text(_pom(release, modules, group), encoding="utf-8")
        where = [f"-Dmaven.repo.local={repository}", f"-Dmdep.outputFile={listing}", "-f", str(pom)]
        ran = subprocess.run([maven, *MAVEN_OPTIONS, *where, GOAL], capture_output=True, text=True, check=False)
        if ran.returncode == 0:
            lines = listing.read_text(encoding="utf-8").strip().split(SEPARATOR)
            return tuple(artifact_of(line, repository) for line in lines)
    if "Could not find artifact org.apache.rocketmq:" in ran.stdout:
        return ()
    raise EnvironmentMissing(f"Maven to resolve {release}", seen=ran.stdout[:2_000])


def _pom(release: str, modules: Iterable[str], group: str) -> str:
    dependency = "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
    dependencies = "".join(dependency.format(group, module, release) for module in modules)
    return (
        '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>local</groupId>'
        "<artifactId>relock</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )


def artifact_of(line: str, repository: Path) -> Artifact:
    """`@/io/netty/netty-all/4.0.36.Final/netty-all-4.0.36.Final.jar` → the artifact, hashed as Maven stored it."""
    place = line.removeprefix("@/")
    *group, name, version, file = place.split("/")
    classifier = file.removesuffix(".jar").removeprefix(f"{name}-{version}").lstrip("-")
    coordinate = ":".join((".".join(group), name, version, *([classifier] if classifier else [])))
    content = (repository / place).read_bytes()
    return Artifact(coordinate, hashlib.sha256(content).hexdigest(), len(content))


if __name__ == "__main__":
    sys.exit(main())
