"""The fast encoder of sends, compared with the plain one."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from rocketmq_reference.remoting.codes import LanguageCode
from rocketmq_reference.remoting.frames import Command, FrameBuffer, Serialization
from rocketmq_reference.remoting.send_encoder import SendEncoder
from rocketmq_reference.remoting.sending import SendRequest, send_message

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=10)
_REQUESTS = st.builds(
    SendRequest,
    topic=st.sampled_from(["T", "Ü", '"']),
    queue_id=st.integers(0, 9),
    body=st.binary(max_size=9),
    group=_TEXT,
    born_timestamp_ms=st.integers(0, 2**42),
    properties=st.dictionaries(_TEXT, _TEXT, max_size=3),
    sys_flag=st.sampled_from([0, 1, 0x301]),
    flag=st.integers(0, 9),
    is_batch=st.booleans(),
    broker=st.none() | _TEXT,
    default_topic_queues=st.sampled_from([4, 8]),
)


@given(st.lists(_REQUESTS, max_size=3), st.sampled_from(Serialization))
def test_the_fast_encoder_equals_the_plain_one(requests: list[SendRequest], serialization: Serialization) -> None:
    """The fast encoder encodes any sequence of requests as the plain encoder does."""
    encoder = SendEncoder(serialization, language=LanguageCode.PYTHON, version=479)
    for opaque, request in enumerate(requests):
        (sent,) = FrameBuffer().feed(encoder.encode(request, opaque))
        plain = send_message(request, serialization=serialization, version=479)
        assert sent == replace(_read(plain), opaque=opaque)


def _read(command: Command) -> Command:
    return replace(command, ext_fields=dict(command.ext_fields), code=int(command.code))
