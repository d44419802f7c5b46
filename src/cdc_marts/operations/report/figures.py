"""The figures of the page: each has a plot, a sentence on what it shows, and its exact numbers."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
from rich.filesize import decimal

from cdc_marts.operations.report.drawing import BAD, GOOD, OTHERS, SERIES, WARNING, seconds_axis
from cdc_marts.operations.report.facts import Facts, StoredTable, Traffic
from cdc_marts.operations.status import TopicStatus
from cdc_marts.printing import printable
from cdc_marts.relations import LAYERS
from cdc_marts.times import span

_OTHER_TOPICS = "all other topics"
_BARS_SHOWN = 15
#: Bucket of time -> the unit of Vega, and how a time is shown.
_TIME_UNITS: dict[str, tuple[Any, str]] = {
    "minute": ("utcyearmonthdatehoursminutes", "%H:%M"),
    "hour": ("utcyearmonthdatehours", "%b %d %H:%M"),
    "day": ("utcyearmonthdate", "%b %d"),
}
#: A line with more points does not mark them: the marks would touch.
_POINTS_SHOWN = 60
_OPERATIONS = ("insert", "update", "delete", "snapshot")
_KINDS = ("change", "update_before", "ddl", "transaction", "heartbeat", "tombstone")
_BANDS = alt.Axis(grid=False, labelOverlap=False)

#: A number is right-aligned, a text is not.
Cell = str | int | None


@dataclass(frozen=True)
class Figure:
    """A part of the page. `plot` is None if there is nothing to show yet."""

    name: str
    title: str
    #: what the plot shows, and in which unit
    caption: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    plot: alt.Chart | alt.LayerChart | None


def figures(facts: Facts) -> Iterator[Figure]:
    """Yield all figures, in the order of the page."""
    yield _freshness(facts)
    yield _lag(facts)
    yield _volume(facts)
    yield _ledger(facts)
    yield _rejects(facts)
    yield _operations(facts)
    yield _live_rows(facts)
    yield _storage(facts)
    yield _runs(facts)
    yield _nodes(facts)


def _freshness(facts: Facts) -> Figure:
    now = facts.status.checked_at
    topics = facts.status.topics
    ages = [
        {"topic": printable(topic.name), "what": what, "age": max(1.0, (now - at).total_seconds())}
        for topic in _largest(topics, lambda topic: topic.landed)
        for what, at in (
            ("newest event", topic.last_event_at),
            ("last landing", topic.last_landed_at),
        )
        if at is not None
    ]
    plot = _plot(ages, lambda chart: chart.mark_point(filled=True, size=90, opacity=1)).encode(
        x=alt.X("age:Q", scale=alt.Scale(type="log"), axis=seconds_axis("age, logarithmic")),
        y=_categories("topic"),
        color=_colors("what", ["newest event", "last landing"], [SERIES[1], SERIES[0]]),
        shape=alt.Shape(
            "what:N",
            title=None,
            scale=alt.Scale(domain=["newest event", "last landing"], range=["circle", "diamond"]),
        ),
    )
    return Figure(
        "freshness",
        "How fresh is each topic?",
        "Age of the newest event that a run has read, and of the last message that landed.",
        ("topic", "format", "newest event (UTC)", "its age", "last landing (UTC)", "its age"),
        [
            (
                printable(topic.topic),
                topic.source_format,
                _time(topic.last_event_at),
                _age(now, topic.last_event_at),
                _time(topic.last_landed_at),
                _age(now, topic.last_landed_at),
            )
            for topic in topics
        ],
        plot if ages else None,
    )


def _lag(facts: Facts) -> Figure:
    named = _named(facts.traffic, facts.status.topics)
    lags = [
        {"topic": name, "at": _iso(one.at), "lag": max(1.0, one.median_lag)}
        for name, one in named
        if one.median_lag is not None and name != _OTHER_TOPICS
    ]
    buckets = len({lag["at"] for lag in lags})
    points = alt.OverlayMarkDef(size=50) if buckets <= _POINTS_SHOWN else False
    plot = _plot(lags, lambda chart: chart.mark_line(point=points, strokeWidth=2)).encode(
        x=_times(facts.bucket),
        y=alt.Y("lag:Q", scale=alt.Scale(type="log"), axis=seconds_axis("median lag, logarithmic")),
        color=_topic_colors(lags),
    )
    return Figure(
        "lag",
        "How long from the event to its landing?",
        f"Median lag of the messages that landed per {facts.bucket}, since"
        f" {_time(facts.since)} UTC. A message without a time of its event is left out.",
        ("landed (UTC)", "topic", "format", "median lag", "longest lag"),
        [
            (
                _time(one.at),
                printable(one.topic),
                one.source_format,
                _seconds(one.median_lag),
                _seconds(one.longest_lag),
            )
            for one in reversed(facts.traffic)
            if one.median_lag is not None
        ],
        plot if lags else None,
    )


def _volume(facts: Facts) -> Figure:
    named = _named(facts.traffic, facts.status.topics)
    volumes = [{"topic": name, "at": _iso(one.at), "messages": one.messages} for name, one in named]
    is_short = len({volume["at"] for volume in volumes}) < _POINTS_SHOWN // 10
    shape: dict[str, Any] = {"size": 40} if is_short else {"binSpacing": 0, "cornerRadiusEnd": 0}
    plot = _plot(volumes, lambda chart: chart.mark_bar(**shape)).encode(
        x=_times(facts.bucket),
        y=alt.Y("sum(messages):Q", title=f"messages per {facts.bucket}"),
        color=_topic_colors(volumes),
    )
    return Figure(
        "volume",
        "How many messages landed?",
        f"Messages per {facts.bucket} of their landing, since {_time(facts.since)} UTC, as far as"
        " runs have read them.",
        ("landed (UTC)", "topic", "format", "messages"),
        [
            (_time(one.at), printable(one.topic), one.source_format, one.messages)
            for one in reversed(facts.traffic)
        ],
        plot if volumes else None,
    )


def _ledger(facts: Facts) -> Figure:
    kinds = (*_KINDS, "rejected", "waiting")
    counts = [
        {"topic": printable(topic.name), "kind": kind, "messages": count}
        for topic in _largest(facts.status.topics, lambda topic: topic.landed)
        for kind, count in _by_kind(topic).items()
        if count
    ]
    plot = _plot(counts, lambda chart: chart.mark_bar()).encode(
        x=alt.X("messages:Q", title="messages"),
        y=_categories("topic"),
        color=_colors("kind", kinds, [*SERIES[: len(_KINDS)], BAD, OTHERS]),
        order=alt.Order("kind_index:Q"),
    )
    return Figure(
        "ledger",
        "What became of each message?",
        "Messages that landed, by what they were read as. Rejected ones could not be read; waiting"
        " ones landed after the last run had read.",
        ("topic", "format", "landed", *kinds),
        [
            (
                printable(topic.topic),
                topic.source_format,
                topic.landed,
                *(_by_kind(topic)[kind] for kind in kinds),
            )
            for topic in facts.status.topics
        ],
        plot.transform_calculate(kind_index=f"indexof({list(kinds)}, datum.kind)")
        if counts
        else None,
    )


def _rejects(facts: Facts) -> Figure:
    rejects = [
        (topic, code, found)
        for topic in facts.status.topics
        for code, found in sorted(topic.rejects.items())
    ]
    by_code: Counter[tuple[str, str]] = Counter()
    for topic, code, found in rejects:
        by_code[printable(code), topic.source_format] += found.total
    counts = [
        {"code": code, "format": source_format, "messages": count}
        for (code, source_format), count in by_code.items()
    ]
    formats = sorted({topic.source_format for topic, _, _ in rejects})
    plot = _plot(counts, lambda chart: chart.mark_bar()).encode(
        x=alt.X("messages:Q", title="rejected messages"),
        y=alt.Y("code:N", title=None, sort="-x", axis=_BANDS),
        color=_colors("format", formats, [*SERIES, OTHERS]),
    )
    return Figure(
        "rejects",
        "Which messages could not be read?",
        f"Quarantined messages by reject code. {_mart(facts, 'quarantined_messages')} has each with"
        " its reason.",
        ("topic", "format", "reject code", "messages", "new in the last run"),
        [
            (printable(topic.topic), topic.source_format, printable(code), found.total, found.new)
            for topic, code, found in rejects
        ],
        plot if counts else None,
    )


def _operations(facts: Facts) -> Figure:
    counts = [
        {"table": printable(table.name), "operation": op, "events": table.operations[op]}
        for table in _largest(facts.source_tables, lambda table: table.operations.total())
        for op in _OPERATIONS
        if table.operations[op]
    ]
    plot = _plot(counts, lambda chart: chart.mark_bar()).encode(
        x=alt.X("events:Q", title="events"),
        y=_categories("table"),
        color=_colors("operation", _OPERATIONS, SERIES),
        order=alt.Order("operation_index:Q"),
    )
    return Figure(
        "operations",
        "What happened to each source table?",
        f"Row changes in {_mart(facts, 'change_events')}, by operation: all that were ever read.",
        ("table", "format", *_OPERATIONS),
        [
            (
                printable(table.table_id),
                table.source_format,
                *(table.operations[op] for op in _OPERATIONS),
            )
            for table in facts.source_tables
        ],
        plot.transform_calculate(operation_index=f"indexof({list(_OPERATIONS)}, datum.operation)")
        if counts
        else None,
    )


def _live_rows(facts: Facts) -> Figure:
    tables = sorted(facts.source_tables, key=lambda table: (-table.live_rows, table.name))
    counts = [
        {"table": printable(table.name), "rows": table.live_rows}
        for table in tables[:_BARS_SHOWN]
        if table.live_rows
    ]
    plot = _plot(counts, lambda chart: chart.mark_bar(color=SERIES[0])).encode(
        x=alt.X("rows:Q", title="rows"), y=_categories("table")
    )
    return Figure(
        "live-rows",
        "How many rows does each source table have now?",
        f"Rows in {_mart(facts, 'latest_state')}.",
        ("table", "format", "rows"),
        [(printable(table.table_id), table.source_format, table.live_rows) for table in tables],
        plot if counts else None,
    )


def _storage(facts: Facts) -> Figure:
    tables = sorted(facts.stored_tables, key=lambda table: (-table.size, table.name))
    by_layer: defaultdict[str, list[StoredTable]] = defaultdict(list)
    for table in tables:
        by_layer[table.layer].append(table)
    layers = sorted(by_layer, key=_place_of_layer)
    sizes = [
        {"table": printable(table.name), "layer": table.layer, "size": table.size}
        for table in tables[:_BARS_SHOWN]
        if table.size
    ]
    plot = _plot(sizes, lambda chart: chart.mark_bar()).encode(
        x=alt.X("size:Q", title="bytes", axis=alt.Axis(format="~s")),
        y=_categories("table"),
        color=_colors("layer", layers, SERIES),
    )
    totals = ", ".join(
        f"{layer} {decimal(sum(table.size for table in by_layer[layer]))}" for layer in layers
    )
    return Figure(
        "storage",
        "What takes the space?",
        f"Files of the newest state of each table: {totals or 'none'}. Older snapshots are not"
        " counted; cdc-marts maintain expires them.",
        ("table", "rows in files", "files", "bytes"),
        [(printable(table.name), table.rows, table.files, table.size) for table in tables],
        plot if sizes else None,
    )


def _runs(facts: Facts) -> Figure:
    took = [
        {
            "run": number,
            "outcome": _outcome(run.outcome, run.warnings),
            "seconds": run.seconds,
            "at": _time(run.started_at),
        }
        for number, run in enumerate(facts.runs)
    ]
    plot = _plot(took, lambda chart: chart.mark_bar()).encode(
        x=alt.X("run:O", title="run, the oldest first", axis=alt.Axis(labels=False, ticks=False)),
        y=alt.Y("seconds:Q", title="seconds"),
        color=_colors("outcome", ["succeeded", "with warnings", "failed"], [GOOD, WARNING, BAD]),
    )
    return Figure(
        "runs",
        "How long did the runs take?",
        f"The newest commands of dbt in {_mart(facts, 'runs')}. A run that was killed is not"
        " there.",
        ("started (UTC)", "command", "seconds", "outcome", "warnings", "failed nodes"),
        [
            (
                _time(run.started_at),
                run.command,
                f"{run.seconds:,.1f}",
                run.outcome,
                run.warnings,
                ", ".join(map(printable, run.failed)),
            )
            for run in reversed(facts.runs)
        ],
        plot if took else None,
    )


def _nodes(facts: Facts) -> Figure:
    took = [
        {"node": printable(node.name), "seconds": node.seconds}
        for node in facts.nodes[:_BARS_SHOWN]
    ]
    plot = _plot(took, lambda chart: chart.mark_bar(color=SERIES[0])).encode(
        x=alt.X("seconds:Q", title="seconds"), y=_categories("node")
    )
    return Figure(
        "nodes",
        "What took longest in the last run?",
        "Models and data tests of the last command of dbt. Several work at a time.",
        ("node", "seconds", "rows written", "status"),
        [
            (printable(node.name), f"{node.seconds:,.2f}", node.rows_written, node.status)
            for node in facts.nodes
        ],
        plot if took else None,
    )


def _plot(values: Sequence[dict[str, Any]], mark: Callable[[alt.Chart], alt.Chart]) -> alt.Chart:
    return mark(alt.Chart(alt.InlineData(values=list(values))))


def _categories(field: str) -> alt.Y:
    """Return an axis with a band for each text, in the order of the values."""
    return alt.Y(f"{field}:N", title=None, sort=None, axis=_BANDS)


def _times(bucket: str) -> alt.X:
    unit, shown = _TIME_UNITS[bucket]
    return alt.X(
        "at:T",
        timeUnit=unit,
        title=f"{bucket} of landing (UTC)",
        axis=alt.Axis(grid=False, format=shown, tickCount=6),
    )


def _colors(field: str, names: Sequence[str], colors: Sequence[str]) -> alt.Color:
    scale = alt.Scale(domain=list(names), range=[*colors][: len(names)])
    return alt.Color(f"{field}:N", title=None, scale=scale)


def _topic_colors(values: Iterable[dict[str, Any]]) -> alt.Color:
    names = list(dict.fromkeys(value["topic"] for value in values))
    named = sorted(name for name in names if name != _OTHER_TOPICS)
    others = [_OTHER_TOPICS] if _OTHER_TOPICS in names else []
    return _colors("topic", [*named, *others], [*SERIES[: len(named)], OTHERS])


def _named(traffic: Iterable[Traffic], topics: Sequence[TopicStatus]) -> list[tuple[str, Traffic]]:
    """Return each traffic with the name to show: the smaller topics share one name."""
    largest = _largest(topics, lambda topic: topic.landed, len(SERIES) - 1)
    shown = {topic.name for topic in largest}
    return [(printable(one.name) if one.name in shown else _OTHER_TOPICS, one) for one in traffic]


def _largest(
    items: Sequence[Any], size: Callable[[Any], int], count: int = _BARS_SHOWN
) -> list[Any]:
    return sorted(items, key=size, reverse=True)[:count]


def _mart(facts: Facts, name: str) -> str:
    return facts.status.relations.model(name)


def _place_of_layer(layer: str) -> tuple[int, str]:
    """Return the place of a layer in the direction of the data.

    Other projects come after the package.
    """
    return (LAYERS.index(layer) if layer in LAYERS else len(LAYERS), layer)


def _by_kind(topic: TopicStatus) -> Counter[str]:
    return Counter({**topic.read, "rejected": topic.rejected, "waiting": topic.waiting})


def _outcome(outcome: str, warnings: int) -> str:
    return "with warnings" if outcome == "succeeded" and warnings else outcome


def _time(time: dt.datetime | None) -> str | None:
    return None if time is None else f"{time:%Y-%m-%d %H:%M}"


def _iso(time: dt.datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def _age(now: dt.datetime, time: dt.datetime | None) -> str | None:
    return None if time is None else span(now - time)


def _seconds(seconds: float | None) -> str | None:
    return None if seconds is None else span(dt.timedelta(seconds=seconds))
