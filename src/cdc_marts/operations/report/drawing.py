"""Plots as SVG that takes its colours from the page, so that one drawing is light and dark.

A plot is drawn twice, for wide and for narrow screens. If it were scaled down, its texts would be
too small to read.
"""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import vl_convert

#: Widths of a plot in pixels: on a screen, and on a phone.
WIDE, NARROW = 620, 330

#: CSS variables of the page, in the order in which series take them.
SERIES = tuple(f"var(--series-{number})" for number in range(1, 9))
OTHERS = "var(--others)"
#: Colours of what is well, what needs a look, and what failed.
GOOD, WARNING, BAD = "var(--good)", "var(--warning)", "var(--bad)"

_TEXT, _QUIET, _LINES = "var(--text)", "var(--quiet)", "var(--lines)"
_FONT = "Helvetica, Arial, sans-serif"
#: Texts are measured larger than the page shows them: the reader's font may be wider.
_MEASURED = 14

_CONFIG: dict[str, Any] = {
    "background": "transparent",
    # Screen readers read the table below a plot instead of hundreds of marks.
    "aria": False,
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": _QUIET,
        "titleColor": _QUIET,
        "titleFontWeight": "normal",
        "titleFontSize": _MEASURED,
        "labelFontSize": _MEASURED,
        "gridColor": _LINES,
        "domainColor": _LINES,
        "tickColor": _LINES,
        "labelOverlap": "greedy",
        "labelSeparation": 8,
    },
    "legend": {
        "labelColor": _TEXT,
        "titleColor": _QUIET,
        "titleFontWeight": "normal",
        "labelFontSize": _MEASURED,
        "orient": "top",
        "symbolType": "square",
        "symbolStrokeWidth": 2,
    },
    "bar": {"cornerRadiusEnd": 2},
}


def svg(plot: alt.Chart | alt.LayerChart, width: int, name: str) -> str:
    """Return the plot as an SVG element of so many pixels. `name`: the prefix of all its ids."""
    is_narrow = width < WIDE
    spec = plot.properties(
        width=width, autosize=alt.AutoSizeParams(type="fit-x", contains="padding")
    ).to_dict()
    axis = {**_CONFIG["axis"], "labelLimit": 130 if is_narrow else 250}
    columns = 1 if is_narrow else 3
    legend = {
        **_CONFIG["legend"],
        "columns": columns,
        "labelLimit": (width - 60) // columns - 30,
        "columnPadding": 12,
    }
    # If labels lack room, every other one is left out, so that the rest is spaced evenly.
    quantitative = {"tickCount": 4 if is_narrow else 7, "labelOverlap": "parity"}
    spec["config"] = {**_CONFIG, "axis": axis, "axisQuantitative": quantitative, "legend": legend}
    drawn = vl_convert.vegalite_to_svg(spec)
    # One page has several drawings, so their ids must differ.
    drawn = re.sub(r'\bid="([^"]+)"', rf'id="{name}-{width}-\1"', drawn)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-{width}-\1)", drawn)


def seconds_axis(title: str) -> alt.Axis:
    """Return an axis of seconds on a logarithmic scale, in the units that people use."""
    return alt.Axis(
        title=title,
        labelOverlap="greedy",
        values=[1, 60, 3_600, 86_400, 30 * 86_400, 365 * 86_400, 3_650 * 86_400],
        labelExpr=(
            "datum.value < 60 ? '1 s' : datum.value < 3600 ? '1 min'"
            " : datum.value < 86400 ? '1 h' : datum.value < 2592000 ? '1 day'"
            " : datum.value < 31536000 ? '30 days'"
            " : datum.value < 315360000 ? '1 year' : '10 years'"
        ),
    )
