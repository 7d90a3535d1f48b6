"""A Maven repository on loopback that serves small made-up jars, and misbehaves when told to."""

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.releases import download
from harness.releases.lock import Artifact


@dataclass
class Repository:
    """What is served at which path, what goes wrong (`faults`, one taken a request), and how often jars were asked for."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[str]] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)

    def publish(self, coordinate: str, content: bytes) -> Artifact:
        """Serve this content under the coordinate; the artifact as a lock would state it."""
        artifact = Artifact(coordinate, hashlib.sha256(content).hexdigest(), len(content))
        self.files[str(artifact.path)] = content
        return artifact

    def misbehave(self, artifact: Artifact, *faults: str) -> None:
        """Answer the next requests for this jar with these faults: corrupt, cut, unavailable, stall."""
        self.faults[str(artifact.path)] = list(faults)


@dataclass
class Told:
    """A listener that writes down what it is told."""

    starts: list[tuple[str, int, int]] = field(default_factory=list)
    received_bytes: int = 0
    names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ends: int = 0

    def started(self, what: str, files: int, size_bytes: int) -> None:
        """Write down."""
        self.starts.append((what, files, size_bytes))

    def received(self, size_bytes: int) -> None:
        """Add up."""
        self.received_bytes += size_bytes

    def file_finished(self, name: str) -> None:
        """Write down."""
        self.names.append(name)

    def noted(self, message: str) -> None:
        """Write down."""
        self.notes.append(message)

    def finished(self) -> None:
        """Count."""
        self.ends += 1


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of this test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ROCKETDIFF_CACHE", str(folder))
    return folder


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    """A running repository that downloads are sent to; retries follow at once."""
    served = Repository()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802 - the name that http.server calls
            answer(self, served)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its signature
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    served.url = f"http://127.0.0.1:{server.server_port}/maven"
    monkeypatch.setenv("ROCKETDIFF_MAVEN_REPOSITORY", served.url)
    monkeypatch.setattr(download, "PAUSES_BEFORE_RETRY_S", (0.0, 0.0))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield served
    server.shutdown()
    server.server_close()
    thread.join()


def answer(request: BaseHTTPRequestHandler, served: Repository) -> None:
    """One request: the file, nothing, or the fault whose turn it is."""
    path = request.path.removeprefix("/maven/")
    content = served.files.get(path)
    if path.endswith(".jar"):
        served.requests[path.rsplit("/", 1)[1]] += 1
    faults = served.faults.get(path, [])
    fault = faults.pop(0) if faults else ""
    if content is None or fault == "unavailable":
        request.send_error(503 if fault else 404)
        return
    request.send_response(200)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    if fault == "cut":
        request.wfile.write(content[: len(content) // 2])
        return
    if fault == "stall":
        request.wfile.write(content[: len(content) // 2])
        request.wfile.flush()
        threading.Event().wait(60)
        return
    request.wfile.write(bytes(byte ^ 1 for byte in content) if fault == "corrupt" else content)
