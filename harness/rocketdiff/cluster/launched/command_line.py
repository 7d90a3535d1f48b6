"""The command line of a server's JVM: flags with their reasons, main class, settings file."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.resources import resource
from rocketdiff.core.tables.topology import NodeKind
from rocketdiff.releases.artifacts.class_paths import proxy_class_path, server_class_path
from rocketdiff.releases.class_archive import archive_flags
from rocketdiff.releases.jdk import JavaHome, find_java
from rocketdiff.releases.programs.java_programs import compiled, jar_of
from rocketdiff.releases.progress import ProgressListener

LAUNCHER_CLASS = "rocketdiff.server.Loopback"
LAUNCHER_SOURCES = "harness/rocketdiff/cluster/launched/java"
PROXY_SOURCES = "harness/rocketdiff/cluster/launched/proxy_java"
PROXY_CLASS = "rocketdiff.server.GrpcProxy"

MAIN_CLASS = {
    NodeKind.NAME_SERVER: "org.apache.rocketmq.namesrv.NamesrvStartup",
    NodeKind.BROKER: "org.apache.rocketmq.broker.BrokerStartup",
    NodeKind.SLAVE: "org.apache.rocketmq.broker.BrokerStartup",
}

FLAGS = (
    # Default: 1 GB or more. This is enough for thousands of messages per second.
    "-Xms128m",
    "-Xmx256m",
    # On two cores with three or four JVMs, the simplest collector and compiler start fastest and disturb least.
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # A killed JVM leaves its performance data file in /tmp.
    "-XX:-UsePerfData",
    # Packages that RocketMQ accesses on Java 17 (its start scripts are for Java 8).
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    # For our launcher Loopback, which keeps ports closed to the network.
    "--add-opens=java.base/java.net=ALL-UNNAMED",
    # IPv4 only, so that /proc/net/tcp shows all sockets.
    "-Djava.net.preferIPv4Stack=true",
    # Otherwise a server generates an RSA key and certificate twice at its start: 2 to 6 s of a core. A later flag turns TLS on.
    "-Dtls.server.mode=disabled",
)

# Environment variables that would silently change a JVM or a server.
_UNWANTED = {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "NAMESRV_ADDR", "ROCKETMQ_HOME"}


@dataclass(frozen=True, slots=True)
class Installation:
    """
    A server release on this machine: its class path, our launcher first, and its Java.

    class_archive: made by `server_archive.py`; None: the JVM loads every class itself. proxy_class_path: empty unless
    requested.
    """

    release: str
    java: Path
    class_path: tuple[Path, ...]
    class_archive: Path | None = None
    proxy_class_path: tuple[Path, ...] = ()


def installed(release: str, listener: ProgressListener | None = None, *, with_proxy: bool = False) -> Installation:
    """
    Find or fetch everything that a server of that release needs, and optionally its proxy.

    Raises UsageError for an unknown release, EnvironmentMissing without Java or jars.
    """
    java = find_java(listener)
    launcher = jar_of(compiled("loopback", resource(LAUNCHER_SOURCES), (), java))
    jars = (launcher, *server_class_path(release, listener))
    # Resolve links: a class archive records the paths of its jars, and a cache folder of links may be removed.
    proxy = _proxy_class_path(release, launcher, java, listener) if with_proxy else ()
    return Installation(release, java.java, tuple(jar.resolve() for jar in jars), proxy_class_path=proxy)


def _proxy_class_path(
    release: str, launcher: Path, java: JavaHome, listener: ProgressListener | None
) -> tuple[Path, ...]:
    jars = proxy_class_path(release, listener)
    return (launcher, compiled("proxy", resource(PROXY_SOURCES), jars, java), *jars)


def java_command(
    installation: Installation, role: NodeKind, folder: Path, extra: Sequence[str] = (), settings: Path | None = None
) -> list[str]:
    """
    Command line of a server whose folder holds its settings and ``conf/``; it writes nothing outside. Contains no secret.

    settings: None for ``server.properties``.
    """
    main = [MAIN_CLASS[role], "-c", str(settings or folder / "server.properties")]
    archive = archive_flags(installation.class_archive)
    return [*_jvm(installation.java, folder, [*archive, *extra]), *_launched(installation.class_path, main)]


def proxy_command(installation: Installation, folder: Path) -> list[str]:
    """Command line of a proxy. folder: holds ``proxy.json`` and, in mode LOCAL, the broker's ``server.properties``."""
    main = [PROXY_CLASS, "-pc", str(folder / "proxy.json"), "-bc", str(folder / "server.properties")]
    return [
        *_jvm(installation.java, folder, [f"-DRMQ_PROXY_HOME={folder}"]),
        *_launched(installation.proxy_class_path, main),
    ]


def _jvm(java: Path, folder: Path, extra: Sequence[str]) -> list[str]:
    return [
        str(java),
        *FLAGS,
        *extra,
        f"-Duser.home={folder}",
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-XX:ErrorFile={folder / 'hs_err.log'}",
        f"-Drocketmq.home.dir={folder}",
        f"-Drmq.logback.configurationFile={folder / 'conf' / 'logback.xml'}",
    ]


def _launched(class_path: Sequence[Path], main: Sequence[str]) -> list[str]:
    return ["-cp", os.pathsep.join(map(str, class_path)), LAUNCHER_CLASS, *main]


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The runner's environment without variables that would silently change a server."""
    kept = {name: value for name, value in inherited.items() if name not in _UNWANTED}
    # With locale C, Java reads every non-ASCII letter of a path as a question mark.
    return kept | {"LC_ALL": "C.UTF-8"}
