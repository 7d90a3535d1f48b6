"""The scenarios of a run on each backend."""

import subprocess
import sys
from pathlib import Path

import pytest

from rocketdiff.cluster.start import backend_named
from rocketdiff.core.errors import UsageError
from rocketdiff.core.resources import import_path
from rocketdiff.core.subject import SubjectId
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.run.request import Selection
from rocketdiff.run.selection import NO_CALL, NO_GROUP, Choice, choose, require_pair, why_not_asked
from rocketdiff.scenario import load_all, select
from rocketdiff.subjects.registry import published, resolved

JAVA, PYTHON = SubjectId("java", "5.3.3"), SubjectId("python", "5.3.3")
WITH_SLAVES = "double-write/calm"


def chosen(backend: str, *patterns: str) -> Choice:
    return choose(Selection(patterns=patterns), (published(JAVA), published(PYTHON)), backend_named(backend))


GRPC = {scenario.name for scenario in load_all() if scenario.name.startswith("grpc/")}
"""Scenarios with a proxy, which the two remoting clients cannot use."""

MOVES = {"route/broker-moved"}
"""Scenarios that move a broker to another port."""


def test_processes_leave_out_grpc_only() -> None:
    """Processes leave out only gRPC scenarios."""
    choice = chosen("processes")
    assert {name for name, _ in choice.not_here} == GRPC
    assert WITH_SLAVES in {one.name for one in choice.scenarios}


def test_containers_of_a_bridge_leave_out_what_has_slaves_and_nothing_else() -> None:
    """Containers on a bridge leave out exactly the scenarios with slaves, with containers:host as remedy."""
    choice, everything = chosen("containers"), chosen("processes")
    left = {name: reason for name, reason in choice.not_here if name not in {*GRPC, *MOVES}}
    assert {one.name for one in everything.scenarios if "slave" in one.topology} == set(left)
    assert WITH_SLAVES in left
    assert {one.name for one in choice.scenarios} == {one.name for one in everything.scenarios} - {*left, *MOVES}
    assert all(
        "not its master's inside a container; use --cluster containers:host" in reason for reason in left.values()
    )
    assert chosen("containers:bridge") == choice


def test_containers_of_the_hosts_network_leave_out_only_what_moves_a_broker() -> None:
    """Containers on the host's network run what processes run, except that their brokers keep their ports."""
    choice, everything = chosen("containers:host"), chosen("processes")
    assert {one.name for one in everything.scenarios} - {one.name for one in choice.scenarios} == MOVES
    reasons = {reason for name, reason in choice.not_here if name in MOVES}
    assert reasons == {"a container keeps its ports, so no broker can move; try --cluster processes"}


