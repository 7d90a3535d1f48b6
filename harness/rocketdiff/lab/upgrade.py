"""
The differences between two releases, found in virtual time and on real brokers, gravest first, as one page.

Only the two releases are compared; changes that were reverted in between are listed by ``changelog`` only.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment, PackageLoader, StrictUndefined

from rocketdiff.core.errors import UsageError
from rocketdiff.core.subject import STANDARD
from rocketdiff.core.tables.checks import Concern
from rocketdiff.core.tables.roles import ClientRole
from rocketdiff.core.tables.signatures import gravity
from rocketdiff.core.text.markdown import inline, table_row
from rocketdiff.lab.history.beyond_scripts import known_at
from rocketdiff.lab.history.changelog import BehaviourChange, Corpus, changelog, roles_of, script_file
from rocketdiff.lab.history.execution_cache import Executions
from rocketdiff.lab.history.lineage import Edge, Way, releases_on, way
from rocketdiff.releases.programs.wrappers import is_wrapper
from rocketdiff.report.clusters import DivergenceCluster, Weight
from rocketdiff.report.document import Document
from rocketdiff.report.views.page import context_of
from rocketdiff.report.words.signatures import title_of
from rocketdiff.report.words.signs import explain_command, plural, sentence
from rocketdiff.simulation.golden.wording import difference_words, meaning
from rocketdiff.simulation.script import canonical

HEADINGS = {
    Concern.MESSAGES: "Messages: lost, sent or delivered twice, damaged, or more or less often",
    Concern.EXCEPTIONS: "Results and exceptions",
    Concern.WAITING: "How long a call or a message waits",
    Concern.BROKERS: "Which brokers are used",
    Concern.DURATIONS: "How long things take",
    Concern.QUEUES: "Which queues are used",
}

KNOWN = "Known on the way, and shown by no script"


@dataclass(frozen=True, slots=True)
class Item:
    """
    One difference in an operator's words.

    outcome: what a member gets otherwise. matters: its meaning for an operator. found: where and how often. since: the releases at which the answer changed. refs:
    upstream issues. show: a command or script that shows it.
    """

    concern: Concern
    name: str
    title: str
    before: str
    after: str
    found: str
    matters: str = ""
    since: str = ""
    refs: tuple[str, ...] = ()
    show: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Upgrade:
    """All differences between two releases, gravest first. runs: the examined runs. known: changes on the way that no script shows. roles: of the clients that were looked at. asked: the words of the user."""

    before: str
    after: str
    items: tuple[Item, ...]
    random: int
    runs: tuple[str, ...]
    known: tuple[str, ...] = ()
    roles: tuple[ClientRole, ...] = (ClientRole.PRODUCER,)
    asked: tuple[str, str] = ("", "")

    @property
    def names(self) -> tuple[str, str]:
        """The releases, and in front of each the wrapper that ships it, if that was asked about."""
        pairs = zip(self.asked, (self.before, self.after), strict=True)
        first, second = (f"{word} (client {release})" if is_wrapper(word) else release for word, release in pairs)
        return first, second

    def sections(self) -> Iterator[tuple[str, tuple[Item, ...]]]:
        for concern, heading in HEADINGS.items():
            if items := tuple(item for item in self.items if item.concern is concern):
                yield heading, items


def upgrade(executions: Executions, corpus: Corpus, before: str, after: str, documents: Sequence[Document]) -> Upgrade:
    """Compare two releases in virtual time and add the findings of their runs; UsageError for a run of other subjects."""
    for document in documents:
        _require_pair(document, before, after)
    net = changelog(executions, corpus, Way((Edge(before, after),)))
    steps = way(before, after)
    digests = executions.digests(releases_on(steps.edges), corpus.standard)
    simulated = [
        _simulated(change, executions, corpus, (before, after), _since(change, steps, digests))
        for change in net[0].changes
    ]
    seen = [_seen(cluster, document) for document in documents for cluster in document.clusters if _counts(cluster)]
    items = sorted([*seen, *simulated], key=lambda item: (item.concern, item.name))
    known = tuple(f"{edge.after}: {change}" for edge in steps.edges if not edge.side for change in known_at(edge))
    examined = tuple(document.run.run for document in documents)
    return Upgrade(before, after, tuple(items), net[0].random, examined, known, roles_of(corpus))


def _require_pair(document: Document, before: str, after: str) -> None:
    asked = (f"{STANDARD}:{before}", f"{STANDARD}:{after}")
    run = document.run
    if (run.baseline.subject, run.candidate.subject) != asked:
        raise UsageError(
            f"runs of {asked[0]} and {asked[1]}",
            seen=f"{run.run}, of {run.baseline.subject} and {run.candidate.subject}",
            hint=f"rocketdiff compare {' '.join(asked)}",
        )


def _counts(cluster: DivergenceCluster) -> bool:
    """False for a difference that was observed while the set-up was broken."""
    return cluster.weight is not Weight.VOID


def _since(change: BehaviourChange, steps: Way, digests: Mapping[tuple[str, str], str]) -> str:
    name = change.script.name
    turns = [
        edge.after
        for edge in steps.edges
        if not edge.side and digests.get((edge.before, name)) != digests.get((edge.after, name))
    ]
    return ", ".join(turns)


def _simulated(
    change: BehaviourChange, executions: Executions, corpus: Corpus, releases: tuple[str, str], since: str
) -> Item:
    standard = change.standard
    concern = change.concern
    if standard is None:
        before, after = (line or "nothing" for line in change.difference.lines)
        return Item(
            concern,
            change.behaviour,
            sentence(change.outcome.words if change.outcome else f"another {change.difference.compared}"),
            before,
            after,
            "in virtual time",
            show=canonical(change.script.script),
        )
    answers = executions.lines([(release, standard) for release in releases])
    golden = corpus.golden.get(standard.name)
    words = [meaning(standard, golden, answers[release, standard.name]) for release in releases]
    shown = difference_words(change.difference)
    return Item(
        concern,
        ", ".join((change.behaviour, *change.alike)),
        sentence(standard.about.shows.rstrip(".")),
        words[0] or "as the script shows",
        words[1] or shown,
        "in virtual time",
        outcome=change.outcome.words if change.outcome else "",
        matters=standard.about.matters,
        since=since,
        show=f"rocketdiff bisect --script {script_file(change)}",
    )


def _seen(cluster: DivergenceCluster, document: Document) -> Item:
    context = context_of(cluster, document)
    found = f"on brokers, {cluster.count:,} × in {plural(len(cluster.cases), 'case')} of {document.run.run}"
    return Item(
        gravity(cluster.signature),
        cluster.signature,
        sentence(title_of(cluster, document)),
        cluster.example.expected,
        cluster.example.observed,
        found,
        since=context.since,
        refs=tuple(known.ref for known in context.known),
        show=explain_command(cluster, document.run),
    )


def headline(found: Upgrade) -> str:
    """Return the headline."""
    if not found.items:
        return f"No difference between {' and '.join(found.names)} was found"
    return f"From {' to '.join(found.names)}: {plural(len(found.items), 'difference')}"


def subline(found: Upgrade) -> str:
    """Return a sentence on the sources of the differences."""
    runs = (
        f" and in {plural(len(found.runs), 'run')} on brokers ({', '.join(found.runs)})"
        if found.runs
        else "; no run on brokers was given"
    )
    more = (
        f"; {plural(found.random, 'random script differs', 'random scripts differ')} as well, reasons not examined"
        if found.random
        else ""
    )
    whose = sentence(" and ".join(f"{role}s" for role in found.roles)) + (" only." if len(found.roles) == 1 else ".")
    return f"Found by executing the classes of both releases in virtual time{runs}{more}. {whose}"


def markdown(found: Upgrade) -> str:
    """Render the page as Markdown."""
    return "\n".join(_markdown_lines(found)) + "\n"


def _markdown_lines(found: Upgrade) -> Iterator[str]:
    yield from (f"# {inline(headline(found))}", "", inline(subline(found)))
    for heading, items in found.sections():
        yield from ("", f"## {inline(heading)}")
        for item in items:
            yield from ("", f"### {inline(item.title)}", "", table_row(("", "")), table_row(("---", "---")))
            yield from (table_row((label, inline(text))) for label, text in rows_of(item))
    if found.known:
        yield from ("", f"## {KNOWN}", "", *(f"- {inline(sentence(change))}" for change in found.known))


def rows_of(item: Item) -> tuple[tuple[str, str], ...]:
    """Return the non-empty labels and texts of an item."""
    rows = (
        ("outcome", item.outcome),
        ("before", item.before),
        ("after", item.after),
        ("matters", item.matters),
        ("since", item.since),
        ("upstream", ", ".join(item.refs)),
        ("found", f"{item.found} ({item.name})"),
        ("show", item.show),
    )
    return tuple((label, text) for label, text in rows if text)


def html(found: Upgrade) -> str:
    """Render the page as one self-contained HTML file."""
    environment = Environment(
        loader=PackageLoader("rocketdiff.lab", "templates"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("upgrade.html.j2").render(
        headline=headline(found), subline=subline(found), known=KNOWN, found=found, rows_of=rows_of
    )
