"""Text below the options in every help: commands to copy, and the meaning of the exit codes."""

from collections.abc import Mapping

EXIT_CODES = (
    "Exit codes: 0 conforms, 1 diverges, 2 inconclusive or invalid, 3 only stale ledger entries, 4 wrong usage, 5 nothing decisive ran, "
    "69 something is missing on this machine, 70 internal error, 130 interrupted."
)

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "": (
        "rocketdiff run --subject java:5.3.3 --subject python:5.3.3",
        "rocketdiff compare java:4.7.1 java:5.3.3",
        "rocketdiff changelog 4.7.1 5.3.3",
        "rocketdiff cluster up",
    ),
    "run": (
        "rocketdiff run --subject java:5.3.3 --subject python:5.3.3",
        "rocketdiff run --suite full --dry-run",
        "rocketdiff run --scenario 'fault-latency/*' --seed 7 --out reports",
        "rocketdiff run --cluster external:cluster.yaml --dry-run",
    ),
    "compare": (
        "rocketdiff compare java:4.7.1 java:5.3.3",
        "rocketdiff compare 4.7.1 5.3.3 --scenario fault-latency/pause-one-of-two",
    ),
    "analyze": (
        "rocketdiff analyze reports/20261122-103705-0000000c",
        "rocketdiff analyze reports/2026* --out reports/all --ledger ours.yaml",
    ),
    "report": (
        "rocketdiff report reports/20261122-103705-0000000c",
        "rocketdiff report reports/20261122-103705-0000000c --since main/report.json",
    ),
    "diff": ("rocketdiff diff main/report.json reports/20261122-103705-0000000c",),
    "explain": (
        "rocketdiff explain reports/20261122-103705-0000000c java:5.3.3 217 --case 3",
        "rocketdiff explain reports/20261122-103705-0000000c java:5.3.3 --case 9 --queue broker-b/3 --at 41",
    ),
    "scenarios": ("rocketdiff scenarios --suite quick",),
    "scenarios show": ("rocketdiff scenarios show fault-latency/pause-one-of-two",),
    "doctor": ("rocketdiff doctor",),
    "simulate": (
        "rocketdiff simulate --subject java:4.7.1 --script S.json",
        "rocketdiff simulate --subject java:4.7.1 --subject java:5.3.3 --suite quick",
    ),
    "fuzz": ("rocketdiff fuzz --release 5.3.3 --decisions 1e4 --sends 1e3",),
    "bisect": (
        "rocketdiff bisect --scenario fault-latency/pause-one-of-two",
        "rocketdiff bisect --script S.json --from 4.7.1 --to 5.3.3",
    ),
    "changelog": ("rocketdiff changelog 4.7.1 5.3.3",),
    "upgrade": (
        "rocketdiff upgrade 4.7.1 5.3.3",
        "rocketdiff upgrade 4.7.1 5.3.3 --run reports/20261122-103705-0000000c --html upgrade.html",
    ),
    "groups": ("rocketdiff groups --markdown groups.md",),
    "identify": (
        "rocketdiff identify reports/20261122-103705-0000000c --subject java:5.3.3",
        "rocketdiff identify target/rocketmq-client.jar@5.3.3 --role consumer",
    ),
    "calibrate": ("rocketdiff calibrate --cases 40",),
    "matrix": (
        "rocketdiff matrix fixtures/examples/matrix.yaml",
        "rocketdiff matrix clients.yaml --out reports/clients --pages site",
    ),
    "campaign": (
        "rocketdiff campaign fixtures/examples/campaign.yaml --dry-run",
        "rocketdiff campaign nightly.yaml --out reports/2026-11-23 --record s3://runs/record",
    ),
    "record": ("rocketdiff record add reports", "rocketdiff record judge", "rocketdiff record status"),
    "record add": (
        "rocketdiff record add reports/20261122-103705-0000000c",
        "rocketdiff record add reports --record s3://runs/record",
    ),
    "record judge": ("rocketdiff record judge", "rocketdiff record judge --master spark://10.0.0.1:7077"),
    "record compact": ("rocketdiff record compact --keep-hours 24",),
    "record check": ("rocketdiff record check",),
    "record regressions": (
        "rocketdiff record regressions --over releases",
        "rocketdiff record regressions --since 2026-11-22 --fail-on new",
    ),
    "record history": ("rocketdiff record history --json",),
    "record groups": ("rocketdiff record groups", "rocketdiff record groups --over time --json"),
    "record page": (
        "rocketdiff record page --runs reports",
        "rocketdiff record page --only reports/campaign --out reports/campaign.html",
    ),
    "record rules-changed": ("rocketdiff record rules-changed loss",),
    "record status": ("rocketdiff record status --json",),
    "subject": ("rocketdiff subject init go my-driver", "rocketdiff subject check 'exec:./my-driver --flag'"),
    "subject init": ("rocketdiff subject init go my-driver", "rocketdiff subject init java my-member --role consumer"),
    "subject check": (
        "rocketdiff subject check 'exec:./my-driver --flag'",
        "rocketdiff subject check java:patched.jar@5.3.3",
        "rocketdiff subject check 'exec:./my-driver --flag' --security made.yaml",
    ),
    "subject attach": (
        "rocketdiff subject attach",
        "rocketdiff subject attach --only selector",
        "rocketdiff subject attach --scenario fault-latency/pause-one-of-two --seed 7",
    ),
    "cluster": ("rocketdiff cluster up", "rocketdiff cluster down"),
    "cluster up": (
        "rocketdiff cluster up --topology one-master --port 9876",
        "rocketdiff cluster up --security made.yaml",
    ),
    "cluster down": ("rocketdiff cluster down",),
    "cluster init": (
        "rocketdiff cluster init 10.0.0.5:9876 10.0.0.6:9876 --prefix rocketdiff-team-a",
        "rocketdiff cluster init mq.staging.example:9876 --security security.yaml --out staging.yaml",
    ),
    "cluster clean": ("rocketdiff cluster clean",),
    "ledger": ("rocketdiff ledger lint", "rocketdiff ledger propose --from reports/20261122-103705-0000000c"),
    "ledger lint": ("rocketdiff ledger lint ours.yaml",),
    "ledger propose": ("rocketdiff ledger propose --from reports/20261122-103705-0000000c --out ours.yaml",),
    "ledger prune": ("rocketdiff ledger prune ours.yaml --from reports/20261122-103705-0000000c --dry-run",),
}
"""By command as typed."""


def epilog(command: str) -> str:
    """Text below the options of a command. Blank lines separate the lines, because typer joins others."""
    examples = EXAMPLES[command]
    return "\n\n".join([f"Example{'s' if len(examples) > 1 else ''}:", *examples, EXIT_CODES])
