"""Ledger file format, version 1: schema, and conversion from data to entries; the only description of the format."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BeforeValidator, Field

from rocketdiff.core.answers.verdict import Severity
from rocketdiff.core.consuming.plan import ListenerKind
from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.checks import VALIDITY
from rocketdiff.core.tables.fault import FAULT_COUNTS
from rocketdiff.core.tables.settings import ClientSettings
from rocketdiff.core.text.quoted import shown
from rocketdiff.documents.part import Part, published_schema
from rocketdiff.documents.refusal import Place, Words, read_part, refused
from rocketdiff.documents.yaml_source import Location
from rocketdiff.ledger.model import (
    BOTH,
    FORM,
    REFERENCE,
    RULES,
    SPEC_GAP,
    Conditions,
    Confirmation,
    Entry,
    ExpectedRate,
    Party,
    Range,
)

VERSION = "1.0"
TODO = "TODO"
"""Left by a proposal for a person; refused in an active entry."""

if TYPE_CHECKING:
    FaultCount = str
else:  # a closed set, generated from the table of faults
    FaultCount = Literal[FAULT_COUNTS]
RangeText = Annotated[str, Field(min_length=1, description="Such as '>=4.0.0,<4.9.8 || >=5.0.0,<5.1.4'.")]
Share = Annotated[float, Field(ge=0, le=1)]
ClientName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
Signature = Annotated[str, Field(min_length=1)]


def _day(value: object) -> object:
    """Convert a quoted date: YAML has dates of its own, JSON has only text."""
    return date.fromisoformat(value) if isinstance(value, str) else value


class AgainstPart(Part):
    """The baseline that the client is compared with."""

    client: ClientName
    version: RangeText | None = None


class ConsumerPart(Part):
    """The case's group of consumers: its listener, and its number of members at the start."""

    listener: Annotated[ListenerKind, Field(strict=False)] | None = None
    members: RangeText | None = None


class WhenPart(Part):
    """Conditions that must all hold: the client that shows the difference, and any others."""

    client: ClientName
    version: RangeText | None = None
    against: AgainstPart | None = None
    server: RangeText | None = None
    fault: dict[FaultCount, RangeText] = {}
    settings: dict[str, bool | int] = {}
    consumer: ConsumerPart | None = None


class RatePart(Part):
    """Lowest and highest share of decisive checks that show it, tested with an exact interval."""

    rate: Annotated[list[Share], Field(min_length=2, max_length=2)]


class EvidencePart(Part):
    """The run that confirmed it; trace: digest of its tables, as written by ``rocketdiff ledger propose``."""

    seed: Annotated[int, Field(ge=0)]
    run: str = ""
    trace: Annotated[str, Field(pattern=r"^(sha256:[0-9a-f]{64})?$")] = ""
    reproduce: str = ""


class EntryPart(Part):
    """One declared divergence."""

    id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    check: Annotated[str, Field(pattern=r"^[^\s~/]+(/[^\s~/]+)+$")]
    when: WhenPart
    arm_at_fault: Annotated[str, Field(min_length=1)]
    signature: Signature | Annotated[list[Signature], Field(min_length=1)]
    occurrence: Literal["always"] | RatePart = "always"
    severity: Annotated[Severity, Field(strict=False)] = Severity.MUST
    reason: Annotated[str, Field(min_length=20, description="A sentence, not a word.")]
    ref: Annotated[str, Field(min_length=3)]
    evidence: EvidencePart | None = None
    added: Annotated[date, BeforeValidator(_day)]
    expires_after_days: Annotated[int, Field(ge=1, le=3_650)] | None = None
    owner: str = ""
    status: Literal["active", "proposed"] = "active"


class DefaultsPart(Part):
    """Defaults for all entries of the file."""

    expires_after_days: Annotated[int, Field(ge=1, le=3_650)] = 180


class LedgerFile(Part):
    """One ledger file; ratchet: number of entries above which ``lint`` reports the file."""

    schema_version: Annotated[str, Field(alias="schemaVersion", pattern=r"^1\.[0-9]+$")]
    defaults: DefaultsPart = DefaultsPart()
    ratchet: Annotated[int, Field(ge=0)] | None = None
    entries: list[EntryPart]


