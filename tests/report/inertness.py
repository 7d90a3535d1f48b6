"""What a rendered document makes active: elements, links, mentions, references and hidden characters."""

import re
import unicodedata
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token

RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])

LATER = re.compile(
    r"""
    https?://|ftp://|www\.|(?:mailto|xmpp|javascript):      # addresses, as GitHub Flavored Markdown finds them (6.9)
    |[\w.+-]+@[\w-]+\.|@\w                                  # mail and mentions
    |\#\d|\bGH-\d|(?<!\w)[!%&~^]\d|\$\w                     # references, formulas
    |\]\(|:[a-z]+:                                          # links of SARIF, symbols
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""What platforms make active in text after rendering; they leave code alone."""

OWN_HTML = re.compile(r"</?details>|<details><summary>[\w ,]+</summary>\n*")
OWN_LINK = re.compile(r"(?!\w+:|//)")


def active_parts(document: str, *, is_text: bool = False) -> list[str]:
    """Return what is active; is_text: the document is no Markdown, but may be shown as it."""
    tokens = RENDERER.parse(document)
    commands = [] if is_text else re.findall(r"\{[{%]", document)  # of Jekyll, which reads code too
    return [*commands, *_hidden(document), *(part for token in tokens for part in _active(token, is_text=is_text))]


def marks_in(document: str) -> set[str]:
    """Return the kinds of inline elements: emphasis, links, images, HTML, code, text."""
    return {child.type for token in RENDERER.parse(document) for child in token.children or ()}


def _active(token: Token, *, is_text: bool) -> Iterator[str]:
    match token.type:
        case "html_block" | "html_inline":
            if not OWN_HTML.fullmatch(token.content.strip()):
                yield token.content
        case "image":
            yield str(token.attrs)
        case "link_open":
            if is_text or not OWN_LINK.match(str(token.attrs["href"])):
                yield str(token.attrs)
        case "text":
            yield from (match[0] for match in LATER.finditer(token.content))
    yield from (part for child in token.children or () for part in _active(child, is_text=is_text))


def _hidden(document: str) -> Iterator[str]:
    for one in document:
        if one not in "\n\t" and unicodedata.category(one) in {"Cc", "Cf", "Cs", "Zl", "Zp"}:
            yield ascii(one)
