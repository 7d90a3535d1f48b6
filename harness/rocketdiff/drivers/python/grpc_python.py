"""
The gRPC Python client as a subject: ``python -m rocketdiff.drivers.python.grpc_python``.

It runs in a virtual environment with rocketmq-python-client (package ``rocketmq``). The client always makes three attempts. Its
timeout must be a whole number of seconds: with any other it starts but never finds a route.
"""

import importlib
import importlib.metadata
from collections.abc import Callable
from math import ceil
from typing import Any

from rocketdiff.core.sends.message import ID_PROPERTY
from rocketdiff.core.sends.outcome import ErrorWord
from rocketdiff.core.sends.plan import PlannedSend, SendKind, SendMode
from rocketdiff.core.subject import ClientProtocol, SubjectId
from rocketdiff.drivers.python.sending.client import ClientResult
from rocketdiff.drivers.python.sending.identity import body_of, message_id
from rocketdiff.drivers.python.sending.runner import as_producer
from rocketdiff.drivers.python.session import Speak, own_stdout, run_subject
from rocketdiff.drivers.python.writer import RecordWriter
from rocketdiff.protocol.commands import SubjectSetup

CAPABILITIES = (str(ClientProtocol.GRPC), str(SendKind.PLAIN), str(SendKind.GROUP), str(SendMode.ASYNC))

_CLIENT = "grpc-python"
_PACKAGE = "rocketmq-python-client"
_WARM_SENDS = 50
_WARM_TIMEOUT_S = 5
_WARM_BODY_BYTES = 128
_TRIES = 5
"""The first connection, or fetching settings from the proxy, may fail while everything else starts."""

ATTEMPT_TIMEOUT_MS = 1_000
"""The client's shortest timeout."""

_ANSWER = ClientResult("SEND_OK", None, None, None)

_WORDS = {"DEADLINE_EXCEEDED": ErrorWord.TIMEOUT, "UNAVAILABLE": ErrorWord.CONNECTION_LOST}


class GrpcPythonClient:
    """A warm producer, shut down after the warm-up, and the measured one."""

    def __init__(self, rocketmq: Any, setup: SubjectSetup, _speak: Speak) -> None:
        self._rocketmq = rocketmq
        self._setup = setup
        self._producer: Any = None

    def prepare(self) -> None:
        """Warm up and start; start-up looks up the route and waits for the proxy's settings."""
        warm = self._started(self._setup.warm_topic, _WARM_TIMEOUT_S)
        for number in range(_WARM_SENDS):
            send = PlannedSend(number, 0, 0, SendKind.PLAIN, 0, _WARM_BODY_BYTES)
            message = self._message(self._setup.warm_topic, send)
            if number % 2:
                warm.send_async(message).result(_WARM_TIMEOUT_S)
            else:
                warm.send(message)
        warm.shutdown()
        self._producer = self._started(self._setup.topic, ceil(self._setup.settings.send_msg_timeout_ms / 1_000))

    def message(self, send: PlannedSend) -> Any:
        return self._message(self._setup.topic, send)

    def route(self) -> int:
        return 0  # unknown

    def send(self, _send: PlannedSend, message: Any) -> ClientResult:
        """Send; the queue of the receipt is not the one that the proxy chose."""
        try:
            self._producer.send(message)
        except Exception as error:
            raise worded(error) from error
        return _ANSWER

    def send_async(self, _send: PlannedSend, message: Any, on_end: Callable[[ClientResult | Exception], None]) -> None:
        """Send; the completion of the future is the callback."""

        def ended(future: Any) -> None:
            error = future.exception()
            on_end(_ANSWER if error is None else worded(error))

        try:
            future = self._producer.send_async(message)
        except Exception as error:
            raise worded(error) from error
        future.add_done_callback(ended)

    def send_oneway(self, send: PlannedSend, message: Any) -> None:
        """Raise NotImplementedError: gRPC clients have no one-way call."""
        raise NotImplementedError("one-way sends")

    def gave_up(self, _send: PlannedSend, _now_ns: int) -> None:
        """Do nothing: attempts are not visible."""

    def shutdown(self) -> None:
        self._producer.shutdown()

    def _started(self, topic: str, timeout_s: int) -> Any:
        for left in reversed(range(_TRIES)):
            try:
                credentials = self._rocketmq.Credentials()
                endpoints = ";".join(self._setup.endpoints)
                configuration = self._rocketmq.ClientConfiguration(endpoints, credentials, "", timeout_s)
                producer = self._rocketmq.Producer(configuration, (topic,))
                producer.startup()
            except Exception:
                if not left:
                    raise
            else:
                return producer
        raise AssertionError("unreachable: the last try returns or raises")

    def _message(self, topic: str, send: PlannedSend) -> Any:
        identity = message_id(self._setup, topic, send.send)
        message = self._rocketmq.Message()
        message.topic = topic
        message.body = body_of(identity, send)
        message.add_property(ID_PROPERTY, identity)
        if send.keys:
            for key in send.keys.split():
                message.keys = key
        if send.tags:
            message.tag = send.tags
        if send.kind is SendKind.GROUP:
            message.message_group = f"group-{send.argument}"
        for name, value in send.properties:
            message.add_property(name, value)
        return message


def worded(error: BaseException) -> Exception:
    """Wrap an error in an exception whose class name is the protocol's error word."""
    status = getattr(error, "code", None)
    if callable(status):  # of gRPC
        word, code = _WORDS.get(getattr(status(), "name", ""), ErrorWord.OTHER), None
    elif isinstance(status, int):
        word, code = ErrorWord.BROKER_CODE, status
    elif isinstance(error, TimeoutError):
        word, code = ErrorWord.TIMEOUT, None
    else:
        word, code = ErrorWord.CLIENT_REFUSED, None
    worded_error: Exception = type(str(word), (Exception,), {"code": code})(f"{type(error).__name__}: {error}")
    return worded_error


def main() -> None:
    """Run until the command stop or the end of stdin."""
    writer = RecordWriter(own_stdout())  # before the client may print
    rocketmq = importlib.import_module("rocketmq")
    run_subject(
        SubjectId(_CLIENT, importlib.metadata.version(_PACKAGE)),
        CAPABILITIES,
        as_producer(lambda setup, speak: GrpcPythonClient(rocketmq, setup, speak)),
        writer,
        writer.put,
        ATTEMPT_TIMEOUT_MS,
    )


if __name__ == "__main__":
    main()
