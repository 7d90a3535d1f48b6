"""Progress output while files are fetched."""

import io

from rocketdiff.releases.progress import BytesReceived, FetchFinished, FetchStarted, FileFinished, PlainProgress


def test_plain_progress_prints_files_and_mib() -> None:
    """Plain progress prints a line at start and end, with files and MiB."""
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress(FetchStarted("server 5.3.3", 2, 3 * 2**20))
    progress(BytesReceived(2**20))
    progress(FileFinished("a.jar"))
    progress(FileFinished("b.jar"))
    progress(FetchFinished())
    assert stream.getvalue() == "fetching server 5.3.3: 2 files, 3.0 MiB\n  server 5.3.3: 2 of 2 files are there\n"


def test_plain_progress_shows_the_sum_now_and_then() -> None:
    """Plain progress prints the sum after some seconds."""
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress(FetchStarted("client 4.7.1", 13, 4 * 2**20))
    progress.LINE_EVERY_S = 0.0  # time is up at once
    progress(FileFinished("a.jar"))
    progress(BytesReceived(2**20))
    assert stream.getvalue().splitlines()[1:] == ["  client 4.7.1: 1 of 13 files, 1.0 of 4.0 MiB"]
