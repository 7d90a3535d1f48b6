"""
Renders a chart as inline SVG: scalable, small, with colours that the page's dark scheme can replace.

vl-convert draws Altair's Vega-Lite without browser or network. Altair's schema check is off: it visits every row (0.7 s for
6,000), and vl-convert refuses a wrong chart anyway.
"""

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, Protocol

from rocketdiff.report.charts.palette import GRID, INK, MUTED

Rows = Sequence[Mapping[str, object]]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

CONFIG: dict[str, object] = {
    "aria": False,
    "background": None,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "labelFontSize": 11,
        "titleFontSize": 11,
        "titleFontWeight": "normal",
        "gridColor": GRID,
        "domainColor": GRID,
        "tickColor": GRID,
        "labelPadding": 6,
        "labelLimit": 140,
    },
    "title": {"color": INK, "fontSize": 12, "fontWeight": 600, "anchor": "start", "offset": 8},
    "legend": {
        "labelColor": INK,
        "titleColor": MUTED,
        "labelFontSize": 11,
        "orient": "top",
        "title": None,
        "offset": 6,
        "columnPadding": 26,
    },
    "header": {"labelColor": MUTED, "labelFontSize": 11, "titleColor": MUTED, "labelPadding": 24},
}

_NEEDLESS = re.compile(r' (?:class|role|aria-hidden|aria-roledescription|pointer-events|font-family)="[^"]*"')
_EMPTY_BACKGROUND = re.compile(r'<path d="M0,0h0v0h0Z"/>|<path d="[^"]*" display="none"/>')
_OPENING = re.compile(r"<svg [^>]*?viewBox=\"(?P<box>0 0 (?P<width>[\d.]+) [\d.]+)\"[^>]*>")


class Chart(Protocol):
    """The part of an Altair chart that this module uses."""

    def to_dict(self, validate: bool = ...) -> dict[str, Any]:
        """Vega-Lite specification."""


def start_engine() -> None:
    """Start vl-convert's engine (half a second of CPU) ahead of the first picture; thread-safe."""
    import vl_convert

    vl_convert.vegalite_to_svg({"data": {"values": []}, "mark": "bar"}, allowed_base_urls=[])


def draw(chart: Chart, datasets: Mapping[str, Rows], *, label: str) -> str:
    """Return the chart with ``datasets`` (by the names of its NamedData) as SVG, with ``label`` as text alternative."""
    import vl_convert

    specification = {**chart.to_dict(validate=False), "config": CONFIG, "datasets": datasets}
    svg = vl_convert.vegalite_to_svg(specification, allowed_base_urls=[])
    return _for_a_page(svg, label)


def _for_a_page(svg: str, label: str) -> str:
    svg = _EMPTY_BACKGROUND.sub("", _NEEDLESS.sub("", svg))
    opening = _OPENING.match(svg)
    if opening is None:
        raise AssertionError(f"vl-convert drew something that is not an SVG with a view box: {svg[:200]}")
    frame = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{opening["box"]}" role="img"'
        f' style="max-width:{opening["width"]}px" aria-label="{escape(label)}">'
    )
    return frame + svg[opening.end() :]
