"""`rocketdiff bisect`, `changelog`, `upgrade`, `groups`, `identify`: behaviour over the releases of the Java client."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from rocketdiff.cli.options import JsonOption, ScenariosOption, release_of, subject_of
from rocketdiff.core.errors import ExitCode, UsageError
from rocketdiff.core.subject import STANDARD

DepthOption = Annotated[
    str | None,
    typer.Option(
        help="How deep to look: selection, send-loop or remoting, allocation or rebalance; the deepest when not given."
    ),
]
RoleOption = Annotated[str, typer.Option(help="producer, consumer or both.")]
FreshOption = Annotated[bool, typer.Option("--fresh", help="Execute everything, also what the cache remembers.")]


def bisect(
    script: Annotated[str | None, typer.Option(help="Script file (JSON), or - for standard input.")] = None,
    scenario: Annotated[str | None, typer.Option(help="Name of a scenario instead.")] = None,
    first: Annotated[str | None, typer.Option("--from", help="Release to begin with; the oldest.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="Release to end with; the newest.")] = None,
    subject_kind: Annotated[str, typer.Option(help="java, or python for the reference's dialects.")] = STANDARD,
    scenarios: ScenariosOption = None,
    seed: Annotated[int, typer.Option(help="Seed of the scenario's plan.", min=0)] = 0,
    role: RoleOption = "both",
    as_json: JsonOption = False,
) -> None:
    """Every step between releases at which the answer to one script changes, with both answers."""
    from rocketdiff.lab.history import bisect as bisecting
    from rocketdiff.lab.use_cases import executions, one_script
    from rocketdiff.simulation.script.depths import require_role

    chosen = one_script(script, scenario, scenarios, seed)
    require_role(chosen.script, chosen.name, role)
    edges = bisecting.edges_between(first and release_of(first), last and release_of(last))
    with executions(subject_kind) as executed:
        turns = bisecting.bisect(executed, chosen, edges)
    _print(bisecting.bisect_data(chosen, turns, edges) if as_json else bisecting.bisect_lines(chosen, turns, edges))


def changelog(
    before: Annotated[str, typer.Argument(metavar="FROM", help="Release of the Java client in use.")],
    after: Annotated[str, typer.Argument(metavar="TO", help="Release that is to be used.")],
    depth: DepthOption = None,
    role: RoleOption = "both",
    fresh: FreshOption = False,
    as_json: JsonOption = False,
    markdown: Annotated[
        Path | None,
        typer.Option(help="Write it as Markdown here, for an issue or a comment, instead of to the terminal."),
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 if anything changes, for CI and git bisect run.")
    ] = False,
) -> None:
    """What changes between two releases or builds of the Java client, found by executing every release between them."""
    from rocketdiff.lab.history.changelog import changelog_data, changelog_lines
    from rocketdiff.lab.history.changelog_markdown import changelog_markdown
    from rocketdiff.lab.history.lineage import Way
    from rocketdiff.lab.use_cases import changes_between, require_writable, write_page
    from rocketdiff.simulation.script.depths import depths_named

    if markdown:
        require_writable(markdown)
    depths, same = depths_named(depth, role), _same_build(before, after)
    before, after = release_of(before), release_of(after)
    way, found = (Way(()), ()) if same else changes_between(before, after, depths, fresh=fresh)
    if as_json:
        _print({"from": before, "to": after, "depth": depth, "role": role, **changelog_data(way, found)})
    if markdown:
        lines = (_no_change(same),) if same else changelog_markdown(way, found)
        write_page(markdown, "".join(f"{line}\n" for line in lines))
    if not as_json and not markdown:
        _print((_no_change(same),) if same else changelog_lines(way, found))
    if exit_code and any(edge.changes or edge.random or edge.known for edge in found):
        raise typer.Exit(int(ExitCode.DIVERGES))


def upgrade(
    before: Annotated[str, typer.Argument(metavar="FROM", help="Release of the Java client in use.")],
    after: Annotated[str, typer.Argument(metavar="TO", help="Release that is to be used.")],
    run: Annotated[
        list[Path] | None,
        typer.Option(
            help="Judged run of `rocketdiff compare FROM TO`, whose differences belong on the page; may be repeated."
        ),
    ] = None,
    markdown: Annotated[
        Path | None, typer.Option(help="Write the page as Markdown here, instead of to the terminal.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the page as HTML.")] = None,
    depth: DepthOption = None,
    role: RoleOption = "both",
    fresh: FreshOption = False,
) -> None:
    """One page for an upgrade: what is different afterwards, before → after, most severe first."""
    from rocketdiff.lab import upgrade as page
    from rocketdiff.lab.use_cases import differences_between, require_writable, write_page
    from rocketdiff.report.document import load
    from rocketdiff.simulation.script.depths import depths_named

    for path in filter(None, (markdown, html)):
        require_writable(path)
    documents = [load(path) for path in run or ()]
    if same := _same_build(before, after):
        _print((_no_change(same),))
        return
    found = differences_between(
        release_of(before), release_of(after), documents, depths_named(depth, role), fresh=fresh
    )
    found = replace(found, asked=(before, after))
    if markdown or html is None:
        text = page.markdown(found)
        write_page(markdown, text) if markdown else typer.echo(text, nl=False)
    if html:
        write_page(html, page.html(found))


def _same_build(before: str, after: str) -> str:
    """Return the release that two different words name, as a jar with its bytes does; empty if they differ."""
    label = release_of(before)
    return label if before != after and release_of(after) == label else ""


def _no_change(label: str) -> str:
    return f"No observable change: both are the client {label}."


def groups(
    builds: Annotated[
        list[str] | None, typer.Argument(metavar="[BUILD]...", help="Builds to place among them: patched.jar@5.3.3.")
    ] = None,
    depth: DepthOption = None,
    role: RoleOption = "both",
    markdown: Annotated[Path | None, typer.Option(help="Write the whole page as Markdown.")] = None,
    fresh: FreshOption = False,
    as_json: JsonOption = False,
) -> None:
    """Which releases of the Java client behave alike, and what changed between those that do not."""
    from rocketdiff.lab.history import groups_page
    from rocketdiff.lab.use_cases import all_groups, require_writable, write_page
    from rocketdiff.simulation.script.depths import depths_named

    depths = depths_named(depth, role)
    if markdown:
        require_writable(markdown)
    own = tuple(map(release_of, builds or ()))
    report, rows = all_groups(depths, own, fresh=fresh)
    if markdown:
        write_page(markdown, groups_page.markdown(report, rows))
    _print(groups_page.groups_data(report) if as_json else groups_page.groups_lines(report))


def identify(
    trace: Annotated[
        Path, typer.Argument(metavar="TRACE", help="Run directory, or a release or build: patched.jar@5.3.3.")
    ],
    subject: Annotated[str | None, typer.Option(help="Subject of the run; the candidate when not given.")] = None,
    arm: Annotated[str | None, typer.Option(help="baseline or candidate, when both are the same subject.")] = None,
    case: Annotated[str | None, typer.Option(help="Case name or number; all of the run when not given.")] = None,
    role: RoleOption = "both",
    as_json: JsonOption = False,
) -> None:
    """Which releases explain a run, how certain that is and what would narrow it down, or which behave like a build."""
    from rocketdiff.lab.identify import exit_code, identified_data, identified_lines, identify_run, require_producers

    if (client := _client_named(trace)) is not None:
        given = {"--subject": subject, "--arm": arm, "--case": case}
        if option := next((name for name, value in given.items() if value is not None), None):
            raise UsageError(f"{option} with a run directory", seen=f"the client {client}", hint="leave it out")
        _identify_build(client, role, as_json=as_json)
    require_producers(role)
    found = identify_run(trace, subject and str(subject_of(subject)), arm, case)
    _print(identified_data(found) if as_json else identified_lines(found))
    raise typer.Exit(int(exit_code(found)))


def _client_named(text: Path) -> str | None:
    """The release, or the label of the build; None if it is no client's name."""
    from rocketdiff.lab.history.lineage import require_client
    from rocketdiff.releases.catalogue import is_known_client
    from rocketdiff.releases.programs.builds import is_build

    name = str(text).removeprefix(f"{STANDARD}:")
    is_one = any(text.glob("*.jar")) if text.is_dir() else is_known_client(name) or is_build(name)
    return require_client(release_of(f"{name}/" if text.is_dir() else name)) if is_one else None


def _identify_build(client: str, role: str, *, as_json: bool) -> NoReturn:
    from rocketdiff.lab.identify_build import exit_code, identified_build_data, identified_build_lines
    from rocketdiff.lab.use_cases import build_identified
    from rocketdiff.simulation.script.depths import depths_named

    found = build_identified(client, depths_named(None, role))
    _print(identified_build_data(found) if as_json else identified_build_lines(found))
    raise typer.Exit(int(exit_code(found)))


def _print(output: dict[str, Any] | Iterable[str]) -> None:
    if isinstance(output, dict):
        typer.echo(json.dumps(output, ensure_ascii=False, indent=1))
    else:
        for line in output:
            typer.echo(line)
