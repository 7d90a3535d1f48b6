"""Markdown within the platforms' limits."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.report.document import Document
from rocketdiff.report.formats import markdown


def test_a_divergent_run_reads_well(document: Document, snapshot: SnapshotAssertion) -> None:
    """The summary of a diverging run has verdict, clusters, matrix, command and machine line."""
    assert markdown.render(document, markdown.SUMMARY_BYTES) == snapshot


def crowded(document: Document, clusters: int) -> Document:
    first = document.clusters[0]
    example = replace(first.example, observed="broker-a " * 60)
    many = tuple(replace(first, signature=f"kind/{n}", example=example) for n in range(clusters))
    return msgspec.structs.replace(document, clusters=many)


def test_ten_clusters_are_open_and_the_rest_folded(document: Document) -> None:
    """Ten clusters are open and the rest folded."""
    text = markdown.render(crowded(document, 30), markdown.SUMMARY_BYTES)
    assert text.count("\n### ❌") == 30
    assert "<details><summary>20 more signatures</summary>" in text
    assert text.index("`kind/9`") < text.index("<details>") < text.index("`kind/10`")


@pytest.mark.parametrize("limit", [markdown.SUMMARY_BYTES, markdown.COMMENT_BYTES, 9_000, 2_000, 700])
def test_the_text_always_fits_and_always_has_the_verdict(document: Document, limit: int) -> None:
    """The text fits any limit and always starts with the verdict."""
    text = markdown.render(crowded(document, 3_000), limit)
    assert len(text.encode()) <= limit
    assert text.startswith("## ❌ java:5.3.3 behaves differently from java:4.7.1")


def test_both_files_are_within_the_limits_of_the_platforms(document: Document, tmp_path: Path) -> None:
    """The summary has at most 1 MiB and the comment at most 64 KiB."""
    summary, comment = markdown.write(crowded(document, 5_000), tmp_path)
    assert summary.stat().st_size <= 1 << 20
    assert comment.stat().st_size <= 1 << 16
    assert "more signatures in the report" in comment.read_text(encoding="utf-8")


def test_text_of_clients_is_no_markup(document: Document) -> None:
    """Text from clients creates no mention, issue link, table cell or HTML."""
    hostile = replace(document.clusters[0].example, observed="@team #1 | <img src=x> `x`\n## head [a](b)")
    cluster = replace(document.clusters[0], example=hostile, signature="a`b|c")
    text = markdown.render(msgspec.structs.replace(document, clusters=(cluster,)), markdown.SUMMARY_BYTES)
    assert "| observed | &#64;team \\#1 \\| &#60;img src=x&#62; \\`x\\` \\#\\# head \\[a\\](b) |" in text
    assert "`a'b\\|c`" in text


def test_a_conforming_run_is_short(document: Document) -> None:
    """A conforming run has checks but no section for open ones."""
    fine = tuple(replace(r, verdict=Verdict.CONFORMS, divergences=()) for r in document.results)
    text = markdown.render(msgspec.structs.replace(document, results=fine, clusters=()), markdown.SUMMARY_BYTES)
    assert "### Checks" in text
    assert "Without an answer" not in text


def test_a_forged_description_is_no_markup(document: Document) -> None:
    """Suite, backend, release and command come from a file and are escaped too."""
    run = replace(document.run, suite="@team", backend="<img src=x>", server_release="#1", reproduce="a ``` b\n# c")
    text = markdown.render(msgspec.structs.replace(document, run=run), markdown.SUMMARY_BYTES)
    assert "RocketMQ \\#1 on &#60;img src=x&#62;, suite &#64;team," in text
    assert "\n````\na ``` b\n# c\n````\n" in text
