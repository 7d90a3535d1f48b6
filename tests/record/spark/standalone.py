"""A standalone Spark cluster on loopback, each process in its own directory."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.analysis.spark.class_archive import LOCAL_JAVA, class_archive
from rocketdiff.analysis.spark.home import local_home
from rocketdiff.releases.class_archive import archive_flags
from rocketdiff.releases.jdk import find_java

PATIENCE_S = 300.0
"""Limit for a JVM on a busy machine."""

_MASTER = re.compile(r"Starting Spark master at (spark://\S+)")
_REGISTERED = re.compile(r"Successfully registered with master")


def jvm_options(folder: Path) -> str:
    """Options of a local session, because these JVMs live for seconds; with an existing class archive."""
    archive = class_archive(folder)
    return " ".join((*LOCAL_JAVA, *archive_flags(None if archive is None else archive.mapped)))


@dataclass(frozen=True, slots=True)
class Standalone:
    """Address of the master, and each worker's process group."""

    master: str
    workers: tuple[subprocess.Popen[bytes], ...]

    def kill_worker(self) -> None:
        os.killpg(self.workers[0].pid, signal.SIGKILL)


@contextmanager
def standalone(folder: Path, workers: int) -> Iterator[Standalone]:
    """Start and register all workers; kill everything at the end."""
    with ExitStack() as stack:
        log = folder / "master.log"
        stack.enter_context(_started(folder / "master", log, "master.Master", "--port", "0"))
        address = _await_line(log, _MASTER)
        logs = [folder / f"worker-{number}.log" for number in range(workers)]
        processes = tuple(
            stack.enter_context(
                _started(
                    folder / f"worker-{number}",
                    logs[number],
                    "worker.Worker",
                    "--cores",
                    "1",
                    "--memory",
                    "1g",
                    address,
                )
            )
            for number in range(workers)
        )
        for one in logs:
            _await_line(one, _REGISTERED)
        yield Standalone(address, processes)


@contextmanager
def _started(folder: Path, log: Path, what: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    folder.mkdir(parents=True)
    home = local_home()
    environment = os.environ | {
        "JAVA_HOME": str(find_java().home),
        "SPARK_HOME": str(home),  # of a local session, because the class archive fits only its jars
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder),
        "SPARK_WORKER_DIR": str(folder / "work"),
        "SPARK_DAEMON_JAVA_OPTS": f"{jvm_options(folder)} -XX:-UsePerfData",
        "SPARK_DAEMON_MEMORY": "256m",
    }
    command = [
        str(home / "bin" / "spark-class"),
        f"org.apache.spark.deploy.{what}",
        "--host",
        "127.0.0.1",
        "--webui-port",
        "0",
        *arguments,
    ]
    with log.open("wb") as out:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=out, start_new_session=True)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _await_line(log: Path, wanted: re.Pattern[str]) -> str:
    """Wait for a matching line; return its first group or the whole match."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if found := wanted.search(log.read_text(errors="replace")):
            return found.group(found.re.groups and 1)
        time.sleep(0.1)
    raise AssertionError(f"{wanted.pattern} never came: {log.read_text(errors='replace')[-1_500:]}")
