"""Execution of the steps of a script."""

from rocketdiff.simulation.script.model import Step, Timeline
from rocketdiff.simulation.script.steps.environment import Advance, Dump
from rocketdiff.simulation.script.vocabulary import DumpPart
from rocketdiff.simulation.virtual.assembly import VirtualClient
from rocketdiff.simulation.virtual.environment import act
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.lines import dump_text, head, text
from rocketdiff.simulation.virtual.session import RoleSession
from rocketdiff.simulation.virtual.timeline import run_timeline
from rocketmq_reference.client.effects import Body, Wait


def do_step(role: RoleSession, number: int, step: Step) -> Body | None:
    """Do one step on the script's own thread; return an actor for a step that takes time or has to wait its turn."""
    where = head(role.session.name, number)
    match step:
        case Advance(ms):
            return _advance(role.session.kernel, ms)
        case Dump(parts):
            role.session.add(f'{where}"dump": {dump_text({part: _part(role, part) for part in parts})}}}')
        case Timeline():
            return run_timeline(role, number, step)
        case _:
            return act(role, where, step)
    return None


def _advance(kernel: Kernel, ms: int) -> Body:
    yield Wait(until_ms=kernel.now_ms + ms)
    yield from kernel.settle()


def _part(role: RoleSession, part: DumpPart) -> str:
    if part is DumpPart.CLOCK:
        return f'{{"now_ms": {role.session.kernel.now_ms}}}'
    return _connections(role.client) if part is DumpPart.CONNECTIONS else role.part(part)


def _connections(client: VirtualClient) -> str:
    if client.connected is None:
        return "{}"
    counts = client.connected.network.connected()
    return "{" + ", ".join(f"{text(broker)}: {counts[broker]}" for broker in sorted(counts)) + "}"
