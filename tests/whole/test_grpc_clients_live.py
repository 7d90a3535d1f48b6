"""gRPC clients on a broker with a local proxy: each claimed call, and a pause."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketdiff.cluster.interface import Cluster
from rocketdiff.cluster.operations.admin import REQUEST_TIMEOUT_MS
from rocketdiff.cluster.operations.proxies import METADATA
from rocketdiff.cluster.start import start_cluster
from rocketdiff.core.subject import ClientProtocol
from rocketdiff.grpc.call import unary
from rocketdiff.grpc.messages import QUERY_ROUTE, Code, query_route, route_answer
from rocketdiff.releases.lock import locked
from rocketdiff.releases.programs.driver_builds import (
    OTHER_CLIENTS,
    capabilities_of,
    release_of,
)
from rocketdiff.run.subject_check.check import check_subject, topology_for
from rocketdiff.subjects.registry import resolved
from tests.live import BUILD_VARIABLE, READY_S, repeated
from tests.subjects.built import assert_hello_as_known, require_build

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

LATE_SETTINGS = "current message type not match with topic accept message types"
"""grpc-go compares message types until the proxy's settings arrive on their own stream: late at load 6."""

SETTINGS_TRIES = 8
"""One check in two was late there."""

BUILT_HERE = {
    f"{name}:{release_of(client)}": client
    for name, client in OTHER_CLIENTS.items()
    if ClientProtocol.GRPC in capabilities_of(client)
}

JAVA = [f"grpc-java:{release}" for release in (locked().grpc_clients if BUILD_VARIABLE in os.environ else ["5.2.0"])]
"""`make clients` checks every release."""


@pytest.fixture(scope="module")
def local_proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One cluster for all: its start costs as much processor time as three clients."""
    topology = topology_for(resolved("grpc-java:5.2.0"))
    with start_cluster(topology=topology, folder=tmp_path_factory.mktemp("local"), timeout_s=READY_S) as cluster:
        yield cluster


@pytest.mark.usefixtures("time_to_stop")
@pytest.mark.parametrize("spec", [*JAVA, *BUILT_HERE])
def test_a_client_that_speaks_grpc_has_no_problem(spec: str, local_proxy: Cluster, tmp_path: Path) -> None:
    """Each gRPC client passes the subject check, and its known claims equal its hello."""
    if spec in BUILT_HERE:
        require_build(BUILT_HERE[spec])
        assert_hello_as_known(BUILT_HERE[spec], tmp_path)
    subject = resolved(spec)
    subject.fetch(None)
    findings = repeated(
        lambda number: list(check_subject(subject, local_proxy, tmp_path / f"check-{number}")),
        lambda found: next((one.problem for one in found if LATE_SETTINGS in one.problem), ""),
        tries=SETTINGS_TRIES,
    )
    assert [finding for finding in findings if finding.problem] == []
    tried = " ".join(finding.tried for finding in findings)
    assert all(what in tried for what in ("sync sends, plain", "async sends, plain", "sync sends, group", "paused"))


def test_a_local_proxy_names_the_address_by_which_it_was_asked(local_proxy: Cluster) -> None:
    """The local proxy's route names the queried endpoint; its own port would bypass the relay."""
    topic = f"{local_proxy.topic_prefix}-asked"
    local_proxy.create_topic(topic, 1)
    (own,) = local_proxy.grpc_endpoints.values()
    asked = "127.0.0.1:9"
    answer = route_answer(unary(own, QUERY_ROUTE, query_route(topic, asked), REQUEST_TIMEOUT_MS, METADATA))
    assert (answer.code, answer.endpoints) == (Code.OK, {asked})
