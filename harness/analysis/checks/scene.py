"""What every watcher is given of a case before it sees the first send, and what a watcher is."""

from dataclasses import dataclass
from typing import Protocol

from harness.analysis.notebook import Notebook
from harness.analysis.steps.aligned import AlignedSend
from harness.analysis.steps.attempts_in_context import FaultTimes
from harness.traces.manifest import CaseEntry


@dataclass(frozen=True, slots=True)
class Scene:
    """The case, its faults and the notebook to write into."""

    entry: CaseEntry
    times: FaultTimes
    notebook: Notebook


class Watcher(Protocol):
    """The part of a check that looks at the sends of one case, in order; it writes into the scene's notebook."""

    def see(self, send: AlignedSend) -> None:
        """Look at one send of both arms."""

    def end(self) -> None:
        """No send is left; write down what is still open."""
