"""
Clients of other languages: our driver in the client's language, built into the cache at first use.

Each is a folder of ``drivers`` with sources, the language's lock of exact versions, and ``hello.json``: the driver's
hello, which states the client's capabilities before anything is built. Clients of one language share files: a folder may
name files of another, which are copied beside its own for the build. A new client needs a folder and a row in
OTHER_CLIENTS. An older release of a client is a name in its row and a folder ``releases/RELEASE``, whose files (the lock,
and what the release calls differently) replace those of the client's folder.
"""

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from rocketdiff.core.errors import EnvironmentMissing, HarnessError
from rocketdiff.core.resources import import_path, resource
from rocketdiff.process.child import Child
from rocketdiff.releases.cache import cache_dir, exclusive, made_once
from rocketdiff.releases.progress import Notice, ProgressListener, silent

_SOURCES = "harness/rocketdiff/drivers"
_HELLO = "hello.json"
_RELEASES = "releases"

_DEADLINE_S = 1_800
"""
The Rust client takes three minutes on two cores, and a machine may be ten times slower. Only a hanging network takes longer.
"""

_LAST_WORDS = 1_000


@dataclass(frozen=True, slots=True)
class BuildStep:
    """One command of a build: its words, working folder, and additional environment variables."""

    words: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OtherClient:
    """
    How the driver of one client is built and started.

    name: of the subject and its folder. title: for people. tools: needed to build and run it. remedy: how to get them.
    takes: duration of the first build, in words. steps: from the source folder into a draft. command: of the built
    driver. environment: of each start. shared: files of another folder, as ``folder/path``, that complete its sources.
    older: releases besides that of ``hello.json``, oldest first. release: chosen by ``at_release``; empty for the newest.
    """

    name: str
    title: str
    tools: tuple[str, ...]
    remedy: str
    takes: str
    steps: Callable[[Path, Path], Sequence[BuildStep]]
    command: Callable[[Path], tuple[str, ...]]
    environment: Mapping[str, str] = field(default_factory=dict)
    shared: tuple[str, ...] = ()
    older: tuple[str, ...] = ()
    release: str = ""


def _go_steps(sources: Path, draft: Path) -> Sequence[BuildStep]:
    # Download no other toolchain, change no module file, and embed no path of this machine.
    words = (
        "go",
        "build",
        "-mod=readonly",
        "-trimpath",
        "-buildvcs=false",
        "-ldflags=-s -w",
        "-o",
        str(draft / "driver"),
        ".",
    )
    return [BuildStep(words, sources, {"GOTOOLCHAIN": "local", "GOFLAGS": ""})]


def _rust_steps(name: str) -> Callable[[Path, Path], Sequence[BuildStep]]:
    def steps(sources: Path, draft: Path) -> Sequence[BuildStep]:
        # Compiled dependencies are kept beside the drivers, so that a changed driver builds in seconds, not minutes. A release
        # with settings of its own has its own: every change of settings compiles all of them again.
        compiled = rust_target(name)
        if (sources / ".cargo").is_dir():
            compiled = compiled.with_name(
                f"target-of-{hashlib.sha256((sources / 'Cargo.lock').read_bytes()).hexdigest()[:8]}"
            )
        words = ("cargo", "build", "--release", "--locked", "--target-dir", str(compiled))
        return [BuildStep(words, sources), BuildStep(("cp", str(compiled / "release" / "driver"), str(draft)), sources)]

    return steps


def rust_target(name: str) -> Path:
    """Cargo's target folder for this client."""
    return cache_dir() / "clients" / name / "target"


def _node_steps(sources: Path, draft: Path) -> Sequence[BuildStep]:
    # Packages are installed beside the driver. None needs to compile anything, so install scripts are forbidden.
    shutil.copytree(sources, draft, dirs_exist_ok=True)
    return [BuildStep(("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"), draft)]


