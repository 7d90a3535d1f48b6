"""
What the pages of a run, a matrix and a record share, besides the templates of this package.

``head.html.j2``, ``page.css`` (colours, cards, badges, tables) and ``page.js`` (copying, unfolding, hiding what conforms) are on
every page; each page adds its own.
"""

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from rocketdiff.core.tables.effects import effect_of
from rocketdiff.report.words.signs import duration, moment, plural, sentence

LIMIT_BYTES = 5_000_000
"""Limit of a page, so that CI artefacts open quickly; each page leaves parts out to keep it."""


def page_environment(*packages: str) -> Environment:
    """Return a template environment with the templates of ``packages``, then the shared ones."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, "rocketdiff.report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(effect=effect_of, moment=moment, duration=duration, sentence=sentence, plural=plural)
    return environment
