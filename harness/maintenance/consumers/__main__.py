"""``python -m maintenance.consumers BASELINE CANDIDATE --out FOLDER``: run one case on new brokers and show it."""

import argparse
import secrets
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from maintenance.consumers.story import story_of
from rocketdiff import __version__
from rocketdiff.cluster.start import start_cluster
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.run_info import Machine
from rocketdiff.documents.yaml_source import read_text
from rocketdiff.run.case.cast import FED_BY, Pair
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.run.manifest import entry_of
from rocketdiff.scenario import Case, expand, parse
from rocketdiff.subjects.registry import program_of, resolved
from rocketdiff.subjects.subject import Subject
from rocketdiff.traces.manifest import RunManifest
from rocketdiff.traces.run_directory import RunDirectory

SCENARIO = Path(__file__).with_name("pause-one-of-two.yaml")


def new_run(case: Case, root: Path, seed: int) -> RunDirectory:
    """Make the directory of a run with one case."""
    now = datetime.now(UTC)
    manifest = RunManifest(
        run=f"{now:%Y%m%d-%H%M%S}-{seed:08x}",
        rocketdiff=__version__,
        created_wall_ms=int(now.timestamp() * 1_000),
        seed=seed,
        subjects={Arm.BASELINE: str(case.id.baseline), Arm.CANDIDATE: str(case.id.candidate)},
        server_release="",
        backend="processes of this machine",
        suite="",
        machine=Machine("", "", 0, 0, "", ""),
        cases=(entry_of(1, case),),
    )
    return RunDirectory.create(root, manifest)


def run_one(scenario: Path, baseline: Subject, candidate: Subject, out: Path, seed: int) -> RunDirectory:
    """Run a scenario about consumers on a cluster of its own. Raises HarnessError."""
    case = expand(parse(read_text(scenario), str(scenario)), baseline.id, candidate.id, seed)
    directory = new_run(case, out.resolve(), seed)
    programs = {Arm.BASELINE: baseline.program, Arm.CANDIDATE: candidate.program}
    pair = Pair(programs, feeder=program_of(FED_BY))
    topology = case.scenario.topology
    with start_cluster(topology=topology, folder=directory.path / "cluster") as cluster:
        StagedCase(lambda: cluster, directory.case(1), case, pair, ()).play()
    directory.end(wall_ms=time.time_ns() // 1_000_000)
    return directory


def main() -> int:
    """Return 0 if the case was completed, whatever its members did."""
    parser = argparse.ArgumentParser(prog="python -m maintenance.consumers", description=__doc__)
    parser.add_argument("baseline")
    parser.add_argument("candidate")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scenario", type=Path, default=SCENARIO, help="a scenario file about consumers")
    parser.add_argument("--seed", type=int, default=None)
    asked = parser.parse_args()
    seed = secrets.randbelow(1 << 31) if asked.seed is None else asked.seed
    try:
        baseline, candidate = resolved(asked.baseline), resolved(asked.candidate)
        directory = run_one(asked.scenario, baseline, candidate, asked.out, seed)
    except HarnessError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 4
    sys.stdout.writelines(f"{line}\n" for line in story_of(directory))
    return 0 if directory.entry(1).status == "complete" else 1


if __name__ == "__main__":
    sys.exit(main())
