"""Atomic writing of report files."""

from pathlib import Path
from tempfile import NamedTemporaryFile

from rocketdiff.core.errors import EnvironmentMissing


def replace_file(path: Path, content: bytes) -> None:
    """
    Write ``content`` to ``path`` atomically; until then the old file stays.

    Raises EnvironmentMissing if the disk is full or the folder is not writable.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as draft:
            written = Path(draft.name)
            try:
                draft.write(content)
                draft.close()
                written.chmod(0o644)
                written.replace(path)
            except BaseException:
                written.unlink(missing_ok=True)
                raise
    except OSError as problem:
        raise EnvironmentMissing(
            f"room and permission to write {path}",
            seen=problem.strerror or str(problem),
            hint="free some space, or name another folder with --out",
        ) from problem
