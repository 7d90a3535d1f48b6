"""An empty cache, a Maven repository on loopback and a listener for each test."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rocketdiff.releases.artifacts import download
from tests.releases.loopback import RecordingListener, Repository, answer


@pytest.fixture
def progress() -> RecordingListener:
    return RecordingListener()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("ROCKETDIFF_CACHE", str(folder))
    return folder


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    """A running repository that serves all downloads; retries follow at once."""
    served = Repository()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # keeps connections

        def setup(self) -> None:
            served.connections += 1
            super().setup()

        def do_GET(self) -> None:
            answer(self, served)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_port}/maven"
    monkeypatch.setenv("ROCKETDIFF_MAVEN_REPOSITORY", served.url)
    monkeypatch.setattr(download, "PAUSES_BEFORE_RETRY_S", (0.0, 0.0))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield served
    server.shutdown()
    server.server_close()
    thread.join()