WORDS = Words(
    fields={
        "schemaVersion": f'the text "{VERSION}", in quotes',
        "id": "an id of letters, digits, dots and hyphens",
        "check": "a glob over <scenario>/<check>, without the pair of subjects, such as fault-latency/**/avoidance",
        "fault": f"one of {', '.join(FAULT_COUNTS)}, with a range such as '>=1'",
        "settings": "true, false or a whole number",
        "consumer": "listener or members of the case's group, such as {listener: orderly, members: '>=2'}",
        "listener": f"one of {', '.join(ListenerKind)}",
        "members": "a range of numbers such as '>=2'",
        "occurrence": "always, or {rate: [0.02, 0.20]}",
        "severity": "must, should or info",
        "status": "active or proposed",
        "reason": "a sentence of at least 20 characters",
        "ref": "an issue, a pull request or a page",
        "added": "a date such as 2026-11-21",
        "trace": "sha256: and 64 hexadecimal digits",
    }
)


def schema() -> bytes:
    """Return the JSON Schema of ledger files of this major version."""
    return published_schema(LedgerFile, "ledger:1").encode()


ARMS = ("baseline", "candidate")


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """One ledger file; ratchet: declared number of entries, or None."""

    origin: str
    entries: tuple[Entry, ...]
    ratchet: int | None


def parse(data: object, origin: str, place: Place) -> ParsedFile:
    """
    Check and convert the data of one file.

    place: maps a location in the data to ``file line 12``, for messages and the entries' place. Raises UsageError.
    """
    _require_version(data, place)
    file = read_part(LedgerFile, data, place, WORDS)
    _require_unique(file, place)
    days = file.defaults.expires_after_days
    entries = tuple(_Reader(part, number, place).entry(days) for number, part in enumerate(file.entries))
    return ParsedFile(origin, entries, file.ratchet)


def refusals(data: object, place: Place) -> Iterator[UsageError]:
    """Yield the errors of a file that ``parse`` refuses, one per entry, so that all can be corrected at once."""
    entries = data.get("entries") if isinstance(data, dict) else None
    for number, raw in enumerate(entries if isinstance(entries, list) else ()):
        try:
            part = read_part(EntryPart, raw, place, WORDS, ("entries", number))
            _Reader(part, number, place).entry(0)
        except UsageError as problem:
            yield problem


def _require_version(data: object, place: Place) -> None:
    """Checked first: in another major version any field may mean something else."""
    if not isinstance(data, dict):
        seen = "nothing" if data is None else type(data).__name__
        raise refused(place, (), expected="a mapping with schemaVersion and entries", seen=seen)
    version = data.get("schemaVersion")
    if isinstance(version, str) and version.partition(".")[0] not in (VERSION.partition(".")[0], ""):
        hint = "this rocketdiff reads no other major version of the ledger"
        raise refused(place, ("schemaVersion",), expected=f'schemaVersion "{VERSION}"', seen=shown(version), hint=hint)


def _require_unique(file: LedgerFile, place: Place) -> None:
    repeated = {name for name, count in Counter(part.id for part in file.entries).items() if count > 1}
    for number, part in reversed(list(enumerate(file.entries))):
        if part.id in repeated:
            raise refused(
                place,
                ("entries", number, "id"),
                expected="each id once",
                seen=shown(part.id),
                hint="rename one of them",
            )


