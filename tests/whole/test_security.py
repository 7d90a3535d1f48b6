"""Runs with access control and TLS: same verdict, no leaked secret, clear messages."""

import contextlib
import json
import os
import shlex
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import psutil
import pytest

from rocketdiff.cluster import up
from rocketdiff.cluster.access import channels_to
from rocketdiff.cluster.external.backend import External
from rocketdiff.cluster.external.undo_log import logs_folder
from rocketdiff.cluster.interface import Cluster, security_of
from rocketdiff.cluster.launched.certificates import certificates
from rocketdiff.cluster.operations import admin
from rocketdiff.cluster.security_file import read
from rocketdiff.cluster.start import backend_named
from rocketdiff.core.arm import CANDIDATE, Arm, Member
from rocketdiff.core.errors import ClusterError, ExitCode, SubjectBroken
from rocketdiff.core.files import private_file
from rocketdiff.core.records.sending import Send
from rocketdiff.core.resources import import_path
from rocketdiff.core.security import Account, Security
from rocketdiff.core.sends.plan import Plan, PlannedSend, SendKind
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.tables.topology import topology_named
from rocketdiff.protocol.commands import SubjectSetup
from rocketdiff.releases.cache import cache_dir
from rocketdiff.run.subject_check.one_subject import carried_out, new_setup, unheard
from rocketdiff.subjects.registry import resolved
from rocketdiff.subjects.subject_process import SubjectProcess
from rocketdiff.traces.run_directory import RunDirectory
from rocketmq_reference.remoting.answers import expect_success
from rocketmq_reference.remoting.errors import MQBrokerException
from rocketmq_reference.remoting.frames import Command
from tests.live import READY_S, repeated
from tests.whole.stage import SCENARIOS, finished_run, run_of

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

_CREATE_USER = 3001
"""AUTH_CREATE_USER of 5.3.3."""

_LOOKS_EVERY_S = 0.05
_LOOKS_AT_NEW = 40
"""Reads per process: two seconds, many times the gap between fork and exec."""

SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"  # noqa: S105 - of a test

FEW = ("queue", "selector", "batch", "async", "oneway", "orderly", "broadcasting", "listener:throw", "listener:null")
SPARING = "exec:" + shlex.join(
    [
        *(sys.executable, str(Path(__file__).parents[1] / "subjects" / "own.py"), "--role=producer", "--role=consumer"),
        *(f"--without={claim}" for claim in FEW),
    ]
)
"""The reference with one kind of send and of group: tests/run/test_subject_check.py checks the others."""

BUSY = "run nearer to the cluster"
"""Hint for a distant cluster: a machine shared with other tests may be too slow for handshakes."""


@dataclass(frozen=True)
class Theirs:
    """A cluster of ours that stands in for a user's. security: what its clients must present."""

    cluster: Cluster
    folder: Path
    security: Security

    @property
    def account(self) -> Account:
        assert self.security.account is not None
        return self.security.account

    @property
    def file(self) -> str:
        return f"external:{self.folder / 'cluster.yaml'}"

    def security_file(self, name: str, text: str, secret: str) -> Path:
        """Write a security file with its own secret; ``{ca}``, ``{certificate}`` and ``{key}`` are the owner's files."""
        tls = self.security.tls
        assert tls is not None
        path = self.folder / name / "security.yaml"
        path.parent.mkdir()
        (path.parent / "secret").write_text(f"{secret}\n")
        (path.parent / "secret").chmod(0o600)
        for field, file in (("ca", tls.ca), ("certificate", tls.certificate), ("key", tls.key)):
            text = text.replace(f"{{{field}}}", str(file))
        path.write_text(f"format: 1\n{text}")
        return path


