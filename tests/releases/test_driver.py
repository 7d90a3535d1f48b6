"""The driver of all releases, compiled for real."""

import pytest

from rocketdiff.releases.driver import driver_class_path

JAVA_8_CLASS = 52


@pytest.mark.cluster
def test_the_driver_compiles_against_the_oldest_client() -> None:
    """Its main class is there, as a Java 8 class."""
    main = driver_class_path() / "rocketdiff" / "driver" / "Main.class"
    assert int.from_bytes(main.read_bytes()[6:8]) == JAVA_8_CLASS
