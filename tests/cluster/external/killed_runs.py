"""Killed runs on an external cluster, whose undo logs others execute."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

from rocketdiff.cluster.external.described import DescribedCluster
from rocketdiff.cluster.external.undo_log import LoggedRun, RestoreNode, UndoEntry, UndoLog
from rocketdiff.core.resources import import_path
from rocketdiff.core.tables.topology import NodeKind
from tests.cluster.external.owned import Owned
from tests.live import await_that

RUN_OF_LOG = LoggedRun("unit", ("127.0.0.1:1",), "runs/x")

RUN = """
import os, sys, time, pickle, threading
from pathlib import Path
from rocketdiff.cluster.external import connect, inspect, undo_log
from rocketdiff.core.tables.topology import topology_named
home, file = map(Path, sys.argv[1:])
undo_log.logs_folder = lambda: home
connect._store_and_read = lambda *_: None
inspect.SLOWEST_ANSWER_MS = 10_000.0
described = pickle.loads(file.read_bytes())
cluster = connect.connect(described, topology_named("two-masters"), home / "run")
cluster.create_topic(described.topic_prefix + "-t", 4)
cluster.pause("mq-blue")
print("paused", flush=True)
time.sleep(600)
"""


def resume(owned: Owned, command: str, timeout_s: float = 5.0, verb: str = "resume") -> RestoreNode:
    broker = owned.brokers["mq-blue"]
    words = ("/bin/sh", "-c", command)
    return RestoreNode("mq-blue", NodeKind.BROKER, broker.address, "t", verb, words, str(owned.folder), timeout_s)


def died(log: UndoLog) -> None:
    """Close the file, as the kernel does for a killed process."""
    log._file.close()


def leave_log(*entries: UndoEntry) -> UndoLog:
    """Write the undo log of a killed run with these pending entries."""
    log = UndoLog.create(RUN_OF_LOG)
    for entry in entries:
        log.record(entry)
    died(log)
    return log


def run_of(owned: Owned, home: Path, described: DescribedCluster) -> "subprocess.Popen[str]":
    """A run in its own process, which pauses mq-blue and prints that."""
    file = owned.folder / "described"
    file.write_bytes(pickle.dumps(described))
    environment = os.environ | {"PYTHONPATH": import_path()}
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(home), str(file)], stdout=subprocess.PIPE, env=environment, text=True
    )


def await_undone(run: "subprocess.Popen[str]", home: Path) -> None:
    """Wait until the guardian of the killed run has finished."""
    run.wait()
    if run.stdout is not None:
        run.stdout.close()
    await_that(lambda: not list(home.glob("*.ndjson")), "everything undone")
