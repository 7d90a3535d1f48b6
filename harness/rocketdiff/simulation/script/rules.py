"""Rules of the script format that need more than one field: every broker that is named must be in some route."""

from collections.abc import Iterator

from rocketdiff.simulation.script.fields import Place, nearest
from rocketdiff.simulation.script.model import (
    BrokerAnswers,
    Close,
    Kill,
    Pause,
    Restart,
    Resume,
    Script,
    Select,
    Send,
    Step,
    Timeline,
    Update,
    brokers_of,
)


def require_known_brokers(script: Script, name: str) -> None:
    """UsageError for a broker that no route of the script ever holds: a slip of the pen would look like a calm run."""
    known = brokers_of(script)
    for number, step in enumerate(script.steps):
        for broker in _named(step):
            if broker not in known:
                place = Place(name) / "steps" / number
                expected = f"a broker of the script's routes ({', '.join(known) or 'which hold none'})"
                place.refuse(expected, seen=broker, hint=nearest(broker, tuple(known)))


def _named(step: Step) -> Iterator[str]:
    match step:
        case Timeline(entries):
            for entry in entries:
                yield from _named(entry.action)
        case Update(broker=broker) | Pause(broker) | Resume(broker) | Kill(broker) | Restart(broker) | Close(broker):
            yield broker
        case BrokerAnswers(name=broker):
            yield broker
        case Select(last_broker=str(broker)):
            yield broker
        case Send(queue=queue) if queue is not None:
            yield queue.broker
