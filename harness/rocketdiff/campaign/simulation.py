"""The virtual-time part of a campaign: random scripts with each seed, stored so that a campaign can resume."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from rocketdiff import __version__
from rocketdiff.campaign.file_format import Simulation
from rocketdiff.campaign.finished_runs import read_finished, write_finished
from rocketdiff.core.errors import ExitCode
from rocketdiff.judging.judging_code import judging_digest
from rocketdiff.lab.fuzz.rounds import run_rounds

FOLDER = "simulation"


@dataclass(frozen=True, slots=True)
class SimulatedSeed:
    """The result of one seed. terms: digest of its inputs. text: the findings; the last line is the summary."""

    terms: str
    seed: int
    code: ExitCode
    text: str

    @property
    def summary(self) -> str:
        return self.text.splitlines()[-1] if self.text else ""


def find_finished(wanted: Simulation, out: Path) -> dict[int, SimulatedSeed]:
    """The stored results by seed."""
    read = {seed: read_finished(_file(out, seed), SimulatedSeed) for seed in wanted.seeds}
    return {
        seed: result for seed, result in read.items() if result is not None and result.terms == _terms(wanted, seed)
    }


def simulate(wanted: Simulation, out: Path, print_line: Callable[[str], None]) -> dict[int, SimulatedSeed]:
    """Simulate every missing seed. Differences are saved as scripts below ``out``."""
    there = find_finished(wanted, out)
    if there:
        print_line(f"{len(there)} of {len(wanted.seeds)} seeds of the simulation are taken over from {out / FOLDER}")
    for seed in wanted.seeds:
        if seed not in there:
            there[seed] = _one(wanted, out, seed)
            for line in there[seed].text.splitlines():
                print_line(f"simulation, seed {seed}: {line}")
    return there


def _one(wanted: Simulation, out: Path, seed: int) -> SimulatedSeed:
    report = run_rounds(wanted.releases, wanted.effort, seed, out / FOLDER, as_json=False)
    made = SimulatedSeed(_terms(wanted, seed), seed, report.code, report.text)
    write_finished(_file(out, seed), made)
    return made


def _file(out: Path, seed: int) -> Path:
    return out / FOLDER / f"seed-{seed}.json"


def _terms(wanted: Simulation, seed: int) -> str:
    decided = (wanted.releases, wanted.effort, seed, __version__, judging_digest())
    return sha256(repr(decided).encode()).hexdigest()[:12]
