"""
Where the files that are not Python are: scenarios, schemas, Java sources, templates.

Paths are written as in the repository (`fixtures/scenarios/…`, `harness/rocketdiff/drivers/java`). A wheel installs the packages
beside each other; what lies outside of them was packed under `rocketdiff/_data` (pyproject.toml says what).
"""

import os
from pathlib import Path

from rocketdiff.core.errors import HarnessError

_PACKAGE = Path(__file__).parents[1]

FOLDER_OF = {"rocketdiff": "harness", "rocketmq_reference": "reference_impl"}
"""Our packages, each with the folder of the repository that it lies in."""


def resource(path: str) -> Path:
    """The file or folder for a path of the repository; HarnessError when this installation does not have it."""
    found = locate(path)
    if found is None:
        raise HarnessError(
            f"{path} to come with rocketdiff", seen=f"no such file beside {_PACKAGE}", hint="install it again"
        )
    return found


def locate(path: str, package: Path = _PACKAGE) -> Path | None:
    """The same, for the package rocketdiff at any place; None when there is no such file."""
    file = _placed(path, package)
    return file if file.exists() else None


def import_path() -> str:
    """What PYTHONPATH must hold for another Python to find our packages: one folder when installed, two in a checkout."""
    return os.pathsep.join(dict.fromkeys(str(_package_folder(name, _PACKAGE).parent) for name in FOLDER_OF))


def _placed(path: str, package: Path) -> Path:
    for name, folder in FOLDER_OF.items():
        if f"{path}/".startswith(f"{folder}/{name}/"):
            return _package_folder(name, package) / path.removeprefix(f"{folder}/{name}").removeprefix("/")
    packed = package / "_data"
    return (packed if packed.is_dir() else package.parents[1]) / path


def _package_folder(name: str, package: Path) -> Path:
    """Installed, beside the other; in a checkout, in a folder of its own."""
    beside = package.parent / name
    return beside if beside.is_dir() else package.parents[1] / FOLDER_OF[name] / name
