"""
Golden data on disk: the answers of every release's real classes to the standard scripts, and a manifest of its inputs.

An answer line is stored as a JSON object, so that a diff is readable; serialized again, it is the same text.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from rocketdiff.core.errors import HarnessError
from rocketdiff.core.resources import resource
from rocketdiff.simulation.golden.answers import Lines, digest_of

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class GoldenGroup:
    """Releases that gave the same answer."""

    releases: tuple[str, ...]
    lines: Lines

    @property
    def digest(self) -> str:
        return digest_of(self.lines)


@dataclass(frozen=True, slots=True)
class Golden:
    """One script's answers; groups are in the order of their first release."""

    name: str
    groups: tuple[GoldenGroup, ...]

    def of(self, release: str) -> GoldenGroup | None:
        return next((group for group in self.groups if release in group.releases), None)


def grouped(name: str, answers: Mapping[str, Lines]) -> Golden:
    """Group releases with equal answers; ``answers`` is in release-line order."""
    groups: dict[Lines, list[str]] = {}
    for release, lines in answers.items():
        groups.setdefault(lines, []).append(release)
    return Golden(name, tuple(GoldenGroup(tuple(releases), lines) for lines, releases in groups.items()))


@cache
def load_golden() -> Mapping[str, Golden]:
    """Return the committed golden data, by script."""
    return read_golden(golden_folder())


@cache
def golden_lines() -> Mapping[str, Lines]:
    """Return every golden answer by its digest."""
    return {group.digest: group.lines for golden in load_golden().values() for group in golden.groups}


def golden_folder() -> Path:
    """Return the path of the golden folder, which need not exist yet."""
    return resource("fixtures/simulation") / "golden"


def read_golden(folder: Path) -> Mapping[str, Golden]:
    """Read every golden file of a folder, by script."""
    files = sorted(file for file in folder.glob("*.json") if file.name != MANIFEST)
    return {file.stem: _golden(json.loads(file.read_text("utf-8"))) for file in files}


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest; empty if the folder has none."""
    file = folder / MANIFEST
    return dict(json.loads(file.read_text("utf-8"))) if file.exists() else {}


def write_golden(folder: Path, found: Iterable[Golden], manifest: Mapping[str, Any]) -> None:
    """Write all files and delete those of removed scripts."""
    texts = {f"{golden.name}.json": golden_text(golden) for golden in found}
    texts[MANIFEST] = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    for stale in {file.name for file in folder.glob("*.json")} - texts.keys():
        (folder / stale).unlink()
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")


def golden_text(golden: Golden) -> str:
    """Return the file's text, with one answer line per line so that a changed answer is a one-line diff."""
    groups = ",\n".join(f"  {_group_text(group, golden.name)}" for group in golden.groups)
    return f'{{"script": {json.dumps(golden.name)},\n "groups": [\n{groups}\n ]}}\n'


def _group_text(group: GoldenGroup, name: str) -> str:
    rows = ",\n".join(f"    {_checked(line, name)}" for line in group.lines)
    return f'{{"releases": {json.dumps(group.releases)},\n   "answer": [\n{rows}\n   ]}}'


def _checked(line: str, name: str) -> str:
    if json.dumps(json.loads(line), ensure_ascii=False) != line:
        raise HarnessError(f"answer lines as json.dumps writes them ({name})", seen=line)
    return line


def _golden(data: Mapping[str, Any]) -> Golden:
    return Golden(str(data["script"]), tuple(map(_group, data["groups"])))


def _group(data: Mapping[str, Sequence[Any]]) -> GoldenGroup:
    lines = tuple(json.dumps(line, ensure_ascii=False) for line in data["answer"])
    return GoldenGroup(tuple(map(str, data["releases"])), lines)
