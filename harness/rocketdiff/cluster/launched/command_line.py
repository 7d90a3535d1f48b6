"""The command line of a server's JVM: flags with their reasons, main class, settings file."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.cluster.interface import Role
from rocketdiff.core.resources import resource
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
    Role.NAME_SERVER: "org.apache.rocketmq.namesrv.NamesrvStartup",
    Role.BROKER: "org.apache.rocketmq.broker.BrokerStartup",
    Role.SLAVE: "org.apache.rocketmq.broker.BrokerStartup",
}

FLAGS = (
    # A gigabyte or more by default; enough for thousands of messages a second.
    "-Xms128m",
    "-Xmx256m",
    # On two cores with three or four JVMs the simplest collector and compiler start fastest and disturb least.
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # A shared file in /tmp that a killed JVM leaves behind.
    "-XX:-UsePerfData",
    # Packages that RocketMQ accesses on Java 17 (its own start scripts are for Java 8).
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    # Our launcher Loopback accesses it, so that no port is open to the network.
    "--add-opens=java.base/java.net=ALL-UNNAMED",
    # All addresses are IPv4, so that /proc/net/tcp shows all sockets.
    "-Djava.net.preferIPv4Stack=true",
    # At start a server generates an RSA key and certificate, twice: 2 to 6 s of a core (measured). A flag after it says where there is TLS.
    "-Dtls.server.mode=disabled",
)

# Environment variables that would change a JVM or a server unnoticed.
_UNWANTED = {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "NAMESRV_ADDR", "ROCKETMQ_HOME"}


@dataclass(frozen=True, slots=True)
class Installation:
    """
    A server release on this machine: its class path, our launcher first, and the Java that runs it.

    class_archive: made by `server_archive.py`; None: the JVM loads every class by itself. proxy_class_path: empty where no proxy was asked for.
    """

    release: str
    java: Path
    class_path: tuple[Path, ...]
    class_archive: Path | None = None
    proxy_class_path: tuple[Path, ...] = ()


def installed(release: str, listener: ProgressListener | None = None, *, with_proxy: bool = False) -> Installation:
    """
    Finds or fetches everything that a server of that release needs, and its proxy if asked for.

    Raises UsageError for an unknown release, EnvironmentMissing without Java or jars.
    """
    java = find_java(listener)
    launcher = jar_of(compiled("loopback", resource(LAUNCHER_SOURCES), (), java))
    jars = (launcher, *server_class_path(release, listener))
    # Without links: a class archive names its jars, and a cache folder of links to another may be gone tomorrow.
    proxy = _proxy_class_path(release, launcher, java, listener) if with_proxy else ()
    return Installation(release, java.java, tuple(jar.resolve() for jar in jars), proxy_class_path=proxy)


def _proxy_class_path(
    release: str, launcher: Path, java: JavaHome, listener: ProgressListener | None
) -> tuple[Path, ...]:
    jars = proxy_class_path(release, listener)
    return (launcher, compiled("proxy", resource(PROXY_SOURCES), jars, java), *jars)


def java_command(
    installation: Installation, role: Role, folder: Path, extra: Sequence[str] = (), settings: Path | None = None
) -> list[str]:
    """
    Command line of a server whose folder holds its settings and ``conf/``; nothing is written outside it.

    settings: None for ``server.properties``. No word of it is secret.
    """
    main = [MAIN_CLASS[role], "-c", str(settings or folder / "server.properties")]
    archive = archive_flags(installation.class_archive)
    return [*_jvm(installation.java, folder, [*archive, *extra]), *_launched(installation.class_path, main)]


def proxy_command(installation: Installation, folder: Path) -> list[str]:
    """Command line of a proxy whose folder holds ``proxy.json``, and of mode LOCAL also its broker's ``server.properties``."""
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
    """The runner's environment without variables that would change a server unnoticed."""
    kept = {name: value for name, value in inherited.items() if name not in _UNWANTED}
    # Where the locale is C, Java takes every letter of a path that is not ASCII for a question mark.
    return kept | {"LC_ALL": "C.UTF-8"}