def _python_steps(sources: Path, draft: Path) -> Sequence[BuildStep]:
    # A separate environment: some packages of the client are also ours, in other versions.
    python = str(draft / "env" / "bin" / "python")
    locked = ("--require-hashes", "--no-deps", "--requirement", str(sources / "requirements.txt"))
    return [
        BuildStep((sys.executable, "-m", "venv", str(draft / "env")), sources),
        BuildStep((python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *locked), sources),
    ]


def _driver(built: Path) -> tuple[str, ...]:
    return (str(built / "driver"),)


def _main_js(built: Path) -> tuple[str, ...]:
    return ("node", str(built / "main.js"))


def _go(name: str, title: str, **more: Any) -> OtherClient:
    remedy = "install Go 1.22 or later (apt-get install golang-go, or go.dev/dl)"
    return OtherClient(name, title, ("go",), remedy, "about a minute", _go_steps, _driver, **more)


def _rust(name: str, title: str, **more: Any) -> OtherClient:
    remedy = "install Rust 1.95 or later with cargo (rustup.rs)"
    return OtherClient(name, title, ("cargo",), remedy, "two to four minutes", _rust_steps(name), _driver, **more)


def _node(name: str, title: str, **more: Any) -> OtherClient:
    remedy = "install Node.js 18 or later with npm (apt-get install nodejs npm)"
    tools = ("node", "npm")
    return OtherClient(name, title, tools, remedy, "some seconds", _node_steps, _main_js, **more)


OTHER_CLIENTS = {
    client.name: client
    for client in (
        _go("go", "Go client", environment={"ROCKETMQ_GO_LOG_LEVEL": "warn"}, older=("2.1.1",)),
        _node("node", "Node client"),
        _rust("rust", "Rust client", environment={"RUST_LOG": "warn"}, older=("0.9.0",)),
        _go(
            "grpc-go",
            "Go client that speaks gRPC",
            shared=("go/async.go", "go/main.go", "go/records.go", "go/session.go"),
        ),
        _node(
            "grpc-node",
            "Node client that speaks gRPC",
            shared=("node/main.js", "node/records.js", "node/session.js"),
        ),
        _rust(
            "grpc-rust",
            "Rust client that speaks gRPC",
            shared=("rust/src/asynchronous.rs", "rust/src/main.rs", "rust/src/records.rs", "rust/src/session.rs"),
        ),
        OtherClient(
            "grpc-python",
            "Python client that speaks gRPC",
            ("python3",),
            "apt-get install python3-venv (Debian, Ubuntu)",
            "half a minute",
            _python_steps,
            lambda built: (str(built / "env" / "bin" / "python"), "-m", "rocketdiff.drivers.python.grpc_python"),
            # Bytecode files would change the built folder, whose digests are checked.
            {"PYTHONPATH": import_path(), "PYTHONDONTWRITEBYTECODE": "1"},
        ),
    )
}


def releases_of(client: OtherClient) -> tuple[str, ...]:
    """Every release that the driver can be built for, oldest first."""
    return (*client.older, str(_hello(client.name)["version"]))


def at_release(client: OtherClient, release: str) -> OtherClient:
    """The client in one of its releases."""
    return replace(client, release=release if release in client.older else "")


def release_of(client: OtherClient) -> str:
    """The release that the driver is built for: the newest unless another was chosen."""
    return client.release or releases_of(client)[-1]


def capabilities_of(client: OtherClient) -> frozenset[str]:
    """The driver's claims in its hello, read without starting it."""
    claims = _hello(client.name)["capabilities"]
    assert isinstance(claims, list)
    return frozenset(claims)


def attempt_timeout_ms_of(client: OtherClient) -> int | None:
    """The claimed attempt timeout of a client that does not obey ``send_msg_timeout_ms``."""
    own_ms = _hello(client.name).get("attempt_timeout_ms")
    assert own_ms is None or isinstance(own_ms, int)
    return own_ms


