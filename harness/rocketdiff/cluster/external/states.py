"""What a state command says: docker's words, ps' letters, or plainly running, paused or gone."""

import re

from rocketdiff.cluster.interface import NodeState

_WORDS = {
    "running": NodeState.RUNNING,
    "active": NodeState.RUNNING,
    "paused": NodeState.PAUSED,
    "stopped": NodeState.PAUSED,
    "gone": NodeState.GONE,
    "exited": NodeState.GONE,
    "dead": NodeState.GONE,
    "inactive": NodeState.GONE,
    "failed": NodeState.GONE,
}

_PS = re.compile(r"[RSDITtZX][<NLsl+]*")
"""The column ``stat`` of ps: a letter for the state, then marks."""

_PS_LETTERS = {"T": NodeState.PAUSED, "t": NodeState.PAUSED, "Z": NodeState.GONE, "X": NodeState.GONE}

WORDS_KNOWN = f"one of {', '.join(_WORDS)}, or a state as ps writes it (S, T …)"


def state_told(output: str) -> NodeState | None:
    """
    The state that the first word of an output means; None for a word that means nothing to us.

    No output at all is how ps speaks of a process that is not there.
    """
    word = next(iter(output.split()), "")
    if not word:
        return NodeState.GONE
    if _PS.fullmatch(word):
        return _PS_LETTERS.get(word[0], NodeState.RUNNING)
    return _WORDS.get(word.lower())
