"""
``python -m maintenance.sensitivity``: which of the bank's defective clients do the suites find, of those with an opportunity?

Exits with 1 if quick finds less than 80 %, full less than 95 %, or consumers less than 90 %. ``--write`` stores the figures.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import msgspec

from maintenance.sensitivity import groups
from maintenance.sensitivity.stories import scenarios_of, stories_of
from maintenance.sensitivity.trials import trials
from rocketdiff import __version__
from rocketdiff.judging.judging_code import judging_digest
from rocketdiff.report.words.gate_rates import table
from rocketdiff.verdict.defects_found import SCHEMA_VERSION, DefectsFound, DefectTrial, SuiteFound
from tests.analysis.consuming.simulated_group import SimulatedGroup
from tests.analysis.sending.bank import BANK
from tests.analysis.sending.bank_spoils import Defect

AT_LEAST = {"quick": 0.80, "full": 0.95, "consumers": 0.90}
"""Share of a suite's trials; quick takes a minute, full half an hour."""

OF_GROUPS = "consumers"
"""The suite whose defects are groups of consumers."""

SEEDS = 2


WORKERS = 2


def measured(bank: Mapping[str, Defect], of_groups: Mapping[str, type[SimulatedGroup]], seeds: int) -> DefectsFound:
    kinds = Counter(defect.kind.value for defect in bank.values())
    kinds.update("ordered group" if groups.is_orderly(each) else "group" for each in of_groups.values())
    suites = tuple(_suite(suite, of_groups if suite == OF_GROUPS else bank, range(1, seeds + 1)) for suite in AT_LEAST)
    return DefectsFound(SCHEMA_VERSION, __version__, judging_digest(), kinds.total(), dict(kinds), seeds, suites)


def _suite(suite: str, names: Collection[str], seeds: Sequence[int]) -> SuiteFound:
    found: list[DefectTrial] = []
    with get_context("fork").Pool(WORKERS) as pool:
        for each in pool.imap(partial(_trials, suite, seeds), names):
            for one in each:
                sys.stderr.write(f"{suite} {one.defect} seed {one.seed}: {_words(one)}\n")
            found += each
    if suite == OF_GROUPS:
        return SuiteFound.of(suite, len(groups.scenarios_of(suite)), len(groups.scripts_of(suite)), found)
    return SuiteFound.of(suite, len(scenarios_of(suite)), len([*stories_of(suite)]), found)


def _words(one: DefectTrial) -> str:
    return f"found in {one.occasions} changes" if one.found else "MISSED"


def _trials(suite: str, seeds: Sequence[int], name: str) -> list[DefectTrial]:
    if suite == OF_GROUPS:
        return [*groups.trials(suite, name, seeds)]
    return [*trials(suite, {name: BANK[name]}, seeds)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m maintenance.sensitivity", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="how many of each defect")
    parser.add_argument("--match", default="", help="only defects whose name contains this")
    parser.add_argument("--write", type=Path, help="file that receives the figures: fixtures/sensitivity.json")
    asked = parser.parse_args(arguments)
    bank = {name: defect for name, defect in BANK.items() if asked.match in name}
    of_groups = {name: group for name, group in groups.BANK.items() if asked.match in name}
    result = measured(bank, of_groups, asked.seeds)
    sys.stdout.write(f"{table(result)}\n")
    if asked.write is not None:
        asked.write.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    shares = {one.suite: one.trials.seen / max(1, one.trials.n) for one in result.suites}
    return int(any(shares[suite] < least for suite, least in AT_LEAST.items()))


if __name__ == "__main__":
    sys.exit(main())
