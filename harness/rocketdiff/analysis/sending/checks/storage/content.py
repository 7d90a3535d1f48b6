"""
Does a stored message carry what the application gave its client, and otherwise the same as the other client's?

Examines the stored copies of every send, in its topic or, while delayed, as its broker keeps it back. Each must have
exactly the planned keys, tags, properties and body. What clients and brokers add must have the same names in every
copy as in the baseline's first one, and the same values unless new in every message; flag and system flag must be equal too:
consumers and tools see them all. Also exact: a message's UNIQ_KEY is its own and the same in all its copies, and it was born
during its call.
"""

from collections.abc import Iterable, Iterator, Sequence

from rocketdiff.analysis.checks.case_facts import CaseFacts, counted, standing_with
from rocketdiff.analysis.checks.check_code import CheckCode
from rocketdiff.analysis.sending.checks.calm_counts import CalmCount
from rocketdiff.analysis.sending.checks.context import CaseContext, CaseObserver, SendCheck
from rocketdiff.analysis.sending.checks.storage.loss import unread
from rocketdiff.analysis.sending.send_view import Copy, SendView, named
from rocketdiff.analysis.sending.steps.aligned import AlignedSend
from rocketdiff.core.answers.evidence import Evidence
from rocketdiff.core.arm import Arm
from rocketdiff.core.records.sending import Send
from rocketdiff.core.sends.message import ID_PROPERTY, body_digest, padded, sys_flag_text
from rocketdiff.core.tables.signatures import (
    BODY_CHANGED,
    BORN_AFTER_ITS_CALL,
    BORN_BEFORE_ITS_CALL,
    FLAG_DIFFERS,
    KEY_DIFFERS_BETWEEN_COPIES,
    KEY_USED_BEFORE,
    PROPERTY_ADDED,
    PROPERTY_CHANGED,
    PROPERTY_DIFFERS,
    PROPERTY_MISSING,
    SYS_FLAG_DIFFERS,
    Signature,
)

NAME = "content"
Found = tuple[Signature, str, str, str]
"""Signature, its place, expected and observed."""

UNIQ_KEY = "UNIQ_KEY"

NEW_EACH_TIME = frozenset({UNIQ_KEY, ID_PROPERTY, "REAL_TOPIC", "REAL_QID", "BORN_TIMESTAMP", "PGROUP"})
"""Properties that differ by message or topic. The last two are a proxy's, which uses the topic as group."""

BORN_CLOCK_MS = 10
"""
How far outside its call a message's birth may lie: a wall clock may slip 5 ms unnoticed where its offset was not sampled
(before 1.10), and three readings are rounded to 1 ms each. A busy machine lengthens the call, not this.
"""