def built_driver(client: OtherClient, progress: ProgressListener | None = None) -> Path:
    """The folder of the built driver. Raises EnvironmentMissing if tools are missing or fail."""
    target = _target(client)
    if target.is_dir():  # also while another release is built
        return made_once(target, lambda draft: _build(client, draft))
    require_tools(client)
    listener = progress or silent
    with exclusive(
        target.parent, lambda: listener(Notice(f"waiting for another process that builds the {client.title}"))
    ):
        if not target.is_dir():
            listener(Notice(f"building the {client.title} ({client.takes} the first time)"))
        return made_once(target, lambda draft: _build(client, draft))


def is_built(client: OtherClient) -> bool:
    """True if the cache has the driver, built from its current sources."""
    return _target(client).is_dir()


def missing_tools(client: OtherClient) -> tuple[str, ...]:
    """The programs to build and run it that are not on PATH."""
    return tuple(tool for tool in client.tools if shutil.which(tool) is None)


def require_tools(client: OtherClient) -> None:
    """Raise EnvironmentMissing, with the remedy, if a program is missing."""
    missing = missing_tools(client)
    if missing:
        seen = f"no {' and no '.join(missing)} on PATH"
        raise EnvironmentMissing(f"{' and '.join(client.tools)}, for the {client.title}", seen=seen, hint=client.remedy)


@cache
def _hello(name: str) -> dict[str, object]:
    hello = json.loads((resource(f"{_SOURCES}/{name}") / _HELLO).read_text("utf-8"))
    if not isinstance(hello, dict):
        raise HarnessError(f"an object in {name}/{_HELLO}", seen=type(hello).__name__, hint="install rocketdiff again")
    return hello


def _sources(client: OtherClient) -> dict[str, Path]:
    """By path in the folder that is built."""
    own = resource(f"{_SOURCES}/{client.name}")
    releases = own / _RELEASES
    files = _files(own, (path for path in own.rglob("*") if not path.is_relative_to(releases)))
    shared = {name.partition("/")[2]: resource(f"{_SOURCES}/{name}") for name in client.shared}
    chosen = releases / client.release
    return files | shared | (_files(chosen, chosen.rglob("*")) if client.release else {})


def _files(folder: Path, paths: Iterable[Path]) -> dict[str, Path]:
    return {str(path.relative_to(folder)): path for path in paths if path.is_file()}


def _target(client: OtherClient) -> Path:
    """Named by a digest of the sources, so that a changed driver is built again."""
    digest = hashlib.sha256()
    for name, path in sorted(_sources(client).items()):
        digest.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\0".encode())
    return cache_dir() / "clients" / client.name / f"{release_of(client)}-{digest.hexdigest()[:16]}"


def _build(client: OtherClient, draft: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="rocketdiff-") as folder:
        for name, path in _sources(client).items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, Path(folder) / name)
        for step in client.steps(Path(folder), draft):
            _run(client, step)


def _run(client: OtherClient, step: BuildStep) -> None:
    """Run a command under a supervisor, so that no compiler outlives the runner."""
    with tempfile.TemporaryFile() as output:
        child = Child(
            step.words,
            stderr=os.fdopen(os.dup(output.fileno()), "r+b"),
            environment=os.environ | step.environment,
            folder=step.folder,
            is_heard=False,
        )
        try:
            child.close_input()
            has_ended = child.await_end(_DEADLINE_S)
            status = child.status()
        finally:
            child.close()
        output.seek(0)
        words = " ".join(output.read().decode(errors="replace").split())[-_LAST_WORDS:]
    if not has_ended:
        raise EnvironmentMissing(f"the {client.title} to be built", seen=f"no end after {_DEADLINE_S} s; {words}")
    if status != 0:
        hint = f"check the network; {client.remedy}"
        raise EnvironmentMissing(f"the {client.title} to be built", seen=words or f"status {status}", hint=hint)
