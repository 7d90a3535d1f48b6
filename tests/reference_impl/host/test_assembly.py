"""A live client without a role, and with several groups."""

from rocketmq_reference.api.settings import ProducerSettings
from rocketmq_reference.client.background import Task
from rocketmq_reference.client.publishing import known_routes
from rocketmq_reference.dialects import dialect_of
from rocketmq_reference.host.assembly import LiveClient, live_client
from rocketmq_reference.remoting.codes import RequestCode
from rocketmq_reference.rules.client.route import TopicRoute
from tests.reference_impl.fake_broker import FakeCluster
from tests.reference_impl.host.requesting import await_that

NEVER_MS = 10_000_000


class Listed:
    """A role that takes every route it is given."""

    def __init__(self, *, needs: bool) -> None:
        self._needs = needs
        self.taken: list[str] = []

    def needs_route(self, _topic: str) -> bool:
        return self._needs

    def take_route(self, topic: str, _route: TopicRoute) -> None:
        self.taken.append(topic)


def client_on(cluster: FakeCluster) -> LiveClient:
    dialect, settings = dialect_of("5.3.3"), ProducerSettings(first_poll_ms=NEVER_MS, first_heartbeat_ms=NEVER_MS)
    return live_client([cluster.name_server.address], "test", dialect, settings, known_routes(dialect))


def test_a_client_announces_every_group_and_unregisters_each(cluster: FakeCluster) -> None:
    """A heartbeat names all groups of a client; each is unregistered for itself."""
    client = client_on(cluster)
    client.memory.producer_groups += ["G", "H"]
    client.host.run(client.routes.refresh("T"))
    client.host.run(client.background.clean_and_beat())
    (beat,) = cluster["a"].requests_of(RequestCode.HEART_BEAT)
    client.shutdown(unregister_client=True)
    assert b'{"groupName":"G"},{"groupName":"H"}' in beat.body.replace(b" ", b"")
    gone = [request.ext_fields["producerGroup"] for request in cluster["a"].requests_of(RequestCode.UNREGISTER_CLIENT)]
    assert gone == ["G", "H"]


def test_a_route_goes_to_every_role(cluster: FakeCluster) -> None:
    """A changed route goes to all roles; an unchanged one too, as long as one of them has no list yet."""
    client, roles = client_on(cluster), (Listed(needs=False), Listed(needs=False))
    client.memory.roles += roles
    for _ in range(2):
        client.host.run(client.routes.refresh("T"))
    assert [role.taken for role in roles] == [["T"], ["T"]]
    client.memory.roles.append(Listed(needs=True))
    client.host.run(client.routes.refresh("T"))
    assert [role.taken for role in roles] == [["T", "T"], ["T", "T"]]
    client.shutdown(unregister_client=False)


def test_a_task_of_a_role_runs_in_its_own_thread(cluster: FakeCluster) -> None:
    """A role adds a task before the start; it is done at its times, in the thread that it names."""
    client, threads = client_on(cluster), list[str]()
    client.background.tasks.append(Task(0, 1, lambda own: threads.append(own.name), "own"))
    client.host.post(client.background.start)
    await_that(lambda: len(threads) > 1)
    client.shutdown(unregister_client=False)
    assert set(threads) == {"own"}
