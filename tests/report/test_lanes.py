"""Swim lanes: content, layout and size."""

import re
from dataclasses import replace

from rocketdiff.core.answers.plots import FaultWindow, LaneAttempt, LaneMark, SwimLanes
from rocketdiff.report.charts.palette import BASELINE, CANDIDATE, FAILED, PAUSED_LANE, UNKNOWN
from rocketdiff.report.charts.timelines import Axis, ticks
from rocketdiff.report.sending.lanes import draw_lanes

SUBJECTS = {"baseline": "java:4.7.1", "candidate": "java:5.3.3"}


def bar(
    start_ms: float,
    end_ms: float,
    outcome: str = "ok",
    arm: str = "baseline",
    broker: str = "broker-a",
    send: int = 1,
    queue: int = 0,
) -> LaneAttempt:
    return LaneAttempt(arm, 0, send, 0, broker, queue, start_ms, end_ms, outcome, "none")


def test_a_case_that_ended_before_it_began_has_a_picture() -> None:
    """An axis of no length has one tick; a run with a lost feeder once drew it for ever."""
    assert ">0</text>" in "".join(ticks(Axis(0.0, 0.0), 0, 10))


def lanes(*attempts: LaneAttempt, faults: tuple[FaultWindow, ...] = ()) -> SwimLanes:
    return SwimLanes("r", "c", attempts, faults, 0)


def titles_of(svg: str, colour: str) -> list[str]:
    groups = re.findall(f'<g fill="{colour}">(.*?)</g>', svg)
    return [title for group in groups for title in re.findall(r"<title>(.*?)</title>", group)]


def view_box(svg: str) -> str:
    return svg.split('viewBox="')[1].split('"', maxsplit=1)[0]


def tops_of(svg: str, colour: str) -> list[float]:
    groups = re.findall(f'<g fill="{colour}">(.*?)</g>', svg)
    return [float(y) for group in groups for y in re.findall(r' y="([\d.]+)"', group)]


def test_every_attempt_is_a_bar_with_a_title() -> None:
    """Every attempt is a bar titled with send, attempt (from 1), broker, queue and outcome."""
    svg = draw_lanes(lanes(bar(0, 1), bar(500, 1_000, "unknown")), SUBJECTS)
    assert titles_of(svg, BASELINE) == ["send 1, attempt 1: broker-a, queue 0: stored after 1 ms"]
    assert titles_of(svg, UNKNOWN) == ["send 1, attempt 1: broker-a, queue 0: no answer after 500 ms"]


def test_arms_and_outcomes_have_their_colours() -> None:
    """Stored attempts have the colour of their arm; failed ones share one colour."""
    svg = draw_lanes(lanes(bar(0, 1), bar(0, 9, "failed", "candidate"), bar(20, 21, arm="candidate")), SUBJECTS)
    assert [len(titles_of(svg, colour)) for colour in (BASELINE, CANDIDATE, FAILED)] == [1, 1, 1]


def test_each_queue_of_a_broker_has_a_row_of_its_own() -> None:
    """Each queue has its own row, nine pixels apart, and the next broker begins below."""
    svg = draw_lanes(lanes(bar(0, 1), bar(1, 2, queue=1), bar(2, 3, queue=3), bar(4, 5, broker="broker-b")), SUBJECTS)
    first, second, third, below = tops_of(svg, BASELINE)
    assert (second - first, third - second) == (9, 9)
    assert below > third + 9


def test_a_broker_of_many_queues_stays_as_high_as_one_of_eight() -> None:
    """A broker of 64 queues is drawn as high as one of eight."""
    of_eight, of_many = (
        draw_lanes(lanes(*(bar(n, n + 1, queue=n) for n in range(queues))), SUBJECTS) for queues in (8, 64)
    )
    assert view_box(of_eight) == view_box(of_many)


