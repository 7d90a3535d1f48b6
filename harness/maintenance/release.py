"""
``make release VERSION=0.2.0``: the version and the changelog's date in one commit, a tag, and the wheel with its checksum in dist/.

Nothing is pushed, and building needs no network. A release is refused unless the working tree is clean, the changelog's first heading
is this version, still unreleased, and no tag has its name.
"""

import argparse
import hashlib
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHANGELOG = "CHANGELOG.md"
VERSION_FILE = "harness/rocketdiff/__init__.py"
CHECKSUMS = "SHA256SUMS"
VERSION = re.compile(r"\d+\.\d+\.\d+")


class RefusedError(Exception):
    """A release cannot be made from this tree."""


def dated(changelog: str, version: str, day: str) -> str:
    """Return the changelog with the day in the heading of this version, which must be its first."""
    heading = next((line for line in changelog.splitlines() if line.startswith("## ")), "no heading")
    if heading != f"## {version} (unreleased)":
        raise RefusedError(f"expected '## {version} (unreleased)' as the first heading of {CHANGELOG}; saw {heading!r}")
    return changelog.replace(heading, f"## {version} ({day})", 1)


def section_of(changelog: str) -> str:
    """Return the text of the first version, which becomes the message of the tag."""
    _, _, rest = changelog.partition("\n## ")
    return rest.partition("\n## ")[0].partition("\n")[2].strip()


def with_version(source: str, version: str) -> str:
    """Return the module with this version."""
    return re.sub(r'^__version__ = ".*"$', f'__version__ = "{version}"', source, count=1, flags=re.MULTILINE)


def git(*command: str) -> str:
    """Run git in the working tree and return what it prints."""
    done = subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S607  # the user's git
    if done.returncode:
        raise RefusedError(f"git {command[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def require_releasable(version: str) -> None:
    """Refuse a malformed version, changes that are not committed, and a tag that exists."""
    if not VERSION.fullmatch(version):
        raise RefusedError(f"expected VERSION=x.y.z; saw {version!r}")
    if changes := git("status", "--porcelain"):
        raise RefusedError(f"expected a clean working tree; saw\n{changes}")
    if git("tag", "--list", f"v{version}"):
        raise RefusedError(f"the tag v{version} exists")


def commit(version: str) -> None:
    """Write version and date, commit them, and tag the commit with the changelog's text."""
    changelog, module = ROOT / CHANGELOG, ROOT / VERSION_FILE
    text = dated(changelog.read_text("utf-8"), version, datetime.now(UTC).date().isoformat())
    changelog.write_text(text, "utf-8")
    module.write_text(with_version(module.read_text("utf-8"), version), "utf-8")
    git("commit", "--quiet", "--message", f"release: publish {version}", CHANGELOG, VERSION_FILE)
    git(
        "tag",
        "--annotate",
        "--cleanup=verbatim",
        "--message",
        f"rocketdiff {version}\n\n{section_of(text)}",
        f"v{version}",
    )


def build(folder: Path) -> Path:
    """Build the wheel of the commit into an empty folder, without a network, and write its SHA-256 beside it."""
    folder.mkdir(exist_ok=True)
    for old in (*folder.glob("*.whl"), folder / CHECKSUMS):
        old.unlink(missing_ok=True)
    command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    (folder / CHECKSUMS).write_text(f"{hashlib.sha256(wheel.read_bytes()).hexdigest()}  {wheel.name}\n")
    return wheel


def main() -> int:
    """Make the release and print what remains to be done."""
    parser = argparse.ArgumentParser(prog="python -m maintenance.release", description=__doc__)
    parser.add_argument("version", help="x.y.z, as in the changelog")
    version: str = parser.parse_args().version
    try:
        require_releasable(version)
        commit(version)
    except RefusedError as refused:
        sys.stderr.write(f"no release: {refused}\n")
        return 1
    wheel = build(ROOT / "dist")
    sys.stdout.write(f"committed and tagged v{version}; built dist/{wheel.name} and dist/{CHECKSUMS}\n")
    sys.stdout.write(f"to publish: git push origin HEAD v{version}, then attach both files to the release\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
