"""
Thousands of damaged and hostile documents of every kind: each is accepted, or refused in one sentence with exit code 4 or 69.

``make fuzz-inputs``, or ``python -m maintenance.hostile --each 5000 --seed 1``; prints a table, exit code 1 on any other
result.
"""

import argparse
import random
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path

from maintenance.hostile.kinds import Kind, kinds
from maintenance.hostile.reading import Answer, answer_to

KEPT = 8
"""Wrong documents shown per kind."""

MEMORY_BYTES = 4 << 30
"""Limit that stops a memory bomb."""


def tried(kind: Kind, count: int, seed: int, folder: Path) -> tuple[Counter[str], list[tuple[bytes, Answer]], float]:
    """Count of each end, wrong documents, and the longest CPU time."""
    draw = random.Random(f"{seed} {kind.name}")
    ends: Counter[str] = Counter()
    wrong: list[tuple[bytes, Answer]] = []
    longest_s = 0.0
    for _ in range(count):
        content = kind.mutate(draw.choice(kind.sound), draw)
        answer = answer_to(kind, content, folder)
        ends[answer.end] += 1
        longest_s = max(longest_s, answer.took_s)
        if answer.wrong:
            wrong.append((content, answer))
    return ends, wrong, longest_s


def main() -> int:
    """Print one line per kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kind", default="")
    asked = parser.parse_args()
    chosen = [kind for kind in kinds() if asked.kind in kind.name]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    is_sound = True
    for kind in chosen:
        with tempfile.TemporaryDirectory() as folder:
            ends, wrong, longest_s = tried(kind, asked.each, asked.seed, Path(folder))
        told = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
        sys.stdout.write(f"{kind.name:14} {asked.each:6}  {told}; longest {longest_s:.2f} s of processor time\n")
        for content, answer in wrong[:KEPT]:
            sys.stdout.write(f"    {answer.wrong}: {content[:200]!r}\n")
        sys.stdout.flush()
        is_sound = is_sound and not wrong
    return int(not is_sound)


if __name__ == "__main__":
    sys.exit(main())
