"""The dialect of each release."""

from rocketmq_reference.dialects.line_4 import LINE_4
from rocketmq_reference.dialects.line_5 import LINE_5
from rocketmq_reference.rules.dialect import Dialect

DIALECTS: tuple[Dialect, ...] = LINE_4 + LINE_5
"""Every dialect, oldest first; a parent comes before its children."""

_LINE = (
    "4.0.0-incubating 4.1.0-incubating 4.2.0 4.3.0 4.3.1 4.3.2 4.4.0 4.5.0 4.5.1 4.5.2 4.6.0 4.6.1 4.7.0 4.7.1 4.8.0 "
    "4.9.0 4.9.1 4.9.2 4.9.3 4.9.4 4.9.5 4.9.6 4.9.7 4.9.8 "
    "5.0.0 5.1.0 5.1.1 5.1.2 5.1.3 5.1.4 5.2.0 5.3.0 5.3.1 5.3.2 5.3.3 5.4.0 5.5.0"
)
RELEASES: tuple[str, ...] = tuple(_LINE.split())
"""Releases of the Java client in the order of the release lines; the range of a dialect is contiguous in it."""

# Published before 5.0.0 from branches of 4.9.0 and 4.9.3; they behave like those.
_PREVIEWS = {"5.0.0-PREVIEW": "4.9.0", "5.0.0-ALPHA": "4.9.3"}


def releases_of(dialect: Dialect) -> tuple[str, ...]:
    """Return the releases in the dialect's range."""
    return RELEASES[RELEASES.index(dialect.releases.first) : RELEASES.index(dialect.releases.last) + 1]


_BY_RELEASE = {release: dialect for dialect in DIALECTS for release in releases_of(dialect)}


def dialect_of(release: str) -> Dialect:
    """
    Return the dialect of a release, written as on Maven Central: ``4.0.0-incubating``, ``5.3.3``.

    An unpublished build of a release, ``5.3.3+1a2b3c4d``, has the dialect of that release. Raises ValueError with the list of
    known releases for any other.
    """
    published = release.partition("+")[0]
    found = _BY_RELEASE.get(_PREVIEWS.get(published, published))
    if found is None:
        raise ValueError(f"no dialect is known for release {release!r}; known are {', '.join(RELEASES)}")
    return found
