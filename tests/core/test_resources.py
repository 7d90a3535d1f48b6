"""Finding the files that are not Python, in a checkout and in an installed wheel."""

from pathlib import Path

import pytest

from harness.core.errors import HarnessError
from harness.core.resources import locate, resource


def test_a_checkout_has_them_where_the_path_says(tmp_path: Path) -> None:
    """Fixtures beside the package, sources inside it."""
    (tmp_path / "harness" / "java" / "driver").mkdir(parents=True)
    (tmp_path / "fixtures" / "schema").mkdir(parents=True)
    assert locate("harness/java/driver", tmp_path / "harness") == tmp_path / "harness/java/driver"
    assert locate("fixtures/schema", tmp_path / "harness") == tmp_path / "fixtures/schema"


def test_a_wheel_has_what_lies_outside_under_data(tmp_path: Path) -> None:
    """A folder `fixtures` of somebody else beside the package is not ours."""
    (tmp_path / "harness" / "java" / "driver").mkdir(parents=True)
    (tmp_path / "harness" / "_data" / "fixtures" / "schema").mkdir(parents=True)
    (tmp_path / "fixtures" / "other").mkdir(parents=True)
    assert locate("harness/java/driver", tmp_path / "harness") == tmp_path / "harness/java/driver"
    assert locate("fixtures/schema", tmp_path / "harness") == tmp_path / "harness/_data/fixtures/schema"
    assert locate("fixtures/other", tmp_path / "harness") is None


def test_a_missing_resource_is_our_own_fault() -> None:
    """Exit code 70 and the path."""
    with pytest.raises(HarnessError, match="fixtures/no-such-file to come with rocketdiff") as caught:
        resource("fixtures/no-such-file")
    assert caught.value.exit_code == 70


def test_this_installation_has_the_driver_and_the_fixtures() -> None:
    """The two kinds, for real."""
    assert resource("harness/java/driver").is_dir()
    assert resource("fixtures").is_dir()
