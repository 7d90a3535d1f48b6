"""What a command answers on standard output: the summary of a report, a dry run, and a last line for machines, whatever happens."""

import shlex
import sys

from rich.console import Console

from rocketdiff.core import events
from rocketdiff.report.document import load
from rocketdiff.report.summary import print_summary


class AnswerListener:
    """
    Prints what events amount to; listens after whoever draws progress bars, so that these are gone by then.

    The summary is that of the report as it was stored: what is shown is what can be rendered again.
    """

    def on_event(self, event: events.Event) -> None:
        """Print what this event answers; most answer nothing."""
        match event:
            case events.DryRunTold():
                print("\n".join(event.lines))
            case events.ReportWritten():
                files = dict(event.files)
                print_summary(load(files["json"]), Console(), files)
            case events.RunBrokeOff():
                for _, file in event.reports[:1]:
                    print(f"the cases that were complete are judged in {file}")
                print(event.machine_line)
            case events.RunInterrupted():
                command = shlex.join(["rocketdiff", "analyze", str(event.folder)])
                print(f"what there is of the run can be judged: {command}", file=sys.stderr)
            case _:
                return
