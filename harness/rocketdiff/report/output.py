"""The standard output of a run: the report's summary or a dry run's text, and a last line for programs."""

import shlex
import sys

from rich.console import Console

from rocketdiff.core import events
from rocketdiff.report.document import load
from rocketdiff.report.formats.summary import Detail, print_summary


class OutputListener:
    """
    Prints to standard output. It must come after the listener that draws progress bars, which removes them first.

    The summary is made from the stored report.
    """

    def __init__(self, detail: Detail = Detail.USUAL) -> None:
        self._detail = detail

    def on_event(self, event: events.Event) -> None:
        match event:
            case events.DryRunDescribed():
                print("\n".join(event.lines))
            case events.ReportWritten():
                files = dict(event.files)
                print_summary(load(files["json"]), Console(emoji=False), files, detail=self._detail)
            case events.RunFailed():
                for _, file in event.reports[:1]:
                    print(f"the cases that were complete are judged in {file}")
                print(event.machine_line)
            case events.RunInterrupted():
                command = shlex.join(["rocketdiff", "analyze", str(event.folder)])
                print(f"the completed part of the run can be judged: {command}", file=sys.stderr)
            case _:
                return
