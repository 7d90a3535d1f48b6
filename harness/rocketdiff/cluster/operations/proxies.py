"""Requests to proxies over gRPC: the route of a topic as clients get it, and probes of a pause or a kill."""

from collections.abc import Mapping

from rocketdiff.cluster.operations import admin
from rocketdiff.core.security import Security
from rocketdiff.grpc.call import CallFailed, unary
from rocketdiff.grpc.messages import QUERY_ROUTE, Code, RouteAnswer, query_route, route_answer
from rocketmq_reference.remoting.errors import RemotingConnectException, RemotingException, RemotingTimeoutException

METADATA = {
    "x-mq-client-id": "rocketdiff-probe",
    "x-mq-language": "PYTHON",
    "x-mq-protocol": "v2",
    "x-mq-client-version": "5.1.2",
}
"""Without these a proxy answers CLIENT_ID_REQUIRED."""


def proxy_route(address: str, topic: str, timeout_ms: float = admin.REQUEST_TIMEOUT_MS) -> RouteAnswer:
    """
    Return the route of a topic at one proxy.

    Raises the remoting exceptions of the other probes: connection refused, timeout, any other failure.
    """
    try:
        return route_answer(unary(address, QUERY_ROUTE, query_route(topic, address), timeout_ms, METADATA))
    except CallFailed as failure:
        if failure.refused:
            raise RemotingConnectException(address) from failure
        if failure.silent:
            raise RemotingTimeoutException(address, int(timeout_ms)) from failure
        raise RemotingException(str(failure)) from failure


def missing_in_proxy(address: str, topic: str, wanted: Mapping[str, int]) -> str | None:
    """Return which of a topic's queues a proxy's route lacks, or None. wanted: queues by broker name."""
    answer = proxy_route(address, topic)
    if answer.code != Code.OK:
        return f"it answers {answer.code}: {answer.text}"
    return admin.missing_queues(dict(wanted), {broker: answer.queues.get(broker, 0) for broker in wanted})


def probe_proxy(address: str, timeout_ms: int, topic: str, _security: Security) -> None:
    """Return after any answer; raises as proxy_route. Proxies have no access control or TLS."""
    proxy_route(address, topic, timeout_ms)
