"""MQVersion ordinals, counted in the enum of 5.3.3."""

import pytest

from rocketmq_reference.remoting.versions import mq_version


@pytest.mark.parametrize(
    ("release", "ordinal"),
    [("4.0.0-incubating", 213), ("4.7.1", 355), ("4.9.8", 409), ("5.0.0", 413), ("5.2.0", 453), ("5.3.3", 479)],
)
def test_a_patch_level_takes_two_ordinals(release: str, ordinal: int) -> None:
    """An ordinal counts two entries per patch level."""
    assert mq_version(release) == ordinal


def test_other_texts_are_refused() -> None:
    """A text that is no release is an error."""
    with pytest.raises(ValueError, match="newest"):
        mq_version("newest")
