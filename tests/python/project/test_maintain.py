"""`maintain` keeps the snapshots that incremental runs need, and expires the others."""

from __future__ import annotations

import datetime as dt
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dbt.adapters.spark_session.api import (
    IncrementalRead,
    SessionError,
    commit_watermarks,
    iceberg_table,
)
from dbt.adapters.spark_session.api import snapshots as snapshots_of
from pyspark.sql import SparkSession

from cdc_marts.operations.last_read import last_read_at
from cdc_marts.operations.maintenance import Maintained, maintain
from cdc_marts.operations.maintenance_view import line_of
from cdc_marts.operations.needed_snapshots import needed_snapshots
from cdc_marts.operations.orphan_files import remove_orphan_files
from cdc_marts.operations.stored_tables import TableCounts
from cdc_marts.project.inventory import Expiry
from tests.python.project.many_tables import calls_of_java, clone, commit_snapshots

SCHEMA = "upkeep"
LOG, QUICK, SLOW = (f"{SCHEMA}.{name}" for name in ("log", "quick_reader", "slow_reader"))


@pytest.fixture
def tables(spark: SparkSession) -> Iterator[list[str]]:
    """A log with one row, and two tables that have read it."""
    tables = [LOG, QUICK, SLOW]
    spark.sql(f"create namespace {SCHEMA}")
    for table in tables:
        spark.sql(f"create table {table} (id bigint)")
    append(spark, 1)
    for reader in (QUICK, SLOW):
        read(spark, reader)
    yield tables
    for table in tables:
        spark.sql(f"drop table {table} purge")
    spark.sql(f"drop namespace {SCHEMA}")


def append(spark: SparkSession, id: int) -> None:
    spark.sql(f"insert into {LOG} values ({id})")


def read(spark: SparkSession, reader: str) -> None:
    """Append to a reader what it has not read of the log, as an incremental model does."""
    run = IncrementalRead(spark, reader, is_incremental=True)
    rows = run.new_rows(LOG)
    run.begin_commit()
    spark.sql(f"insert into {reader} select * from {rows}")
    run.end_commit()


def started_jobs(spark: SparkSession) -> int:
    """How many jobs Spark has started so far."""
    count: int = spark.sparkContext._jsc.sc().dagScheduler().numTotalJobs()
    return count


def snapshots(done: Maintained) -> tuple[int, int]:
    """The numbers of snapshots before and after."""
    return done.before.snapshots, done.after.snapshots


def ids(spark: SparkSession, table: str) -> list[int]:
    return sorted(row.id for row in spark.table(table).collect())


def test_all_tables_together_have_lost_what_one_of_them_lost() -> None:
    shortened = Maintained(
        "landing.a",
        TableCounts(files=4, snapshots=3, size=40, rows=50),
        TableCounts(files=2, snapshots=3, size=20, rows=30),
        orphan_files=0,
        has_lost_rows=True,
    )
    compacted = Maintained(
        "staging.a",
        TableCounts(files=9, snapshots=9, size=90, rows=1_012),
        TableCounts(files=1, snapshots=1, size=10, rows=1_000),
        orphan_files=1,
    )

    line = line_of(Maintained.of_all([shortened, compacted]))

    assert "files 13 -> 3, snapshots 12 -> 4" in line
    assert line.endswith("rows 1,050 -> 1,030, 1 orphan file")
    assert "rows" not in line_of(Maintained.of_all([compacted]))


def test_maintenance_keeps_what_readers_read_by(spark: SparkSession, tables: list[str]) -> None:
    for id in range(2, 8):
        append(spark, id)
        read(spark, QUICK)
    done = {table.table: table for table in maintain(spark, tables, 0)}
    # The slow reader has not read the newest six rows yet.
    assert done[LOG].after.snapshots > 6
    assert done[LOG].after.files < done[LOG].before.files

    read(spark, SLOW)
    done = {table.table: table for table in maintain(spark, tables, 0)}
    # Both have read all rows, and so the snapshots that have them in other files.
    assert done[LOG].after.snapshots == 1
    append(spark, 8)
    for reader in (QUICK, SLOW):
        read(spark, reader)
        assert ids(spark, reader) == [*range(1, 9)]


