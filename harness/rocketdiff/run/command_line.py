"""The command that repeats a run."""

import shlex

from rocketdiff.core.policy import Inconclusive
from rocketdiff.run.request import RunRequest


def command_line(request: RunRequest, seed: int) -> str:
    """What to type to repeat the run: everything that decides what it does and how it is judged."""
    selection, judging, backend = request.selection, request.judging, request.backend
    words = ["rocketdiff", "run", "--subject", str(request.baseline), "--subject", str(request.candidate)]
    words += ["--suite", selection.suite_name]
    for pattern in selection.patterns:
        words += ["--scenario", pattern]
    if selection.root is not None:
        words += ["--scenarios", str(selection.root)]
    # Somebody's own cluster says its release itself.
    words += [] if backend.is_shared else ["--server", backend.server_release]
    words += ["--cluster", backend.name] if backend.name != "processes" else []
    words += ["--seed", str(seed)]
    if judging.policy.inconclusive is not Inconclusive.FAIL:
        words += ["--inconclusive", judging.policy.inconclusive]
    for file in judging.ledgers.files:
        words += ["--ledger", str(file)]
    words += ["--wire"] * request.is_wire_wanted + ["--control"] * request.is_control_wanted
    words += ["--no-ledger"] * (not judging.ledgers.shipped)
    return shlex.join(words + ["--strict"] * judging.policy.strict)
