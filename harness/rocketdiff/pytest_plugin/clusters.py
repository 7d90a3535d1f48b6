"""The clusters that the items of a pytest process share."""

import pytest

from rocketdiff.cluster.backend import Backend
from rocketdiff.cluster.start import own_backend_named
from rocketdiff.run.cluster_pool import ClusterPool

_KEY = pytest.StashKey[ClusterPool]()


def backend_of(config: pytest.Config) -> Backend:
    """
    The backend of ``--rocketdiff-cluster`` and ``--rocketdiff-server``.

    Raises UsageError for an unknown backend, and for an existing cluster, where xdist workers would disturb each other.
    """
    written, release = str(config.getoption("rocketdiff_cluster")), str(config.getoption("rocketdiff_server"))
    security = config.getoption("rocketdiff_security")
    return own_backend_named(written, release, security, hint="rocketdiff run --cluster external:FILE, without pytest")


def pool_of(config: pytest.Config) -> ClusterPool:
    """The pool of this process, which is closed when pytest ends."""
    if _KEY not in config.stash:
        pool = config.stash[_KEY] = ClusterPool(backend_of(config))
        config.add_cleanup(pool.close)
    return config.stash[_KEY]
