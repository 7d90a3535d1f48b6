"""
Locate the files that are not Python: scenarios, schemas, Java sources, templates.

Paths are repository paths (`fixtures/scenarios/…`, `harness/rocketdiff/drivers/java`). A wheel installs the packages
side by side and packs files from outside them under `rocketdiff/_data` (listed in pyproject.toml).
"""

import os
from pathlib import Path

from rocketdiff.core.errors import HarnessError

_PACKAGE = Path(__file__).parents[1]

FOLDER_OF = {"rocketdiff": "harness", "rocketmq_reference": "reference_impl"}
"""Our packages and their folders in the repository."""


def resource(path: str) -> Path:
    """Return the file or folder for a repository path; raise HarnessError if this installation lacks it."""
    found = locate(path)
    if found is None:
        raise HarnessError(
            f"{path} to come with rocketdiff", seen=f"no such file beside {_PACKAGE}", hint="install it again"
        )
    return found


def locate(path: str, package: Path = _PACKAGE) -> Path | None:
    """Return the file or folder for a repository path, or None."""
    file = _placed(path, package)
    return file if file.exists() else None


def import_path() -> str:
    """Return the PYTHONPATH for another Python to import our packages: one folder when installed, two in a checkout."""
    return os.pathsep.join(dict.fromkeys(str(_package_folder(name, _PACKAGE).parent) for name in FOLDER_OF))


def _placed(path: str, package: Path) -> Path:
    for name, folder in FOLDER_OF.items():
        if f"{path}/".startswith(f"{folder}/{name}/"):
            return _package_folder(name, package) / path.removeprefix(f"{folder}/{name}").removeprefix("/")
    packed = package / "_data"
    return (packed if packed.is_dir() else package.parents[1]) / path


def _package_folder(name: str, package: Path) -> Path:
    beside = package.parent / name
    return beside if beside.is_dir() else package.parents[1] / FOLDER_OF[name] / name
