"""Every kind of document with valid examples and its reader."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from maintenance.hostile.mutations import mutated_json, mutated_yaml
from rocketdiff.analysis.run_analysis import analyze_here
from rocketdiff.calibration import journal
from rocketdiff.campaign import file_format
from rocketdiff.cluster.external import cluster_file, undo_log
from rocketdiff.core.answers.policy import Policy
from rocketdiff.core.resources import resource
from rocketdiff.core.run_info import Machine
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.judging import gate_rates, ledgers
from rocketdiff.judging.run_info import describe
from rocketdiff.report.document import build, encode
from rocketdiff.report.document import load as load_document
from rocketdiff.scenario import loading
from rocketdiff.simulation.script.files import load_scripts
from rocketdiff.traces.journal import read_arm_journal, read_fault_journal, read_plan_file
from rocketdiff.traces.run_directory import RunDirectory
from rocketdiff.verdict.judge import judge

Mutation = Callable[[str, Random], bytes]
Reader = Callable[[Path], object]


JOURNAL = """\
{"type":"hello","protocol":1,"client":"java","version":"5.3.3","capabilities":["sync"],"pid":17}
{"type":"ready","warm_up":[]}
{"type":"route","route":1,"seen_ns":5,"queues":[["broker-a",0],["broker-a",1]]}
{"type":"attempt","send":0,"attempt":1,"thread":0,"broker":"broker-a","queue_id":0,"begin_ns":10,"end_ns":20,"outcome":"ok"}
{"type":"send","send":0,"thread":0,"begin_ns":9,"end_ns":21,"outcome":"ok","broker":"broker-a","queue_id":0,"offset":3}
{"type":"done","sends":1}
"""
"""Some lines are no valid records; the reader must report them."""

UNDO = """\
{"type":"owner","cluster":"unit","name_servers":["127.0.0.1:1"],"run_folder":"runs/x"}
{"type":"topic","name":"unit-1","brokers":["127.0.0.1:2"],"name_servers":["127.0.0.1:1"]}
{"type":"action","node":"b","role":"broker","address":"127.0.0.1:2","probe_topic":"t","verb":"resume","words":["true"],\
"folder":"/","timeout_s":1.0}
{"type":"begun","key":"resume b","group":1,"started_ticks":1}
{"type":"ended","key":"resume b"}
{"type":"paid","key":"topic unit-1"}
"""

FAULTS = """\
{"episode":0,"kind":"pause","node":"broker-a","inject_ns":1000,"injected_ns":1200,"proven_ns":1300}
{"episode":0,"kind":"pause","node":"broker-a","inject_ns":1000,"injected_ns":1200,"proven_ns":1300,"heal_ns":9000,\
"healed_ns":9100,"heal_proven_ns":9200}
"""

PLAN = """\
{"send":0,"thread":0,"due_ns":0,"kind":"plain","argument":0,"body_bytes":64}
{"send":1,"thread":1,"due_ns":5,"kind":"selector","argument":3,"body_bytes":64,"mode":"async","delay_level":2,\
"keys":"k","tags":"t","properties":[["a","b"]]}
"""

CONTROLS = """\
{"seed":7,"server_release":"5.3.3","backend":"processes","rocketdiff":"0.1.0","plan":"",\
"machine":{"system":"Linux","processor":"x","cores":2,"memory_mib":4096,"python":"3.11","java":"17"}}
{"at":"2026-11-22T10:00:00+00:00","load":1.0,"took_s":9.0,"source":"0a","folder":"runs/1","known_case":"",\
"case":{"number":1,"case":"control/a","subject":"java:5.3.3","answers":\
[{"check":"loss","verdict":"CONFORMS","severity":"must"}]}}
"""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of document; ``file``: its name in a folder."""

    name: str
    file: str
    sound: tuple[str, ...]
    mutate: Mutation
    read: Reader


@cache
def kinds() -> tuple[Kind, ...]:
    scenarios = [path.read_text() for path in sorted(resource("fixtures/scenarios").rglob("*.yaml"))]
    shipped = [path.read_text() for path in ledgers.shipped_files()]
    clusters = [path.read_text() for path in sorted(resource("fixtures/cluster-format/valid-pass").glob("*.yaml"))]
    campaigns = [path.read_text() for path in sorted(resource("fixtures/campaign-format/valid-pass").glob("*.yaml"))]
    scripts = [path.read_text() for path in sorted(resource("fixtures/simulation/scripts").rglob("*.json"))]
    run = (Path(__file__).parents[3] / "tests" / "older_run" / "run.json").read_text()
    return (
        Kind("scenario", "s.yaml", tuple(scenarios), mutated_yaml, loading.load),
        Kind("ledger", "l.yaml", tuple(shipped), mutated_yaml, ledgers.read),
        Kind("cluster file", "c.yaml", tuple(clusters), mutated_yaml, cluster_file.read),
        Kind("campaign file", "c.yaml", tuple(campaigns), mutated_yaml, file_format.read),
        Kind("script", "s.json", tuple(text for text in scripts if len(text) < 20_000), mutated_json, _scripts),
        Kind(
            "calibration",
            "c.json",
            (resource(gate_rates.FILES[ClientRole.PRODUCER]).read_text(),),
            mutated_json,
            _calibration,
        ),
        Kind("report.json", "report.json", (_report(),), mutated_json, load_document),
        Kind("run.json", "run.json", (run,), mutated_json, lambda path: RunDirectory.open(path.parent)),
        Kind("journal", "01-baseline.ndjson", (JOURNAL,), mutated_json, read_arm_journal),
        Kind("plan", "01-plan.ndjson", (PLAN,), mutated_json, read_plan_file),
        Kind("fault journal", "01-faults.ndjson", (FAULTS,), mutated_json, read_fault_journal),
        Kind("control cases", journal.JOURNAL, (CONTROLS,), mutated_json, _controls),
        Kind("undo log", "x.ndjson", (UNDO,), mutated_json, _undo),
    )


def _scripts(path: Path) -> object:
    return load_scripts([str(path)])


def _calibration(path: Path) -> object:
    return gate_rates.decode(path.read_bytes(), where=path.name)


def _controls(path: Path) -> object:
    machine = Machine("Linux", "x", 2, 4096, "3.11", "17")
    return journal.CalibrationJournal.open(
        path.parent, journal.JournalHeader(7, "5.3.3", "processes", "0.1.0", machine)
    )


def _undo(path: Path) -> object:
    """Read as the next process after a killed run does; damage is reported when the log is performed."""
    left = undo_log.take_over(path, wait=False)
    assert left is not None
    left._file.close()
    return left.damage


def _report() -> str:
    """The report of the stored run of schema 1.0, judged anew."""
    run = RunDirectory.open(Path(__file__).parents[3] / "tests" / "older_run")
    analysis, info = analyze_here(run), describe([run], took_s=0.0)
    document = build(info, judge(analysis.evidence, info, Policy()), analysis.plots, analysis.counts)
    return encode(document).decode()
