"""Whether the disk that containers write to has room for a cluster: stores are inside the containers, where the engine keeps them."""

from rocketdiff.cluster.containers.engine import Engine
from rocketdiff.cluster.launched.seat import ROOM_TO_START_BYTES, require_room
from rocketdiff.core.errors import EnvironmentMissing

_HINT = "free some space where the engine keeps its containers, for instance with: docker system prune"


def require_engine_room(engine: Engine, nodes: int, bytes_each: int = ROOM_TO_START_BYTES) -> None:
    """
    See that the engine's disk can hold so many nodes; one of another host, or in a virtual machine, cannot be looked at.

    Raises EnvironmentMissing, as for servers that are processes.
    """
    if engine.storage is None:
        return
    try:
        require_room(engine.storage, nodes, bytes_each)
    except EnvironmentMissing as error:
        raise EnvironmentMissing(error.expected, seen=error.seen, hint=_HINT) from error
