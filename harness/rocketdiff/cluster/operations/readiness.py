"""
Proof that a cluster serves: each step is a named condition, all share one deadline.

Name servers answer → brokers answer → every name server knows every broker and its TBW102, which topic creation on first send
needs → the probe topic is on every broker and all its queues are in every name server's route → one message per queue is stored
and read back. Slaves: they answer, are registered under their ids, and get what their master stores. Proxies: they answer with
every queue of a topic; queried only when the name servers have them, because a proxy caches for a while that a topic is
missing.
"""

import time
from collections.abc import Callable, Mapping
from functools import partial

from rocketdiff.cluster.interface import Node
from rocketdiff.cluster.operations import admin, replicas
from rocketdiff.cluster.operations.conditions import POLL_INTERVAL_S, await_condition
from rocketdiff.cluster.operations.proxies import missing_in_proxy
from rocketdiff.core.tables.topology import master_of
from rocketmq_reference.host.channels import Channels
from rocketmq_reference.remoting.requests import DEFAULT_TOPIC

# 5 to 8 s are normal on two cores; a first start from a cold disk on a busy machine takes several times that.
READY_TIMEOUT_S = 60.0

# Not shorter, because each poll makes a missing broker register, which is work for it.
_REGISTRATION_POLL_S = 0.05

# A proxy without queues requests the route again only after a while, and each poll is work for it.
_PROXY_POLL_S = 0.1

_HINT = "look at the logs; a machine that is busy, or has less than 1 GiB of memory free, may need another try"


