"""The page: one file of HTML without scripts, which loads nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from cdc_marts.operations.report.drawing import NARROW, WIDE, svg
from cdc_marts.operations.report.facts import Facts
from cdc_marts.operations.report.figures import Cell, Figure, figures
from cdc_marts.operations.status import Status
from cdc_marts.printing import printable
from cdc_marts.times import span

_TEMPLATE = Path(__file__).with_name("page.html")
#: The page stays small; the marts have all rows.
_MOST_ROWS = 500


@dataclass(frozen=True)
class Tile:
    """A number that stands out, with what it counts. `tone`: good, warning, bad or empty."""

    value: str
    label: str
    tone: str = ""


@dataclass(frozen=True)
class DrawnFigure:
    """A figure with its plot for wide and for narrow screens."""

    figure: Figure
    wide: Markup | None
    narrow: Markup | None

    @property
    def rows(self) -> Sequence[Sequence[Cell]]:
        return self.figure.rows[:_MOST_ROWS]

    @property
    def left_out(self) -> int:
        return len(self.figure.rows) - len(self.rows)

    @classmethod
    def of(cls, figure: Figure) -> DrawnFigure:
        if figure.plot is None:
            return cls(figure, None, None)
        # Vega escapes the texts of its drawings.
        wide, narrow = (Markup(svg(figure.plot, width, figure.name)) for width in (WIDE, NARROW))
        return cls(figure, wide, narrow)


def page(facts: Facts) -> str:
    """Return the text of the page."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["shown"] = _shown
    template = environment.from_string(_TEMPLATE.read_text("utf-8"))
    return template.render(
        status=facts.status,
        checked_at=f"{facts.status.checked_at:%Y-%m-%d %H:%M} UTC",
        tiles=list(_tiles(facts)),
        notes=list(map(printable, facts.status.notes)),
        figures=[DrawnFigure.of(figure) for figure in figures(facts)],
    )


def _tiles(facts: Facts) -> Iterator[Tile]:
    status = facts.status
    yield _last_run(status)
    yield Tile(f"{sum(topic.landed for topic in status.topics):,}", "messages landed")
    waiting = sum(topic.waiting for topic in status.topics)
    yield Tile(f"{waiting:,}", "messages wait for a run", "warning" if waiting else "good")
    rejected = sum(topic.rejected for topic in status.topics)
    yield Tile(f"{rejected:,}", "messages rejected", "bad" if rejected else "good")
    events = sum(table.operations.total() for table in facts.source_tables)
    yield Tile(f"{events:,}", "row changes")
    rows = sum(table.live_rows for table in facts.source_tables)
    yield Tile(f"{rows:,}", f"live rows in {len(facts.source_tables):,} source tables")


def _last_run(status: Status) -> Tile:
    run = status.last_run
    if run is None:
        return Tile("none", "no run has been recorded yet", "warning")
    ago = span(status.checked_at - run.ended_at)
    if run.failed:
        return Tile(
            "failed", f"{run.command}, {ago} ago: {', '.join(map(printable, run.failed))}", "bad"
        )
    return Tile("succeeded", f"{run.command}, {ago} ago", "good")


def _shown(cell: Cell) -> str:
    if cell is None or cell == "":
        return "-"
    return f"{cell:,}" if isinstance(cell, int) else cell
