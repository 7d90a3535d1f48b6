"""What a report states about the gate's error rates."""

from dataclasses import replace

import msgspec

from rocketdiff.calibration.plan import CASES_A_RUN, control_case
from rocketdiff.core.run_info import Machine, RunInfo
from rocketdiff.core.tables.fault import fault_counts
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.report.document import Document, decode, encode
from rocketdiff.report.formats.html import render as render_page
from rocketdiff.report.formats.markdown import render as render_markdown
from rocketdiff.report.words.gate_rates import (
    MEASURED_FAULTS,
    MEASURED_TOPOLOGIES,
    UNKNOWN,
    UNKNOWN_OF_CONSUMERS,
    caveats,
    trust_briefly,
    trust_lines,
)
from rocketdiff.verdict.calibration import Alarm, Calibration, CheckRate, ClientRate, Controls, Found, ModeRate, Rate

QUIET = Controls(
    cases=310,
    invalid=8,
    broke_off=2,
    alarms_per_case=Rate.of(0, 300),
    alarms_per_run=Rate.of(0, 30),
    checks=(),
    subjects=(),
    alarms=(),
    modes=(ModeRate("async", Rate.of(0, 25)), ModeRate("oneway", Rate.of(0, 25)), ModeRate("sync", Rate.of(0, 250))),
    clients=(ClientRate("java", Rate.of(0, 155)), ClientRate("python", Rate.of(0, 145))),
)


def calibration_for(document: Document, controls: Controls = QUIET) -> Calibration:
    """A calibration measured in the circumstances of the document's run."""
    run = document.run
    checks = tuple(CheckRate(check, Rate.of(0, 300), 0, 0) for check in sorted({check for _, check in run.planned}))
    return Calibration(
        schema_version="1.0.0",
        rocketdiff=run.rocketdiff,
        sources=("0123456789ab",),
        first_at="2026-11-20T21:50:00+00:00",
        last_at="2026-11-21T22:50:00+00:00",
        server_release=run.server_release,
        backend=run.backend,
        machine=run.machine,
        load_median=6.04,
        command="rocketdiff calibrate",
        controls=replace(controls, checks=checks),
    )


def on_two_masters(document: Document) -> Document:
    """The same run with only the topology and faults that control cases had."""
    cases = tuple(
        replace(case, topology="two-masters", fault_counts={"paused_brokers": 1}) for case in document.run.cases
    )
    return msgspec.structs.replace(document, run=replace(document.run, cases=cases))


def lines_of(document: Document, calibration: Calibration | None) -> tuple[str, ...]:
    return trust_lines(msgspec.structs.replace(document, calibration=calibration))


def test_without_a_calibration_the_report_states_it(document: Document) -> None:
    """Without a calibration the report states that the error rate is unknown."""
    assert lines_of(document, None) == (UNKNOWN,)


def test_a_quiet_calibration_has_its_bound_and_circumstances(document: Document) -> None:
    """False alarms are stated with bound and circumstances, out of decided control cases."""
    alarms, parts, circumstances = lines_of(on_two_masters(document), calibration_for(document))
    assert alarms == (
        "False alarms of this gate: 0 in 300 control cases (at most 1.0% at 95%); 10 more without an answer;"
        " with pooled statistics 0 in 30 gate runs (at most 9.5% at 95%)"
    )
    assert parts == (
        "By sending mode: asynchronous 0 in 25, one-way 0 in 25, synchronous 0 in 250;"
        " by client: java beside java 0 in 155, python beside python 0 in 145"
    )
    assert circumstances.startswith("measured 2026-11-20 to 2026-11-21 with rocketdiff ")
    assert circumstances.endswith("cores, load 6.0")


def test_alarms_are_named(document: Document) -> None:
    """The signatures of false alarms are listed."""
    alarm = Alarm(117, "control/a/java:5.3.3~java:5.3.3", "loss", "DIVERGES", ("loss.x",), "this", "that")
    noisy = replace(QUIET, alarms_per_case=Rate.of(1, 300), alarms=(alarm,))
    assert "False alarms seen: loss.x" in lines_of(document, calibration_for(document, noisy))


def test_repeated_divergences_are_reported(document: Document) -> None:
    """Known divergences always found again are counted, the others named with their rates."""
    found = (
        Found("K1", "java:4.7.1", "java:5.3.3", "a/queue-choice", Rate.of(5, 5), 0),
        Found("K2", "java:4.7.1", "java:5.3.3", "b/queue-choice", Rate.of(3, 5), 1),
    )
    lines = lines_of(document, replace(calibration_for(document), sensitivity=found))
    assert (
        "Known divergences found again every time: 1 of 2 entries (each in 5 repeats or more, which bound its rate by 48%"
        " from below); K2 in 3 of 5 (15% to 95%)"
    ) in lines


def test_other_circumstances_are_caveats(document: Document) -> None:
    """Another release, server, backend or machine and an age over a year are caveats."""
    elsewhere = replace(
        calibration_for(document),
        rocketdiff="0.0.9",
        server_release="4.9.8",
        backend="containers",
        machine=Machine("Linux", "another", 64, 4096, "3.11", "17"),
        last_at="2024-01-01T00:00:00+00:00",
    )
    assert [line.split(",")[0].split(":")[0] for line in caveats(elsewhere, on_two_masters(document).run)][:4] == [
        "measured with rocketdiff 0.0.9",
        "measured on RocketMQ 4.9.8",
        "measured on containers",
        "measured on another machine",
    ]
    assert len(caveats(elsewhere, on_two_masters(document).run)) == 5, "and its age"
    assert caveats(calibration_for(document), on_two_masters(document).run) == ()


