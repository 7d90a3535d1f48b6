"""The page under ``reports``: made by the commands beside it, small, without local paths."""

import msgspec

from rocketdiff.campaign.file_format import read
from rocketdiff.core.resources import resource
from rocketdiff.record.page import html
from rocketdiff.record.page.document import RecordDocument

FOLDER = resource("reports/sample-record")
DOCUMENT = msgspec.json.decode((FOLDER / "record.json").read_bytes(), type=RecordDocument)


def test_the_page_is_made_of_the_document() -> None:
    """The stored page is the one rendered from its document."""
    assert (FOLDER / "record.html").read_text() == html.render(DOCUMENT)


def test_every_client_of_the_example_campaign_has_a_run() -> None:
    """Each of the campaign's twenty clients, ten Java releases among them, has a judged run; two have one about consumers."""
    campaign = read(resource("fixtures/examples/campaign.yaml"))
    wanted = sorted(str(entry.spec) for entry, _ in campaign.plan.runs())
    assert sorted(run.candidate for run in DOCUMENT.runs) == wanted
    assert DOCUMENT.total == DOCUMENT.answered == len(DOCUMENT.runs) == len(wanted) == 22
    assert len(set(wanted)) == 20
    assert {line.scenario for line in DOCUMENT.groups} == {
        "consuming/pause-one-of-two", "groups/five-queues-one-to-six-members",
    }  # fmt: skip


def test_it_is_small_and_names_no_place_of_a_machine() -> None:
    """The sample is below 1 MB and contains no local paths."""
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 1_000_000
    text = "".join((FOLDER / name).read_text() for name in ("record.json", "record.html"))
    assert not [word for word in ("/home/", "/root/", "/tmp/", "/work/") if word in text]