def test_rows_and_snapshots_may_be_kept_for_longer_than_time_goes_back(
    spark: SparkSession, tables: list[str]
) -> None:
    append(spark, 2)
    days = 10**12
    expiries = {LOG: Expiry(days, "timestamp_seconds(id)")}

    done = {table.table: table for table in maintain(spark, tables, days, expiries)}

    assert done[LOG].after.snapshots >= 2
    assert ids(spark, LOG) == [1, 2]


def test_a_reader_keeps_no_snapshots_that_left_the_rows_as_they_were(
    spark: SparkSession, tables: list[str]
) -> None:
    """A run of a model without new rows commits nothing, so its watermark stays behind."""
    commit_snapshots(spark, LOG, 3, None)

    done = {table.table: table for table in maintain(spark, tables, 0)}

    assert snapshots(done[LOG]) == (4, 1)
    append(spark, 2)
    for reader in (QUICK, SLOW):
        read(spark, reader)
        assert ids(spark, reader) == [1, 2]


def test_maintenance_does_not_count_as_a_read(spark: SparkSession, tables: list[str]) -> None:
    read_at = {reader: read_by(spark, reader) for reader in (QUICK, SLOW)}
    assert None not in read_at.values()
    # Twice: each moves the watermarks, and expires the snapshot of the commit before.
    for _ in range(2):
        commit_snapshots(spark, LOG, 3, None)
        done = {table.table: table for table in maintain(spark, tables, 0)}
        assert snapshots(done[QUICK])[1] == 1
        assert {reader: read_by(spark, reader) for reader in (QUICK, SLOW)} == read_at

    append(spark, 2)
    read(spark, QUICK)
    assert str(read_by(spark, QUICK)) > str(read_at[QUICK])


def read_by(spark: SparkSession, reader: str) -> int | None:
    """When a reader last read the log."""
    return last_read_at(snapshots_of(spark, iceberg_table(spark, reader)))


def test_a_reader_keeps_the_snapshot_before_a_delete(
    spark: SparkSession, tables: list[str]
) -> None:
    spark.sql(f"delete from {LOG} where id = 1")
    commit_snapshots(spark, LOG, 3, None)

    done = {table.table: table for table in maintain(spark, tables, 0)}

    assert snapshots(done[LOG]) == (5, 5)


def test_readers_of_one_another_note_nothing_new_in_each_upkeep(
    spark: SparkSession, tables: list[str]
) -> None:
    for table, source in ((QUICK, SLOW), (SLOW, QUICK)):
        [newest] = spark.sql(f"select snapshot_id from {source}.refs").collect()
        commit_watermarks(spark, table, {source: newest.snapshot_id})
    list(maintain(spark, tables, 0))

    again = list(maintain(spark, tables, 0))

    assert [table.before.snapshots - table.after.snapshots for table in again] == [0, 0, 0]


@pytest.mark.parametrize(("reader", "of_reader"), [(QUICK, SLOW), (SLOW, QUICK)])
def test_a_reader_of_a_reader_keeps_no_snapshot_of_the_log(
    spark: SparkSession, tables: list[str], reader: str, of_reader: str
) -> None:
    """The snapshot before the maintenance notes what `reader` had read of the log until then."""
    read = {}
    for source in (LOG, reader):
        [newest] = spark.sql(f"select snapshot_id from {source}.refs").collect()
        read[source] = newest.snapshot_id
    commit_watermarks(spark, of_reader, read)
    commit_snapshots(spark, LOG, 3, None)

    done = {table.table: table for table in maintain(spark, tables, 0)}

    assert snapshots(done[LOG]) == (4, 1)


