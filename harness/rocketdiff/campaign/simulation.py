"""The virtual-time part of a campaign: random scripts with each seed, stored so that a campaign can resume."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import msgspec

from rocketdiff import __version__
from rocketdiff.campaign.file_format import Simulation
from rocketdiff.core.errors import ExitCode
from rocketdiff.documents.files import replace_file
from rocketdiff.judging.judging_code import judging_digest
from rocketdiff.lab.fuzz.campaign import campaign as fuzz

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


def found(wanted: Simulation, out: Path) -> dict[int, SimulatedSeed]:
    """The stored results by seed."""
    read = {seed: _read(_file(out, seed)) for seed in wanted.seeds}
    return {
        seed: result for seed, result in read.items() if result is not None and result.terms == _terms(wanted, seed)
    }


def simulate(wanted: Simulation, out: Path, say: Callable[[str], None]) -> dict[int, SimulatedSeed]:
    """Simulate every missing seed. Differences are saved as scripts below ``out``."""
    there = found(wanted, out)
    if there:
        say(f"{len(there)} of {len(wanted.seeds)} seeds of the simulation are taken over from {out / FOLDER}")
    for seed in wanted.seeds:
        if seed not in there:
            there[seed] = _one(wanted, out, seed)
            for line in there[seed].text.splitlines():
                say(f"simulation, seed {seed}: {line}")
    return there


def _one(wanted: Simulation, out: Path, seed: int) -> SimulatedSeed:
    report = fuzz(wanted.releases, wanted.effort, seed, out / FOLDER, as_json=False)
    made = SimulatedSeed(_terms(wanted, seed), seed, report.code, report.text)
    _file(out, seed).parent.mkdir(parents=True, exist_ok=True)
    replace_file(_file(out, seed), msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n")
    return made


def _file(out: Path, seed: int) -> Path:
    return out / FOLDER / f"seed-{seed}.json"


def _terms(wanted: Simulation, seed: int) -> str:
    decided = (wanted.releases, wanted.effort, seed, __version__, judging_digest())
    return sha256(repr(decided).encode()).hexdigest()[:12]


def _read(path: Path) -> SimulatedSeed | None:
    """None also for a damaged file: its seed is simulated again."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=SimulatedSeed)
    except (OSError, msgspec.MsgspecError, ValueError):
        return None
