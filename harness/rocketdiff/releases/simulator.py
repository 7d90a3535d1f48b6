"""The virtual-time host: one Java program that loads the real classes of any release and runs them on scripts."""

import os
from collections.abc import Sequence
from pathlib import Path

from rocketdiff.core.resources import resource
from rocketdiff.releases.artifacts import ensure, fetch_clients
from rocketdiff.releases.compiled import compiled
from rocketdiff.releases.jvm import find_java
from rocketdiff.releases.lock import locked
from rocketdiff.releases.progress import ProgressListener

SOURCES = "harness/rocketdiff/simulation/java_host/java"
MAIN_CLASS = "rocketdiff.simulation.Main"

SIMULATOR_JVM_OPTIONS = (
    # C1 and the serial collector: a host lives for seconds, and on two shared cores their warm-up is what counts.
    *("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
    # 39 releases take about 50 MB of heap; the rest is room between collections.
    *("-Xms128m", "-Xmx768m"),
    "-XX:-UsePerfData",  # keeps the JVM out of /tmp
    # Netty logs to java.util.logging where it finds nothing else; without a handler that is silent.
    f"-Djava.util.logging.config.file={os.devnull}",
)


def simulator_class_path(listener: ProgressListener | None = None) -> list[Path]:
    """The host's classes and libraries; it is given the class path of each release at run time."""
    libraries = ensure("simulation host", locked().tools["asm"], listener)
    return [compiled("simulation", resource(SOURCES), libraries, find_java(listener)), *libraries]


def fetch_simulation(releases: Sequence[str], listener: ProgressListener | None = None) -> None:
    """
    Everything that a host needs to run these releases: Java, its own classes and theirs.

    Call it before starting several hosts: otherwise they wait for each other to download or compile the same files.
    """
    simulator_class_path(listener)
    fetch_clients(releases, listener)
