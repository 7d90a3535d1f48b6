"""A Maven repository on loopback with toy jars and faults, and a recording listener."""

import hashlib
import threading
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from rocketdiff.releases.lock import Artifact
from rocketdiff.releases.progress import (
    BytesReceived,
    FetchFinished,
    FetchStarted,
    FileFinished,
    Notice,
    ProgressEvent,
)


@dataclass
class Repository:
    """Files by path, pending ``faults`` (one per request), the requests per jar, and the connections."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    faults: dict[str, list[str]] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)
    connections: int = 0

    def publish(self, coordinate: str, content: bytes) -> Artifact:
        artifact = Artifact(coordinate, hashlib.sha256(content).hexdigest(), len(content))
        self.files[str(artifact.path)] = content
        return artifact

    def misbehave(self, artifact: Artifact, *faults: str) -> None:
        """Answer the next requests for this jar with these faults: corrupt, cut, unavailable, stall."""
        self.faults[str(artifact.path)] = list(faults)


@dataclass
class RecordingListener:
    """Records every event."""

    starts: list[tuple[str, int, int]] = field(default_factory=list)
    received_bytes: int = 0
    names: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    ends: int = 0

    def __call__(self, event: ProgressEvent) -> None:
        match event:
            case FetchStarted(what, files, size_bytes):
                self.starts.append((what, files, size_bytes))
            case BytesReceived(size_bytes):
                self.received_bytes += size_bytes
            case FileFinished(name):
                self.names.append(name)
            case Notice(message):
                self.notes.append(message)
            case FetchFinished():
                self.ends += 1


def answer(request: BaseHTTPRequestHandler, served: Repository) -> None:
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
        request.close_connection = True
        return
    if fault == "stall":
        request.wfile.write(content[: len(content) // 2])
        request.wfile.flush()
        threading.Event().wait(60)
        return
    request.wfile.write(bytes(byte ^ 1 for byte in content) if fault == "corrupt" else content)
