"""Globs over path-shaped names of scenarios and checks."""

import re


def path_glob(pattern: str) -> re.Pattern[str]:
    """
    A glob as a regular expression over whole names.

    ``*`` and ``?`` stay within one part of a name, ``**`` crosses parts: ``fault-latency/*``, ``**/repeated-*``.
    """
    parts = re.split(r"(\*\*|\*|\?)", pattern)
    signs = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(signs.get(part, re.escape(part)) for part in parts))
