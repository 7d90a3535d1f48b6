"""The least depth that can run a script, and the depth at which it runs."""

from rocketdiff.core.errors import UsageError
from rocketdiff.documents.refusal import nearest
from rocketdiff.simulation.script.model import (
    BrokerAnswers,
    Close,
    Dump,
    Heartbeat,
    Kill,
    NameServerAnswers,
    Pause,
    Restart,
    Resume,
    Script,
    Send,
    Step,
    Timeline,
)
from rocketdiff.simulation.script.vocabulary import BrokerFault, Depth, DumpPart, Mode

_ORDER = tuple(Depth)
_OF_CONNECTIONS = (BrokerFault.FIN, BrokerFault.SILENT)


def depth_named(text: str, *besides: str) -> Depth:
    """Return the depth of an option --depth; UsageError for an unknown name. besides: other values that the option accepts."""
    if text not in list(Depth):
        raise UsageError(f"--depth {', '.join((*besides, *Depth))}", seen=text, hint=nearest(text, (*besides, *Depth)))
    return Depth(text)


def least_depth(script: Script) -> Depth:
    """Return the least depth at which every step has an effect."""
    return max((_needed(step) for step in script.steps), key=_ORDER.index, default=Depth.SELECTION)


def depth_of(script: Script) -> Depth:
    """
    Return the depth at which a script runs: its own, else the least.

    With the detector on and at least one send, that is remoting, because the detector has nothing to probe at lower depths.
    """
    if script.depth is not None:
        return script.depth
    least = least_depth(script)
    detector_works = script.settings.start_detector_enable and least is not Depth.SELECTION
    return Depth.REMOTING if detector_works else least


def require_deep_enough(script: Script, name: str) -> None:
    """Raise UsageError if the script's own depth cannot run one of its steps."""
    if script.depth is None:
        return
    for number, step in enumerate(script.steps):
        needed = _needed(step)
        if _ORDER.index(needed) > _ORDER.index(script.depth):
            raise UsageError(
                f"depth {needed} or none at depth (script {name})",
                seen=f"{script.depth}, and steps[{number}] needs {needed}",
                hint="leave depth out: the least that can run the script is taken",
            )


def _needed(step: Step) -> Depth:
    match step:
        case Timeline(entries):
            return max((_needed(entry.action) for entry in entries), key=_ORDER.index, default=Depth.SELECTION)
        case Heartbeat() | Kill() | Restart() | Close() | Send(mode=Mode.ASYNC):
            return Depth.REMOTING
        case BrokerAnswers(_, answers):
            return Depth.REMOTING if any(answer.fault in _OF_CONNECTIONS for answer in answers) else Depth.SEND_LOOP
        case Dump(parts):
            return Depth.REMOTING if DumpPart.CONNECTIONS in parts else Depth.SELECTION
        case Send() | NameServerAnswers() | Pause() | Resume():
            return Depth.SEND_LOOP
        case _:
            return Depth.SELECTION
