"""The page as text: complete, self-contained, within its size."""

import re
from dataclasses import replace
from pathlib import Path

import msgspec

from rocketdiff.core.answers.plots import Plots
from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.report import html_kit
from rocketdiff.report.document import Document, decode, encode
from rocketdiff.report.formats import html
from rocketdiff.report.views import pictures
from rocketdiff.report.views.page import anchors_of, subjects_of
from rocketdiff.verdict.judge import RunVerdict


def test_nothing_in_the_page_points_outside(page_text: str) -> None:
    """The page works offline: it has no address but the namespaces of SVG."""
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", page_text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert not re.search(r'(?:src|href)="(?!#|data:,)', page_text)


def test_the_page_is_small_and_the_same_after_a_round_trip(document: Document, page_text: str) -> None:
    """The page is under a fifth of its limit and is made from the document alone."""
    assert len(page_text.encode()) < html_kit.LIMIT_BYTES / 5
    assert html.render(decode(encode(document), where="x")) == page_text


def test_every_fragment_link_has_a_target(document: Document, page_text: str) -> None:
    """Every fragment link of the page has a target."""
    targets = set(re.findall(r'id="([^"]+)"', page_text))
    links = set(re.findall(r'href="#([^"]+)"', page_text))
    assert links <= targets
    assert f"divergence-{document.clusters[0].fingerprint}" in links


def test_text_of_clients_is_escaped(document: Document) -> None:
    """Text from clients is escaped."""
    example = replace(document.clusters[0].example, observed="<script>alert(1)</script>")
    cluster = replace(document.clusters[0], example=example, signature='"><img src=x>')
    text = html.render(msgspec.structs.replace(document, clusters=(cluster,), plots=Plots()))
    assert "<script>alert" not in text
    assert "<img" not in text


def test_a_document_without_any_picture_is_still_a_page(document: Document) -> None:
    """A document without charts, as of a run killed before its first send, is still a page."""
    bare = msgspec.structs.replace(document, plots=Plots(), clusters=(), results=(), verdict=RunVerdict.INVALID)
    text = html.render(bare)
    assert "This run cannot be judged" in text
    assert "<svg" not in text
    assert "Jump to the first divergence" not in text


def test_every_verdict_of_a_run_has_a_page(document: Document) -> None:
    """Every verdict has its own headline."""
    bare = msgspec.structs.replace(document, plots=Plots())
    titles = {
        re.findall(r"<title>(.*?)</title>", html.render(msgspec.structs.replace(bare, verdict=v)))[0]
        for v in RunVerdict
    }
    assert len(titles) == len(RunVerdict)


def test_a_full_page_leaves_out_pictures_of_the_less_telling_cases(document: Document) -> None:
    """With room for three cases, three are drawn, those with divergences first."""
    order = [case.case for case in document.run.cases]
    alone = pictures.draw_cases(order[:3], document.plots, subjects_of(document))
    room = sum(picture.size() for picture in alone.values()) + 2_000
    drawn = pictures.draw_cases(order, document.plots, subjects_of(document), room=room)
    assert sum(not picture.no_room for picture in drawn.values()) == 3
    assert not drawn[order[0]].no_room


def test_ten_thousand_signatures_stay_a_page(document: Document) -> None:
    """Of 10,000 signatures 60 are shown, eight per line of answers, and the rest counted."""
    first, shown = document.results[0], document.clusters[0]
    many = tuple(replace(first.divergences[0], signature=f"kind/{n}") for n in range(10_000))
    clusters = tuple(replace(shown, signature=f"kind/{n}", fingerprint=f"{n:012x}") for n in range(10_000))
    crowded = msgspec.structs.replace(
        document, results=(replace(first, divergences=many), *document.results[1:]), clusters=clusters, plots=Plots()
    )
    text = html.render(crowded)
    assert len(text.encode()) < html_kit.LIMIT_BYTES
    assert "9940 more signatures are in report.json" in text
    assert "and 9992 more signatures" in text


def test_cases_with_divergences_are_drawn_first_and_unfolded(document: Document, page_text: str) -> None:
    """Cases with divergences are drawn first, and two of them are unfolded."""
    unfolded = re.findall(r'<details class="card case" id="([^"]+)" open', page_text)
    assert len(unfolded) == 2
    divergent = {anchors_of(document)[case] for case in document.clusters[0].cases}
    assert set(unfolded) <= divergent


def test_gating_checks_without_an_answer_are_listed_with_their_reason(page_text: str) -> None:
    """A gating check without an answer is listed with its reason; measured ones are not."""
    section = page_text.partition('id="unanswered"')[2].partition("</section>")[0]
    assert section.count("<tr>") == 2
    assert "no send was retried" in section


def test_an_invalid_case_is_named_among_the_guards(document: Document) -> None:
    """Invalid cases are listed among the guards with the reason."""
    results = tuple(
        replace(r, verdict=Verdict.INVALID, reason="the pause was never proven")
        if r.check == "validity" and n < 10
        else r
        for n, r in enumerate(document.results)
    )
    text = html.render(msgspec.structs.replace(document, results=results, plots=Plots()))
    assert "the pause was never proven" in text
    assert "7 of 8 cases" in text


def test_the_file_appears_at_once(document: Document, tmp_path: Path) -> None:
    """The page is written atomically and leaves no other file."""
    html.write(msgspec.structs.replace(document, plots=Plots()), tmp_path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