class Readiness:
    """
    The steps for one cluster; each raises ClusterError at the deadline.

    check_servers: called at every poll; raises if a server has ended, because waiting is then pointless. log_tails: returns the
    last log lines of all servers, for error messages.
    """

    def __init__(
        self,
        channels: Channels,
        name_servers: tuple[Node, ...],
        check_servers: Callable[[], None],
        log_tails: Callable[[], str],
        timeout_s: float = READY_TIMEOUT_S,
    ) -> None:
        self._channels = channels
        self._name_servers = name_servers
        self._check_servers = check_servers
        self._log_tails = log_tails
        self._deadline = time.monotonic() + timeout_s

    def await_name_servers(self) -> None:
        self._await_each(self._name_servers, "to answer", self._ask_name_server)

    def await_brokers(self, brokers: tuple[Node, ...]) -> None:
        """Wait until these brokers answer, are registered everywhere, and store and return messages."""
        self._await_each(brokers, "to answer", self._ask_broker)
        see_brokers = partial(self._see_brokers, brokers)
        self._await_each(self._name_servers, "to know all brokers", see_brokers, _REGISTRATION_POLL_S)
        self._await_each(brokers, f"to create topic {admin.PROBE_TOPIC}", self._create_probe_topic)
        see_queues = partial(self._see_queues, brokers)
        self._await_each(self._name_servers, f"to have all queues of {admin.PROBE_TOPIC}", see_queues)
        self._await_each(brokers, "to store and give back a message in every queue", self._store_and_read)

    def await_slaves(self, slaves: tuple[Node, ...], masters: tuple[Node, ...]) -> None:
        """
        Wait until these slaves answer, are registered everywhere, and hold what their masters store now.

        Slaves whose master is not among ``masters`` need not have caught up.
        """
        self._await_each(slaves, "to answer", self._ask_broker)
        see_slaves = partial(self._see_slaves, slaves)
        self._await_each(self._name_servers, "to know all slaves", see_slaves, _REGISTRATION_POLL_S)
        for master in masters:
            mine = tuple(slave for slave in slaves if master_of(slave.name) == master.name)
            see_copy = partial(replicas.missing_copy, self._channels, master)
            self._await_each(mine, f"to hold what {master.name} stores", see_copy)

    def await_topics(self, brokers: tuple[Node, ...], topics: Mapping[str, Mapping[str, int]]) -> None:
        """Wait until every name server has the queues of these topics on these brokers. topics: queues by broker name."""
        see_topics = partial(self._see_topics, {node.name for node in brokers}, topics)
        self._await_each(self._name_servers, "to have all topics again", see_topics)

    def await_proxies(self, endpoints: Mapping[str, str], topics: Mapping[str, Mapping[str, int]]) -> None:
        """Wait until these proxies have all queues of these topics. endpoints: ``host:port`` by name."""
        for name, address in endpoints.items():
            for topic, wanted in topics.items():
                await_condition(
                    f"{name} to have all queues of {topic}",
                    partial(self._observe, partial(missing_in_proxy, address, topic, wanted)),
                    max(0.0, self._deadline - time.monotonic()),
                    evidence=self._log_tails,
                    hint=_HINT,
                    poll_interval_s=_PROXY_POLL_S,
                )

    def _await_each(
        self,
        nodes: tuple[Node, ...],
        what: str,
        observe: Callable[[Node], str | None],
        poll_interval_s: float = POLL_INTERVAL_S,
    ) -> None:
        for node in nodes:
            await_condition(
                f"{node.name} {what}",
                partial(self._observe, partial(observe, node)),
                max(0.0, self._deadline - time.monotonic()),
                evidence=self._log_tails,
                hint=_HINT,
                poll_interval_s=poll_interval_s,
            )

    def _observe(self, observe: Callable[[], str | None]) -> str | None:
        self._check_servers()
        try:
            return observe()
        except admin.ADMIN_ERRORS as error:
            return str(error)

    def _ask_name_server(self, node: Node) -> None:
        admin.registered_brokers(self._channels, node.address)

    def _ask_broker(self, node: Node) -> None:
        # Any answer is enough; runtime info, for instance, fails for half a second longer.
        admin.probe_broker(node.address, admin.REQUEST_TIMEOUT_MS, security=node.security)

    def _see_brokers(self, brokers: tuple[Node, ...], name_server: Node) -> str | None:
        known = admin.registered_brokers(self._channels, name_server.address)
        queues = admin.queues_in_route(admin.route(self._channels, name_server.address, DEFAULT_TOPIC))
        missing = [node for node in brokers if known.get(node.name) != node.address or not queues.get(node.name)]
        for node in missing:
            # A 5.x broker silently skips its first registration if its connection is not established yet.
            admin.register_now(self._channels, node.address)
        names = ", ".join(node.name for node in missing)
        return f"it does not know {names} (knows {known}, {DEFAULT_TOPIC} of {queues})" if missing else None

    def _see_slaves(self, slaves: tuple[Node, ...], name_server: Node) -> str | None:
        known = admin.registered_members(self._channels, name_server.address)
        missing = [node for node in slaves if known.get(replicas.identity(node)) != node.address]
        for node in missing:
            admin.register_now(self._channels, node.address)
        names = ", ".join(node.name for node in missing)
        return f"it does not know {names} (knows {known})" if missing else None

    def _create_probe_topic(self, node: Node) -> None:
        admin.create_topic(self._channels, node.address, admin.PROBE_TOPIC, admin.PROBE_QUEUES)

    def _see_queues(self, brokers: tuple[Node, ...], name_server: Node) -> str | None:
        found = admin.queues_in_route(admin.route(self._channels, name_server.address, admin.PROBE_TOPIC))
        wanted = {node.name: admin.PROBE_QUEUES for node in brokers}
        return admin.missing_queues(wanted, {broker: found.get(broker, 0) for broker in wanted})

    def _see_topics(self, brokers: set[str], topics: Mapping[str, Mapping[str, int]], name_server: Node) -> str | None:
        for topic, queues in topics.items():
            wanted = {broker: count for broker, count in queues.items() if broker in brokers}
            found = admin.queues_in_route(admin.route(self._channels, name_server.address, topic))
            missing = admin.missing_queues(wanted, {broker: found.get(broker, 0) for broker in wanted})
            if missing is not None:
                return f"{topic}: {missing}"
        return None

    def _store_and_read(self, node: Node) -> str | None:
        for queue_id in range(admin.PROBE_QUEUES):
            body = f"{node.name}/{queue_id}/{time.monotonic_ns()}".encode()
            offset = admin.store_probe(self._channels, node.address, queue_id, body)
            # The broker enters a stored message into its queue asynchronously.
            while admin.queue_end(self._channels, node.address, admin.PROBE_TOPIC, queue_id) <= offset:
                if time.monotonic() >= self._deadline:
                    return f"queue {queue_id} does not show the message stored at {offset}"
                time.sleep(0.001)
            found = admin.read_queue(self._channels, node.address, admin.PROBE_TOPIC, queue_id, offset)
            if body not in (message.body for message in found):
                return f"queue {queue_id} does not give back the message stored at {offset}"
        return None
