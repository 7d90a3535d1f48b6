"""
Downloads one exact artifact with jgo into a staging folder and moves it to the cache once verified.

jgo downloads one named file and never resolves anything. Interrupted downloads stay in the staging folder, so a file with
its final name is always complete.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import requests
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
        resolver=PythonResolver(progress_callback=_counting(listener)),
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