def test_a_situation_without_a_control_case_is_a_caveat(document: Document) -> None:
    """A check, fault or topology without any control case is a caveat."""
    measured = on_two_masters(document).run
    first, *others = measured.cases
    odd = replace(first, checks=(*first.checks, "callbacks"), fault_counts={"killed_brokers": 1, "paused_brokers": 0})
    run = replace(measured, cases=(replace(odd, topology="one-master"), *others))
    assert caveats(calibration_for(document), run) == (
        "no control case was asked for callbacks",
        "no control case had killed brokers",
        "no control case ran on one-master",
    )


def sent(document: Document, mode: str) -> RunInfo:
    run = on_two_masters(document).run
    first, *others = run.cases
    return replace(run, cases=(replace(first, workload=first.workload | {"mode": mode}), *others))


def test_few_control_cases_are_a_caveat(document: Document) -> None:
    """A send mode with 19 control cases is a caveat, with 20 none; without any it has its own."""
    few = replace(QUIET, modes=(ModeRate("async", Rate.of(0, 19)), ModeRate("sync", Rate.of(0, 20))))
    measured = calibration_for(document, few)
    assert caveats(measured, sent(document, "sync")) == ()
    assert caveats(measured, sent(document, "async")) == (
        "only 19 control cases used asynchronous sends (at most 14.6% at 95%)",
    )
    assert caveats(measured, sent(document, "oneway")) == ("no control case used one-way sends",)


def test_a_client_that_was_never_held_against_itself_is_a_caveat(document: Document) -> None:
    """A client, in either arm, without control cases of its own is a caveat."""
    run = on_two_masters(document).run
    strange = replace(run, candidate=replace(run.candidate, subject="cpp:2.1.0"))
    assert caveats(calibration_for(document), strange) == ("no control case ran cpp beside itself",)
    few = replace(QUIET, clients=(ClientRate("java", Rate.of(0, 155)), ClientRate("python", Rate.of(0, 3))))
    python = replace(run, candidate=replace(run.candidate, subject="python:5.3.3"))
    assert caveats(calibration_for(document, few), python) == (
        "only 3 control cases ran python beside itself (at most 63.2% at 95%)",
    )


def test_a_measurement_that_is_hardly_one_is_a_caveat(document: Document) -> None:
    """Fewer than 20 decided control cases are a caveat; so is a calibration without modes and clients."""
    run = on_two_masters(document).run
    hardly = calibration_for(document, replace(QUIET, alarms_per_case=Rate.of(0, 19)))
    assert caveats(hardly, run) == ("only 19 of its control cases were decided",)
    old = calibration_for(document, replace(QUIET, modes=(), clients=()))
    assert caveats(old, run) == ("how many control cases each sending mode and each client had was not counted then",)


def test_a_judging_program_that_changed_since_is_a_caveat(document: Document) -> None:
    """A changed digest of the judging code is a caveat; an unknown digest is none."""
    run = replace(on_two_masters(document).run, judging_source="aaaaaaaaaaaa")
    measured = calibration_for(document)
    for sources, count in (
        (("bbbbbbbbbbbb",), 1),
        (("bbbbbbbbbbbb", "aaaaaaaaaaaa"), 1),
        (("aaaaaaaaaaaa", ""), 1),
        (("aaaaaaaaaaaa",), 0),
        ((), 0),
    ):
        found = caveats(replace(measured, judging_sources=sources), run)
        assert len(found) == count
        assert all(line.startswith("the part of rocketdiff that judges has changed since") for line in found)
    assert caveats(replace(measured, judging_sources=("bbbbbbbbbbbb",)), replace(run, judging_source="")) == ()


def test_measured_checks_are_those_of_control_cases() -> None:
    """Topologies and faults that count as measured occur in the control scenarios of their role."""
    for role, measured in MEASURED_FAULTS.items():
        numbers = range(1, CASES_A_RUN[role] + 1)
        scenarios = [control_case(seed, number, role).case.scenario for seed in range(3) for number in numbers]
        assert {scenario.topology for scenario in scenarios} == MEASURED_TOPOLOGIES
        hit = (fault_counts(scenario.faults) for scenario in scenarios)
        assert {name for counts in hit for name, count in counts.items() if count} >= measured


def test_each_role_of_a_run_has_its_own_rates(document: Document) -> None:
    """A run about both roles states both rates, and that one is unknown; a role without cases has none."""
    first, *others = on_two_masters(document).run.cases
    run = replace(document.run, cases=(replace(first, role=ClientRole.CONSUMER), *others))
    both = msgspec.structs.replace(document, run=run, calibration=calibration_for(document))
    assert UNKNOWN_OF_CONSUMERS in trust_lines(both)
    groups = replace(QUIET, modes=(), alarms_per_case=Rate.of(1, 150))
    known = replace(calibration_for(document, groups), role=ClientRole.CONSUMER)
    both = msgspec.structs.replace(both, consumer_calibration=known)
    assert "False alarms of this gate about consumers: 1 in 150" in trust_briefly(both)
    assert "By client: java beside java 0 in 155, python beside python 0 in 145" in trust_lines(both)
    alone = replace(document.run, cases=(replace(first, role=ClientRole.CONSUMER),))
    only = msgspec.structs.replace(both, run=alone, calibration=None)
    assert UNKNOWN not in trust_lines(only)
    assert "Consumers: by check and by client" in render_page(only)


def test_every_format_shows_the_calibration(document: Document) -> None:
    """Document, page and step summary show the calibration; the terminal has its own snapshot."""
    full = msgspec.structs.replace(document, calibration=calibration_for(document))
    assert decode(encode(full), where="here").calibration == full.calibration
    page = render_page(full)
    for text in (page, render_markdown(full, 1_000_000)):
        assert "0 in 300 control cases" in text
    assert "measured 2026-11-20" in page
