"""What a subject is asked to set up before its sends."""

from dataclasses import dataclass

from rocketdiff.core.settings import ClientSettings


@dataclass(frozen=True, slots=True)
class SubjectSetup:
    """
    Where the subject sends, under which names, with which settings.

    warm_topic: a topic with the same queue layout that nobody judges. group: the measured producer's group; the warm one
    takes ``<group>-warm``. run: first part of every message's id ``<run>/<topic>/<send>``. callback_limit_ms: how long after
    an asynchronous call its callback is waited for.
    """

    name_servers: tuple[str, ...]
    topic: str
    warm_topic: str
    group: str
    run: str
    settings: ClientSettings
    callback_limit_ms: int = 60_000
