r"""
Foreign text in Markdown: it is shown as it is and does nothing.

Platforms make links, mentions and references of text after Markdown was rendered, so no escape stops them. They leave code
alone: a word that could become active is put into a code span, all other punctuation of Markdown is escaped.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote

from rocketdiff.core.text.plain_text import plain

_LINK = re.compile(
    r"""
    ://|www\.|\b(?:mailto|xmpp|javascript|data|vbscript):   # addresses
    |[@#$]|\bGH-\d|(?<!\w)[!%&~^]\w                         # mentions, references of GitHub and GitLab, formulas
    |\]\(|[<>`]|&\#?\w+;                                    # links, HTML, code, entities
    |:[\w+-]+:|^/\w                                         # symbols, commands of bots
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HOST = re.compile(r"\w\.[^\W\d_]{2}")
"""``example.org``, which some renderers take for an address, and names of files and classes, which look well in code."""

_WORD = re.compile(r"""(?P<before>[(\["']*)(?P<word>.*?)(?P<after>[)\]"'.,;!?]*)""")

_TEMPLATE = re.compile(r"\{(?=[{%])")
"""Start of a command to Jekyll, which publishes Markdown and reads code spans too."""

_ESCAPED = re.compile(r"[\\`*~\[\]]|(?<![^\W_])_|_(?![^\W_])")
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def inline(text: str) -> str:
    """Return text as one line of Markdown, without effect."""
    return " ".join(_word(word) for word in one_line(text).split(" "))


def code(text: str) -> str:
    """Return text as one code span, of one line; empty for no text."""
    shown = one_line(text)
    if not shown:
        return ""
    ticks = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    pad = " " if "`" in (shown[0], shown[-1]) else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}"


def fenced(text: str) -> str:
    """Return text as a code block, in a fence longer than any in the text."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence}\n{_TEMPLATE.sub('{ ', plain(text))}\n{fence}"


def table_row(cells: Iterable[str]) -> str:
    """Return a row of a table; cells are Markdown already. A backslash before a pipe would escape its escape."""
    shown = (cell.replace("\\|", "\\ |").replace("|", "\\|") for cell in cells)
    return f"|{''.join(f' {cell} |' if cell else ' |' for cell in shown)}"


def link(words: str, path: str) -> str:
    """Return a link to a file beside the document."""
    return f"[{inline(words)}](<{quote(path, safe='/#')}>)"


def inert(text: str) -> str:
    """Return plain text for a format that is sometimes shown as Markdown (SARIF): active words in code, all else unchanged."""
    return "\n".join(" ".join(_inert(word) for word in line.split(" ")) for line in plain(text).split("\n"))


def one_line(text: str) -> str:
    """Return plain text without line ends and repeated spaces."""
    return " ".join(_TEMPLATE.sub("{ ", plain(text)).split())


def _word(text: str) -> str:
    parts = _WORD.fullmatch(text)
    assert parts is not None, "any text matches"
    before, word, after = (parts[name] for name in ("before", "word", "after"))
    if _LINK.search(word) or _HOST.search(word):
        return f"{_escaped(before)}{code(word)}{_escaped(after)}"
    return _escaped(text)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(r"\\\g<0>", text).translate(_ENTITIES)


def _inert(word: str) -> str:
    return code(word.replace("](", "] (")) if _LINK.search(word) else word
