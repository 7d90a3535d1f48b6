"""
Program for test_campaign.py: makes a campaign of one run, is killed by SIGKILL at each moment in turn, and repeats it.

Every moment gets forked processes, because threads of the record's library do not survive a fork. Prints one JSON line a
moment.
"""

import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from rocketdiff.campaign import recording
from rocketdiff.judging.judging_code import judging_digest
from rocketdiff.scenario import load_all
from tests.campaign.imitation import Imitation, Killed
from tests.campaign.test_campaign import ONE, imitated, make, recorded
from tests.record.killed import forked


def first(folder: Path, moment: int) -> str:
    """The campaign, killed at a moment; at later moments it finishes."""
    runs = imitated()
    runs.moment, runs.is_seldom = Killed(moment), True
    add = recording.add  # type: ignore[attr-defined]  # an imported name, patched where it is used

    def killing(*given: Any) -> Any:
        runs.moment()
        added = add(*given)
        runs.moment()
        return added

    with runs.in_place(), mock.patch.object(recording, "add", killing):
        make(folder, ONE)
    return ""


def again(folder: Path) -> str:
    """Exit code, runs made now, reports in the folder, runs of the record."""
    runs: Imitation = imitated()
    with runs.in_place():
        code = make(folder, ONE)
    reports = len(list(folder.glob("out/runs/*/*/report.json")))
    return json.dumps([int(code), len(runs.made), reports, recorded(folder)])


def main(root: Path) -> None:
    load_all(), judging_digest()  # once, before all forks
    status, moment = 1, 0
    while status:
        folder = root / str(moment)
        status, _ = forked(lambda: first(folder, moment))  # noqa: B023 - finished before the next iteration
        print(forked(lambda: again(folder))[1])  # noqa: B023, T201 - as above; output of a program
        moment += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]))
