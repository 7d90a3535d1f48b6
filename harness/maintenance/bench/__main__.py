"""``python -m maintenance.bench`` measures this machine: clients on a cluster, the simulation, judging."""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from maintenance.bench import clients, judging, simulation
from rocketdiff.core.errors import HarnessError
from rocketdiff.core.tables.run_options import DEFAULT_RELEASE

PARTS = ("cluster", "simulation", "judging")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure one part or all, and print figures or one JSON document."""
    asked = _parser().parse_args(arguments)
    measured: dict[str, Any] = {}
    if asked.part in (None, "cluster"):
        measured |= clients.bench(
            asked.release, asked.server, asked.sends, asked.rounds, with_verdict=asked.verdict, as_json=asked.json
        )
    if asked.part in (None, "simulation"):
        measured |= simulation.bench_simulation(as_json=asked.json)
    if asked.part in (None, "judging"):
        measured |= judging.bench_judging(asked.judged, asked.run, as_json=asked.json)
    if asked.json:
        sys.stdout.write(f"{json.dumps(measured, indent=1)}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m maintenance.bench", description=__doc__)
    parser.add_argument("--part", choices=PARTS, help="measure this part alone")
    parser.add_argument("--release", default=DEFAULT_RELEASE, help="of the Java client and of the reference's dialect")
    parser.add_argument("--server", default=DEFAULT_RELEASE, help="release of the servers")
    parser.add_argument("--sends", type=int, default=6_000, help="of each kind in each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--no-verdict", dest="verdict", action="store_false", help="do not time a whole quick suite")
    parser.add_argument("--judged", type=int, default=500_000, help="sends of each arm in the cases that are judged")
    parser.add_argument(
        "--run", type=Path, nargs="+", default=[], help="judge the cases of stored runs instead of generated ones"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


if __name__ == "__main__":
    try:
        raise SystemExit(main())
    except HarnessError as error:
        sys.stderr.write(f"{error}\n")
        raise SystemExit(error.exit_code) from None
