"""How a server's JVM is started: flags with their reasons, main class, settings file."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.cluster.interface import Role
from rocketdiff.core.resources import resource
from rocketdiff.releases.artifacts import server_class_path
from rocketdiff.releases.java_programs import compiled
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.progress import ProgressListener

LAUNCHER_CLASS = "rocketdiff.server.Loopback"
LAUNCHER_SOURCES = "harness/rocketdiff/cluster/launched/java"

MAIN_CLASS = {
    Role.NAME_SERVER: "org.apache.rocketmq.namesrv.NamesrvStartup",
    Role.BROKER: "org.apache.rocketmq.broker.BrokerStartup",
    Role.SLAVE: "org.apache.rocketmq.broker.BrokerStartup",
}

_FLAGS = (
    # A gigabyte or more by default; enough for thousands of messages a second.
    "-Xms128m",
    "-Xmx256m",
    # On two cores with three to four JVMs the simplest collector and compiler start fastest and disturb least.
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # A shared file in /tmp that a killed JVM leaves behind.
    "-XX:-UsePerfData",
    # What RocketMQ reaches into on Java 17 (its own start scripts are for Java 8).
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    # What Loopback reaches into, so that no port is open to the network.
    "--add-opens=java.base/java.net=ALL-UNNAMED",
    # Addresses are IPv4 all through; so are the sockets, and /proc/net/tcp shows them all.
    "-Djava.net.preferIPv4Stack=true",
    # At start a server makes itself an RSA key and certificate, twice: 2 to 6 s of a core, seen by taking times with
    # and without. No client here speaks TLS.
    "-Dtls.server.mode=disabled",
)

# Variables that would change a JVM or a server behind our back.
_UNWANTED = {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "NAMESRV_ADDR", "ROCKETMQ_HOME"}


@dataclass(frozen=True, slots=True)
class Installation:
    """A server release as it lies on this machine, our launcher before its jars, and the Java that runs it."""

    release: str
    java: Path
    class_path: tuple[Path, ...]


def installed(release: str, listener: ProgressListener | None = None) -> Installation:
    """
    Find or fetch everything a server of that release needs.

    Raises UsageError for an unknown release, EnvironmentMissing without Java or jars.
    """
    java = find_java(listener)
    launcher = compiled("loopback", resource(LAUNCHER_SOURCES), (), java)
    return Installation(release, java.java, (launcher, *server_class_path(release, listener)))


def java_command(installation: Installation, role: Role, folder: Path, extra: Sequence[str] = ()) -> list[str]:
    """Command line of a server whose folder holds ``server.properties`` and ``conf/``; nothing is written outside it."""
    return [
        str(installation.java),
        *_FLAGS,
        *extra,
        f"-Duser.home={folder}",
        f"-Djava.io.tmpdir={folder / 'tmp'}",
        f"-XX:ErrorFile={folder / 'hs_err.log'}",
        f"-Drocketmq.home.dir={folder}",
        f"-Drmq.logback.configurationFile={folder / 'conf' / 'logback.xml'}",
        "-cp",
        os.pathsep.join(map(str, installation.class_path)),
        LAUNCHER_CLASS,
        MAIN_CLASS[role],
        "-c",
        str(folder / "server.properties"),
    ]


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The runner's environment without what would change a server behind our back."""
    kept = {name: value for name, value in inherited.items() if name not in _UNWANTED}
    # Where the locale is C, Java takes every letter of a path that is not ASCII for a question mark.
    return kept | {"LC_ALL": "C.UTF-8"}
