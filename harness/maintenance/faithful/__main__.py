"""
``make faithful ARGS='--count 5000 --seed 1'``: thousands of random scenarios, each a client compared with itself.

Beside producers the classes of real releases decide in virtual time; only the cluster around them is simulated. Groups of consumers
(``--role consumer``) are simulated by the rules. Exit code 1 if a run diverges, is not judged, or costs too much: a false alarm, or
records that no client would write.
"""

import argparse
import multiprocessing
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from maintenance.faithful import groups
from maintenance.faithful.faithful import RELEASES
from maintenance.faithful.trials import Trialled, trials_of
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.tables.roles import ClientRole

CHUNK = 50
"""Trials of one process, after which its memory is released and its alarms are printed."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all trials and print alarms at once."""
    parser = argparse.ArgumentParser(prog="python -m maintenance.faithful")
    parser.add_argument("--role", choices=list(ClientRole), default=ClientRole.PRODUCER, type=ClientRole)
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=1, help="the first; each trial has the next")
    parser.add_argument("--releases", nargs="+", default=RELEASES)
    parser.add_argument("--processes", type=int, default=1)
    asked = parser.parse_args(arguments)
    codes: Counter[ExitCode] = Counter()
    alarms = 0
    seeds = range(asked.seed, asked.seed + asked.count)
    trials = groups.trials_of if asked.role is ClientRole.CONSUMER else partial(trials_of, releases=asked.releases)
    for one in _trials(seeds, trials, asked.processes):
        if one.alarm is not None:
            alarms += 1
            sys.stdout.write(f"{one.alarm}\n")
            sys.stdout.flush()
        if one.code is not None:
            codes[one.code] += 1
    told = " ".join(f"exit-{int(code)}={count}" for code, count in sorted(codes.items()))
    verdict = "alarmed" if alarms else "quiet"
    sys.stdout.write(f"FAITHFUL {verdict} trials={asked.count} alarms={alarms} {told} seed={asked.seed}\n")
    return 1 if alarms else 0


def _trials(seeds: range, trials: Callable[[Sequence[int]], list[Trialled]], processes: int) -> Iterator[Trialled]:
    chunks = [seeds[first : first + CHUNK] for first in range(0, len(seeds), CHUNK)]
    # Spawned, so that nothing left by a chunk reaches the next one.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context, max_tasks_per_child=1) as pool:
        for number, done in enumerate(pool.map(trials, chunks), start=1):
            sys.stderr.write(f"{min(number * CHUNK, len(seeds))} of {len(seeds)}\n")
            yield from done


if __name__ == "__main__":
    raise SystemExit(main())
