"""A status as text: a line on the last run, a table of topics, and what to look at."""

from __future__ import annotations

import datetime as dt
import io
from collections import Counter
from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cdc_marts.operations.status import Run, Status, TopicStatus
from cdc_marts.printing import printable
from cdc_marts.times import span

_NONE = "-"
#: A topic of Kafka has up to 249 characters.
_WIDEST_TOPIC = 60
_WIDTH = 250


def lines_of(status: Status) -> Iterator[str]:
    """Yield the lines to print. Names that come from messages are escaped."""
    yield from _lines_of_target(status)
    if status.topics:
        yield from _lines_of_topics(status)
    else:
        yield "No message has landed."
    yield from _lines_behind(status)


def _lines_of_target(status: Status) -> Iterator[str]:
    """Yield the lines on the target as a whole."""
    now = status.checked_at
    read = "never" if status.last_read_at is None else _ago(now, status.last_read_at)
    yield f"Target {status.target}. Last run: {_run(status.last_run, now)}."
    yield f"Messages were last read: {read}."


def _lines_of_topics(status: Status) -> Iterator[str]:
    """Return the lines of a table with a row per topic, wide enough for every number."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, expand=False)
    table.add_column("topic", overflow="fold", max_width=_WIDEST_TOPIC)
    table.add_column("format", no_wrap=True)
    for name in ("landed", "waiting", "rejected", "pending", "not applied"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("last landed", "landing lag", "lag"):
        table.add_column(name, justify="right", no_wrap=True)
    for topic in status.topics:
        table.add_row(*map(Text, _cells(topic, status.checked_at)))
    drawn = io.StringIO()
    Console(file=drawn, width=_WIDTH, force_terminal=False, color_system=None).print(table)
    return filter(None, map(str.rstrip, drawn.getvalue().splitlines()))


def _lines_behind(status: Status) -> Iterator[str]:
    """Yield what explains the numbers, and what could not be found out."""
    for topic in status.topics:
        if topic.rejects:
            yield f"{printable(topic.name)}: {_rejects(topic)}"
    totals = Counter[str]()
    for topic in status.topics:
        totals["rejected"] += topic.rejected
        totals["pending"] += topic.pending_update_before
        totals["statements"] += topic.statements_not_applied
    if totals["rejected"]:
        quarantine = status.relations.model("quarantined_messages")
        yield f"{quarantine} has the rejected messages and the reasons."
    if totals["pending"]:
        yield "Pending: an update_before whose update_after has not landed yet."
    if totals["statements"]:
        statements = status.relations.model("ddl_events")
        yield f"Not applied: statements that cannot be replayed; {statements} has them."
    yield from map(printable, status.notes)


def _cells(topic: TopicStatus, now: dt.datetime) -> Iterator[str]:
    yield printable(topic.topic)
    yield topic.source_format
    for count in (
        topic.landed,
        topic.waiting,
        topic.rejected,
        topic.pending_update_before,
        topic.statements_not_applied,
    ):
        yield f"{count:,}" if count else _NONE
    lag = topic.lag(now)
    yield _NONE if topic.last_landed_at is None else _ago(now, topic.last_landed_at)
    yield _NONE if topic.landing_lag is None else span(topic.landing_lag)
    yield _NONE if lag is None else span(lag)


def _rejects(topic: TopicStatus) -> str:
    codes = ", ".join(
        f"{rejects.total:,} {printable(code)}" + (f" ({rejects.new:,} new)" if rejects.new else "")
        for code, rejects in sorted(topic.rejects.items())
    )
    new = sum(rejects.new or 0 for rejects in topic.rejects.values())
    new_ones = f", {new:,} of them new in the last run" if new else ""
    return f"{topic.rejected:,} rejected{new_ones}: {codes}"


def _run(run: Run | None, now: dt.datetime) -> str:
    if run is None:
        return "none has been recorded yet"
    ended = f"{run.command}, {_ago(now, run.ended_at)}"
    if not run.failed:
        return f"{ended}, succeeded"
    return f"{ended}, failed in {', '.join(map(printable, run.failed))}"


def _ago(now: dt.datetime, time: dt.datetime) -> str:
    return f"{span(now - time)} ago"
