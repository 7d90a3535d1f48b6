"""
The exceptions of RocketMQ's Java client under their own simple names, so that a program can report the class it saw.

RemotingException and MQ…Exception are siblings as in Java: the send loop treats them differently. Read in
org.apache.rocketmq.remoting.exception and org.apache.rocketmq.client.exception of 4.0.0-incubating to 5.3.3.
"""


class RocketMQException(Exception):
    """Whatever this package or the producer raises about the other side or the call; never about our own mistakes."""


class RemotingException(RocketMQException):
    """A request could not be carried to the other side and back (RemotingException)."""


class RemotingCommandException(RemotingException):
    """Bytes that are no frame, header or stored message as the protocol has them (RemotingCommandException)."""


class RemotingConnectException(RemotingException):
    """No connection to the address could be made; nothing was written (RemotingConnectException)."""

    def __init__(self, address: str) -> None:
        super().__init__(f"connect to {address} failed")
        self.address = address


class RemotingSendRequestException(RemotingException):
    """The connection was lost or closed while the request was under way; it may have been served (RemotingSendRequestException)."""

    def __init__(self, address: str) -> None:
        super().__init__(f"send request to <{address}> failed")
        self.address = address


class RemotingTimeoutException(RemotingException):
    """
    No answer within ``timeout_ms`` milliseconds; the request may still be served (RemotingTimeoutException).

    ``written`` is False where the time was up before the request was written at all.
    """

    def __init__(self, address: str, timeout_ms: int, *, written: bool = True) -> None:
        what = f"wait response on the channel <{address}> timeout, {timeout_ms}(ms)"
        super().__init__(what if written else f"invokeSync call the addr[{address}] timeout")
        self.address = address
        self.timeout_ms = timeout_ms
        self.written = written


class RemotingTooMuchRequestException(RemotingException):
    """The time for the whole call was used up before the request could be sent (RemotingTooMuchRequestException)."""


class MQClientException(RocketMQException):
    """
    The client gives up or refuses; ``code`` is a ClientErrorCode or a response code, -1 where there is none (MQClientException).

    ``__cause__`` is the last attempt's exception where there was one.
    """

    def __init__(self, message: str, code: int = -1) -> None:
        super().__init__(f"CODE: {code}  DESC: {message}")
        self.code = code
        self.message = message


class MQBrokerException(RocketMQException):
    """The broker answered with an error: response code, its remark and its address (MQBrokerException)."""

    def __init__(self, code: int, remark: str | None, broker_address: str | None = None) -> None:
        where = "" if broker_address is None else f" BROKER: {broker_address}"
        super().__init__(f"CODE: {code}  DESC: {remark}{where}")
        self.code = code
        self.remark = remark
        self.broker_address = broker_address


class IllegalStateException(RuntimeError):
    """
    Java's runtime exception, which leaves send() when no name server answers for an uncached topic (from 4.6.0 on).

    It is no RocketMQException, as in Java: the send loop neither catches nor counts it.
    """


class NullPointerException(RuntimeError):
    """Java's runtime exception, met to 4.6.1 where an answer that belongs to another request has no header to read."""


class CompletionException(RuntimeError):
    """Java's wrapping of what failed a future; an application meets it as a cause in 5.2.0 to 5.3.1 (#9119)."""
