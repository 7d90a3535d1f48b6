"""What scripts ask of a member whose client works with brokers: ids and offsets that these answer, and rounds in their time."""

from collections.abc import Sequence
from functools import partial

from rocketdiff.simulation.script.model import Script, Step
from rocketdiff.simulation.script.steps.consuming import KnownOffset, Members, Rounds
from rocketdiff.simulation.script.steps.subscribing import Join, ListenerKind, Model
from rocketdiff.simulation.script.vocabulary import DumpPart
from rocketdiff.simulation.virtual.codec import TOPIC
from rocketdiff.simulation.virtual.consuming.brokers import place_of
from rocketdiff.simulation.virtual.consuming.group import GROUP_NAME, Group, owned_text
from rocketdiff.simulation.virtual.consuming.process_queue_session import ProcessQueueSession
from rocketdiff.simulation.virtual.lines import dump_text
from rocketdiff.simulation.virtual.session import ScriptSession
from rocketmq_reference.client.consuming.memory import ConsumerMemory
from rocketmq_reference.client.effects import Body, Wait
from rocketmq_reference.remoting.messages import StoredMessage
from rocketmq_reference.rules.consumer.settings import ConsumeSettings, MessageModel
from rocketmq_reference.rules.dialect import ConsumerDialect
from rocketmq_reference.rules.queue_choice.events import Observer


class GroupSession(ProcessQueueSession):
    """One member of a group. own: the client's id."""

    def __init__(
        self, session: ScriptSession, dialect: ConsumerDialect, script: Script, observer: Observer | None, own: str
    ) -> None:
        super().__init__(session, dialect, script, observer)
        self._group = Group()
        self._has_left = False
        is_orderly = any(isinstance(step, Join) and step.listener is ListenerKind.ORDERLY for step in script.steps)
        is_broadcasting = any(isinstance(step, Join) and step.model is Model.BROADCASTING for step in script.steps)
        model = MessageModel.BROADCASTING if is_broadcasting else MessageModel.CLUSTERING
        rules, settings = dialect.consumer, ConsumeSettings(message_model=model)
        self._new_memory = partial(ConsumerMemory, GROUP_NAME, own, rules, settings, None, is_orderly=is_orderly)
        self._memory = self._new_memory()

    def do(self, head: str, step: Step) -> Body | None:
        match step:
            case Members(ids):
                self._group.ids = ids
            case KnownOffset(broker, queue, None):
                self._group.offsets.pop(f"{broker}/{queue}", None)
            case KnownOffset(broker, queue, int() as offset):
                self._group.offsets[f"{broker}/{queue}"] = offset
            case Rounds(ms):
                return self._run(head, ms)
            case _:
                return super().do(head, step)
        return None

    def part(self, part: DumpPart) -> str:
        if part is not DumpPart.OWNED:
            return super().part(part)
        return "[]" if self._has_left else owned_text(self._memory)  # whatever a thread that goes on has taken since

    def state(self) -> str:
        return dump_text({DumpPart.OWNED: self.part(DumpPart.OWNED)})

    def _hooked(self, messages: Sequence[StoredMessage]) -> None:
        """Note what a hook of the application sees: each message, and its topic if that is the group's own."""
        for message in messages:
            of = "" if message.topic == TOPIC else " of the retry topic"
            self._group.note(self.session.kernel.now_ms, f"hook {place_of(message)}{of}")

    def _run(self, head: str, ms: int) -> Body:
        kernel = self.session.kernel
        yield Wait(until_ms=kernel.now_ms + ms)
        yield from kernel.settle()
        self.session.answer(head, f'"rounds": {self._group.report()}', self.state)
