"""What is kept of a cluster for whoever reads a run later: logs, settings, state; never the stores."""

import json
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

_FILES = ("server.log", "server.properties", "hs_err.log")


def copy_evidence(nodes: Iterable[tuple[str, Path]], facts: Mapping[str, object], folder: Path) -> None:
    """Copy each node's files from its folder into ``folder``/NAME and the facts into ``nodes.json``; missing files are passed over."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nodes.json").write_text(json.dumps(facts, indent=2) + "\n")
    for name, source in nodes:
        target = folder / name
        target.mkdir(exist_ok=True)
        for file in _FILES:
            if (source / file).is_file() and (source / file).resolve() != (target / file).resolve():
                shutil.copyfile(source / file, target / file)
