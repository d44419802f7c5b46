"""Facts of a target that never was: a shop with a week of traffic, and names that would do harm."""

from __future__ import annotations

import datetime as dt
import math
from collections import Counter

from cdc_marts.operations.report.facts import (
    Facts,
    NodeTime,
    RunTime,
    StoredTable,
    TableActivity,
    Traffic,
)
from cdc_marts.operations.status import Rejects, Run, Status, TopicStatus

NOW = dt.datetime(2026, 3, 8, 12, tzinfo=dt.timezone.utc)
#: It would run a script, end an attribute, turn the direction of text, or clear a terminal.
HOSTILE = (
    "<script>document.title='taken'</script>\"'><img src=x onerror=alert(1)>\u202e\x1b[2J&amp;"
)

_TOPICS = {
    "orders": ("canal_json", 900, 2.0),
    "customers": ("canal_json", 120, 2.5),
    "payments": ("datahub_tuple", 400, 35.0),
    "inventory.movements": ("dts_avro", 650, 6.0),
    "warehouse-returns": ("shareplex_json", 40, 900.0),
    HOSTILE: ("cdl_json", 75, 15.0),
}
_OPERATIONS = {"insert": 5, "update": 11, "delete": 2, "snapshot": 3}


def facts() -> Facts:
    """A week by hours."""
    topics = [
        _topic(name, source_format, 168 * per_hour, lag)
        for name, (source_format, per_hour, lag) in _TOPICS.items()
    ]
    status = Status(
        target="local",
        checked_at=NOW,
        topics=topics,
        last_run=Run("dbt build", NOW - dt.timedelta(minutes=9), NOW - dt.timedelta(minutes=6)),
        last_read_at=NOW - dt.timedelta(minutes=7),
        notes=[f"What waits in landing.{HOSTILE} is not known."],
    )
    return Facts(
        status=status,
        bucket="hour",
        since=NOW - dt.timedelta(days=7),
        traffic=[
            Traffic(
                source_format,
                name,
                NOW - dt.timedelta(hours=hour),
                round(per_hour * _tide(hour)),
                lag * (1 + 3 * (hour in range(40, 46))),
                lag * 12,
            )
            for name, (source_format, per_hour, lag) in _TOPICS.items()
            for hour in range(168, 0, -1)
        ],
        source_tables=[
            TableActivity(
                source_format,
                f"shop.{name}",
                Counter({op: per_hour * share for op, share in _OPERATIONS.items()}),
                per_hour * 6,
            )
            for name, (source_format, per_hour, _) in _TOPICS.items()
        ],
        stored_tables=[
            StoredTable(
                f"{layer}.{prefix}{source_format}", layer, per_hour * 168, 12, per_hour * size
            )
            for layer, prefix, size in (("landing", "", 61_000), ("staging", "stg_", 48_000))
            for source_format, per_hour, _ in _TOPICS.values()
        ]
        + [StoredTable("intermediate.int_row_state", "intermediate", 60_000, 4, 21_000_000)],
        runs=[
            RunTime(
                "dbt build",
                NOW - dt.timedelta(minutes=10 * number),
                95 + 30 * math.sin(number),
                "failed" if number in (7, 8) else "succeeded",
                1 if number % 5 == 0 else 0,
                ("int_row_state", HOSTILE) if number in (7, 8) else (),
            )
            for number in range(40, 0, -1)
        ],
        nodes=[
            NodeTime(f"stg_{name}" if name != HOSTILE else HOSTILE, "success", 30 / (place + 1), 50)
            for place, name in enumerate(_TOPICS)
        ]
        + [NodeTime("ledger_balances", "pass", 2.5, None)],
    )


def nothing() -> Facts:
    """A target on which nothing has landed or run."""
    status = Status("local", NOW, [], None, None, [])
    return Facts(status, "day", NOW - dt.timedelta(days=30), [], [], [], [], [])


def _topic(name: str, source_format: str, messages: int, lag: float) -> TopicStatus:
    return TopicStatus(
        source_format,
        name,
        read=Counter(change=messages, ddl=messages // 900, heartbeat=messages // 40),
        waiting=messages // 200,
        rejects={"malformed_json": Rejects(messages // 600, 2), HOSTILE: Rejects(3, None)}
        if source_format != "dts_avro"
        else {},
        last_landed_at=NOW - dt.timedelta(seconds=90),
        last_event_at=NOW - dt.timedelta(seconds=90 + 20 * lag),
    )


def _tide(hour: int) -> float:
    return 1 + 0.8 * math.sin(hour * math.tau / 24)