def test_choosing_imports_no_client_of_an_engine() -> None:
    """Selection does not import the engine's client, which takes half a second."""
    program = (
        "import sys, rocketdiff.run.selection; print([m for m in ('docker', 'testcontainers') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_call_that_one_client_lacks_is_named_as_in_a_run() -> None:
    """Single scenarios, as the pytest plugin selects them, lack the same calls as a whole run."""
    everything = {one.name: one for one in chosen("processes").scenarios}
    pair = published(JAVA), published(SubjectId("cpp", "2.1.0"))
    without = choose(Selection(), pair, backend_named("processes")).without_call
    not_asked = {name for name, scenario in everything.items() if why_not_asked(scenario, pair) == NO_CALL}
    assert not_asked == set(without)
    assert not_asked
    assert why_not_asked(everything["round-robin/calm"], pair) is None


@pytest.mark.parametrize(
    ("other", "left", "reason"),
    [
        (
            SubjectId("go", "2.1.2"),
            ClientRole.CONSUMER,
            f"{NO_GROUP}: go:2.1.2 is no consumer: its driver is a producer only",
        ),
        (SubjectId("toy", "drops"), ClientRole.CONSUMER, f"{NO_GROUP}: toy:drops is no consumer"),
        (SubjectId("toy", "doubles"), ClientRole.PRODUCER, NO_CALL),
    ],
)
def test_a_client_without_a_role_leaves_its_scenarios_out_with_the_reason(
    other: SubjectId, left: ClientRole, reason: str
) -> None:
    """Of the quick suite, a client without consumers plays the rest, and so does one without a producer."""
    pair = published(JAVA), published(other)
    choice = choose(Selection("quick"), pair, backend_named("processes"))
    quick = {one.name: one.role for one in select(load_all(), "quick")}
    assert dict(choice.left_out) == {name: reason for name, role in quick.items() if role is left}
    assert {one.role for one in choice.scenarios} == {*ClientRole} - {left}
    alone = choose(Selection(patterns=tuple(dict(choice.left_out))), pair, backend_named("processes"))
    assert reason in alone.why_none


OWN = Path(__file__).parents[1] / "subjects" / "own.py"


@pytest.mark.parametrize(
    ("flags", "name", "reason"),
    [
        (
            "",
            "consuming/pause-one-of-two",
            "no consumers for such a group: acme:1.0 is no consumer, as hello has the roles producer",
        ),
        (
            "--role=consumer",
            "round-robin/calm",
            "no such call: acme:1.0 is no producer, as hello has the roles consumer",
        ),
        ("--role=consumer --role=producer", "round-robin/calm", None),
        ("--role=consumer", "consuming/pause-one-of-two", None),
        (
            "--role=consumer --without=listener:throw",
            "consuming/failing-listener",
            "hello of acme:1.0 does not claim listener:throw",
        ),
        ("--role=consumer --without=owned", "consuming/pause-one-of-two", None),
        ("--without=async", "async/calm", "no such call: hello of acme:1.0 does not claim async"),
    ],
)
def test_a_program_plays_the_scenarios_of_its_roles(
    flags: str, name: str, reason: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program of the user is asked for what its hello claims; what it leaves out has one reason, which names what is missing."""
    monkeypatch.setenv("PYTHONPATH", import_path())
    pair = published(JAVA), resolved(f"exec:{sys.executable} {OWN} {flags}")
    choice = choose(Selection(patterns=(name,)), pair, backend_named("processes"))
    why = dict(choice.left_out).get(name)
    assert (why is None) is (reason is None)
    assert (why or "").endswith(reason or "")
    assert [one.name for one in choice.scenarios] == [name] * (why is None)


GRPC_JAVA = SubjectId("grpc-java", "5.2.0")


@pytest.mark.parametrize(
    ("subjects", "message"),
    [
        ((JAVA, GRPC_JAVA), "two clients of one protocol.*java:5.3.3 speaks remoting, grpc-java:5.2.0 speaks grpc"),
        ((GRPC_JAVA, PYTHON), "two clients of one protocol.*grpc-java:5.2.0 speaks grpc, python:5.3.3 speaks remoting"),
        ((SubjectId("grpc-go", "5.1.2"), GRPC_JAVA), "grpc-java as the baseline of a client.*saw grpc-go:5.1.2"),
    ],
)
def test_clients_of_two_protocols_are_not_compared(subjects: tuple[SubjectId, SubjectId], message: str) -> None:
    """Clients of two protocols are not compared, because a proxy chooses the queue; gRPC clients need grpc-java as baseline."""
    with pytest.raises(UsageError, match=message):
        require_pair(*map(published, subjects))


def test_clients_that_speak_grpc_run_where_there_is_a_proxy_and_nowhere_else() -> None:
    """Clients of gRPC run only scenarios with a proxy; the message for others names the grpc suite."""
    subjects = (published(GRPC_JAVA), published(GRPC_JAVA))
    choice = choose(Selection(patterns=("**",)), subjects, backend_named("processes"))
    assert {one.name for one in choice.scenarios} == GRPC
    with pytest.raises(UsageError, match=r"a scenario for grpc clients; saw round-robin/calm.*--suite grpc"):
        choose(Selection(patterns=("round-robin/calm",)), subjects, backend_named("processes"))


def test_a_backend_without_a_proxy_is_refused() -> None:
    """Containers leave out all gRPC scenarios: their images have no proxy."""
    choice = choose(Selection(patterns=("grpc/*",)), (published(GRPC_JAVA),) * 2, backend_named("containers"))
    assert not choice.scenarios
    assert {name for name, _ in choice.not_here} == GRPC
