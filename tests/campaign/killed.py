"""
A program for test_campaign.py: makes a campaign of one run, killed by SIGKILL at each moment in turn, then carries it out again.

Every moment gets forked processes, because threads of the record's library do not survive a fork. It prints one JSON line a moment.
"""

import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

from rocketdiff.campaign import recording
from rocketdiff.scenario import load_all
from tests.campaign.imitation import Imitation, Killed
from tests.campaign.test_campaign import ONE, imitated, make, recorded
from tests.record.killed import forked


def first(folder: Path, moment: int) -> str:
    """Killed before or after the run, or before or after it is added; at later moments it comes to its end."""
    runs = imitated()
    runs.moment, runs.is_seldom = Killed(moment), True
    add = recording.add  # type: ignore[attr-defined]  # what it imports is replaced where it is used

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
    """All moments."""
    load_all()  # once for all of them
    status, moment = 1, 0
    while status:
        folder = root / str(moment)
        status, _ = forked(lambda: first(folder, moment))  # noqa: B023 - ends before the next
        print(forked(lambda: again(folder))[1])  # noqa: B023, T201 - as above; a program tells its answers
        moment += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]))
