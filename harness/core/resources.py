"""
Where the files that are not Python are: scenarios, schemas, Java sources, templates.

Paths are written as in the repository (`fixtures/scenarios/…`, `harness/java/driver`). In an installed wheel what lies inside
the package is where it always was, and what lies outside of it was packed under `harness/_data` (pyproject.toml says what).
"""

from pathlib import Path

from harness.core.errors import HarnessError

_PACKAGE = Path(__file__).parents[1]


def resource(path: str) -> Path:
    """The file or folder for a path of the repository; HarnessError when this installation does not have it."""
    found = locate(path)
    if found is None:
        raise HarnessError(
            f"{path} to come with rocketdiff", seen=f"no such file beside {_PACKAGE}", hint="install it again"
        )
    return found


def locate(path: str, package: Path = _PACKAGE) -> Path | None:
    """The same, for a package folder at any place; None when there is no such file."""
    packed, checkout = package / "_data", package.parent
    inside_package = path.split("/", 1)[0] == "harness"
    root = packed if packed.is_dir() and not inside_package else checkout
    file = root / path
    return file if file.exists() else None
