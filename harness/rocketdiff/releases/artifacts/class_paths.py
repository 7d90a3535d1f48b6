"""
Class paths of releases on this machine: the jars in the lock, downloaded if missing, verified by sha256.

Finished files are kept if a download is interrupted, so the next attempt continues there.
"""

import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path

from rocketdiff.core.errors import UsageError
from rocketdiff.core.text.nearest import nearest_releases
from rocketdiff.core.text.quoted import word
from rocketdiff.releases.cache import Condition, cache_dir, condition_of, exclusive, unwritable
from rocketdiff.releases.lock import Artifact, locked
from rocketdiff.releases.progress import (
    FetchFinished,
    FetchStarted,
    Notice,
    PlainProgress,
    ProgressListener,
    one_at_a_time,
)

# Most jars are small, so round trips dominate. More at once was not faster, and is impolite to a public repository.
DOWNLOADS_AT_ONCE = 6


OWN_JARS = "to judge a jar of your own, leave this one in place and name yours: --subject java:yours.jar@5.3.3"


def client_class_path(release: str, listener: ProgressListener | None = None) -> list[Path]:
    """Jars of a Java client release in class path order. UsageError for an unknown release."""
    return _class_path("client", release, locked().clients, listener)


def server_class_path(release: str, listener: ProgressListener | None = None) -> list[Path]:
    """Jars of name server and broker. UsageError for an unknown release."""
    return _class_path("server", release, locked().servers, listener)


def proxy_class_path(release: str, listener: ProgressListener | None = None) -> list[Path]:
    """Jars of the proxy. UsageError if the lock does not have it."""
    return _class_path("proxy", release, locked().proxies, listener)


def grpc_client_class_path(release: str, listener: ProgressListener | None = None) -> list[Path]:
    """Jars of the gRPC Java client. UsageError for an unknown release."""
    return _class_path("gRPC client", release, locked().grpc_clients, listener)


def require_server(release: str) -> None:
    """UsageError if the lock lacks the servers of a release. Downloads nothing."""
    _artifacts("server", release, locked().servers)


def fetch_clients(releases: Sequence[str], listener: ProgressListener | None = None) -> None:
    """Download missing jars of several client releases together. UsageError for an unknown release."""
    wanted = (artifact for release in releases for artifact in _artifacts("client", release, locked().clients))
    what = f"{len(releases)} releases of the Java client" if len(releases) > 1 else f"client {' '.join(releases)}"
    ensure(what, tuple(dict.fromkeys(wanted)), listener)  # releases share jars


def cached_paths(artifacts: Sequence[Artifact]) -> list[Path]:
    """Cache paths of the artifacts, whether they exist or not."""
    return [artifact_folder() / artifact.path for artifact in artifacts]


def artifact_folder() -> Path:
    """The cache's jars, laid out as a Maven repository."""
    return cache_dir() / "artifacts"


def _class_path(
    kind: str, release: str, known: Mapping[str, tuple[Artifact, ...]], listener: ProgressListener | None
) -> list[Path]:
    return ensure(f"{kind} {release}", _artifacts(kind, release, known), listener)


def _artifacts(kind: str, release: str, known: Mapping[str, tuple[Artifact, ...]]) -> tuple[Artifact, ...]:
    if release not in known:
        raise UsageError(f"a known {kind} release", seen=word(release), hint=nearest_releases(release, tuple(known)))
    return known[release]


def ensure(what: str, artifacts: Sequence[Artifact], listener: ProgressListener | None = None) -> list[Path]:
    """Download what is missing or corrupted, and return all paths in the given order. what: for the progress display."""
    progress = one_at_a_time(listener or PlainProgress())
    if any(condition is not Condition.WHOLE for condition in _conditions(artifacts)):
        folder = artifact_folder()
        with exclusive(folder, lambda: progress(Notice(f"waiting: another rocketdiff is fetching into {folder}"))):
            # Checked again under the lock: another process may have downloaded them meanwhile.
            _fetch_missing(what, artifacts, progress)
    return cached_paths(artifacts)


def _conditions(artifacts: Sequence[Artifact]) -> list[Condition]:
    pairs = zip(cached_paths(artifacts), artifacts, strict=True)
    return [condition_of(path, artifact) for path, artifact in pairs]


def _fetch_missing(what: str, artifacts: Sequence[Artifact], listener: ProgressListener) -> None:
    missing: list[Artifact] = []
    for artifact, path, condition in zip(artifacts, cached_paths(artifacts), _conditions(artifacts), strict=True):
        if condition is Condition.WHOLE:
            continue
        if condition is Condition.CORRUPTED:
            listener(
                Notice(f"{path} is corrupted: its sha256 is not the one in the lock; fetching it again ({OWN_JARS})")
            )
            _remove(path)
        missing.append(artifact)
    if not missing:
        return
    listener(FetchStarted(what, len(missing), sum(artifact.size_bytes for artifact in missing)))
    staging = artifact_folder() / ".staging"
    shutil.rmtree(staging, ignore_errors=True)  # left by a killed process; the lock excludes other users
    try:
        _fetch_side_by_side(missing, staging, listener)
    finally:
        shutil.rmtree(staging, ignore_errors=True)
        listener(FetchFinished())


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise unwritable(path.parent, error) from error


def _fetch_side_by_side(missing: Sequence[Artifact], staging: Path, listener: ProgressListener) -> None:
    """Download all, or raise the first error; started downloads are finished."""
    # jgo imports a web client, which would cost commands without downloads 0.4 s.
    from rocketdiff.releases.artifacts.download import fetch  # noqa: PLC0415

    folder = artifact_folder()
    pool = ThreadPoolExecutor(DOWNLOADS_AT_ONCE, thread_name_prefix="fetch")
    try:
        # Largest first, so that no big file is left for the end.
        largest_first = sorted(missing, key=lambda artifact: -artifact.size_bytes)
        futures = [
            pool.submit(fetch, artifact, folder / artifact.path, staging, listener) for artifact in largest_first
        ]
        done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        for future in done:
            future.result()
    finally:
        pool.shutdown(cancel_futures=True)
