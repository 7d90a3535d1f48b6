"""
The C++ client behind its Python interface, in a Python environment in the cache, built at first use.

pip fetches three locks with hashes (``cpp_locks/``): ``tools`` to build and to speak the line protocol, ``client``
(rocketmq-client-python, without native library) and ``library`` (the source distribution with one). Everything is built
in a draft folder and then renamed, so the final folder is complete.
"""

import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.core.resources import resource
from rocketdiff.releases.cache import cache_dir, exclusive, sha256_of, unwritable
from rocketdiff.releases.progress import Notice, ProgressListener, silent

RELEASES = ("2.1.0",)
"""The library reports ``2.1.0_cvs``: a third party's build of 2.1.0, the only one in a registry."""

LIBRARY_SHA256 = "ed3fce39f2b926637637a2b8b9122799f207b0cdf98dbd9110505bf43170fa30"
_MEMBER = "rocketmq-python-cvs-2.1.0.3/rocketmq/librocketmq.so"
_SYSTEM, _MACHINE = "Linux", "x86_64"

_DEADLINE_S = 300
"""Building takes about ten seconds, mostly to download 4 MB. A slow registry takes longer."""


@dataclass(frozen=True, slots=True)
class CppEnvironment:
    """The interpreter, and the native library to load before the import."""

    python: Path
    library: Path


def cpp_client(progress: ProgressListener | None = None) -> CppEnvironment:
    """
    The environment, built if missing.

    Raises EnvironmentMissing on an unsupported system, without a network, or without Python's venv.
    """
    home = environment_folder()
    if not _found(home):
        require_fit()
        listener = progress or silent
        with exclusive(home.parent, lambda: listener(Notice("waiting for another process that builds the C++ client"))):
            if not _found(home):
                listener(Notice("building the environment of the C++ client (some ten seconds)"))
                _build(home)
    return _client_in(home)


def environment_folder() -> Path:
    """Existing or not. An environment belongs to one minor version of Python."""
    return cache_dir() / "cpp" / f"{RELEASES[-1]}-python{sys.version_info[0]}.{sys.version_info[1]}"


def is_built() -> bool:
    """True if the environment is in the cache."""
    return _found(environment_folder())


def require_fit() -> None:
    """Raise EnvironmentMissing on a system that cannot load the library."""
    seen = f"{platform.system()} on {platform.machine()}"
    if seen != f"{_SYSTEM} on {_MACHINE}":
        raise EnvironmentMissing(f"{_SYSTEM} on {_MACHINE}, which the C++ client's only build is for", seen=seen)


def _found(home: Path) -> bool:
    client = _client_in(home)
    return client.library.is_file() and client.python.exists()


def _client_in(home: Path) -> CppEnvironment:
    return CppEnvironment(home / "env" / "bin" / "python", home / "librocketmq.so")


def _build(home: Path) -> None:
    try:
        draft = Path(tempfile.mkdtemp(prefix=".draft-", dir=home.parent))
    except OSError as error:
        raise unwritable(home.parent, error) from error
    try:
        python = _client_in(draft).python
        _run([sys.executable, "-m", "venv", str(draft / "env")], "apt-get install python3-venv (Debian, Ubuntu)")
        _pip(python, "install", "tools")
        _pip(python, "install", "client", "--no-build-isolation")
        sources = draft / "sources"
        _pip(python, "download", "library", "--no-build-isolation", "--no-binary", ":all:", "--dest", str(sources))
        _take_library(sources, _client_in(draft).library)
        shutil.rmtree(sources)
        shutil.rmtree(home, ignore_errors=True)
        draft.rename(home)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _pip(python: Path, verb: str, lock: str, *options: str) -> None:
    file = resource(f"harness/rocketdiff/releases/programs/cpp_locks/{lock}.txt")
    common = ("--quiet", "--require-hashes", "--no-deps", "--requirement", str(file))
    _run([str(python), "-m", "pip", verb, *common, *options], "check the network and run again")


def _run(command: list[str], hint: str) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_DEADLINE_S, env=environment)
    except subprocess.TimeoutExpired as error:
        raise EnvironmentMissing("the C++ client's environment", seen=f"no end after {_DEADLINE_S} s") from error
    if ran.returncode != 0:
        words = " ".join((ran.stderr or ran.stdout).split())[-400:]
        raise EnvironmentMissing("the C++ client's environment to be built", seen=words, hint=hint)


def _take_library(sources: Path, target: Path) -> None:
    """The archive was verified by pip; the library's own sha256 is verified here."""
    (archive,) = sources.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        content = packed.extractfile(_MEMBER)
        assert content is not None
        with content, target.open("wb") as file:
            shutil.copyfileobj(content, file)
    seen = sha256_of(target)
    if seen != LIBRARY_SHA256:
        raise EnvironmentMissing(f"librocketmq.so with sha256 {LIBRARY_SHA256}", seen=seen)
