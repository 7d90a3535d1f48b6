"""
Downloads one exact artifact with jgo into a staging folder and moves it to the cache once verified.

jgo downloads one named file and never resolves anything. Interrupted downloads stay in the staging folder, so a file with
its final name is always complete.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import requests
from jgo.maven import Artifact as MavenArtifact
from jgo.maven import MavenContext, PythonResolver

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.releases.cache import sha256_of, unwritable
from rocketdiff.releases.lock import Artifact
from rocketdiff.releases.progress import BytesReceived, FileFinished, Notice, ProgressListener
from rocketdiff.releases.unreachable import reason_of

REPOSITORY_VARIABLE = "ROCKETDIFF_MAVEN_REPOSITORY"
# A jar of 60 MB takes longer, but no single read does unless the connection is dead.
READ_TIMEOUT_S = 30
# Short network failures end within seconds. A repository that is down should be reported soon.
PAUSES_BEFORE_RETRY_S = (1.0, 3.0)
_CHUNK_BYTES = 1 << 16


def fetch(artifact: Artifact, target: Path, staging: Path, listener: ProgressListener) -> None:
    """Download and verify the artifact. Wrong content is downloaded once more, then EnvironmentMissing."""
    for last_try in (False, True):
        arrived = _download(artifact, staging, listener)
        seen = sha256_of(arrived)
        if seen == artifact.sha256:
            _take_in(arrived, target)
            listener(FileFinished(target.name))
            return
        arrived.unlink()
        if not last_try:
            differs = f"sha256 {seen[:12]}… instead of {artifact.sha256[:12]}…"
            listener(Notice(f"{target.name} arrived with {differs}; fetching it again"))
    raise EnvironmentMissing(
        f"{artifact.coordinate} with sha256 {artifact.sha256}",
        seen=f"sha256 {seen}, twice",
        hint=f"look for a proxy or mirror that changes files; {REPOSITORY_VARIABLE} chooses another repository",
    )


def _take_in(arrived: Path, target: Path) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        arrived.replace(target)
    except OSError as error:
        raise unwritable(target.parent, error) from error


def _download(artifact: Artifact, staging: Path, listener: ProgressListener) -> Path:
    group, name, version, *classifier = artifact.coordinate.split(":")
    repository = os.environ.get(REPOSITORY_VARIABLE)
    context = MavenContext(
        resolver=_KeptConnections(progress_callback=_counting(listener)),
        repo_cache=staging,
        remote_repos={"chosen": repository.rstrip("/")} if repository else None,
        timeout=READ_TIMEOUT_S,
    )
    wanted = context.project(group, name).at_version(version).artifact("".join(classifier))
    for pause_s in (*PAUSES_BEFORE_RETRY_S, None):
        (staging / artifact.path).unlink(missing_ok=True)
        try:
            return wanted.resolve()
        except (requests.RequestException, RuntimeError) as error:
            # jgo raises RuntimeError for every status but 200, so an overloaded repository looks like a missing file.
            if pause_s is None:
                raise _unreachable(artifact, error) from error
        except OSError as error:
            raise unwritable(staging, error) from error
        time.sleep(pause_s)
    raise AssertionError("the last try returns or raises")


class _KeptConnections(PythonResolver):
    """
    Downloads over connections that are kept, one a thread: opening them anew took 35 s for 134 jars that came in half a second.

    The repository's SHA-1 is not asked for, because ``fetch`` compares SHA-256 with the lock.
    """

    _own = threading.local()

    def download(self, artifact: MavenArtifact) -> Path:
        assert artifact.cached_path is not None
        assert self.progress_callback is not None
        if not hasattr(self._own, "session"):
            self._own.session = requests.Session()
        for repository in artifact.context.remote_repos.values():
            url = f"{repository}/{artifact.component.path_prefix.as_posix()}/{artifact.filename}"
            with self._own.session.get(url, stream=True, timeout=artifact.context.timeout) as answer:
                if answer.status_code != requests.codes.ok:
                    continue
                artifact.cached_path.parent.mkdir(parents=True, exist_ok=True)
                with artifact.cached_path.open("wb") as file, self.progress_callback(artifact.filename, 0) as count:
                    for chunk in answer.iter_content(_CHUNK_BYTES):
                        file.write(chunk)
                        count(len(chunk))
                return artifact.cached_path
        raise RuntimeError(f"Artifact {artifact} not found in remote repositories {artifact.context.remote_repos}")


def _counting(listener: ProgressListener) -> Callable[[str, int], AbstractContextManager[Callable[[int], None]]]:
    @contextmanager
    def count(_name: str, _size_bytes: int) -> Iterator[Callable[[int], None]]:
        yield lambda size_bytes: listener(BytesReceived(size_bytes))

    return count


def _unreachable(artifact: Artifact, error: Exception) -> EnvironmentMissing:
    return EnvironmentMissing(
        f"to fetch {artifact.coordinate} from the Maven repository",
        seen=reason_of(error),
        hint=f"check the network and run again (finished files are kept), or set {REPOSITORY_VARIABLE} to a mirror you reach",
    )