def test_what_a_table_needs_is_asked_once_however_many_snapshots_it_has(
    spark: SparkSession, tables: list[str]
) -> None:
    # One table is asked by one thread; each further thread would call Java for its session. The
    # first look asks Java for its classes too.
    needed_snapshots(spark, [QUICK])
    few = calls_of_java(spark, lambda: needed_snapshots(spark, [QUICK]))
    commit_snapshots(spark, QUICK, 20, LOG)
    many = calls_of_java(spark, lambda: needed_snapshots(spark, [QUICK]))

    assert many == few


def test_a_reader_whose_model_is_gone_keeps_no_snapshot(
    spark: SparkSession, tables: list[str]
) -> None:
    for id in range(2, 8):
        append(spark, id)
        read(spark, QUICK)

    made = [snapshot.id for snapshot in snapshots_of(spark, iceberg_table(spark, LOG))]
    assert needed_snapshots(spark, tables)[LOG].oldest == made[6]
    # The slow reader is not among the tables of the project any more.
    assert needed_snapshots(spark, [LOG, QUICK])[LOG].oldest == made[0]


def test_no_table_is_changed_after_the_turn_is_lost(spark: SparkSession, tables: list[str]) -> None:
    for id in (2, 3):
        append(spark, id)
        for reader in (QUICK, SLOW):
            read(spark, reader)
    before = {table: TableCounts.of(spark, table) for table in tables}
    turns = iter(["the tables are listed"])

    def check_turn() -> None:
        if next(turns, None) is None:
            raise SessionError("another run")

    with pytest.raises(SessionError, match="another run"):
        list(maintain(spark, tables, 0, check_turn=check_turn))
    assert {table: TableCounts.of(spark, table) for table in tables} == before


def test_a_reader_that_another_target_builds_keeps_what_it_has_to_read(
    spark: SparkSession, tables: list[str]
) -> None:
    for id in (2, 3):
        append(spark, id)
        read(spark, QUICK)

    list(maintain(spark, [LOG, QUICK], 0, other_readers=[SLOW]))

    read(spark, SLOW)
    assert ids(spark, SLOW) == [1, 2, 3]


def test_what_a_replaced_table_had_before_expires(spark: SparkSession, tables: list[str]) -> None:
    """A table model replaces its table in each run, so its newest snapshot has no parent."""
    for number in range(3):
        spark.sql(f"create or replace table {QUICK} as select {number} as id")
    spark.sql(f"alter table {QUICK} create branch kept")
    spark.sql(f"create or replace table {QUICK} as select 9L as id")
    files = set(spark.sql(f"select file_path from {QUICK}.all_data_files").collect())
    assert len(files) == 5

    young = {table.table: table for table in maintain(spark, [QUICK], 5)}
    done = {table.table: table for table in maintain(spark, [QUICK], 0)}

    assert snapshots(young[QUICK]) == (5, 5)
    # The newest of the branch, and the current one.
    assert snapshots(done[QUICK]) == (5, 2)
    files = set(spark.sql(f"select file_path from {QUICK}.all_data_files").collect())
    assert len(files) == 2
    assert ids(spark, QUICK) == [9]
    assert ids(spark, f"{QUICK}.branch_kept") == [2]


def test_what_a_reader_read_of_a_replaced_table_stays(
    spark: SparkSession, tables: list[str]
) -> None:
    [read_up_to] = spark.sql(f"select snapshot_id from {LOG}.refs").collect()
    append(spark, 2)
    spark.sql(f"create or replace table {LOG} as select 3L as id")

    done = {table.table: table for table in maintain(spark, tables, 0)}

    assert snapshots(done[LOG]) == (3, 2)
    before = IncrementalRead(spark, QUICK, is_incremental=True).changes(LOG).rows_before
    assert f"{read_up_to.snapshot_id}" in before
    assert [row.id for row in spark.sql(f"select id from {before}").collect()] == [1]

    for reader in (QUICK, SLOW):
        [now] = spark.sql(f"select snapshot_id from {LOG}.refs").collect()
        commit_watermarks(spark, reader, {LOG: now.snapshot_id})
    done = {table.table: table for table in maintain(spark, tables, 0)}
    assert snapshots(done[LOG]) == (2, 1)


