"""Statements on what was built, timed."""

from __future__ import annotations

import time

from pyspark.sql import SparkSession

REPETITIONS = 3


def seconds_of(session: SparkSession, statement: str) -> float:
    """What a statement takes, to its last row."""
    started = time.perf_counter()
    session.sql(statement).collect()
    return time.perf_counter() - started


def repeated_seconds(session: SparkSession, query: str) -> list[float]:
    """Of each repetition of a query that Spark has compiled, and read the files of, before."""
    seconds_of(session, query)
    return [seconds_of(session, query) for _ in range(REPETITIONS)]


def a_row(session: SparkSession) -> dict[str, str]:
    """The `table` and `key` of a row, and the `time` of its last event: to ask for."""
    row = session.sql(
        "select table_id as `table`, row_key as key, cast(last_event_at as string) as time"
        " from marts.latest_state order by row_key limit 1"
    ).first()
    assert row is not None
    return row.asDict()
