"""Drivers in other languages: locks, builds, and messages where they cannot be built."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.resources import resource
from rocketdiff.core.security import ACL, TLS
from rocketdiff.core.sends.plan import SendKind, SendMode
from rocketdiff.releases.programs import driver_builds
from rocketdiff.releases.programs.driver_builds import (
    OTHER_CLIENTS,
    BuildStep,
    OtherClient,
    at_release,
    built_driver,
    capabilities_of,
    is_built,
    release_of,
    releases_of,
)

RELEASES = {
    f"{client.name}-{release}": at_release(client, release)
    for client in OTHER_CLIENTS.values()
    for release in releases_of(client)
}
EVERY = pytest.mark.parametrize("client", OTHER_CLIENTS.values(), ids=OTHER_CLIENTS)
EVERY_RELEASE = pytest.mark.parametrize("client", RELEASES.values(), ids=RELEASES)
WORDS = {ACL, TLS, *SendKind, *SendMode, "attempts", "attempt-starts", "routes", "grpc"} - {SendMode.SYNC}


def folder_of(client: OtherClient) -> Path:
    """With its lock."""
    folder = resource(f"harness/rocketdiff/drivers/{client.name}")
    return folder / "releases" / client.release if client.release else folder


def made(words: str, *, tools: tuple[str, ...] = ("sh",)) -> OtherClient:
    """The Go client, built by a shell command in the result's folder."""
    steps = lambda _sources, draft: [BuildStep(("sh", "-c", words), draft)]  # noqa: E731 - as in the table
    return replace(OTHER_CLIENTS["go"], tools=tools, steps=steps)


@EVERY_RELEASE
def test_the_lock_has_the_release_and_no_registry(client: OtherClient) -> None:
    """The lock has the release and no registry, so a configured mirror is used."""
    texts = {file.name: file.read_text() for file in folder_of(client).iterdir() if file.is_file()}
    assert any(release_of(client) in text for name, text in texts.items() if name != "hello.json")
    named = {name for name, text in texts.items() if re.search(r"registry\.|proxy\.|\"resolved\"", text)}
    assert named == set()


@EVERY
def test_drivers_claim_only_words_of_the_protocol(client: OtherClient) -> None:
    """Drivers claim only words of the protocol, which the runner trusts before the build."""
    assert capabilities_of(client) <= WORDS
    assert SendKind.PLAIN in capabilities_of(client)


@EVERY
def test_without_its_tools_it_is_refused_with_how_to_get_them(
    client: OtherClient, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its tools a driver is refused with the remedy, and nothing is created."""
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(EnvironmentMissing) as raised:
        built_driver(client)
    assert raised.value.seen.startswith(f"no {client.tools[0]}")
    assert raised.value.hint == client.remedy
    assert not cache.exists()


def test_a_driver_is_built_once_and_again_when_its_sources_change(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A driver is built once, and again when its sources change."""
    client = made(f"echo x >>{tmp_path / 'builds'}; echo program >driver")
    assert not is_built(client)
    first = built_driver(client)
    assert built_driver(client) == first
    assert is_built(client)
    assert ((first / "driver").read_text(), (tmp_path / "builds").read_text()) == ("program\n", "x\n")
    changed = tmp_path / "sources"
    changed.mkdir()
    (changed / "main.go").write_text("package main\n")
    (changed / "hello.json").write_text((folder_of(client) / "hello.json").read_text())
    monkeypatch.setattr(driver_builds, "resource", lambda _path: changed)
    assert built_driver(client) != first
    assert (tmp_path / "builds").read_text() == "x\nx\n"


def test_a_failed_build_reports_the_reason_and_leaves_nothing(cache: Path) -> None:
    """A failed build reports the tool's last words from both outputs and leaves nothing."""
    client = made("echo no network for module; echo giving up >&2; exit 3")
    with pytest.raises(EnvironmentMissing, match="no network for module giving up"):
        built_driver(client)
    assert [path.name for path in cache.rglob("*") if path.is_dir()] == ["clients", "go"]


def test_a_build_without_end_is_given_up(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that exceeds its deadline is ended."""
    monkeypatch.setattr(driver_builds, "_DEADLINE_S", 0.2)
    with pytest.raises(EnvironmentMissing, match=r"no end after 0\.2 s"):
        built_driver(made("sleep 600"))


@pytest.mark.usefixtures("cache")
def test_files_that_two_clients_share_lie_beside_the_own_ones() -> None:
    """Files shared by two clients are copied beside the own ones and determine the build."""
    list_all = lambda sources, draft: [BuildStep(("sh", "-c", f"find . -type f | sort >{draft / 'files'}"), sources)]  # noqa: E731
    client = replace(OTHER_CLIENTS["grpc-go"], tools=("sh",), steps=list_all)
    built = built_driver(client)
    files = ["async.go", "client.go", "go.mod", "go.sum", "hello.json", "main.go", "records.go", "session.go"]
    assert (built / "files").read_text().split() == [f"./{name}" for name in files]
    assert built_driver(replace(client, shared=("go/main.go",))) != built


@pytest.mark.parametrize(
    ("name", "lock", "line"),
    [
        ("go", "go.mod", "\tgithub.com/apache/rocketmq-client-go/v2 v{}\n"),
        ("rust", "Cargo.toml", 'rocketmq-client-rust = "={}"\n'),
        ("rust", "Cargo.lock", 'name = "rocketmq-client-rust"\nversion = "{}"\n'),
    ],
)
def test_each_release_of_a_client_is_built_from_its_own_lock(cache: Path, name: str, lock: str, line: str) -> None:
    """Files of a release replace those of the client's folder, or come to them, and no other release's lie beside them."""
    words = f"cp {lock} {{0}}; find . | sort >{{0}}/files"
    list_all = lambda sources, draft: [BuildStep(("sh", "-c", words.format(draft)), sources)]  # noqa: E731
    client = replace(OTHER_CLIENTS[name], tools=("sh",), steps=list_all)
    older, newest = (built_driver(at_release(client, release)) for release in releases_of(client))
    added = set((older / "files").read_text().split()) - set((newest / "files").read_text().split())
    assert added == ({"./.cargo", "./.cargo/config.toml"} if name == "rust" else set())
    assert "releases" not in (older / "files").read_text()
    for release, built in zip(releases_of(client), (older, newest), strict=True):
        assert line.format(release) in (built / lock).read_text()
        assert built.name.startswith(f"{release}-")
        assert built.is_relative_to(cache)


@EVERY
def test_a_shared_file_is_none_of_its_own(client: OtherClient) -> None:
    """Shared and own files have different paths, or one would be lost."""
    own = {str(file.relative_to(folder_of(client))) for file in folder_of(client).rglob("*")}
    shared = {name.partition("/")[2] for name in client.shared}
    assert not own & shared
    assert {path.name for path in (folder_of(client) / "releases").glob("*")} == set(client.older)
    assert all(resource(f"harness/rocketdiff/drivers/{name}").is_file() for name in client.shared)
