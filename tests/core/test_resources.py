"""Finding data files in a checkout and in an installed wheel."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rocketdiff.core.errors import HarnessError
from rocketdiff.core.resources import import_path, locate, resource

DRIVER = "harness/rocketdiff/drivers/java"
DIALECTS = "reference_impl/rocketmq_reference/dialects"


def test_a_checkout_has_resources_at_their_paths(tmp_path: Path) -> None:
    """In a checkout fixtures lie beside the packages' folders, sources inside."""
    for folder in (DRIVER, DIALECTS, "fixtures/schema"):
        (tmp_path / folder).mkdir(parents=True)
        assert locate(folder, tmp_path / "harness" / "rocketdiff") == tmp_path / folder


def test_a_wheel_has_what_lies_outside_under_data(tmp_path: Path) -> None:
    """In a wheel, files from outside the packages lie under ``_data``."""
    package = tmp_path / "rocketdiff"
    (package / "drivers" / "java").mkdir(parents=True)
    (package / "_data" / "fixtures" / "schema").mkdir(parents=True)
    (tmp_path / "rocketmq_reference" / "dialects").mkdir(parents=True)
    (tmp_path / "fixtures" / "other").mkdir(parents=True)
    assert locate(DRIVER, package) == package / "drivers" / "java"
    assert locate(DIALECTS, package) == tmp_path / "rocketmq_reference" / "dialects"
    assert locate("fixtures/schema", package) == package / "_data" / "fixtures" / "schema"
    assert locate("fixtures/other", package) is None


def test_an_import_of_both_packages_by_another_python_does_not_raise(tmp_path: Path) -> None:
    """Another Python can import both packages by the import path alone."""
    program = "import rocketdiff, rocketmq_reference"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": import_path()}
    subprocess.run([sys.executable, "-S", "-c", program], cwd=tmp_path, env=environment, check=True)


def test_a_missing_resource_is_our_own_fault() -> None:
    """A missing resource is an internal error with exit code 70 and the path."""
    with pytest.raises(HarnessError, match="fixtures/no-such-file to come with rocketdiff") as caught:
        resource("fixtures/no-such-file")
    assert caught.value.exit_code == 70


def test_this_installation_has_the_driver_and_the_fixtures() -> None:
    """This installation has the Java driver and the fixtures."""
    assert resource(DRIVER).is_dir()
    assert resource("fixtures").is_dir()