ACCOUNT = "account: {{access_key: {0}, secret_key_file: secret}}\n"
TLS = "tls: {ca: {ca}, certificate: {certificate}, key: {key}}\n"
TLS_OF_SERVERS = "tls: {ca: {ca}}\n"


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Theirs]:
    """Two pausable brokers of 5.3.3 with access control and mutual TLS enforced."""
    folder = tmp_path_factory.mktemp("theirs")
    made = folder / "made.yaml"
    made.write_text("format: 1\naccount: made\ntls: made-mutual\n")
    backend = backend_named("processes", "5.3.3", made)
    with backend.start(topology_named("two-masters"), folder / "cluster", timeout_s=READY_S) as cluster:
        lines = ["format: 1", "name: theirs", "topic_prefix: rocketdiff-test", "command_timeout_s: 30", "name_servers:"]
        lines += [f"  - address: {address}" for address in cluster.name_server_addresses]
        lines += ["brokers:"]
        for node in cluster.brokers:
            lines += [f"  {node.letter}:", f"    name: {node.name}"]
            lines += [f"    pause: kill -STOP {node.pid}", f"    resume: kill -CONT {node.pid}"]
        (folder / "cluster.yaml").write_text("\n".join(lines) + "\n")
        yield Theirs(cluster, folder, security_of(cluster))


@contextlib.contextmanager
def looked_for_in_processes(secrets: tuple[str, ...]) -> Iterator[list[str]]:
    """
    Search command lines and environments of all processes for secrets; yields the files with one.

    Only new processes are read repeatedly: after exec both stay the same.
    """
    found: list[str] = []
    looks: Counter[int] = Counter()
    over = threading.Event()

    def look() -> None:
        while not over.wait(_LOOKS_EVERY_S):
            for process in (pid for pid in psutil.pids() if looks[pid] < _LOOKS_AT_NEW):
                looks[process] += 1
                for path in (Path(f"/proc/{process}/cmdline"), Path(f"/proc/{process}/environ")):
                    with contextlib.suppress(OSError):
                        output = path.read_bytes()
                        found.extend(str(path) for secret in secrets if secret.encode() in output)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield found
    finally:
        over.set()
        looking.join()


def files_with(secrets: tuple[str, ...], folder: Path) -> list[Path]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if any(secret.encode() in path.read_bytes() for secret in secrets)]


def test_the_verdict_is_that_without_and_no_secret_is_anywhere(theirs: Theirs, tmp_path: Path) -> None:
    """
    Java and the reference conform under pauses on a secured external cluster with relays, and no secret leaks.

    Secrets are the account's and the key of a relay's certificate. Without security the pair conforms too
    (test_external_cluster).
    """
    text = ACCOUNT.format(theirs.account.access_key) + TLS
    file = theirs.security_file("right", text, theirs.account.secret_key)
    secrets = (theirs.account.secret_key,)
    options = ("--cluster", theirs.file, "--security", str(file), "--scenarios", str(SCENARIOS), "--wire")
    pair = ("--subject", "java:5.3.3", "--subject", "python:5.3.3", "--seed", "3", "--master", "none")

    def secured_run(number: int) -> "tuple[Path, subprocess.CompletedProcess[str]]":
        folder = tmp_path / str(number)
        return folder, finished_run(folder, "run", *pair, *options, "--scenario", "whole/three-pauses")

    with looked_for_in_processes(secrets) as found:
        folder, done = repeated(secured_run, lambda outcome: BUSY if BUSY in outcome[1].stderr else "")
    assert done.returncode == ExitCode.CONFORMS, done.stdout + done.stderr
    run = run_of(folder)
    assert found == []
    assert secrets[0] not in done.stdout + done.stderr
    assert files_with((*secrets, "PRIVATE KEY"), tmp_path) == []
    servers = {
        path.relative_to(theirs.folder / "cluster").parts[1] for path in files_with(secrets, theirs.folder / "cluster")
    }
    assert servers == {"conf", "store"}  # of each server, until it ends
    manifest = json.loads((run / "run.json").read_text())
    assert manifest["backend"] == "external (theirs), with access control and TLS"
    assert "PRIVATE KEY" not in done.stdout + done.stderr
    assert f"--security {file}" in (run / "report.json").read_text()
    assert all(RunDirectory.open(run).case(1).wire_file(Member(arm)).stat().st_size for arm in Arm)


def _of_another_authority(theirs: Theirs) -> Path:
    path = theirs.folder / "other.pem"
    path.write_text(certificates("-1H", 29).authority)
    return theirs.security_file("stranger", ACCOUNT.format("me") + f"tls: {{ca: {path}}}\n", "s" * 16)


