"""The Java host itself: every release loads, and nothing depends on the machine."""

import json
import subprocess
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rocketdiff.core.errors import HarnessError
from rocketdiff.releases.artifacts.class_paths import client_class_path
from rocketdiff.releases.catalogue import client_releases
from rocketdiff.releases.jdk import find_java
from rocketdiff.releases.programs.java_programs import MAIN_CLASS, SIMULATOR_JVM_OPTIONS, simulator_class_path
from rocketdiff.simulation.java_host import JavaHost, Job, java_program
from rocketdiff.simulation.script import parse_script
from rocketdiff.simulation.virtual.tape import ScriptedTape

TOY = Path(__file__).parent / "java_toys" / "ThreadLocalIndex.java"
TOY_RELEASE = "4.7.1"
QUEUES = 64
SEED = 8

SELECTION = {
    "format": 1,
    "route": {"b": 3, "a": 2},
    "settings": {"send_latency_fault_enable": True},
    "steps": [
        {"do": "update", "broker": "a", "latency_ms": 60_000, "isolation": False},
        {"do": "select"},
        {"do": "select", "last_broker": "b"},
        {"do": "dump", "parts": ["index", "worst_index", "queues", "faults"]},
    ],
}
THREADS = {
    "format": 1,
    "route": {"a": 4, "b": 4},
    "settings": {"send_latency_fault_enable": True, "retry_times_when_send_failed": 3},
    "expired_wait_extra_ms": 1,
    "steps": [
        {
            "do": "timeline",
            "entries": [
                {
                    "at_ms": 0,
                    "action": {
                        "do": "broker",
                        "name": "a",
                        "answers": [20, "SYSTEM_BUSY", "timeout", "refused", "reset"],
                    },
                },
                {"at_ms": 0, "action": {"do": "send", "mode": "sync", "count": 4, "thread": 0}},
                {"at_ms": 0, "action": {"do": "send", "mode": "sync", "count": 4, "every_ms": 500, "thread": 1}},
                {"at_ms": 10, "action": {"do": "pause", "broker": "b"}},
                {"at_ms": 700, "action": {"do": "resume", "broker": "b"}},
                {"at_ms": 800, "action": {"do": "send", "mode": "oneway", "count": 2, "thread": 2}},
            ],
        },
        {"do": "send", "mode": "sync", "selector": 5, "thread": 2},
        {"do": "dump", "parts": ["index", "worst_index", "queues", "faults", "clock"]},
    ],
}


@pytest.fixture(scope="module")
def toy_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JavaHost]:
    """A host with a release whose ThreadLocalIndex acts on the counter's value."""
    folder = tmp_path_factory.mktemp("toy")
    subprocess.run(
        [str(find_java().javac), "--release", "8", "-Xlint:-options", "-d", str(folder), str(TOY)], check=True
    )
    jar = folder / "toy.jar"
    with zipfile.ZipFile(jar, "w") as archive:
        for file in folder.rglob("*.class"):
            archive.write(file, file.relative_to(folder))
    program = replace(java_program(), release_class_path=lambda release: [jar, *client_class_path(release)])
    with JavaHost(program) as host:
        yield host


def picked(host: JavaHost, number: int, **more: Any) -> int:
    """The queue id that this counter selects."""
    steps = [{"do": "advance", "ms": 40}, {"do": "index", "value": number}, {"do": "select"}]
    script = parse_script({"format": 1, "route": {"a": QUEUES}, "seed": SEED, "steps": steps, **more}, f"toy-{number}")
    (line,) = host.run(TOY_RELEASE, f"toy-{number}", script)
    return int(json.loads(line)["select"]["queue_id"])


@pytest.mark.parametrize(
    ("number", "what", "queue_id"),
    [
        (0, "the clock begins at 1.7e12 ms and moves with the script", 40),
        (1, "a sleep takes its time", 30),
        (2, "a pool of four runs its task", 17),
        (3, "a thread waits at a queue 3 ms, sleeps 4 ms, and opens a latch", 7),
        (4, "a latch that nobody opens takes the time that is waited", 12),
        (5, "so does a monitor that nobody notifies", 25),
        (6, "Random draws from the script's tape", ScriptedTape(SEED).below(QUEUES)),
        (7, "a timer at 5, 15, 25, 35 ms and a task at 40 ms release five permits", 40),
        (8, "method references are rewritten too", 49),
        (9, "a synchronized method is left by a thread that waits in it", 0),
        (10, "a lock is free when its holder has slept", 21),
        (12, "a future that nothing completes times out", 1),
    ],
)
def test_time_threads_and_chance_are_virtual(toy_host: JavaHost, number: int, what: str, queue_id: int) -> None:
    """Time, threads and random numbers are virtual, and take no real time."""
    assert picked(toy_host, number) == queue_id, what


