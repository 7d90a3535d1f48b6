"""Java sources compiled once into the cache; the key is a digest of the inputs."""

import contextlib
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rocketdiff.core.errors import EnvironmentMissing, HarnessError
from rocketdiff.releases.cache import cache_dir
from rocketdiff.releases.exclusive import unwritable
from rocketdiff.releases.jvm import JavaHome
from rocketdiff.releases.verified import sha256_of

# A few hundred lines take two seconds; a machine under heavy load some more.
COMPILER_DEADLINE_S = 120

DIGESTS = "digests.txt"
"""In a class folder: sha256 and name of every file, compared on each use of the folder."""


def compiled(name: str, sources: Path, class_path: Sequence[Path], java: JavaHome, *, level: int = 8) -> Path:
    """
    The class folder for all `.java` files under `sources`, compiled at this language level unless the cache has it.

    `name` is the sub-folder of the cache. HarnessError if compilation fails, because the sources are ours.
    """
    files = sorted(sources.rglob("*.java"))
    if not files:
        raise HarnessError(f"Java sources under {sources}", seen="none", hint="install rocketdiff again")
    options = ("--release", str(level), "-Xlint:-options", "-encoding", "UTF-8")
    target = cache_dir() / "classes" / f"{name}-{_key(sources, files, class_path, java, options)}"
    if target.is_dir() and not _is_whole(target):
        _put_aside(target)
    if not target.is_dir():
        _compile_into(target, files, class_path, java, options)
    return target


def _key(
    sources: Path, files: Sequence[Path], class_path: Sequence[Path], java: JavaHome, options: Sequence[str]
) -> str:
    """Digest of sources (name and content), class path (file names: each jar is verified against the lock), compiler and options."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.relative_to(sources)}\0{hashlib.sha256(file.read_bytes()).hexdigest()}\0".encode())
    compiler = (java.home / "release").read_bytes() if (java.home / "release").exists() else str(java.version).encode()
    digest.update("\0".join([*(jar.name for jar in class_path), *options]).encode() + b"\0" + compiler)
    return digest.hexdigest()[:16]


def _is_whole(folder: Path) -> bool:
    """Whether the folder has exactly the classes the compiler wrote; a damaged one would look like a fault of the simulation host."""
    try:
        return (folder / DIGESTS).read_text(encoding="utf-8") == _digests(folder)
    except (OSError, UnicodeDecodeError):
        return False


def _digests(folder: Path) -> str:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != DIGESTS)
    return "".join(f"{sha256_of(file)}  {file.relative_to(folder).as_posix()}\n" for file in files)


def _put_aside(target: Path) -> None:
    """Rename the folder first, so that no process sees half of it; another process may have done so already."""
    try:
        aside = Path(tempfile.mkdtemp(prefix=".damaged-", dir=target.parent))
        with contextlib.suppress(FileNotFoundError):
            target.rename(aside / "classes")
        shutil.rmtree(aside, ignore_errors=True)
    except OSError as error:
        raise unwritable(target, error) from error


def _compile_into(
    target: Path, files: Sequence[Path], class_path: Sequence[Path], java: JavaHome, options: Sequence[str]
) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=target.parent))
    except OSError as error:
        raise unwritable(target.parent, error) from error
    try:
        _run_compiler([str(java.javac), *options, "-d", str(draft), "-cp", _joined(class_path), *map(str, files)])
        (draft / DIGESTS).write_text(_digests(draft), encoding="utf-8")
        _put_in_place(draft, target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _run_compiler(command: list[str]) -> None:
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=COMPILER_DEADLINE_S)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentMissing(f"javac to end within {COMPILER_DEADLINE_S} s", seen="it still runs") from error
    if ran.returncode != 0:
        raise HarnessError("the Java sources to compile", seen=(ran.stderr or ran.stdout).strip()[:2_000])


def _put_in_place(draft: Path, target: Path) -> None:
    try:
        draft.rename(target)
    except OSError as error:
        if not target.is_dir():
            raise unwritable(target, error) from error
        # Another process compiled the same sources meanwhile; its result is equal.


def _joined(class_path: Sequence[Path]) -> str:
    return os.pathsep.join(map(str, class_path))
