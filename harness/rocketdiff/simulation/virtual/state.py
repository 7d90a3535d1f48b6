"""The client state that a script can observe."""

from collections.abc import Iterable

from rocketdiff.simulation.script.vocabulary import DumpPart
from rocketdiff.simulation.virtual.assembly import VirtualProducer
from rocketdiff.simulation.virtual.codec import TOPIC
from rocketdiff.simulation.virtual.kernel import Kernel
from rocketdiff.simulation.virtual.lines import dump_text, faults_text, number, queues_text, text
from rocketmq_reference.client.memory import ProducerMemory, Thread

_TRACED = (DumpPart.INDEX, DumpPart.WORST_INDEX, DumpPart.QUEUES, DumpPart.FAULTS)


def dump(
    memory: ProducerMemory, kernel: Kernel, producer: VirtualProducer, parts: Iterable[DumpPart], thread: Thread
) -> str:
    """Return the requested parts; counters are those of the thread."""
    texts: dict[DumpPart, str] = {}
    for part in parts:
        if part is DumpPart.CLOCK:
            texts[part] = f'{{"now_ms": {kernel.now_ms}}}'
        elif part is DumpPart.CONNECTIONS:
            texts[part] = _connections(producer)
        else:
            texts[part] = _part(memory, part, thread)
    return dump_text(texts)


def state(memory: ProducerMemory, thread: Thread) -> str:
    """Return the state in a trace line, with the counters of the step's thread."""
    return dump_text({part: _part(memory, part, thread) for part in _TRACED})


def _part(memory: ProducerMemory, part: DumpPart, thread: Thread) -> str:
    if part is DumpPart.QUEUES:
        return queues_text(memory.published(TOPIC).info)
    if part is DumpPart.FAULTS:
        return faults_text(memory.faults)
    published = memory.published(TOPIC)
    index = memory.selector(thread, published).index if part is DumpPart.INDEX else memory.worst_index(thread)
    return number(index.value)


def _connections(producer: VirtualProducer) -> str:
    if producer.connected is None:
        return "{}"
    counts = producer.connected.network.connected()
    return "{" + ", ".join(f"{text(broker)}: {counts[broker]}" for broker in sorted(counts)) + "}"
