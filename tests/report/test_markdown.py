"""Markdown within the platforms' limits."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from syrupy.assertion import SnapshotAssertion

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.core.resources import resource
from rocketdiff.report.document import Document, load
from rocketdiff.report.formats import markdown


def test_a_divergent_run_reads_well(document: Document, snapshot: SnapshotAssertion) -> None:
    """The summary of a diverging run has verdict, clusters, matrix, command and machine line."""
    assert markdown.render(document, markdown.SUMMARY_BYTES) == snapshot


@pytest.mark.parametrize("sample", ["sample", "sample-consumers"])
def test_a_sample_is_what_its_document_renders_to(sample: str) -> None:
    """The published samples are current; `rocketdiff report reports/SAMPLE` renders them again."""
    folder = resource(f"reports/{sample}")
    assert markdown.render(load(folder), markdown.SUMMARY_BYTES) == (folder / "summary.md").read_text("utf-8")


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


def test_a_conforming_run_is_short(document: Document) -> None:
    """A conforming run has checks but no section for open ones."""
    fine = tuple(replace(r, verdict=Verdict.CONFORMS, divergences=()) for r in document.results)
    text = markdown.render(msgspec.structs.replace(document, results=fine, clusters=()), markdown.SUMMARY_BYTES)
    assert "### Checks" in text
    assert "Without an answer" not in text
