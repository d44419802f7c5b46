"""Which changes stand behind a loaded row, a repair or a delete, with a lower position."""

from __future__ import annotations

import datetime as dt
from typing import Any

from pyspark.sql import SparkSession

from cdc_marts.fold.overtaken_changes import overtaken_changes
from tests.python.fold.frames import frame

RECORDS = (
    "source_format table_id topic partition offset record_type op is_keyless row_key"
    " previous_row_key message_position event_at transaction_id"
)
LOADS = "source_format table_id topic partition first_offset position"
RELOADED = "source_format table_id topic partition offset message_position position"
OVERTAKEN = "source_format topic partition offset position is_revision"
FORMAT = {"source_format": "cdl_debezium_json", "topic": "shop"}

Row = dict[str, Any]


def record(
    op: str, offset: int, position: int | None, key: str = "1", table: str = "orders", **other: Any
) -> Row:
    return {
        **FORMAT,
        "table_id": table,
        "partition": 0,
        "offset": offset,
        "record_type": "change",
        "op": op,
        "is_keyless": False,
        "row_key": key,
        "message_position": position,
        **other,
    }


def loaded(
    offset: int, position: int | None, key: str = "1", table: str = "orders", **other: Any
) -> Row:
    return record("snapshot", offset, position, key, table, **other)


def update(offset: int, position: int | None, key: str = "1", **other: Any) -> Row:
    return record("update", offset, position, key, **other)


def of_transaction(number: int) -> Row:
    """Transactions are committed in the order of their numbers."""
    return {"transaction_id": str(number), "event_at": dt.datetime(2026, 1, 1, 0, 0, number)}


def insert(offset: int, position: int, transaction: int, key: str = "1", **other: Any) -> Row:
    return record("insert", offset, position, key, **of_transaction(transaction), **other)


def delete(offset: int, position: int, transaction: int, key: str = "1", **other: Any) -> Row:
    return record("delete", offset, position, key, **of_transaction(transaction), **other)


def ranges(records: list[Row]) -> list[Row]:
    """One row for each loaded row, as if each had come in a run of its own."""
    return [
        {**row, "first_offset": row["offset"], "position": row["message_position"]}
        for row in records
        if row["op"] == "snapshot" and row["message_position"] is not None
    ]


def reloaded(offset: int, position: int | None, load: int | None = 300, **other: Any) -> Row:
    """A row of a load at the position `load`, which a repair moves to `position`."""
    return {**loaded(offset, load), "position": position, **other}


def overtaken(
    spark: SparkSession,
    new: list[Row],
    *,
    read: list[Row] | None = None,
    known: list[Row] = (),
    new_repairs: list[Row] = (),
    repairs: list[Row] = (),
) -> dict[tuple[int, int], tuple[int, bool]]:
    """Partition and offset of a change -> its position, and whether it is a revision.

    `read`: what earlier runs read; None in the first run. `known`: what they returned. `repairs`:
    the reloaded rows of earlier runs.
    """
    found = overtaken_changes(
        frame(spark, RECORDS, new),
        records=frame(spark, RECORDS, [*(read or []), *new]),
        new_loads=frame(spark, LOADS, ranges(new)),
        loads=frame(spark, LOADS, ranges([*(read or []), *new])),
        new_reloaded=frame(spark, RELOADED, new_repairs),
        reloaded=frame(spark, RELOADED, [*repairs, *new_repairs]),
        earlier=None if read is None else frame(spark, OVERTAKEN, known),
    ).collect()
    return {(row.partition, row.offset): (int(row.position), row.is_revision) for row in found}


def test_a_change_takes_the_position_of_the_loaded_row_of_its_key(spark: SparkSession) -> None:
    rows = [
        loaded(1, 100),
        loaded(2, 100, "2"),
        record("delete", 3, 80),
        update(4, 90, "2"),
        update(5, None, "2"),
        update(6, 110, "2"),
    ]
    assert overtaken(spark, rows) == {
        (0, 3): (100, False),
        (0, 4): (100, False),
        (0, 5): (100, False),
    }


def test_other_rows_and_places_overtake_nothing(spark: SparkSession) -> None:
    rows = [
        loaded(0, None),
        loaded(2, 100),
        loaded(3, None, "without a position"),
        loaded(4, 100, table="customers"),
        loaded(5, None, partition=1),
        loaded(6, None, is_keyless=True),
        update(1, 80),
        update(5, 80, "2"),
        update(6, 80, "without a position"),
        update(5, 80, partition=1),
        update(7, 80, topic="other"),
        record("truncate", 8, 80, record_type="ddl"),
        update(9, 80, is_keyless=True),
    ]
    assert overtaken(spark, rows) == {}


def test_a_key_change_follows_the_loaded_row_of_its_earlier_key(spark: SparkSession) -> None:
    rows = [loaded(1, 100, "old"), update(2, 80, "new", previous_row_key="old")]
    assert overtaken(spark, rows) == {(0, 2): (100, False)}


def test_of_two_loads_the_newer_one_counts_although_it_has_no_position(spark: SparkSession) -> None:
    rows = [loaded(1, 100), loaded(2, None), update(3, 80), loaded(4, None), loaded(5, 90)]
    assert overtaken(spark, rows) == {
        (0, 2): (100, False),
        (0, 3): (100, False),
        (0, 4): (100, False),
    }
    late = overtaken(spark, [loaded(1, 100)], read=[loaded(2, None)])
    assert late == {(0, 2): (100, True)}


