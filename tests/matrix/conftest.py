"""A small manually built matrix: two releases that answer alike, a defective client, and one not available."""

import pytest

from rocketdiff.core.answers.verdict import Verdict
from rocketdiff.matrix.cells import ROWS, MatrixSource, alike, column_of, extract
from rocketdiff.matrix.document import SCHEMA_VERSION, MatrixDocument
from rocketdiff.report.cleaning import cleaned
from tests.matrix.stories import BASELINE, CALM, PAUSE, answer, document, moved

HOSTILE = "<script>alert(1)</script> | \x1b[31mred"


@pytest.fixture(scope="session")
def matrix() -> MatrixDocument:
    """Made of reports, with hostile text."""
    alike_ones = [
        answer(CALM, "queue-choice", Verdict.DECLARED, "queue.out-of-turn/first", declared_by="turns"),
        answer(PAUSE, "loss"),
    ]
    defective = [
        answer(CALM, "queue-choice"),
        answer(PAUSE, "loss", Verdict.DIVERGES, "loss.acknowledged-not-stored", reason=HOSTILE),
    ]
    stories = {"java:4.7.1": alike_ones, "java:4.9.8": alike_ones, "toy:drops": defective}
    columns = [
        column_of(subject, BASELINE, [extract(MatrixSource(document(*(moved(one, subject) for one in answers), subject=subject), f"runs/{number}"))])
        for number, (subject, answers) in enumerate(stories.items())
    ]  # fmt: skip
    columns.append(column_of("go:2.1.2", BASELINE, [], [("quick, seed 20", f"expected go; saw {HOSTILE}")]))
    return cleaned(
        MatrixDocument(
            schema_version=SCHEMA_VERSION, title="Clients", rocketdiff="0.1.0", command="rocketdiff matrix clients.yaml",
            rows=ROWS, columns=tuple(columns), groups=alike(columns),
        )
    )  # fmt: skip
