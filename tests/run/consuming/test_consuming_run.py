"""One short case about consumers on real brokers, judged."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from maintenance.consumers.__main__ import new_run
from maintenance.consumers.story import story_of
from rocketdiff.cluster.interface import Cluster
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.arm import Arm
from rocketdiff.core.errors import ExitCode
from rocketdiff.core.spark_master import WITHOUT_SPARK
from rocketdiff.core.subject import SubjectId
from rocketdiff.judging.explain import explain
from rocketdiff.judging.judge_runs import judge_runs
from rocketdiff.run.case.cast import FED_BY, Pair
from rocketdiff.run.case.staged_case import StagedCase
from rocketdiff.scenario import expand, parse
from rocketdiff.subjects.registry import program_of
from rocketdiff.traces.manifest import CaseStatus
from rocketdiff.traces.reader import read_table, require_whole
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.traces.schema import TableName
from rocketdiff.verdict.judge import RunVerdict

pytestmark = [pytest.mark.cluster, pytest.mark.slow]

SCENARIO = """\
format: 1
name: consuming/fails-beside-a-pause
establishes: Every message is delivered, and a failed one comes back once.
topology: two-masters
topic: {queues_per_broker: 2}
settings: {send_msg_timeout_ms: 500}
workload: {call: queue, threads: 2, rate_per_s: 20, duration_s: 5}
consumers:
  members: 1
  listener: concurrent
  settings: {consume_from_where: first}
  properties: {rebalance_wait_interval_ms: 600000}
  rules: [{every: 10, offset: 3, tries: 1, outcome: later, delay_level: 1}]
  drain_s: 15
faults: [{kind: pause, broker: a, at_s: 3, for_s: 1.5}]
checks: [delivered, redelivery, retries, offsets]
"""


def test_two_groups_consume_one_topic(two_masters: Cluster, tmp_path: Path) -> None:
    """Both groups get every held message, each failed one once more, and commit all; the run conforms."""
    java, python = SubjectId("java", "5.3.3"), SubjectId("python", "5.3.3")
    case = expand(parse(SCENARIO, "text"), java, python, seed=1)
    run = new_run(case, tmp_path, seed=1)
    programs = {Arm.BASELINE: program_of(java), Arm.CANDIDATE: program_of(python)}
    pair = Pair(programs, feeder=program_of(FED_BY))
    StagedCase(lambda: two_masters, run.case(1), case, pair, ()).play()
    entry = run.entry(1)
    assert (entry.status, entry.reason, entry.breaches) == (CaseStatus.COMPLETE, "", {})
    require_whole(run)
    assert {
        guard.name: guard.seen for guard in entry.guards if not guard.held and guard.name.startswith("settled")
    } == {}
    held = {row["send"] for row in read_table(run, TableName.HELD, 1).to_pylist()}
    assert len(held) > 80
    for arm in Arm:
        deliveries = Counter(
            (row["send"], row["times"]) for row in read_table(run, TableName.DELIVERIES, 1, arm).to_pylist()
        )
        again = {send for send in held if send % 10 == 3}
        assert set(deliveries) == {(send, 0) for send in held} | {(send, 1) for send in again}
        returned = read_table(run, TableName.RETURNED, 1, arm).to_pylist()
        assert {row["send"] for row in returned if row["place"] == "retry"} == again
        last = {(row["kind"], row["broker"], row["queue_id"]): row for row in _committed(run, arm)}
        assert all((row["value"] or 0) == row["end"] for row in last.values())
    assert f"  first deliveries: {len(held)} of {len(held)} held messages" in "\n".join(story_of(run))
    assert run.case(1).seal().files == run.entry(1).files == entry.files  # as after a crash
    judged = judge_runs([run.path], policy=Policy(), master=WITHOUT_SPARK).judgement
    assert (judged.verdict, judged.exit_code) == (RunVerdict.CONFORMS, ExitCode.CONFORMS), judged.machine_line
    assert any("its call ends with later" in line for line in explain(run.path, "candidate", "3", None))


def _committed(run: RunDirectory, arm: Arm) -> list[dict[str, Any]]:
    return read_table(run, TableName.COMMITTED, 1, arm).to_pylist()