@dataclass(frozen=True, slots=True)
class _Reader:
    part: EntryPart
    number: int
    place: Place

    def refused(self, *steps: str | int, expected: str, seen: str, hint: str = "") -> UsageError:
        location: Location = ("entries", self.number, *steps)
        return refused(self.place, location, expected=expected, seen=seen, hint=hint)

    def entry(self, default_days: int) -> Entry:
        part = self.part
        signatures = (part.signature,) if isinstance(part.signature, str) else tuple(part.signature)
        self._require_meaning(signatures)
        days = default_days if part.expires_after_days is None else part.expires_after_days
        evidence = part.evidence
        return Entry(
            id=part.id,
            check=part.check,
            when=self._conditions(part.when),
            arm_at_fault=part.arm_at_fault,
            signatures=signatures,
            rate=self._rate(),
            severity=part.severity,
            reason=" ".join(part.reason.split()),
            ref=part.ref,
            evidence=None
            if evidence is None
            else Confirmation(evidence.seed, evidence.run, evidence.trace, evidence.reproduce),
            added=part.added,
            expires=self._expiry(days),
            owner=part.owner,
            proposed=part.status == "proposed",
            place=self.place(("entries", self.number)),
        )

    def _expiry(self, days: int) -> date:
        try:
            return self.part.added + timedelta(days=days)
        except OverflowError as problem:
            expected = f"a date that {days} days can be added to"
            raise self.refused("added", expected=expected, seen=str(self.part.added)) from problem

    def _require_meaning(self, signatures: tuple[str, ...]) -> None:
        part = self.part
        if part.check.rpartition("/")[2] == VALIDITY:
            hint = "fix the set-up; what was measured with it is not valid"
            raise self.refused("check", expected="a check about the clients", seen=part.check, hint=hint)
        of_rules = [signature for signature in signatures if signature.startswith(RULES)]
        if of_rules and part.when.against is not None:
            hint = "a baseline that its own rules do not explain has no counterpart: omit against"
            raise self.refused("when", "against", expected=f"no baseline for {of_rules[0]}", seen="one", hint=hint)
        if part.status == "active":
            self._require_finished()

    def _require_finished(self) -> None:
        """Require what a person must complete: who is at fault, why, the source, the run that showed it."""
        part = self.part
        for name, text in (("arm_at_fault", part.arm_at_fault), ("reason", part.reason), ("ref", part.ref)):
            if TODO in text:
                hint = "write it, or leave the entry at status: proposed"
                raise self.refused(name, expected=f"the {name} of an active entry", seen=shown(text), hint=hint)
        if part.evidence is None:
            hint = "evidence: {seed: …, run: …}; rocketdiff ledger propose writes it"
            raise self.refused(expected="the evidence of an active entry", seen="none", hint=hint)
        against = part.when.against
        clients = dict.fromkeys((part.when.client, *(() if against is None else (against.client,))))
        known = (*clients, REFERENCE, *ARMS, BOTH, SPEC_GAP)
        # Without `against`, arm_at_fault may name any client.
        if against is not None and part.arm_at_fault not in known:
            raise self.refused("arm_at_fault", expected=f"one of {', '.join(known)}", seen=part.arm_at_fault)

    def _conditions(self, when: WhenPart) -> Conditions:
        against = when.against
        return Conditions(
            subject=Party(when.client, self._range(when.version, "when", "version")),
            against=None
            if against is None
            else Party(against.client, self._range(against.version, "when", "against", "version")),
            server=self._range(when.server, "when", "server"),
            faults=tuple(
                (name, self._required_range(text, "when", "fault", name)) for name, text in when.fault.items()
            ),
            settings=tuple(self._setting(name, value) for name, value in when.settings.items()),
            listener=None if when.consumer is None else when.consumer.listener,
            members=None
            if when.consumer is None
            else self._range(when.consumer.members, "when", "consumer", "members"),
        )

    def _range(self, text: str | None, *steps: str) -> Range | None:
        return None if text is None else self._required_range(text, *steps)

    def _required_range(self, text: str, *steps: str) -> Range:
        try:
            return Range.parse(text)
        except ValueError as problem:
            raise self.refused(*steps, expected=FORM, seen=f"{shown(str(problem))} in {shown(text)}") from problem

    def _setting(self, name: str, value: object) -> tuple[str, object]:
        known = [field.name for field in fields(ClientSettings)]
        if name not in known:
            close = get_close_matches(name, known)
            raise self.refused(
                "when", "settings", name, expected="a setting of the client", seen=name, hint=close[0] if close else ""
            )
        return name, value

    def _rate(self) -> ExpectedRate | None:
        occurrence = self.part.occurrence
        if occurrence == "always":
            return None
        assert not isinstance(occurrence, str), "always is the only keyword"
        low, high = occurrence.rate
        if low > high:
            raise self.refused("occurrence", "rate", expected="the lower share first", seen=f"[{low:g}, {high:g}]")
        return ExpectedRate(low, high)