MISTAKES: dict[str, tuple[Callable[[Theirs], Path | None], str]] = {
    "wrong key": (
        lambda theirs: theirs.security_file("wrong", ACCOUNT.format(theirs.account.access_key) + TLS, "w" * 32),
        r"signature failed.*try: the account in .*/security\.yaml",
    ),
    "unknown account": (
        lambda theirs: theirs.security_file("unknown", ACCOUNT.format("nobody") + TLS, "w" * 32),
        r"nobody.*try: the account in .*/security\.yaml",
    ),
    "no account": (
        lambda theirs: theirs.security_file("tls-only", TLS, "none"),
        "try: --security FILE with an account, because the brokers have access control",
    ),
    "unknown authority": (_of_another_authority, r"a certificate of name server .*; saw .*certificate"),
    "no certificate of its own": (
        lambda theirs: theirs.security_file(
            "nameless", ACCOUNT.format(theirs.account.access_key) + TLS_OF_SERVERS, theirs.account.secret_key
        ),
        r"try: certificate and key under tls in .*/security\.yaml, if the servers ask clients for one",
    ),
    "no TLS": (lambda _theirs: None, r"try: --security FILE with tls"),
}


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_a_mistake_is_one_error_without_the_secret(theirs: Theirs, mistake: str) -> None:
    """Each mistake is one ClusterError that says what to try, without the secret."""
    make, why = MISTAKES[mistake]
    file = make(theirs)
    with pytest.raises(ClusterError, match=why) as raised:
        External.of(theirs.file.partition(":")[2], "5.3.3", None if file is None else read(file)).fetch()
    assert raised.value.exit_code is ExitCode.ENVIRONMENT
    assert "w" * 16 not in str(raised.value)