def test_deletion_vectors_stay_that_share_a_file_with_one_that_was_replaced(
    spark: SparkSession, tables: list[str]
) -> None:
    spark.sql(f"alter table {LOG} set tblproperties ('write.delete.mode' = 'merge-on-read')")
    for first in (10, 20):
        rows = spark.range(first, first + 4).coalesce(1)
        rows.writeTo(LOG).append()
    spark.sql(f"delete from {LOG} where id in (10, 20)")
    vectors = spark.table(f"{LOG}.delete_files").select("file_path").collect()
    assert len(vectors) == 2 and len(set(vectors)) == 1
    # The vector of one data file is replaced, that of the other stays.
    spark.sql(f"delete from {LOG} where id = 11")
    append(spark, 2)
    read_up_to = spark.sql(f"select snapshot_id from {LOG}.refs").collect()[0].snapshot_id
    for reader in (QUICK, SLOW):
        commit_watermarks(spark, reader, {LOG: read_up_to})
    append(spark, 3)

    done = {table.table: table for table in maintain(spark, tables, 0)}

    assert done[LOG].after.snapshots < done[LOG].before.snapshots
    read = spark.sql(f"select id from {LOG} version as of {read_up_to}").collect()
    assert sorted(row.id for row in read) == [1, 2, 12, 13, 21, 22, 23]


def test_upkeep_of_clones_leaves_what_they_share(spark: SparkSession, tables: list[str]) -> None:
    """As the long test of many tables has them."""
    commit_snapshots(spark, LOG, 10, None)
    commit_snapshots(spark, QUICK, 10, LOG)
    clones = clone(spark, QUICK, SCHEMA, 2)

    done = list(maintain(spark, [*clones, *tables], 0))

    assert list(map(snapshots, done[:2])) == [(11, 1), (11, 1)]
    for table in (*clones, QUICK):
        assert ids(spark, table) == [1]
    for table in clones:
        spark.sql(f"drop table {table}")


def test_old_metadata_files_go_without_upkeep(spark: SparkSession, tables: list[str]) -> None:
    commit_snapshots(spark, LOG, 40, None)

    folder = Path(iceberg_table(spark, LOG).location().removeprefix("file:")) / "metadata"
    # The current one, and those of the twenty commits before it.
    assert len([*folder.glob("*.metadata.json")]) == 21


def test_only_old_files_of_no_snapshot_are_orphans(spark: SparkSession, tables: list[str]) -> None:
    spark.sql(f"alter table {LOG} set tblproperties ('write.delete.mode' = 'merge-on-read')")
    spark.range(10, 14).coalesce(1).writeTo(LOG).append()
    spark.sql(f"delete from {LOG} where id = 10")
    folder = Path(iceberg_table(spark, LOG).location().removeprefix("file:"))
    four_days_ago = time.time() - 4 * 24 * 3600
    orphans = [folder / "data" / "killed.parquet", folder / "metadata" / "killed-m0.avro"]
    for orphan in orphans:
        orphan.write_bytes(b"of a run that was killed")
    (folder / "data" / "young.parquet").write_bytes(b"of a run that goes on")
    for file in folder.rglob("*"):
        if file.name != "young.parquet":
            os.utime(file, (four_days_ago, four_days_ago))
    before = dt.datetime.now(dt.timezone.utc) - dt.timedelta(days=3)

    jobs = started_jobs(spark)
    assert remove_orphan_files(spark, LOG, before) == 2
    assert started_jobs(spark) > jobs
    assert not [orphan for orphan in orphans if orphan.exists()]
    assert (folder / "data" / "young.parquet").exists()
    assert ids(spark, LOG) == [1, 11, 12, 13]
    # There is nothing left for which a job would be started.
    jobs = started_jobs(spark)
    assert remove_orphan_files(spark, LOG, before) == 0
    assert started_jobs(spark) == jobs
