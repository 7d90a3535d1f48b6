"""The state of a producer that a script can observe."""

from rocketdiff.simulation.script.vocabulary import DumpPart
from rocketdiff.simulation.virtual.codec import TOPIC
from rocketdiff.simulation.virtual.lines import dump_text, faults_text, number, queues_text
from rocketmq_reference.client.memory import ProducerMemory, Thread

_TRACED = (DumpPart.INDEX, DumpPart.WORST_INDEX, DumpPart.QUEUES, DumpPart.FAULTS)


def state(memory: ProducerMemory, thread: Thread) -> str:
    """Return the state in a trace line, with the counters of the step's thread."""
    return dump_text({part: part_text(memory, part, thread) for part in _TRACED})


def part_text(memory: ProducerMemory, part: DumpPart, thread: Thread) -> str:
    """Return one part of a producer's state, with the counters of the thread."""
    if part is DumpPart.QUEUES:
        return queues_text(memory.published(TOPIC).info)
    if part is DumpPart.FAULTS:
        return faults_text(memory.faults)
    published = memory.published(TOPIC)
    index = memory.selector(thread, published).index if part is DumpPart.INDEX else memory.worst_index(thread)
    return number(index.value)