def test_an_account_without_rights_is_reported(theirs: Theirs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An account without rights is reported at the probe topic, and no undo log remains."""
    monkeypatch.setattr("rocketdiff.cluster.external.inspect.SLOWEST_ANSWER_MS", 10_000.0)  # on a busy machine too
    body = json.dumps({"username": "powerless", "password": "p" * 16, "userType": "Normal"}).encode()
    with channels_to(theirs.security) as channels:
        for node in theirs.cluster.brokers:
            answer = channels.invoke(node.address, Command(_CREATE_USER, {"username": "powerless"}, body), 5_000)
            expect_success(answer, node.address)
    file = theirs.security_file("powerless", ACCOUNT.format("powerless") + TLS, "p" * 16)
    backend = External.of(theirs.file.partition(":")[2], "5.3.3", read(file))
    reported = (
        r"topic rocketdiff-test-probe-\w+ to be created.*try: the account in .* \(rights of powerless on the brokers\)"
    )
    with pytest.raises(ClusterError, match=reported):
        backend.start(topology_named("two-masters"), tmp_path)
    assert not list(logs_folder().glob("theirs-*"))


def sends_of(spec: str, setup: SubjectSetup, folder: Path) -> list[Send]:
    """The sends of a client that is asked for one."""
    plan = Plan(0, 1, (PlannedSend(0, 0, 0, SendKind.PLAIN, 0, 128),))
    with SubjectProcess(resolved(spec).program, CANDIDATE, folder / "subject", on_line=unheard) as process:
        process.await_hello()
        return carried_out(process, plan, setup).sends


def test_a_wrong_key_fails_with_the_signature_error(theirs: Theirs, tmp_path: Path) -> None:
    """A client with a wrong key fails with the signature error, not with a missing route."""
    setup = new_setup(theirs.cluster, ClientSettings(), 4)
    assert setup.security is not None
    account = setup.security["account"] | {"secret_key": "w" * 32}
    wrong = replace(setup, security=setup.security | {"account": account})
    with pytest.raises(SubjectBroken, match=r"MQBrokerException.*signature") as raised:
        sends_of("python:5.3.3", wrong, tmp_path)
    assert raised.value.signature == "protocol.failed"
    assert "route" not in str(raised.value).lower()


def test_the_java_client_shows_its_certificate(theirs: Theirs, tmp_path: Path) -> None:
    """The Java client presents its certificate to the servers, without a relay in between."""
    setup = new_setup(theirs.cluster, ClientSettings(), 4)
    assert setup.security is not None
    assert "key" in setup.security["tls"]
    (send,) = sends_of("java:5.3.3", setup, tmp_path)
    assert send.error is None
    assert send.broker in {node.name for node in theirs.cluster.brokers}


@pytest.fixture
def given(tmp_path: Path) -> Path:
    """A security file for clusters that rocketdiff starts: the user's account, generated certificates."""
    file = tmp_path / "given" / "security.yaml"
    private_file(file.parent / "secret", f"{SECRET}\n")
    file.write_text("format: 1\n" + ACCOUNT.format("me") + "tls: made-mutual\n")
    return file


def test_a_client_is_checked_on_a_secured_cluster(given: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a secured cluster the subject check passes for a producer and a member of a group, and leaves no secret."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    late = "still there two seconds after stop"
    with looked_for_in_processes((SECRET,)) as found:
        done = repeated(
            lambda _: finished_run(tmp_path, "subject", "check", SPARING, "--security", str(given), out=False),
            lambda outcome: late if late in outcome.stdout else "",
        )
    assert done.returncode == ExitCode.CONFORMS, done.stdout + done.stderr
    assert "✓ 20 sync sends, plain" in done.stdout
    assert "✓ member of a group, concurrent, clustering" in done.stdout
    assert found == []
    assert SECRET not in done.stdout + done.stderr
    assert files_with((SECRET, "PRIVATE KEY"), tmp_path) == [given.parent / "secret"]


@pytest.fixture
def secured(given: Path) -> Iterator[list[str]]:
    """The first lines printed by `cluster up --security`; the cluster is stopped afterwards."""
    line = [sys.executable, "-m", "rocketdiff.cli.app", "cluster", "up", "--topology", "one-master"]
    environment = os.environ | {"PYTHONPATH": import_path()}
    with subprocess.Popen(
        [*line, "--security", str(given)], env=environment, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert owner.stdout is not None
        try:
            yield [output.strip() for _, output in zip(range(5), owner.stdout, strict=False)]
        finally:
            up.down()
            owner.kill()


def test_a_secured_cluster_names_its_security_file(secured: list[str]) -> None:
    """
    `cluster up` names a security file with an accepted account; unsigned requests are refused.

    The secrets are removed with the cluster.
    """
    security, state = read(Path(secured[3])).given, up.current()
    assert state is not None
    assert state.security == secured[3]
    (broker,) = state.brokers.values()
    with channels_to(security) as channels:
        admin.store_probe(channels, broker, 0, b"signed")
    with channels_to(replace(security, account=None)) as channels, pytest.raises(MQBrokerException, match="username"):
        admin.store_probe(channels, broker, 0, b"unsigned")
    assert SECRET not in "".join(secured)
    folder = Path(state.folder)
    secret = [path.relative_to(folder).parts for path in files_with((SECRET, "PRIVATE KEY"), folder)]
    assert {parts[0] for parts in secret} == {"secret-key", "clients", "name-server-1", "broker-a"}
    assert {parts[1] for parts in secret if len(parts) > 2} == {"conf", "store"}
    assert up.down() == state
    assert files_with((SECRET, "PRIVATE KEY"), cache_dir() / "cluster") == []


def test_brokers_of_4_9_7_have_accounts_and_tls_too(tmp_path: Path) -> None:
    """Brokers of 4.9.7 start with accounts and TLS, refuse unsigned requests and leave no secret."""
    made = tmp_path / "made.yaml"
    made.write_text("format: 1\naccount: made\ntls: made\n")
    folder = tmp_path / "cluster"
    backend = backend_named("processes", "4.9.7", made)
    with backend.start(topology_named("one-master"), folder, timeout_s=READY_S) as cluster:
        security = security_of(cluster)
        account = security.account
        assert account is not None
        (broker,) = cluster.brokers
        with (
            channels_to(replace(security, account=None)) as channels,
            pytest.raises(MQBrokerException, match="accessKey"),
        ):
            admin.store_probe(channels, broker.address, 0, b"unsigned")
    assert files_with((account.secret_key,), tmp_path) == []
    assert "plain acl conf" in (folder / "broker-a" / "server.log").read_text()
