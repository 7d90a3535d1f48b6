"""
The exceptions of RocketMQ's Java client under their simple names, so that a program can report the class it saw.

RemotingException and MQ…Exception are siblings, as in Java: the send loop treats them differently. Read in
org.apache.rocketmq.remoting.exception and org.apache.rocketmq.client.exception of 4.0.0-incubating to 5.3.3.
"""


class RocketMQException(Exception):
    """Base of the exceptions about the peer or the call; never raised for errors of this package."""


class RemotingException(RocketMQException):
    """A request could not be carried to the other side and back (RemotingException)."""


class RemotingCommandException(RemotingException):
    """Bytes that are no valid frame, header or stored message (RemotingCommandException)."""


class RemotingConnectException(RemotingException):
    """The connect failed; nothing was written (RemotingConnectException)."""

    def __init__(self, address: str) -> None:
        super().__init__(f"connect to {address} failed")
        self.address = address


class RemotingSendRequestException(RemotingException):
    """The connection was lost or closed during the request, which may have been served (RemotingSendRequestException)."""

    def __init__(self, address: str) -> None:
        super().__init__(f"send request to <{address}> failed")
        self.address = address


class RemotingTimeoutException(RemotingException):
    """
    No answer within ``timeout_ms`` milliseconds; the request may still be served (RemotingTimeoutException).

    ``written`` is False if the time was up before the request was written.
    """

    def __init__(self, address: str, timeout_ms: int, *, written: bool = True) -> None:
        what = f"wait response on the channel <{address}> timeout, {timeout_ms}(ms)"
        super().__init__(what if written else f"invokeSync call the addr[{address}] timeout")
        self.address = address
        self.timeout_ms = timeout_ms
        self.written = written


class RemotingTooMuchRequestException(RemotingException):
    """The time for the whole call was spent before the request could be sent (RemotingTooMuchRequestException)."""


class MQClientException(RocketMQException):
    """
    The client gives up or refuses (MQClientException); ``code`` is a ClientErrorCode or response code, -1 if there is none.

    ``__cause__`` is the last attempt's exception, if any.
    """

    def __init__(self, message: str, code: int = -1) -> None:
        super().__init__(f"CODE: {code}  DESC: {message}")
        self.code = code
        self.message = message


class MQBrokerException(RocketMQException):
    """The broker answered with an error: response code, remark and address (MQBrokerException)."""

    def __init__(self, code: int, remark: str | None, broker_address: str | None = None) -> None:
        where = "" if broker_address is None else f" BROKER: {broker_address}"
        super().__init__(f"CODE: {code}  DESC: {remark}{where}")
        self.code = code
        self.remark = remark
        self.broker_address = broker_address


class IllegalStateException(RuntimeError):
    """
    Java's runtime exception, thrown by send() when no name server answers for an uncached topic (from 4.6.0).

    It is no RocketMQException, because Java's send loop neither catches nor counts it.
    """


class RuntimeException(RuntimeError):
    """Java's runtime exception, thrown for a message that the client refuses."""


class IllegalArgumentException(RuntimeException):
    """Java's runtime exception for a blank property, or for properties that do not fit into a batch."""


class UnsupportedOperationException(RuntimeException):
    """Java's runtime exception for messages that cannot be in one batch."""


class BufferOverflowException(RuntimeException):
    """Java's runtime exception for properties of 64 KiB and more in a batch."""


class Error(RuntimeError):
    """Java's error, thrown by code of the application inside the client; what handles exceptions does not handle it."""


class NullPointerException(RuntimeError):
    """Java's runtime exception, thrown up to 4.6.1 when a send gets another request's answer, which has no header."""


class CompletionException(RuntimeError):
    """Java's wrapper of a future's failure; an application sees it as a cause in 5.2.0 to 5.3.1 (#9119)."""
