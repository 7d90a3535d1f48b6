"""What a script can see of the client's state."""

from collections.abc import Iterable

from rocketdiff.simulation.script.vocabulary import DumpPart
from rocketdiff.simulation.virtual.assembly import Producer
from rocketdiff.simulation.virtual.client import Client, Thread
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.lines import dump_text, faults_text, number, queues_text, text

_TRACED = (DumpPart.INDEX, DumpPart.WORST_INDEX, DumpPart.QUEUES, DumpPart.FAULTS)


def dump(client: Client, kernel: Kernel, producer: Producer, parts: Iterable[DumpPart]) -> str:
    """The parts that are asked for; counters are those of thread 0."""
    texts: dict[DumpPart, str] = {}
    for part in parts:
        if part is DumpPart.CLOCK:
            texts[part] = f'{{"now_ms": {kernel.now_ms}}}'
        elif part is DumpPart.CONNECTIONS:
            texts[part] = _connections(producer)
        else:
            texts[part] = _part(client, part, 0)
    return dump_text(texts)


def state(client: Client, thread: Thread) -> str:
    """What a trace tells after each step, of the thread that did it."""
    return dump_text({part: _part(client, part, thread) for part in _TRACED})


def _part(client: Client, part: DumpPart, thread: Thread) -> str:
    if part is DumpPart.QUEUES:
        return queues_text(client.published.info)
    if part is DumpPart.FAULTS:
        return faults_text(client.faults)
    index = client.selector(thread).index if part is DumpPart.INDEX else client.worst_index(thread)
    return number(index.value)


def _connections(producer: Producer) -> str:
    """Brokers that are connected, with the number of connections to each."""
    if producer.connected is None:
        return "{}"
    counts = producer.connected.network.connected()
    return "{" + ", ".join(f"{text(broker)}: {counts[broker]}" for broker in sorted(counts)) + "}"
