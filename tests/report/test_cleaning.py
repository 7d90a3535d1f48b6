"""No rendering acts on text from a subject or a stored run, or fails because of it."""

import io
import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from rocketdiff.core.arm import CANDIDATE
from rocketdiff.core.events import MemberLost
from rocketdiff.core.text.plain_text import UNPRINTABLE
from rocketdiff.report.cleaning import cleaned
from rocketdiff.report.document import Document, decode, encode
from rocketdiff.report.formats.summary import print_summary
from rocketdiff.report.formats.write import write_reports
from rocketdiff.report.html_kit import LIMIT_BYTES
from rocketdiff.report.terminal import TerminalListener

TOLD = {"broker", "node", "expected", "observed", "signature", "seen", "establishes", "subject"}
"""Fields whose text may come from a client, a broker or a stored run."""

HOSTILE = {
    "command": "\r\n::error file=a::boo\n##[error]boo\n  ::set-output name=x::1",
    "escape, control, bidi, markup": "\x1b]0;owned\x07\x1b[2J\0\x0b\x9b\x7f\u2028\ufffe\uffff\u202egnp.exe\u2066\ud800"
    "<script>alert(1)</script>]]>&#27;|`[x](javascript:1)",
    "long": "Q" * 20_000,
}


def poisoned(value: Any, poison: str) -> Any:
    """Return the value with poison around every foreign text."""
    if isinstance(value, (tuple, list)):
        return type(value)(poisoned(item, poison) for item in value)
    if isinstance(value, dict):
        return {key: f"{poison}{item}" if isinstance(item, str) else item for key, item in value.items()}
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.replace(value, **_poisoned_fields(value, value.__struct_fields__, poison))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **_poisoned_fields(value, [field.name for field in fields(value)], poison))
    return value


def _poisoned_fields(value: object, names: Sequence[str], poison: str) -> dict[str, Any]:
    reported = {name: getattr(value, name) for name in names}
    return {
        name: f"{poison}{item}{poison}" if name in TOLD and isinstance(item, str) else poisoned(item, poison)
        for name, item in reported.items()
    }


def acts(text: str) -> list[str]:
    """Return what a terminal or CI server would act on."""
    lines = [line for line in text.split("\n") if re.match(r"\s*::|.*##(vso|teamcity)?\[", line)]
    return [*UNPRINTABLE.findall(text), *lines]


@pytest.mark.parametrize("poison", HOSTILE.values(), ids=HOSTILE)
def test_no_rendering_acts_on_text_of_clients(document: Document, tmp_path: Path, poison: str) -> None:
    """JSON, page, Markdown, JUnit, SARIF, badge and terminal neutralise hostile text."""
    clean = cleaned(poisoned(document, poison))
    files = dict(write_reports(clean, tmp_path))
    assert len(files) == 7
    for path in files.values():
        assert acts(path.read_text(encoding="utf-8")) == []
    assert files["html"].stat().st_size < LIMIT_BYTES
    shown = io.StringIO()
    print_summary(clean, Console(file=shown, width=100, force_terminal=False), files)
    assert acts(shown.getvalue()) == []


def test_a_clean_document_stays_as_it_is(document: Document) -> None:
    """Cleaning leaves our own text unchanged."""
    assert cleaned(document) == document


def test_an_older_report_is_cleaned_when_it_is_read(document: Document) -> None:
    """A stored report is cleaned on reading, because older versions did not clean."""
    stored = encode(document).replace(b"broker-b", b"broker-\\u001b[2J\\ufffe")
    assert UNPRINTABLE.search(repr(msgspec.to_builtins(decode(stored, where="report.json")))) is None
    assert b"broker-\\\\x1b[2J" in encode(decode(stored, where="report.json"))


def test_a_lost_arm_is_one_plain_line() -> None:
    """A lost arm's message is one plain line, which no CI log takes for a command."""
    shown = io.StringIO()
    listener = TerminalListener(Console(file=shown, width=80, force_terminal=False))
    listener.on_event(MemberLost(1, CANDIDATE, "protocol.failed", "send: x\n::error::boo \x1b[2J"))
    listener.close()
    assert acts(shown.getvalue()) == []
    assert shown.getvalue().count("\n") == 1