def test_the_send_of_an_example_is_marked_in_both_arms() -> None:
    """An example's send has a labelled line and outlined bars in both arms."""
    mark = LaneMark("candidate", 0, 606, "avoidance.used-avoided-broker/first")
    shown = lanes(bar(0, 1, send=605), bar(20, 21, send=606), bar(22, 23, arm="candidate", send=606))
    svg = draw_lanes(replace(shown, marks=(mark,)), SUBJECTS)
    assert svg.count('class="mark"') == 1
    assert ">send 606 of java:5.3.3<" in svg
    assert "<title>avoidance.used-avoided-broker/first</title>" in svg
    assert svg.count('stroke-width="1.4"') == 2


def test_marks_close_together_stand_above_each_other() -> None:
    """Marks close together are stacked so that their labels do not overlap."""
    marks = tuple(LaneMark("baseline", 0, send, "queue.out-of-turn/first") for send in (1, 2))
    one = replace(lanes(bar(0, 1), bar(5, 6, send=2), bar(900, 901, send=3)), marks=marks[:1])
    two = replace(one, marks=marks)
    heights = [float(view_box(draw_lanes(each, SUBJECTS)).split()[3]) for each in (one, two)]
    assert heights[1] - heights[0] == 15


def test_the_picture_has_a_description_in_words() -> None:
    """The chart has a text alternative; an unhealed fault lasts to the end."""
    faults = (FaultWindow(1, "pause", "broker-b", 3_000, 5_000), FaultWindow(2, "kill", "broker-a", 4_000, None))
    svg = draw_lanes(lanes(bar(0, 9_000, "unknown"), faults=faults), SUBJECTS)
    assert "broker-b paused from 3.0 s to 5.0 s; broker-a killed from 4.0 s to the end." in svg
    assert "java:4.7.1: 1 attempt, 1 of them not answered with success" in svg
    assert 'role="img"' in svg


def test_faults_outside_the_window_do_not_stretch_it() -> None:
    """A fault outside the window does not extend it; an overlapping one is cut."""
    calm = (bar(1_000, 1_001), bar(2_000, 2_001))
    plain = draw_lanes(lanes(*calm), SUBJECTS)
    later = FaultWindow(1, "pause", "broker-a", 60_000, 61_000)
    across = draw_lanes(lanes(*calm, faults=(FaultWindow(1, "pause", "broker-a", 0, 90_000),)), SUBJECTS)
    assert view_box(across) == view_box(plain)
    assert PAUSED_LANE in across
    assert PAUSED_LANE not in draw_lanes(lanes(*calm, faults=(later,)), SUBJECTS)


def test_a_paused_name_server_has_no_lane() -> None:
    """A paused name server has no lane; a paused broker without attempts has one."""
    server = FaultWindow(1, "pause-name-server", "name-server-1", 500, 900)
    broker = FaultWindow(2, "pause", "broker-c", 500, 900)
    attempts = (bar(0, 1), bar(1_000, 1_001))
    assert ">name-server-1<" not in draw_lanes(lanes(*attempts, faults=(server,)), SUBJECTS)
    assert ">broker-c<" in draw_lanes(lanes(*attempts, faults=(broker,)), SUBJECTS)


def test_a_full_window_stays_under_ninety_kilobytes() -> None:
    """A full window of 200 bars per arm stays under 90 kB."""
    attempts = [bar(10.0 * n, 10.0 * n + 1, arm=arm, send=n) for n in range(200) for arm in SUBJECTS]
    assert len(draw_lanes(lanes(*attempts), SUBJECTS)) < 90_000


def test_names_from_outside_cannot_break_the_page() -> None:
    """Names of brokers, signatures and subjects are escaped."""
    mark = LaneMark("baseline", 0, 1, "<i>")
    faults = (FaultWindow(1, "pause", "<u>", 0, 1),)
    svg = draw_lanes(
        replace(lanes(bar(0, 1, broker='<script>"'), faults=faults), marks=(mark,)),
        {"baseline": "<b>", "candidate": "&"},
    )
    assert not [tag for tag in ("<script>", "<b>", "<i>", "<u>") if tag in svg]
