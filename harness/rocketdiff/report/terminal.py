"""
The terminal during a run: a progress bar for each stage, one line per result.

On a pipe or in a CI log there are no bars and no colour. ``formats/summary.py`` prints the final summary.
"""

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from rocketdiff.core import events
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.arm import Member
from rocketdiff.core.tables.fault import FaultRecord
from rocketdiff.core.text.plain_text import plain_line
from rocketdiff.report.words.signs import plural


def progress_bar(console: Console, *first: ProgressColumn) -> Progress:
    """Return a bar behind these columns, with count and time; it shows on terminals only and vanishes at its end."""
    columns = (*first, BarColumn(bar_width=28), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True, disable=not console.is_terminal)


class TerminalListener:
    """Shows events on a console: ``Console(stderr=True, emoji=False)``, because standard output is for the summary."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress = progress_bar(console, SpinnerColumn(finished_text=" "), TextColumn("{task.description}"))
        self._run: events.RunStarted | None = None
        self._stage: TaskID | None = None
        self._cases: TaskID | None = None
        self._ended: dict[Member, int] = {}

    def on_event(self, event: events.Event) -> None:
        match event:
            case events.RunStarted():
                self._run_started(event)
            case events.ClusterStarted() | events.ClusterReady() | events.ClusterClosed():
                self._cluster(event)
            case events.CaseStarted() | events.OperationsEnded() | events.ReadBackStarted() | events.CaseEnded():
                self._case(event)
            case events.CaseRepeated():
                self._line(f"↻ {escape(self._short(event.case))} once more: {escape(event.why)}")
            case events.FaultInjected() | events.FaultHealed():
                self._fault(event)
            case events.MemberLost():
                self._line(
                    f"  [red]✗[/] {event.member} lost: {escape(event.signature)}: {escape(plain_line(event.message))}"
                )
            case events.AnalysisStarted() | events.CheckJudged():
                self._analysis(event)
            case events.ReportWritten() | events.RunInterrupted() | events.RunFailed() | events.RunEnded():
                self.close()
            case events.ArmsStarted() | events.DryRunDescribed():
                return

    def close(self) -> None:
        """Remove the bars, even if the run ended without its last event."""
        self._progress.stop()

    def _run_started(self, event: events.RunStarted) -> None:
        self._run = event
        self._line(
            f"[bold]{event.baseline}[/] against [bold]{event.candidate}[/]: suite {escape(event.suite)},"
            f" {plural(len(event.cases), 'case')}, {plural(event.checks_planned, 'check')}, seed {event.seed}"
        )
        self._line(f"run directory {escape(str(event.folder))}")
        if event.left_out:
            self._line(f"left out, as one of the two has no such call: {escape(', '.join(event.left_out))}")
        if event.without_group:
            self._line(f"left out, as one of the two has no consumers for it: {escape(', '.join(event.without_group))}")
        for name, reason in event.not_here:
            self._line(f"left out on this cluster: {escape(name)}: {escape(reason)}")
        self._progress.start()
        self._cases = self._progress.add_task("cases", total=len(event.cases))

    def _cluster(self, event: events.ClusterStarted | events.ClusterReady | events.ClusterClosed) -> None:
        match event:
            case events.ClusterStarted():
                self._begin(f"starting RocketMQ {event.server_release}, {event.topology}", total=None)
            case events.ClusterReady():
                self._end_stage()
                servers = f"{plural(len(event.name_servers), 'name server')}, {plural(len(event.brokers), 'broker')}"
                self._line(
                    f"[green]✓[/] {event.topology} ready in {event.took_s:.1f} s: {servers} {event.server_release}"
                )
            case events.ClusterClosed():
                self._end_stage()

    def _case(
        self, event: events.CaseStarted | events.OperationsEnded | events.ReadBackStarted | events.CaseEnded
    ) -> None:
        match event:
            case events.CaseStarted():
                self._ended = {}
                self._begin(self._short(event.case), total=2 * event.operations_per_arm)
            case events.OperationsEnded():
                self._ended[event.member] = event.operations
                self._show(completed=sum(self._ended.values()))
            case events.ReadBackStarted():
                self._show(description="healed; reading every queue to its end")
            case events.CaseEnded():
                self._end_stage()
                if self._cases is not None:
                    self._progress.advance(self._cases)
                counts = f"{event.baseline_operations:,} + {event.candidate_operations:,} {event.role.operations}"
                self._line(f"[green]✓[/] {escape(self._short(event.case))}  [dim]{counts}, {event.took_s:.1f} s[/]")

    def _fault(self, event: events.FaultInjected | events.FaultHealed) -> None:
        """Without a line: the report lists faults with their times."""
        self._show(fault=event.fault, healed=isinstance(event, events.FaultHealed))

    def _analysis(self, event: events.AnalysisStarted | events.CheckJudged) -> None:
        if isinstance(event, events.AnalysisStarted):
            self._begin(f"judging {plural(event.cases, 'case')}", total=event.checks)
            return
        self._show(advance=1)
        if event.result.verdict in (Verdict.DIVERGES, Verdict.STALE, Verdict.INVALID, Verdict.ERROR):
            word = f"{event.result.verdict.lower()}: {escape(self._short(event.result.case))} {event.result.check}"
            self._line(f"  [red]✗[/] {word}")

    def _begin(self, description: str, total: int | None) -> None:
        self._end_stage()
        self._stage = self._progress.add_task(escape(description), total=total)

    def _show(
        self,
        *,
        completed: int | None = None,
        advance: int | None = None,
        description: str | None = None,
        fault: FaultRecord | None = None,
        healed: bool = False,
    ) -> None:
        """Refresh at once, except for check results, of which there are hundreds."""
        if self._stage is None:
            return
        if fault is not None:
            words = fault.kind.traits
            description = f"{fault.node} {words.ends if healed else words.begins}"
        self._progress.update(
            self._stage,
            completed=completed,
            advance=advance,
            description=None if description is None else escape(description),
            refresh=advance is None,
        )

    def _end_stage(self) -> None:
        if self._stage is not None:
            self._progress.remove_task(self._stage)
            self._stage = None

    def _short(self, case: str) -> str:
        return case if self._run is None else case.removesuffix(f"/{self._run.baseline}~{self._run.candidate}")

    def _line(self, text: str) -> None:
        self._console.print(text, highlight=False, soft_wrap=True)
