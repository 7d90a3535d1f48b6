"""
The client that a wrapper of the Java client ships. A starter or component adds defaults, but is no client itself.

``spring:2.3.5`` is java:5.3.2, so "what changes with an upgrade of the starter?" is a question about two client releases.
"""

from rocketdiff.core.errors import UsageError
from rocketdiff.core.text.nearest import nearest_releases
from rocketdiff.core.text.quoted import printable

# rocketmq-spring-boot-starter: rocketmq.version in rocketmq-spring-boot-parent at the tag of each release (read 2026-11-23).
_SPRING = {
    "2.0.1": "4.3.2",
    "2.0.2": "4.4.0",
    "2.0.3": "4.5.1",
    "2.0.4": "4.5.2",
    "2.1.0": "4.6.0",
    "2.1.1": "4.7.1",
    "2.2.0": "4.8.0",
    "2.2.1": "4.9.1",
    "2.2.2": "4.9.3",
    "2.2.3": "5.0.0",
    "2.3.0": "5.2.0",
    "2.3.1": "5.3.0",
    "2.3.2": "5.3.1",
    "2.3.3": "5.3.1",
    "2.3.4": "5.3.2",
    "2.3.5": "5.3.2",
}

WRAPPERS = {
    "spring": {release: f"java:{client}" for release, client in _SPRING.items()},
    # camel-rocketmq and spring-cloud-starter-stream-rocketmq: what their published dependencies resolve to (read 2026-11-23).
    "camel": {"4.17.0": "java:5.3.2"},
    "spring-cloud-stream": {"2023.0.3.3": "java:5.3.1"},
    # rocketmq-v5-client-spring-boot-starter wraps the client for gRPC.
    "spring-grpc": {"2.3.1": "grpc-java:5.0.7"},
}
"""The subject that each wrapper ships, by the name before the colon and the wrapper's release."""


def is_wrapper(text: str) -> bool:
    """True for a release of a wrapper, as ``spring:2.3.5``."""
    return text.partition(":")[0] in WRAPPERS


def unwrapped(text: str) -> str:
    """
    The subject that a wrapper ships. Any other text is returned unchanged.

    Raises UsageError for a wrapper release that is not in the table.
    """
    name, _, release = text.partition(":")
    if name not in WRAPPERS:
        return text
    known = WRAPPERS[name]
    if release not in known:
        hint = f"{nearest_releases(release, tuple(known), f'{name}:')}; or name its client: java:release"
        raise UsageError(f"a release of {name} whose client is known", seen=printable(text, 200), hint=hint)
    return known[release]
