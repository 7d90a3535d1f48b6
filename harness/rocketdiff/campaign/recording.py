"""Adds runs of a campaign to a record; needs the packages of the extra ``record``."""

from pathlib import Path

from rocketdiff.campaign.measure import CampaignState, PrintLine
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.record.commands import add, compact_many, refusal
from rocketdiff.record.storage.files import RecordPlace
from rocketdiff.record.work import work_on


class Recording:
    """Adds runs to one record as they end, also those that an interrupted command left out. is_spoilt: a run was refused or went to quarantine."""

    def __init__(self, record: str, print_line: PrintLine) -> None:
        self.record = record
        self.is_spoilt = False
        self._place = RecordPlace.named(record)
        self._print_line = print_line
        self._done: set[Path] = set()

    def __call__(self, measured: CampaignState) -> None:
        """Add the finished runs that this command has not added yet."""
        folders = [measured.runs.directory(run) for run in measured.finished.values()]
        folders = [folder for folder in folders if folder not in self._done]
        if not folders:
            return
        with work_on(WITHOUT_SPARK) as work:
            added = add(self._place, folders, work)
            compact_many(self._place, work, print_line=self._print_line)
        self._done.update(folders)
        for damaged in added.damaged:
            self._print_line(
                f"  quarantine: {Path(damaged.path).name}: expected {damaged.expected}; saw {damaged.seen}"
            )
        if added.other:
            self._print_line(f"  not added: {refusal(added.other)}")
        self.is_spoilt |= bool(added.damaged or added.other)
        if added.new:
            self._print_line(f"  added to the record {self.record}: {', '.join(run.run for run in added.new)}")
