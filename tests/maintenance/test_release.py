"""A release: which trees are refused, and what is committed, tagged and built."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from maintenance import release

CHANGELOG = "# Changelog\n\n## 0.2.0 (unreleased)\n\n* Pauses.\n* Kills.\n\n## 0.1.0 (2026-01-31)\n\n* The first.\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small project with a package of the wheel's name."""
    (tmp_path / "harness" / "rocketdiff").mkdir(parents=True)
    (tmp_path / release.VERSION_FILE).write_text('"""Package."""\n\n__version__ = "0.1.0"\n')
    (tmp_path / release.CHANGELOG).write_text(CHANGELOG)
    (tmp_path / ".gitignore").write_text("dist/\n")
    (tmp_path / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "rocketdiff"\nrequires-python = ">=3.11"\ndynamic = ["version"]\n'
        f'[tool.hatch.version]\npath = "{release.VERSION_FILE}"\n'
        '[tool.hatch.build.targets.wheel]\npackages = ["harness/rocketdiff"]\n'
    )
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "somebody@example.org")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    release.git("init", "--quiet")
    release.git("add", "--all")
    release.git("commit", "--quiet", "--message", "core: begin")
    return tmp_path


@pytest.mark.slow
def test_a_release_is_committed_tagged_and_built(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Version and day are one commit, the tag has the changelog's text, and the checksum is that of the wheel."""
    monkeypatch.setattr("sys.argv", ["release", "0.2.0"])
    assert release.main() == 0
    assert release.git("log", "-1", "--format=%s") == "release: publish 0.2.0"
    assert release.git("status", "--porcelain") == ""
    assert release.git("tag", "--list", "--format=%(contents)", "v0.2.0") == "rocketdiff 0.2.0\n\n* Pauses.\n* Kills."
    wheel = tree / "dist" / "rocketdiff-0.2.0-py3-none-any.whl"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert (tree / "dist" / "SHA256SUMS").read_text() == f"{digest}  {wheel.name}\n"
    checker = shutil.which("sha256sum")
    assert checker is not None
    assert (
        subprocess.run(
            [checker, "--check", "SHA256SUMS"], cwd=wheel.parent, check=False, capture_output=True
        ).returncode
        == 0
    )
    assert "git push origin HEAD v0.2.0" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("version", "change", "reason"),
    [
        ("0.2", None, "expected VERSION=x.y.z; saw '0.2'"),
        ("v0.2.0", None, "expected VERSION=x.y.z; saw 'v0.2.0'"),
        (
            "0.3.0",
            None,
            "expected '## 0.3.0 (unreleased)' as the first heading of CHANGELOG.md; saw '## 0.2.0 (unreleased)'",
        ),
        ("0.2.0", "new.py", "expected a clean working tree; saw\n?? new.py"),
    ],
)
def test_a_release_is_refused(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    version: str, change: str | None, reason: str,
) -> None:  # fmt: skip
    """A refused release changes nothing and names the reason."""
    if change is not None:
        (tree / change).touch()
    monkeypatch.setattr("sys.argv", ["release", version])
    assert release.main() == 1
    assert capsys.readouterr().err == f"no release: {reason}\n"
    assert release.git("log", "--format=%s") == "core: begin"
    assert release.git("tag", "--list") == ""
    assert (tree / release.CHANGELOG).read_text() == CHANGELOG


def test_a_version_is_released_once(tree: Path) -> None:
    """An existing tag is never moved."""
    release.git("tag", "v0.2.0")
    with pytest.raises(release.RefusedError, match=r"the tag v0\.2\.0 exists"):
        release.require_releasable("0.2.0")
