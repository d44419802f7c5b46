"""What a landing table says of its offsets, without a scan of all its rows."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest
from dbt.adapters.spark_session.api import iceberg_table
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from uncounted_commits import forget_counts

from cdc_marts.landing import tables
from cdc_marts.landing.tables import create_landing_table, highest_offsets

TABLE = "landing.canal_json"
TOPICS = ("shop", "stock")


@pytest.fixture
def landing_table(catalog: SparkSession, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    monkeypatch.setattr(tables, "_UNNOTED_ROWS", 0)
    create_landing_table(catalog, TABLE)
    return catalog


def append(session: SparkSession, topic: str, partition: int, offsets: Iterable[int]) -> None:
    rows = session.createDataFrame([(offset,) for offset in offsets], "offset bigint").select(
        F.lit(topic).alias("topic"),
        F.lit(partition).alias("partition"),
        "offset",
        F.lit(None).cast("timestamp").alias("timestamp"),
        F.lit(None).cast("binary").alias("key"),
        F.lit(b"{}").alias("value"),
        F.current_timestamp().alias("landed_at"),
    )
    rows.writeTo(TABLE).append()


def note(session: SparkSession) -> str | None:
    found: str | None = iceberg_table(session, TABLE).properties().get("cdc-marts.highest-offsets")
    return found


def with_false_note(session: SparkSession) -> None:
    """Note an offset that the table does not have: only a scan of all rows can tell."""
    noted = json.loads(note(session) or "")
    noted["offsets"]["shop"]["0"] = 1_000
    session.sql(
        f"alter table {TABLE} set tblproperties"
        f" ('cdc-marts.highest-offsets' = '{json.dumps(noted)}')"
    )


def test_only_rows_after_the_note_are_read(landing_table: SparkSession) -> None:
    assert highest_offsets(landing_table, TABLE, TOPICS) == {}
    append(landing_table, "shop", 0, range(10))
    append(landing_table, "shop", 1, [3])
    append(landing_table, "other", 0, [1])
    assert highest_offsets(landing_table, TABLE, TOPICS) == {("shop", 0): 9, ("shop", 1): 3}
    with_false_note(landing_table)
    assert highest_offsets(landing_table, TABLE, TOPICS) == {("shop", 0): 1_000, ("shop", 1): 3}
    append(landing_table, "shop", 1, [2, 4])
    append(landing_table, "stock", 0, [0])
    landing_table.sql(
        f"call system.rewrite_data_files(table => '{TABLE}', options => map('rewrite-all', 'true'))"
    )
    expected = {("shop", 0): 1_000, ("shop", 1): 4, ("stock", 0): 0}
    assert highest_offsets(landing_table, TABLE, TOPICS) == expected
    assert json.loads(note(landing_table) or "")["offsets"] == {
        "shop": {"0": 1_000, "1": 4},
        "other": {"0": 1},
        "stock": {"0": 0},
    }


@pytest.mark.parametrize(
    "change",
    [
        f"delete from {TABLE} where offset = 9",
        f"update {TABLE} set offset = 7 where offset = 9",
        f"insert overwrite {TABLE} select * from {TABLE} where offset < 9",
    ],
)
def test_the_note_does_not_outlive_the_rows(landing_table: SparkSession, change: str) -> None:
    append(landing_table, "shop", 0, range(10))
    assert highest_offsets(landing_table, TABLE, TOPICS) == {("shop", 0): 9}
    with_false_note(landing_table)
    landing_table.sql(change)
    assert highest_offsets(landing_table, TABLE, TOPICS) == {("shop", 0): 8}


def test_the_note_counts_only_with_its_snapshot(landing_table: SparkSession) -> None:
    append(landing_table, "shop", 0, range(10))
    highest_offsets(landing_table, TABLE, TOPICS)
    with_false_note(landing_table)
    append(landing_table, "shop", 0, [10])
    newest = iceberg_table(landing_table, TABLE).currentSnapshot().snapshotId()
    landing_table.sql(
        f"call system.expire_snapshots(table => '{TABLE}', snapshot_ids => array("
        + ", ".join(
            str(row.snapshot_id)
            for row in landing_table.table(f"{TABLE}.snapshots").collect()
            if row.snapshot_id != newest
        )
        + "))"
    )
    assert highest_offsets(landing_table, TABLE, TOPICS) == {("shop", 0): 10}


@pytest.mark.parametrize("is_noted", [True, False])
def test_rows_of_a_program_that_does_not_count_them_are_read(
    landing_table: SparkSession, is_noted: bool
) -> None:
    if is_noted:
        append(landing_table, "shop", 0, range(9))
        highest_offsets(landing_table, TABLE, TOPICS)
    append(landing_table, "shop", 0, [9, 10])
    forget_counts(landing_table, TABLE)
    assert highest_offsets(landing_table, TABLE, TOPICS) == {("shop", 0): 10}
    assert json.loads(note(landing_table) or "")["offsets"] == {"shop": {"0": 10}}


def test_few_rows_are_not_noted(
    landing_table: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_UNNOTED_ROWS", 10)
    append(landing_table, "shop", 0, range(10))
    assert highest_offsets(landing_table, TABLE, TOPICS) == {("shop", 0): 9}
    assert note(landing_table) is None
    append(landing_table, "shop", 0, [10])
    assert highest_offsets(landing_table, TABLE, TOPICS) == {("shop", 0): 10}
    assert note(landing_table) is not None
