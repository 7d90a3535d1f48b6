"""Swim lanes stay small, and show what they must."""

from harness.core.plots import FaultWindow, LaneAttempt, SwimLanes
from harness.report.charts.lanes import draw_lanes
from harness.report.charts.palette import BASELINE, CANDIDATE, FAILED, PAUSED_LANE, UNKNOWN

SUBJECTS = {"baseline": "java:4.7.1", "candidate": "java:5.3.3"}


def bar(
    start_ms: float, end_ms: float, outcome: str = "ok", arm: str = "baseline", broker: str = "broker-a"
) -> LaneAttempt:
    return LaneAttempt(arm, 0, 1, 0, broker, 0, start_ms, end_ms, outcome, "none")


def lanes(*attempts: LaneAttempt, faults: tuple[FaultWindow, ...] = ()) -> SwimLanes:
    return SwimLanes("r", "c", attempts, faults, 0)


def bars_of(svg: str, colour: str) -> int:
    """Bars of one colour: every bar is one move of the pen in the one line that holds them."""
    return sum(
        piece.split('d="')[1].split('"')[0].count("M")
        for piece in svg.split("<path")[1:]
        if f'stroke="{colour}"' in piece
    )


def view_box(svg: str) -> str:
    return svg.split('viewBox="')[1].split('"', maxsplit=1)[0]


def test_every_attempt_that_was_not_answered_is_a_bar_of_its_own() -> None:
    """Three timeouts back to back can be counted."""
    svg = draw_lanes(lanes(*(bar(500.0 * n, 500.0 * n + 500, "unknown") for n in range(3))), SUBJECTS)
    assert bars_of(svg, UNKNOWN) == 3


def test_answered_neighbours_within_half_a_pixel_become_one_bar() -> None:
    """Two thousand sends back to back cost one bar; ones a second apart stay apart."""
    packed = [bar(0.5 * n, 0.5 * n + 0.5) for n in range(2_000)]
    svg = draw_lanes(lanes(*packed, bar(3_000, 3_001), bar(4_000, 4_001)), SUBJECTS)
    assert bars_of(svg, BASELINE) == 3


def test_arms_and_outcomes_have_their_colours() -> None:
    """Each arm's answered attempts, and the failed ones of both."""
    svg = draw_lanes(lanes(bar(0, 1), bar(0, 9, "failed", "candidate"), bar(20, 21, arm="candidate")), SUBJECTS)
    assert [bars_of(svg, colour) for colour in (BASELINE, CANDIDATE, FAILED)] == [1, 1, 1]


def test_the_picture_says_in_words_what_it_shows() -> None:
    """For those who cannot see it; a fault that was never healed lasts to the end."""
    faults = (FaultWindow(1, "pause", "broker-b", 3_000, 5_000), FaultWindow(2, "kill", "broker-a", 4_000, None))
    svg = draw_lanes(lanes(bar(0, 9_000, "unknown"), faults=faults), SUBJECTS)
    assert "broker-b paused from 3.0 s to 5.0 s; broker-a killed from 4.0 s to the end." in svg
    assert "java:4.7.1: 1 attempts, 1 of them not answered with success" in svg
    assert 'role="img"' in svg


def test_faults_outside_the_window_do_not_stretch_it() -> None:
    """A pause long after the last attempt is not drawn; one that began before it is cut."""
    calm = (bar(1_000, 1_001), bar(2_000, 2_001))
    plain = draw_lanes(lanes(*calm), SUBJECTS)
    later = FaultWindow(1, "pause", "broker-a", 60_000, 61_000)
    assert bars_of(draw_lanes(lanes(*calm, faults=(later,)), SUBJECTS), BASELINE) == bars_of(plain, BASELINE)
    across = draw_lanes(lanes(*calm, faults=(FaultWindow(1, "pause", "broker-a", 0, 90_000),)), SUBJECTS)
    assert view_box(across) == view_box(plain)
    assert PAUSED_LANE in across
    assert PAUSED_LANE not in draw_lanes(lanes(*calm, faults=(later,)), SUBJECTS)


def test_a_paused_name_server_shades_every_lane_and_has_none() -> None:
    """A paused broker that got no attempt has a lane all the same."""
    server = FaultWindow(1, "pause-name-server", "name-server-1", 500, 900)
    broker = FaultWindow(2, "pause", "broker-c", 500, 900)
    attempts = (bar(0, 1), bar(1_000, 1_001))
    assert ">name-server-1<" not in draw_lanes(lanes(*attempts, faults=(server,)), SUBJECTS)
    assert ">broker-c<" in draw_lanes(lanes(*attempts, faults=(broker,)), SUBJECTS)


def test_a_full_lane_stays_under_ninety_kilobytes() -> None:
    """A bar in every pixel of four lanes is the most a case can cost."""
    attempts = [
        bar(10.0 * n, 10.0 * n + 1, arm=arm, broker=broker)
        for n in range(940)
        for arm in SUBJECTS
        for broker in ("broker-a", "broker-b")
    ]
    assert len(draw_lanes(lanes(*attempts), SUBJECTS)) < 90_000


def test_names_from_outside_cannot_break_the_page() -> None:
    """A broker may be called anything."""
    svg = draw_lanes(lanes(bar(0, 1, broker='<script>"')), {"baseline": "<b>", "candidate": "&"})
    assert "<script>" not in svg
    assert "<b>" not in svg