def test_the_highest_load_before_a_change_counts(spark: SparkSession) -> None:
    rows = [loaded(1, 100), loaded(2, 200), update(3, 80), loaded(4, 300)]
    assert overtaken(spark, rows) == {(0, 3): (200, False)}


def test_loads_of_earlier_runs_overtake_new_changes(spark: SparkSession) -> None:
    assert overtaken(spark, [update(2, 80), update(3, 120)], read=[loaded(1, 100)]) == {
        (0, 2): (100, False)
    }


def test_a_load_that_lands_late_overtakes_changes_of_earlier_runs(spark: SparkSession) -> None:
    read = [update(2, 80), update(3, 90), update(4, 120)]
    known = [{**FORMAT, "partition": 0, "offset": 3, "position": 100, "is_revision": False}]
    assert overtaken(spark, [loaded(1, 100)], read=read, known=known) == {(0, 2): (100, True)}
    assert overtaken(spark, [loaded(1, 110)], read=read, known=known) == {
        (0, 2): (110, True),
        (0, 3): (110, True),
    }


def test_changes_behind_a_repair_come_after_it_whatever_their_keys(spark: SparkSession) -> None:
    rows = [
        loaded(1, 300),
        record("delete", 2, 100),
        record("insert", 3, 100, "2"),
        update(4, 201, "2"),
        update(5, None, "3"),
        update(6, 200, "of a table without a key", is_keyless=True),
    ]
    assert overtaken(spark, rows, new_repairs=[reloaded(1, 200)]) == {
        (0, 2): (300, False),
        (0, 3): (201, False),
        (0, 5): (201, False),
        (0, 6): (201, False),
    }


def test_a_load_without_positions_repairs_as_one_with_positions(spark: SparkSession) -> None:
    rows = [
        update(1, 100),
        loaded(2, None),
        update(3, 100),
        record("insert", 4, 100, "2"),
        update(5, 201),
        loaded(6, None, "of another load"),
    ]
    assert overtaken(spark, rows, new_repairs=[reloaded(2, 200, None)]) == {
        (0, 3): (201, False),
        (0, 4): (201, False),
    }


def test_other_repairs_and_places_raise_nothing(spark: SparkSession) -> None:
    rows = [
        update(1, 100, "2"),
        update(3, 100, "2", partition=1),
        update(3, 100, "2", topic="other"),
        update(3, 100, "2", table_id="customers"),
        update(3, 100, "2", topic="of a new server"),
    ]
    repairs = [
        reloaded(2, 200),
        reloaded(2, None, table_id="customers"),
        reloaded(2, None, None, table_id="customers"),
        reloaded(2, 200, 30, topic="of a new server"),
        reloaded(2, 200, topic="other", source_format="canal_json"),
    ]
    assert overtaken(spark, rows, new_repairs=repairs) == {}


def test_a_repair_overtakes_changes_of_earlier_and_of_later_runs(spark: SparkSession) -> None:
    read = [loaded(1, 300), update(2, 100), update(3, 100, "2"), update(4, 100, "3")]
    known = [
        {**FORMAT, "partition": 0, "offset": offset, "position": position, "is_revision": False}
        for offset, position in ((2, 300), (3, 201))
    ]
    new = [update(5, 150, "4")]
    repair = [reloaded(1, 200)]
    assert overtaken(spark, new, read=read, known=known, new_repairs=repair) == {
        (0, 4): (201, True),
        (0, 5): (201, False),
    }
    assert overtaken(spark, new, read=read, known=known, repairs=repair) == {(0, 5): (201, False)}


def test_an_insert_that_waited_for_a_delete_comes_after_it(spark: SparkSession) -> None:
    rows = [
        delete(1, 150, 1),
        insert(2, 100, 2),
        delete(3, 180, 2),
        insert(4, 110, 3),
        insert(5, 190, 4),
    ]
    assert overtaken(spark, rows) == {(0, 2): (151, False), (0, 4): (181, False)}


def test_a_key_change_deletes_its_old_key_and_inserts_its_new_one(spark: SparkSession) -> None:
    moved = update(2, 100, "5", previous_row_key="7", **of_transaction(2))
    left = update(1, 150, "6", previous_row_key="5", **of_transaction(1))
    assert overtaken(spark, [left, moved]) == {(0, 2): (151, False)}


def test_an_insert_that_waited_for_no_delete_stays_in_its_place(spark: SparkSession) -> None:
    rows = [
        insert(0, 100, 3),
        delete(1, 150, 2),
        insert(2, 100, 1),
        insert(3, 100, 2),
        insert(4, 100, 3, "2"),
        insert(5, 100, 3, table="customers"),
        insert(6, 100, 3, partition=1),
        insert(7, 100, 3, topic="other"),
        insert(8, 100, 3, is_keyless=True),
        update(9, 100, **of_transaction(3)),
        record("insert", 10, 100, event_at=of_transaction(3)["event_at"]),
        record("insert", 11, 100, transaction_id="3"),
    ]
    assert overtaken(spark, rows) == {(0, 10): (151, False)}


def test_inserts_wait_for_deletes_of_earlier_and_of_later_runs(spark: SparkSession) -> None:
    assert overtaken(spark, [insert(2, 100, 2)], read=[delete(1, 150, 1)]) == {(0, 2): (151, False)}
    read = [insert(2, 100, 2), insert(4, 100, 2, "2"), insert(5, 90, 2)]
    known = [{**FORMAT, "partition": 0, "offset": 5, "position": 151, "is_revision": False}]
    assert overtaken(spark, [delete(1, 150, 1)], read=read, known=known) == {(0, 2): (151, True)}
