"""The reference's messages of one queue in a script, put and taken as pulls and listeners do."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rocketdiff.simulation.script.model import Script, Step
from rocketdiff.simulation.script.steps.process_queue import Commit, ConsumeAgain, Pulled, Put, Remove, Rollback, Take
from rocketdiff.simulation.script.vocabulary import DumpPart
from rocketdiff.simulation.virtual.consuming.allocation_session import AllocationSession, exception_text
from rocketdiff.simulation.virtual.lines import dump_text
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketmq_reference.client.effects import Body
from rocketmq_reference.rules.consumer.process_queue import ProcessQueue, ProcessQueueError
from rocketmq_reference.rules.dialect import ConsumerDialect
from rocketmq_reference.rules.queue_choice.events import Observer


@dataclass(frozen=True, slots=True)
class _Message:
    queue_offset: int
    body: bytes


class ProcessQueueSession(AllocationSession):
    """One queue of a member; nothing runs besides the script's thread."""

    def __init__(
        self, session: ScriptSession, dialect: ConsumerDialect, script: Script, observer: Observer | None
    ) -> None:
        super().__init__(session, dialect, script, observer)
        self._queue: ProcessQueue[_Message] = ProcessQueue(session.kernel.now_ms, dialect.consumer)
        self._known: dict[int, _Message] = {}

    def do(self, head: str, step: Step) -> Body | None:
        queue = self._queue
        match step:
            case Put(offsets, size):
                messages = [self._pulled(offset, size) for offset in offsets]
                self._answer_of(head, step.do, lambda: {"dispatch": self._put(messages)})
            case Remove(offsets):
                self._answer_of(head, step.do, lambda: queue.remove(list(self._named(offsets))))
            case Take(count):
                self._answer_of(head, step.do, lambda: [message.queue_offset for message in queue.take(count)])
            case Commit():
                self._answer_of(head, step.do, queue.commit)
            case Rollback():
                queue.put_back()
                self.session.changed(head, step.do, self.state)
            case ConsumeAgain(offsets):
                queue.put_back(self._named(offsets))
                self.session.changed(head, step.do, self.state)
            case Pulled():
                queue.last_pull_ms = self.session.kernel.now_ms
                self.session.changed(head, step.do, self.state)
            case _:
                return super().do(head, step)
        return None

    def part(self, part: DumpPart) -> str:
        return self._process() if part is DumpPart.PROCESS else super().part(part)

    def state(self) -> str:
        return dump_text({DumpPart.PROCESS: self._process()})

    def _process(self) -> str:
        queue = self._queue
        return json.dumps(
            {
                "waiting": queue.waiting,
                "taken": queue.taken,
                "count": queue.count,
                "bytes": queue.bytes if self.consumer.counts_bytes else None,
                "span": queue.span,
                "is_pull_expired": queue.is_pull_expired(self.session.kernel.now_ms),
            }
        )

    def _put(self, messages: Iterable[_Message]) -> bool:
        self._queue.put(messages)
        return self._queue.begin_run()

    def _pulled(self, offset: int, size: int) -> _Message:
        message = self._known[offset] = _Message(offset, bytes(size))
        return message

    def _named(self, offsets: Iterable[int]) -> Iterable[_Message]:
        """Return the messages that were put last with these offsets; one that never was has a body of one byte."""
        return (self._known.get(offset) or _Message(offset, b" ") for offset in offsets)

    def _answer_of(self, head: str, kind: str, call: Callable[[], object]) -> None:
        try:
            answer = json.dumps(call())
        except ProcessQueueError as error:
            answer = exception_text(error.name)
        self.session.answer(head, f'"{kind}": {answer}', self.state)
