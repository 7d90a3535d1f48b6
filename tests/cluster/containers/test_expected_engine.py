"""Tests without an engine skip, or fail where CI started one."""

import pytest

from rocketdiff.cluster.containers.engine import Engine
from rocketdiff.core.errors import EnvironmentMissing
from tests.cluster.containers.engines import EXPECTED, engine_or_skip
from tests.cluster.containers.fakes import FakeWorld


@pytest.fixture(params=["no engine", "no base"])
def lacking(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No engine, or an engine without a base image."""

    def connect() -> Engine:
        if request.param == "no engine":
            raise EnvironmentMissing("an engine", seen="nobody listens")
        return FakeWorld().engine()

    monkeypatch.setattr(Engine, "connect", connect)
    for name in ("ROCKETDIFF_BASE_IMAGE", "ROCKETDIFF_SERVER_IMAGE"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("lacking")
def test_tests_without_an_engine_skip_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an engine or base image, tests skip with the reason."""
    monkeypatch.delenv(EXPECTED, raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"ci/engine|make image"):
        next(engine_or_skip())


@pytest.mark.usefixtures("lacking")
def test_they_fail_where_there_was_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where CI started an engine, tests without it fail, because a skip would hide that."""
    monkeypatch.setenv(EXPECTED, "1")
    with pytest.raises(pytest.fail.Exception, match=r"ci/engine|make image"):
        next(engine_or_skip())
