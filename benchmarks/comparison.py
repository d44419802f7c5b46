"""Whether the project's marts and the floor's tables hold the same."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from benchmarks.floors import job
from benchmarks.project import BenchmarkError


def check_equal(session: SparkSession, source_format: str) -> None:
    """Raise unless all messages were read, and events and latest state are the floor's.

    Events are counted; rows of the latest state are compared by table, key and content.
    """
    rejected = _number(session, "sum(rejected)", "marts.message_ledger", source_format)
    if rejected:
        raise BenchmarkError(f"{source_format}: {rejected:,} messages were rejected.")
    ours = _number(session, "count(*)", "marts.change_events", source_format)
    floors = _number(session, "count(*)", job.CHANGE_EVENTS, source_format)
    if ours != floors:
        raise BenchmarkError(
            f"{source_format}: the marts have {ours:,} change events, the floor {floors:,}."
        )
    our_rows = _rows(session, "marts.latest_state", source_format)
    floor_rows = _rows(session, job.LATEST_STATE, source_format)
    for one, other in ((our_rows, floor_rows), (floor_rows, our_rows)):
        for row in one.exceptAll(other).limit(1).collect():
            is_row = (F.col("table_id") == row["table_id"]) & (F.col("row_key") == row["row_key"])
            raise BenchmarkError(
                f"{source_format}: the latest states differ: the marts have"
                f" {our_rows.where(is_row).collect()}, the floor"
                f" {floor_rows.where(is_row).collect()}"
            )


def _number(session: SparkSession, number: str, table: str, source_format: str) -> int:
    where = f"source_format = '{source_format}'"
    return session.sql(f"select {number} from {table} where {where}").first()[0]


def _rows(session: SparkSession, table: str, source_format: str) -> DataFrame:
    return session.sql(
        f"select table_id, row_key, to_json(`row`) as content from {table}"
        f" where source_format = '{source_format}'"
    )
