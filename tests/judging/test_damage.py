"""
A randomly damaged run never conforms, causes no internal error and no hang.

``--damages N`` makes more than the default number. Each damage has its own seed, which the failure names.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rocketdiff.cli.app import guarded
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.traces.run_directory import RunDirectory
from tests.analysis.synthetic import ORIGIN_NS, Story, write_run
from tests.record.conftest import CHECKS, GUARDS, SCENARIO

OLDER = Path(__file__).parents[1] / "older_run"
STORY = Story(checks=CHECKS)


def stored_run(root: Path, *, complete: bool = True) -> Path:
    """A small run of one case that conforms; if incomplete, it was cut off before its tables were sealed."""
    run = write_run(root, [STORY], complete=complete)
    run.change(1, lambda entry: replace(entry, scenario_text=SCENARIO, guards=GUARDS))
    if not complete:
        run.change(1, lambda entry: replace(entry, arms={}, files={}, origin_ns=ORIGIN_NS))
        for table in ("sends", "attempts", "routes", "faults"):
            shutil.rmtree(run.path / table)
    return run.path


def code_of(run: Path) -> int:
    return guarded(["analyze", str(run), "--master", "none", "--no-ledger"])


def flip_a_bit(content: bytes, random: Random) -> bytes:
    place = random.randrange(len(content))
    return content[:place] + bytes([content[place] ^ (1 << random.randrange(8))]) + content[place + 1 :]


def cut(content: bytes, random: Random) -> bytes:
    return content[: random.randrange(len(content))]


def zero(content: bytes, random: Random) -> bytes:
    place, length = random.randrange(len(content)), random.randrange(1, 512)
    return content[:place] + bytes(min(length, len(content) - place)) + content[place + length :]


def scramble(content: bytes, random: Random) -> bytes:
    place = random.randrange(len(content))
    return content[:place] + random.randbytes(random.randrange(1, 64)) + content[place + 32 :]


def lose_the_middle(content: bytes, random: Random) -> bytes:
    place = random.randrange(len(content))
    return content[:place] + content[place + random.randrange(1, 64) :]


DAMAGES: tuple[Callable[[bytes, Random], bytes], ...] = (flip_a_bit, flip_a_bit, cut, zero, scramble, lose_the_middle)


def damage(run: Path, files: list[Path], random: Random) -> str:
    """Damage, lose or replace one file; returns what was done."""
    path = random.choice(files)
    name, kind = path.relative_to(run).as_posix(), random.randrange(10)
    if kind == 0:
        path.unlink()
        return f"lost {name}"
    if kind == 1:
        other = random.choice(files)
        content = other.read_bytes()
        path.write_bytes(content)
        return f"{name} replaced by {other.relative_to(run)}"
    do = random.choice(DAMAGES)
    path.write_bytes(do(path.read_bytes(), random))
    return f"{do.__name__} in {name}"


def same_evidence(before: dict[Path, object], run: Path) -> bool:
    """White space in JSON does not count."""
    return all((run / path).exists() and meaning(run / path) == output for path, output in before.items())


def meaning(path: Path) -> object:
    content = path.read_bytes()
    if path.suffix != ".json":
        return content
    try:
        return json.loads(content)
    except ValueError:
        return None


def evidence_of(run: Path) -> list[Path]:
    return sorted([*run.glob("*/*.parquet"), run / "run.json"])


@pytest.fixture
def damages(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--damages"))


def codes(stored: Path, tmp_path: Path, files_of: Callable[[Path], list[Path]], count: int) -> dict[str, int]:
    """Exit codes of damaged copies, by what was done."""
    found = {}
    before = {path.relative_to(stored): meaning(path) for path in files_of(stored)}
    for seed in range(count):
        run = Path(shutil.copytree(stored, tmp_path / "damaged"))
        done = damage(run, files_of(run), Random(seed))
        if not same_evidence(before, run):
            found[f"{seed}: {done}"] = code_of(run)
        shutil.rmtree(run)
    return found


def test_the_run_conforms_while_it_is_whole(tmp_path: Path) -> None:
    """The undamaged run conforms; otherwise the other tests show nothing."""
    run = stored_run(tmp_path)
    assert code_of(run) == ExitCode.CONFORMS
    assert code_of(Path(shutil.move(run, tmp_path / "moved"))) == ExitCode.CONFORMS


def test_damaged_evidence_is_refused(tmp_path: Path, damages: int) -> None:
    """Damaged evidence is refused with exit code 4."""
    found = codes(stored_run(tmp_path), tmp_path, evidence_of, damages)
    assert len(found) > 0.8 * damages
    assert {done: code for done, code in found.items() if code != ExitCode.USAGE} == {}


def test_a_damaged_older_run_never_conforms(tmp_path: Path, damages: int) -> None:
    """A damaged run without digests never conforms, and lost evidence is refused."""
    older = Path(shutil.copytree(OLDER, tmp_path / "older"))
    found = codes(older, tmp_path, evidence_of, damages // 3)
    allowed = {ExitCode.USAGE, ExitCode.DIVERGES, ExitCode.INCONCLUSIVE, ExitCode.NOTHING_DECISIVE}
    assert {done: code for done, code in found.items() if code not in allowed} == {}
    assert {done: code for done, code in found.items() if " lost " in done and code != ExitCode.USAGE} == {}


def test_a_damaged_journal_of_a_run_that_was_cut_off_never_conforms(tmp_path: Path, damages: int) -> None:
    """A run with a damaged journal never conforms: it is sealed as far as it can be read."""
    stored = stored_run(tmp_path, complete=False)
    found = codes(stored, tmp_path, lambda run: sorted(run.glob("journal/*.ndjson")), damages // 10)
    allowed = {ExitCode.USAGE, ExitCode.INCONCLUSIVE, ExitCode.DIVERGES}
    assert found
    assert {done: code for done, code in found.items() if code not in allowed} == {}


EDITS: dict[str, Callable[[dict[str, Any], dict[str, Any]], object]] = {
    "no guards": lambda _, case: case.update(guards=[]),
    "a case twice": lambda run, case: run.update(cases=[case, case]),
    "no cases": lambda run, _: run.update(cases=[]),
    "another plan": lambda _, case: case.update(plan_digest="sha256:0"),
    "no breach": lambda _, case: case.update(breaches={}, reason="x"),
    "status": lambda _, case: case.update(status="aborted"),
    "fewer checks": lambda _, case: case.update(checks=["loss"]),
    "an earlier schema": lambda run, _: (run.update(schema="1.2"), run.pop("digest")),
    "no digests": lambda run, case: (case.pop("files"), run.pop("digest")),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_run_description_is_refused(tmp_path: Path, edit: str) -> None:
    """An edited run description is refused, such as one without its guards, checks or cases."""
    path = stored_run(tmp_path) / "run.json"
    manifest = json.loads(path.read_bytes())
    EDITS[edit](manifest, manifest["cases"][0])
    path.write_text(json.dumps(manifest))
    assert code_of(path.parent) == ExitCode.USAGE


def test_a_table_added_after_the_run_is_refused(tmp_path: Path) -> None:
    """A table added after the run is refused, although that table is optional."""
    run = RunDirectory.open(stored_run(tmp_path))
    (run.path / "scheduled").mkdir()
    for arm in Arm:
        shutil.copy(run.path / "stored" / f"01-{arm}.parquet", run.path / "scheduled")
    assert code_of(run.path) == ExitCode.USAGE