class Content(CaseObserver):
    """Counts copies; notes deviations from the plan, and the candidate's from the baseline."""

    def __init__(self, context: CaseContext) -> None:
        super().__init__(context)
        self._clock = context.entry.clock
        self._sends_of_keys: dict[tuple[Arm, str], int] = {}

    def observe(self, send: AlignedSend) -> None:
        for side in send.sides:
            if side.row is None or not (_telling(side.copies) or _telling(side.kept)):
                continue
            self._collector.count(NAME, str(side.arm), str(side.phase), "copy")
            copies = [copy for copy in (*(side.copies or ()), *side.kept) if copy.properties is not None]
            self._hold_against_plan(send, side, copies)
            self._require_own_key(send, side, copies)
            self._require_born_in_call(send, side, copies)
        baseline, candidate = send.baseline, send.candidate
        if baseline is None or candidate is None or candidate.row is None:
            return
        # Compare like with like: the broker removes properties of a kept-back message when it delivers it.
        for ours, theirs in ((baseline.copies, candidate.copies), (baseline.kept, candidate.kept)):
            expected = _telling(ours)
            if expected is not None and _telling(theirs) is not None:
                found = (each for copy in theirs or () for each in _held_against(candidate.row, expected, copy))
                self._note_once(send, candidate, found)
                return

    def _hold_against_plan(self, send: AlignedSend, side: SendView, copies: Sequence[Copy]) -> None:
        self._note_once(send, side, (each for copy in copies for each in self._held_against_plan(side, copy)))

    def _held_against_plan(self, side: SendView, copy: Copy) -> Iterator[Found]:
        """Yield everything planned that the copy lacks."""
        assert side.row is not None
        found = copy.carried()
        for name, value in named(side.row.properties).items():
            if name not in found:
                yield PROPERTY_MISSING, name, f"{name}={value!r}", "no such property"
            elif found[name] != value:
                yield PROPERTY_CHANGED, name, f"{name}={value!r}", f"{found[name]!r}"
        identity = found.get(ID_PROPERTY)
        if identity is not None and not self._is_planned_body(copy, identity, side.row.body_bytes):
            yield BODY_CHANGED, "", f"the {side.row.body_bytes} bytes sent", "another body"

    def _is_planned_body(self, copy: Copy, identity: str, body_bytes: int) -> bool:
        if self._context.trace.bodies_compared:
            return copy.body_ok
        return copy.body_digest == body_digest(padded(identity, body_bytes))

    def _require_own_key(self, send: AlignedSend, side: SendView, copies: Sequence[Copy]) -> None:
        """The key identifies a message: no other send of the arm has it, and all its copies share it."""
        keys = [key for key in dict.fromkeys(copy.carried().get(UNIQ_KEY) for copy in copies) if key is not None]
        if len(keys) > 1:
            seen = " and ".join(map(repr, keys))
            self._note(KEY_DIFFERS_BETWEEN_COPIES, send, side, "one UNIQ_KEY, whichever attempt", seen, place=UNIQ_KEY)
        for key in keys:
            first = self._sends_of_keys.setdefault((side.arm, key), send.send)
            if first != send.send:
                seen = f"{key!r}, as send {first}"
                self._note(KEY_USED_BEFORE, send, side, "a UNIQ_KEY of its own", seen, place=UNIQ_KEY)
                return

    def _require_born_in_call(self, send: AlignedSend, side: SendView, copies: Sequence[Copy]) -> None:
        """A message is born with its request: not before the call, and not after its last attempt."""
        if self._clock is None or side.row is None:
            return
        last_ns = max((side.row.end_ns, *(attempt.end_ns for attempt in side.attempts)))
        begin_ms, end_ms = self._clock.range_ms(side.row.start_ns, last_ns)
        for copy in copies:
            born_ms = copy.born_timestamp_ms
            if born_ms is None or begin_ms - BORN_CLOCK_MS <= born_ms <= end_ms + BORN_CLOCK_MS:
                continue
            is_early = born_ms < begin_ms
            away_ms = begin_ms - born_ms if is_early else born_ms - end_ms
            where = "before the call" if is_early else "after it"
            self._note(
                BORN_BEFORE_ITS_CALL if is_early else BORN_AFTER_ITS_CALL,
                send,
                side,
                "born during its call",
                f"{away_ms:,.0f} ms {where}",
            )
            return

    def _note_once(self, send: AlignedSend, side: SendView, found: Iterable[Found]) -> None:
        noted: set[tuple[str, str]] = set()
        for signature, place, expected, observed in found:
            if (signature.name, place) not in noted:
                noted.add((signature.name, place))
                self._note(signature, send, side, expected, observed, place=place)

    def _note(
        self, signature: Signature, send: AlignedSend, side: SendView, expected: str, observed: str, *, place: str = ""
    ) -> None:
        self._collector.differ(signature, send, side, expected=expected, observed=observed, place=place)


def _held_against(row: Send, ours: Copy, theirs: Copy) -> Iterator[Found]:
    """Yield all in which a copy differs from the baseline's, but for what was planned."""
    planned = named(row.properties).keys()
    expected, seen = ours.carried(), theirs.carried()
    for name in sorted((expected.keys() | seen.keys()) - planned):
        there, here = expected.get(name), seen.get(name)
        if here is None:
            yield PROPERTY_MISSING, name, f"{name}={there!r} as baseline", "no such property"
        elif there is None:
            yield PROPERTY_ADDED, name, "none, as baseline", f"{name}={here!r}"
        elif here != there and name not in NEW_EACH_TIME:
            yield PROPERTY_DIFFERS, name, f"{there!r} as baseline", f"{here!r}"
    if ours.flag != theirs.flag:
        yield FLAG_DIFFERS, "", f"flag {ours.flag} as baseline", f"flag {theirs.flag}"
    if ours.sys_flag != theirs.sys_flag:
        there, here = (f"system flag {sys_flag_text(copy.sys_flag or 0)}" for copy in (ours, theirs))
        yield SYS_FLAG_DIFFERS, "", f"{there} as baseline", here


def evaluate(facts: CaseFacts) -> Evidence:
    """Return evidence with the number of sends examined."""
    looked = {arm: facts.n(NAME, "copy", arm=str(arm)) for arm in Arm}
    standing, reason = unread(facts) or standing_with(
        facts, looked, "no stored message of {} has its properties in the trace"
    )
    measures = counted(facts, "messages-compared", NAME, "copy")
    return facts.evidence(NAME, standing, reason, decisions=sum(looked.values()), measures=measures)


def _telling(copies: Sequence[Copy] | None) -> Copy | None:
    """The first copy, unless the trace lacks what it carries (before schema 1.2)."""
    return copies[0] if copies and copies[0].properties is not None else None


CODE: SendCheck = CheckCode(
    NAME,
    observers=(Content,),
    evaluate=evaluate,
    calm=(CalmCount(NAME, "copy", lambda sends: sends.shows_content),),
)