def test_shuffling_draws_from_the_tape(toy_host: JavaHost) -> None:
    """Shuffling exchanges each place, from the last to the second, with one at or before it."""
    tape, items = ScriptedTape(SEED), list(range(QUEUES))
    tape.shuffle(items)
    assert picked(toy_host, 11) == items[0]


def test_an_expired_wait_can_be_a_millisecond_late(toy_host: JavaHost) -> None:
    """An expired wait, not a sleep, may end 1 ms late: a race that is rare on a real machine."""
    assert picked(toy_host, 4, expired_wait_extra_ms=1) == 13
    assert picked(toy_host, 1, expired_wait_extra_ms=1) == 30


@pytest.mark.parametrize(
    ("number", "call"),
    [
        (50, "java.util.concurrent.locks.LockSupport.parkNanos(J)V"),
        (51, "java.util.Date.<init>()V"),
        (52, "java.util.concurrent.ForkJoinPool.commonPool()Ljava/util/concurrent/ForkJoinPool;"),
        (53, "java.util.concurrent.CompletableFuture.supplyAsync"),
        (54, "java.util.List.parallelStream()Ljava/util/stream/Stream;"),
        (55, "java.util.concurrent.locks.LockSupport.park()V"),
    ],
)
def test_a_call_that_nothing_stands_for_is_named_when_it_is_reached(toy_host: JavaHost, number: int, call: str) -> None:
    """A call without a replacement is named when reached, even if the code catches every exception."""
    with pytest.raises(HarnessError) as error:
        picked(toy_host, number)
    assert f"org.apache.rocketmq.client.common.ThreadLocalIndex.refused calls {call}" in str(error.value)


def test_two_hosts_print_the_same_bytes() -> None:
    """Two hosts print the same bytes for threads and waits, whatever the machine and earlier scripts."""
    jobs = [
        Job(release, name, parse_script(script, name), trace=True)
        for release in ("4.0.0-incubating", "4.7.1", "4.9.8", "5.1.4", client_releases()[-1])
        for name, script in (("selection", SELECTION), ("threads", THREADS))
    ]
    with JavaHost() as first, JavaHost() as second:
        forwards = dict(first.run_all(jobs))
        backwards = dict(second.run_all(reversed(jobs)))
    assert forwards == backwards
    assert all(forwards.values())


def test_an_unknown_release_or_step_ends_only_its_run() -> None:
    """An unknown release or step ends only its run; the end of stdin ends the host."""
    output = host_output(
        {"type": "release", "release": "5.3.3", "class_path": [str(path) for path in client_class_path("5.3.3")]},
        run(1, "9.9.9", SELECTION),
        run(2, "5.3.3", {**SELECTION, "steps": [{"do": "jump"}]}),
        run(3, "5.3.3", SELECTION),
    )
    ends = [line for line in output if "end" in line]
    assert ends[0] == {"end": 1, "error": {"kind": "host", "message": "nobody told the class path of release 9.9.9"}}
    assert ends[1] == {"end": 2, "error": {"kind": "script", "message": "unknown step jump"}}
    assert ends[2] == {"end": 3, "virtual_ms": 0}


def run(number: int, release: str, script: dict[str, Any]) -> dict[str, Any]:
    """A command that runs a script at selection depth."""
    command = {"type": "run", "id": number, "release": release, "name": "S", "depth": "selection", "trace": False}
    return {**command, "script": script}


def host_output(*commands: dict[str, Any]) -> list[dict[str, Any]]:
    """The output of a new host."""
    class_path = ":".join(map(str, simulator_class_path()))
    done = subprocess.run(
        [str(find_java().java), *SIMULATOR_JVM_OPTIONS, "-cp", class_path, MAIN_CLASS],
        input="".join(json.dumps(command) + "\n" for command in commands),
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]
