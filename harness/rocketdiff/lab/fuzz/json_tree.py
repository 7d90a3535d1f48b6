"""Paths into parsed JSON, and modified copies of it."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

Json = dict[str, Any]
Path = tuple[str | int, ...]


def renamed(value: Any, old: str, new: str) -> Any:
    """Return a copy with a string replaced, both as key and as value."""
    if isinstance(value, dict):
        return {new if key == old else key: renamed(item, old, new) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, old, new) for item in value]
    return new if value == old else value


def texts(value: Any) -> Iterator[str]:
    """Yield every string value in a tree, not the keys."""
    if isinstance(value, dict):
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, str):
        yield value


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yield the path of every node, parents before children."""
    yield path
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield from paths(value[key], (*path, key))


def exists(value: Any, path: Path) -> bool:
    """True if the path leads to a node."""
    for key in path:
        if isinstance(value, dict):
            if key not in value:
                return False
        elif not isinstance(value, list) or not isinstance(key, int) or key >= len(value):
            return False
        value = value[key]
    return True


def value_at(value: Any, path: Path) -> Any:
    """Return the node at an existing path."""
    for key in path:
        value = value[key]
    return value


def changed(script: Json, path: Path, new: object, *, delete: bool = False) -> Json:
    """Return a copy with the node at a path replaced or deleted."""
    candidate = deepcopy(script)
    parent = value_at(candidate, path[:-1])
    if delete:
        del parent[path[-1]]
    else:
        parent[path[-1]] = new
    return candidate
