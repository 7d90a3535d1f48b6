"""The content of a script's messages, and their requests as text; what differs between machines and sends is a zero in both hosts."""

import re

from rocketdiff.simulation.script.steps.sending import Content
from rocketdiff.simulation.virtual.lines import text
from rocketmq_reference.client.message import Message, user_properties
from rocketmq_reference.client.message_batch import batch_of
from rocketmq_reference.client.message_checks import check_message
from rocketmq_reference.remoting.messages import SysFlag
from rocketmq_reference.remoting.properties import DELAY, KEYS, TAGS, UNIQ_KEY
from rocketmq_reference.remoting.sending import LETTERS, SendRequest, send_fields
from rocketmq_reference.rules.dialect import Dialect

_MARK = ("simulated", "10000000")
"""The property by which the Java host knows its messages again; all numbers have as many digits."""

_KEY = "0" * 32
"""Instead of the client's id of a message."""

_UNLIKE = re.compile(f"({UNIQ_KEY}|{_MARK[0]})\x01[0-9A-F]+")

_MAX_MESSAGE_BYTES = 4 * 1024 * 1024

_BORN = LETTERS["bornTimestamp"]


def message_of(content: Content, topic: str, dialect: Dialect) -> Message:
    """Return the message, or the batch, that a client of these releases sends; raises what it refuses."""
    if content.batch:
        messages = [_made(content, topic, dialect) for _ in range(content.batch)]
        batch = batch_of(messages, lambda: _KEY, dialect, _MAX_MESSAGE_BYTES)
        check_message(batch, dialect, _MAX_MESSAGE_BYTES)
        return batch
    message = _made(content, topic, dialect)
    check_message(message, dialect, _MAX_MESSAGE_BYTES)
    message.properties[UNIQ_KEY] = _KEY
    return message


def _made(content: Content, topic: str, dialect: Dialect) -> Message:
    made = Message(topic if content.topic is None else content.topic, b"." * content.body_bytes, flag=content.flag)
    made.properties.update([_MARK])
    given = {KEYS: content.keys, TAGS: content.tags, DELAY: content.delay_level}
    made.properties.update({name: str(value) for name, value in given.items() if value is not None})
    padding = [("padding", "." * content.padding)] if content.padding else []
    made.properties.update(user_properties([*content.properties, *padding], dialect.messages))
    return made


def request_text(request: SendRequest) -> str:
    """Return a request as JSON: its code, the fields of its header by name, and its body unless it is compressed."""
    named = {LETTERS[name]: value for name, value in send_fields(request).items() if LETTERS[name] != _BORN}
    fields = ", ".join(f"{text(name)}: {text(_alike(named[name]))}" for name in sorted(named))
    is_compressed = request.sys_flag & SysFlag.COMPRESSED
    body = None if is_compressed else _alike(request.body.decode("latin-1"))
    return f'{{"code": {320 if request.is_batch else 310}, "fields": {{{fields}}}, "body": {text(body)}}}'


def _alike(value: str) -> str:
    return _UNLIKE.sub("\\1\x010", value)
