"""Globs over the path-like names of scenarios and checks."""

import re


def path_glob(pattern: str) -> re.Pattern[str]:
    """
    Return a glob as a regular expression for whole names.

    ``*`` and ``?`` match within one part of a name, ``**`` across parts: ``fault-latency/*``, ``**/repeated-*``.
    """
    parts = re.split(r"(\*\*|\*|\?)", pattern)
    signs = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(signs.get(part, re.escape(part)) for part in parts))
