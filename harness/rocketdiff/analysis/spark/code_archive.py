"""Archive of this package and the reference implementation, from which executors import."""

import zipfile
from pathlib import Path

from rocketdiff.core.resources import FOLDER_OF, resource

NAME = "rocketdiff-code.zip"


def code_archive(folder: Path) -> Path:
    """Write the archive into a folder. It has Python sources only, because tasks read no other file of ours."""
    path = folder / NAME
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for package, parent in FOLDER_OF.items():
            root = resource(f"{parent}/{package}")
            for source in sorted(root.rglob("*.py")):
                archive.write(source, f"{package}/{source.relative_to(root).as_posix()}")
    return path
