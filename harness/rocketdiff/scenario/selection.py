"""Select scenarios by suite and by globs on their names."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from rocketdiff.core.errors import UsageError
from rocketdiff.core.tables.suites import EVERY_SUITE, SUITES
from rocketdiff.core.text.glob import path_glob
from rocketdiff.scenario.model import Scenario


def select(
    scenarios: Iterable[Scenario], suite: str | None = None, patterns: Sequence[str] = ()
) -> tuple[Scenario, ...]:
    """
    Return the scenarios of a suite whose name matches any glob (see ``path_glob``), in order; without both, all.

    Raises UsageError for an unknown suite, and for a glob without a match: a typing error must not look like a pass.
    """
    known = tuple(scenarios)
    if suite is not None and suite not in SUITES:
        raise UsageError(
            f"one of the suites {', '.join(SUITES)}, or {EVERY_SUITE}", seen=repr(suite), hint=_suite_near(suite)
        )
    in_suite = tuple(scenario for scenario in known if suite is None or suite in scenario.suites)
    if not patterns:
        return in_suite
    expressions = [path_glob(pattern) for pattern in patterns]
    for pattern, expression in zip(patterns, expressions, strict=True):
        if not any(expression.fullmatch(scenario.name) for scenario in in_suite):
            raise _no_match(pattern, known, suite)
    return tuple(s for s in in_suite if any(expression.fullmatch(s.name) for expression in expressions))


def _suite_near(suite: str) -> str:
    return next(iter(get_close_matches(suite, (*SUITES, EVERY_SUITE), n=1)), "")


def _no_match(pattern: str, known: tuple[Scenario, ...], suite: str | None) -> UsageError:
    names = [scenario.name for scenario in known]
    elsewhere = [name for name in names if path_glob(pattern).fullmatch(name)]
    if elsewhere:
        hint = f"{elsewhere[0]} is not in suite {suite}; leave the suite out"
    else:
        close = get_close_matches(pattern, names, n=3, cutoff=0.4)
        hint = " or ".join(close) if close else "rocketdiff scenarios lists them"
    within = f"suite {suite}" if suite else f"{len(names)} scenarios"
    return UsageError(f"a glob that matches a scenario of {within}", seen=repr(pattern), hint=hint)
