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
@pytest.mark.parametrize(("expected", "outcome"), [(None, pytest.skip.Exception), ("1", pytest.fail.Exception)])
def test_they_skip_or_fail_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, expected: str | None, outcome: type[BaseException]
) -> None:
    """Without an engine or base image tests skip with the reason; where CI started one they fail: a skip would hide that."""
    if expected is None:
        monkeypatch.delenv(EXPECTED, raising=False)
    else:
        monkeypatch.setenv(EXPECTED, expected)
    with pytest.raises(outcome, match=r"ci/engine|make image"):
        next(engine_or_skip())
