"""The C++ client's environment: locks and refusals; tests/relay shows that it works."""

import tarfile
from io import BytesIO
from pathlib import Path

import pytest

from rocketdiff.core.errors import EnvironmentMissing
from rocketdiff.releases.programs import cpp_client as subject_module
from rocketdiff.releases.programs.cpp_client import CppEnvironment, cpp_client, environment_folder, is_built

LOCKS = Path(subject_module.__file__).with_name("cpp_locks")


def test_every_locked_package_has_hashes() -> None:
    """The locks have only packages with versions and SHA-256 digests, and no registry."""
    for file in LOCKS.glob("*.txt"):
        for line in file.read_text().splitlines():
            assert "==" in line or line.strip().startswith("--hash=sha256:"), f"{file.name}: {line}"
    assert sorted(file.stem for file in LOCKS.glob("*.txt")) == ["client", "library", "tools"]


def test_an_environment_that_is_there_is_used(cache: Path) -> None:
    """An existing environment is used without a build."""
    home = environment_folder()
    (home / "env" / "bin").mkdir(parents=True)
    (home / "env" / "bin" / "python").touch()
    assert not is_built()
    (home / "librocketmq.so").touch()
    assert cpp_client() == CppEnvironment(home / "env" / "bin" / "python", home / "librocketmq.so")


def test_an_unsupported_machine_is_refused_at_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An unsupported machine is refused before anything is fetched or created."""
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    with pytest.raises(EnvironmentMissing, match="x86_64"):
        cpp_client()
    assert not cache.exists()


def test_a_library_that_is_not_the_locked_one_is_refused(tmp_path: Path) -> None:
    """A library other than the locked one is refused, even in the locked archive."""
    with tarfile.open(tmp_path / "x.tar.gz", "w:gz") as packed:
        member = tarfile.TarInfo("rocketmq-python-cvs-2.1.0.3/rocketmq/librocketmq.so")
        member.size = 3
        packed.addfile(member, BytesIO(b"elf"))
    with pytest.raises(EnvironmentMissing, match=r"librocketmq\.so with sha256"):
        subject_module._take_library(tmp_path, tmp_path / "librocketmq.so")
