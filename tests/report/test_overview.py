"""The overview chart of a whole case."""

from rocketdiff.core.answers.plots import FaultWindow, LaneAttempt, Overview, OverviewRow, SwimLanes
from rocketdiff.report.charts.palette import BASELINE, CANDIDATE, UNKNOWN
from rocketdiff.report.sending.overview import draw_overview

SUBJECTS = {"baseline": "java:4.7.1", "candidate": "java:5.3.3"}
FAULT = FaultWindow(1, "pause", "broker-b", 250, 500)


def overview(broker: str = "broker-b") -> Overview:
    rows = (
        OverviewRow("baseline", broker, (4, 0, 0, 0), (0, 1, 0, 0)),
        OverviewRow("candidate", broker, (4, 0, 3, 0), (0, 1, 0, 0)),
    )
    return Overview("r", "c", 250.0, rows, (FAULT,))


def steps_of(svg: str, colour: str) -> int:
    return sum(
        path.split('d="')[1].split('"')[0].count("M") for path in svg.split("<path ")[1:] if f'fill="{colour}"' in path
    )


def test_a_step_without_attempts_has_no_bar() -> None:
    """A step without attempts has no bar: only the candidate is back in the third step."""
    svg = draw_overview(overview(), (), SUBJECTS)
    assert [steps_of(svg, colour) for colour in (BASELINE, CANDIDATE, UNKNOWN)] == [1, 2, 2]


def test_a_bar_drawn_in_full_is_outlined_with_its_number() -> None:
    """The part drawn in full is outlined: 500 to 750 of 1,000 ms are 210 of 840 pixels."""
    inside = tuple(
        LaneAttempt("candidate", 0, n, 0, "broker-b", 0, at_ms, at_ms, "ok", "none")
        for n, at_ms in enumerate((500, 750))
    )
    svg = draw_overview(overview(), (SwimLanes("r", "c", inside, (FAULT,), 0),), SUBJECTS)
    assert '<rect x="516.0" y="14" width="210.0"' in svg
    assert ">1</text>" in svg


def test_it_has_a_description_in_words() -> None:
    """The text alternative has the fault and each arm's attempts by broker."""
    svg = draw_overview(overview(), (), SUBJECTS)
    assert "broker-b paused from 0.2 s to 0.5 s." in svg
    assert "java:5.3.3, broker-b: 7 attempts stored, 1 others" in svg


def test_a_broker_may_be_called_anything() -> None:
    """Names of brokers and subjects are escaped."""
    assert "<script>" not in draw_overview(overview("<script>"), (), {"baseline": "<b>", "candidate": "&"})
