"""The check that the project's marts and the baseline's tables have the same rows."""

from __future__ import annotations

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from benchmarks.baselines import job
from benchmarks.project import BenchmarkError

#: mart -> the baseline's table, and the columns that are compared
_COMPARED = {
    "marts.change_events": (job.CHANGE_EVENTS, job.EVENT_COLUMNS),
    "marts.latest_state": (job.LATEST_STATE, job.STATE_COLUMNS),
}


def check_equal(session: SparkSession, source_format: str) -> None:
    """Raise unless all messages were read, and each mart has the rows of the baseline's table.

    Rows are compared in all columns of the contract except the events' ids.
    """
    [(rejected,)] = session.sql(
        f"select sum(rejected) from marts.message_ledger where source_format = '{source_format}'"
    ).collect()
    if rejected:
        raise BenchmarkError(f"{source_format}: {rejected:,} messages were rejected.")
    for mart, (table, columns) in _COMPARED.items():
        ours, baselines = (_rows(session, name, columns, source_format) for name in (mart, table))
        if _fingerprint(ours) != _fingerprint(baselines):
            raise BenchmarkError(
                f"{source_format}: {mart} and {table} differ: only the mart has"
                f" {_example(ours, baselines)}, only the table {_example(baselines, ours)}"
            )


def _rows(
    session: SparkSession, table: str, columns: tuple[str, ...], source_format: str
) -> DataFrame:
    """Return the rows of a format as JSON, in one column, `content`."""
    rows = session.table(table).where(F.col("source_format") == source_format)
    return rows.select(F.to_json(F.struct(*columns)).alias("content"))


def _fingerprint(rows: DataFrame) -> Row:
    """Return the number of rows and the sum of their hashes, which their order does not change."""
    of_row = F.xxhash64("content").cast("decimal(38,0)")
    [fingerprint] = rows.agg(F.count("*"), F.sum(of_row)).collect()
    return fingerprint


def _example(rows: DataFrame, others: DataFrame) -> str:
    found = rows.exceptAll(others).first()
    return "nothing" if found is None else found["content"]
