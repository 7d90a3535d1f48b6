"""Writing a report file so that a reader never sees half of one."""

from pathlib import Path
from tempfile import NamedTemporaryFile

from rocketdiff.core.errors import EnvironmentMissing


def replace_file(path: Path, content: bytes) -> None:
    """
    Put ``content`` at ``path`` in one step; what was there stays until then.

    Raises EnvironmentMissing when the disk is full or the folder cannot be written.
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
