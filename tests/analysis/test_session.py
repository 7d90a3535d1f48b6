"""The session factory, as far as it can be asked without starting a JVM."""

from pathlib import Path

import pytest

from harness.analysis.session import session, settings
from harness.core.errors import EnvironmentMissing


def test_a_local_session_listens_on_loopback_only(tmp_path: Path) -> None:
    """And has no web server."""
    chosen = settings("local[2]", tmp_path)
    assert chosen["spark.driver.bindAddress"] == chosen["spark.driver.host"] == "127.0.0.1"
    assert chosen["spark.ui.enabled"] == "false"


def test_another_master_keeps_its_own_addresses_and_memory(tmp_path: Path) -> None:
    """A cluster must reach its driver."""
    chosen = settings("spark://somewhere:7077", tmp_path)
    assert not {"spark.driver.bindAddress", "spark.driver.host", "spark.driver.memory"} & chosen.keys()
    assert chosen["spark.master"] == "spark://somewhere:7077"


def test_nothing_is_written_outside_the_session_folder(tmp_path: Path) -> None:
    """Neither a warehouse nor a metastore in the working directory."""
    chosen = settings("local[2]", tmp_path)
    assert Path(chosen["spark.sql.warehouse.dir"]).is_relative_to(tmp_path)
    assert chosen["spark.sql.catalogImplementation"] == "in-memory"


def test_without_a_java_the_user_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One clear error of the environment, before anything is started."""
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(EnvironmentMissing, match="a Java 17 or later"), session("local[1]"):
        pass
