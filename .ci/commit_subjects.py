#!/usr/bin/env python3
"""
Subjects of commits: an area or none, an imperative, at most 72 characters, no semicolon, no full stop.

`commit_subjects.py FILE` checks the message in a file, as git's hook commit-msg asks. Without an argument it checks the commits of a
change, as `make lint` does. Exit code 1 and a line for each fault if a subject is refused. Needs the standard library and git alone.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST = 72
"""Characters that `git log --oneline` and forges show of a subject."""

FIRST = "1b909ba4"
"""The last commit before the rule. Older subjects follow none, and history is not rewritten."""

MAIN = ("origin/main", "main")
"""Names of the main branch, the more recent one first."""

AREA = re.compile(r"[\w./, -]{1,40}: ")

LET_THROUGH = re.compile(r"Merge |Revert \"|(?:fixup|squash|amend)! ")
"""Subjects that git writes."""

POINTING = {"a", "an", "the", "this", "that", "these", "those", "it", "its", "our", "my", "their"}
COUNTING = {"one", "two", "three", "some", "any", "all", "each", "every", "no", "not", "none", "nobody", "nothing"}
ASKING = {"what", "when", "where", "which", "who", "whose", "whoever", "why", "how", "if"}
PLACING = {"as", "at", "by", "for", "from", "in", "into", "of", "on", "to", "with", "without"}
TIMING = {"after", "before", "between", "during", "while"}
BEING = {"is", "are", "was", "were", "be", "and", "or", "but", "so", "now", "also", "only"}
COMPARING = {"more", "fewer", "less", "new", "old", "wip"}
NO_VERBS = POINTING | COUNTING | ASKING | PLACING | TIMING | BEING | COMPARING
"""First words that begin a sentence or a noun."""

ENDING_IN_ED = {"embed", "exceed", "feed", "need", "proceed", "seed", "shed", "shred", "speed", "succeed"}
ENDING_IN_ING = {"bring", "ping", "ring", "spring", "string", "swing"}
ENDING_IN_S = {"alias", "bias", "canvas", "focus"}
VERBS = ENDING_IN_ED | ENDING_IN_ING | ENDING_IN_S
"""Imperatives that end as other forms do."""


def faults_of(subject: str) -> Iterator[str]:
    """Yield what a subject breaks, in words."""
    if LET_THROUGH.match(subject):
        return
    if len(subject) > LONGEST:
        yield f"{len(subject)} characters, at most {LONGEST}"
    if ";" in subject:
        yield "a semicolon: make two commits, or say it in the body"
    if subject.endswith("."):
        yield "a full stop at the end"
    area = AREA.match(subject)
    words = re.findall(r"[\w'’-]+", subject[area.end() :] if area else subject)
    if len(words) < 2:
        yield "too short: state what changes, as in 'oracle: allow table updates between two reads'"
    elif not is_imperative(words[0]):
        yield f"begins with {words[0]!r}: begin with an imperative after the area, as in 'oracle: allow table updates'"


def is_imperative(word: str) -> bool:
    """Return False for articles, pronouns and question words, participles (-ed, -ing), third persons and plurals (-s)."""
    lower = word.lower()
    if lower in VERBS or lower.endswith("ss"):
        return True
    return lower not in NO_VERBS and not lower.endswith(("ed", "ing", "s"))


def subject_in(message: str) -> str:
    """Return the first line that git keeps. It drops comments."""
    kept = (line.strip() for line in message.splitlines() if not line.startswith("#"))
    return next((line for line in kept if line), "")


def subjects_of_change() -> list[tuple[str, str]]:
    """
    Return name and subject of each commit of this change.

    They are those since the merge base with the main branch, on the main branch itself those since FIRST. A shallow clone lacks some
    of them, so those that are there. Without FIRST in a whole clone (a squashed history) only the last commit is known to be new;
    without a repository there is none.
    """
    since = [
        base for base in (FIRST, *merge_bases()) if output("rev-parse", "--verify", "--quiet", f"{base}^{{commit}}")
    ]
    whole = output("rev-parse", "--is-shallow-repository").strip() == "false"
    limits = ["--max-count=1"] if whole and not since else [f"^{base}" for base in since]
    lines = output("log", "--no-merges", "--format=%h %s", "HEAD", *limits).splitlines()
    return [(name, subject) for name, _, subject in (line.partition(" ") for line in lines)]


def merge_bases() -> list[str]:
    """Return the commit where this branch left the main one, or nothing on the main branch itself."""
    head = output("rev-parse", "HEAD").strip()
    bases = (output("merge-base", "HEAD", branch).strip() for branch in MAIN)
    return [base for base in bases if base and base != head]


def output(*command: str) -> str:
    """Return what git prints, or an empty text if it fails: no repository, no such commit, no git."""
    try:
        return subprocess.run(["git", *command], capture_output=True, text=True, check=False).stdout  # noqa: S607  # the user's git
    except OSError:
        return ""


def main(arguments: list[str]) -> int:
    """Check one message, or the commits of the change."""
    checked = [("", subject_in(Path(arguments[0]).read_text("utf-8")))] if arguments else subjects_of_change()
    faults = [f"{name} {subject!r}: {fault}".lstrip() for name, subject in checked for fault in faults_of(subject)]
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
