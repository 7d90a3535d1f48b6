"""Trials of groups of consumers: drawn stories that the rules play in both arms, those of odd seeds in order."""

import time
import traceback
from collections.abc import Sequence

from maintenance.faithful.trials import Trialled, bounded
from tests.analysis.consuming.orderly_group import in_order
from tests.analysis.consuming.simulated_group import drawn_script, simulated


def trials_of(seeds: Sequence[int]) -> list[Trialled]:
    """Trials of all seeds."""
    return [one_trial(seed) for seed in seeds]


def one_trial(seed: int) -> Trialled:
    """Judge a seed's story to the exit code; statistics may leave it open, an accusation is an alarm."""
    began_s = time.process_time()
    code, alarm = None, None
    try:
        with bounded():
            ended = (in_order if seed % 2 else simulated)(drawn_script(seed)).judge()
        code = ended.judgement.exit_code
        found = [(each.signature, each.example.expected, each.example.observed) for each in ended.document.clusters]
        if found:
            alarm = f"seed {seed}: {found}"
    except (AssertionError, LookupError, ValueError, TypeError, MemoryError, TimeoutError):
        alarm = f"seed {seed}: not judged\n{traceback.format_exc(limit=-6)}"
    return Trialled(seed, code, alarm, time.process_time() - began_s)
