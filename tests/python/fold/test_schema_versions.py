"""From where to where the schema versions of a table are seen, and what they list."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from cdc_marts.fold.schema_versions import schema_versions
from tests.python.fold.frames import frame

EFFECTS = "source_format table_id topic op schema_id lists_all_columns message_position sequence"
RECORDS = (
    "source_format topic partition offset record_type table_id schema_id source_type column_types"
    " column_parameters unavailable_columns before after lists_all_columns sequence"
)
VERSION = "source_format table_id schema_id"
NAMES = {"source_format": "canal_json", "table_id": "shop.orders", "topic": "shop"}


def effect(offset: int, schema_id: int | None, is_whole: bool = False) -> dict[str, Any]:
    return {
        **NAMES,
        "schema_id": schema_id,
        "lists_all_columns": is_whole,
        "sequence": (offset, 0, offset),
    }


def overtaken(offset: int, schema_id: int, position: int) -> dict[str, Any]:
    """A change that takes its place from a loaded row: its own position is lower."""
    return {
        **effect(offset, schema_id, is_whole=True),
        "source_format": "cdl_debezium_json",
        "op": "insert",
        "message_position": position,
    }


def record(offset: int, schema_id: int | None, **other: Any) -> dict[str, Any]:
    return {
        **NAMES,
        "partition": 0,
        "offset": offset,
        "record_type": "change",
        "schema_id": schema_id,
        "unavailable_columns": [],
        "lists_all_columns": False,
        "sequence": (offset, 0, offset),
        **other,
    }


def versions(
    spark: SparkSession,
    new: list[dict[str, Any]],
    records: list[dict[str, Any]],
    *,
    earlier: list[dict[str, Any]] = (),
    earlier_records: list[dict[str, Any]] = (),
    revised: list[dict[str, Any]] = (),
    known: DataFrame | None = None,
) -> DataFrame:
    return schema_versions(
        frame(spark, EFFECTS, new),
        effects=frame(spark, EFFECTS, [*earlier, *new]),
        new_exceptions=frame(spark, f"{VERSION} is_revision", revised),
        new_records=frame(spark, RECORDS, records),
        records=frame(spark, RECORDS, [*earlier_records, *records]),
        earlier=known,
    )


def seen(rows: DataFrame) -> dict[int, tuple[int, int, int | None, int | None, list[str]]]:
    return {
        row.schema_id: (
            row.first_sequence.position,
            row.last_sequence.position,
            row.first_whole_sequence and row.first_whole_sequence.position,
            row.last_whole_sequence and row.last_whole_sequence.position,
            sorted(row.column_names),
        )
        for row in rows.collect()
    }


def test_a_version_is_described_by_its_first_message(spark: SparkSession) -> None:
    """By the columns that it lists, else by those in its images."""
    rows = versions(
        spark,
        [effect(1, 7), effect(2, 7, True), effect(3, 7), effect(4, 8), effect(5, None)],
        [
            record(1, 7, column_types={"id": "int", "a": "text"}, after={"id": 1}),
            record(4, 8, before={"id": 1}, after={"b": 1}, unavailable_columns=["c"]),
            record(5, None, after={"z": 1}),
        ],
    )
    assert seen(rows) == {7: (1, 3, 2, 2, ["a", "id"]), 8: (4, 4, None, None, ["b", "c", "id"])}


def test_later_runs_widen_what_is_known(spark: SparkSession) -> None:
    first = versions(spark, [effect(3, 7)], [record(3, 7, after={"id": 1})])
    known = spark.createDataFrame(first.collect(), first.schema)
    rows = versions(
        spark,
        [effect(1, 7), effect(9, 8)],
        [record(1, 7, after={"other": 1}), record(9, 8, after={"id": 1})],
        known=known,
    )
    assert seen(rows) == {7: (1, 3, None, None, ["id"]), 8: (9, 9, None, None, ["id"])}


def test_a_version_of_changed_effects_is_looked_at_whole(spark: SparkSession) -> None:
    first = versions(
        spark, [effect(3, 7), effect(5, 7)], [record(o, 7, after={"id": 1}) for o in (3, 5)]
    )
    known = spark.createDataFrame(first.collect(), first.schema)
    version = {**NAMES, "schema_id": 7, "is_revision": True}
    # The effect at 5 is a redelivery now.
    rows = versions(spark, [], [], earlier=[effect(3, 7)], revised=[version], known=known)
    assert seen(rows) == {7: (3, 3, None, None, ["id"])}


def test_a_version_of_old_events_that_were_redeliveries_is_described(spark: SparkSession) -> None:
    old = [record(o, s, after={"id": 1, f"c{s}": 1}) for o, s in ((3, 7), (4, 8))]
    first = versions(spark, [effect(3, 7)], old)
    known = spark.createDataFrame(first.collect(), first.schema)
    # A new full load repairs the table: its row is no redelivery any more.
    rows = versions(
        spark,
        [],
        [],
        earlier=[effect(3, 7), effect(4, 8)],
        earlier_records=old,
        revised=[{**NAMES, "schema_id": 8, "is_revision": True}],
        known=known,
    )
    assert seen(rows) == {8: (4, 4, None, None, ["c8", "id"])}


def test_the_update_before_shows_columns_from_its_position_on(spark: SparkSession) -> None:
    """Also where it lands behind its other half, and where earlier effects have changed."""
    half = record(6, 8, record_type="update_before", before={"id": 1, "b": 1}, sequence=(5, 0, 6))
    after = record(5, 7, after={"id": 1}, sequence=(5, 0, 5))
    rows = versions(spark, [effect(5, 7)], [after, half])
    expected = {7: (5, 5, None, None, ["id"]), 8: (5, 5, None, None, ["b", "id"])}
    assert seen(rows) == expected
    found = {row.schema_id: row.first_sequence for row in rows.collect()}
    assert found[8].offset is None
    assert found[7].offset == 5

    known = spark.createDataFrame(rows.collect(), rows.schema)
    revised = [{**NAMES, "schema_id": schema_id, "is_revision": True} for schema_id in (7, 8)]
    again = versions(
        spark,
        [],
        [],
        earlier=[effect(5, 7)],
        earlier_records=[after, half],
        revised=revised,
        known=known,
    )
    assert seen(again) == expected


def test_a_change_that_a_load_has_overtaken_counts_at_its_own_position(spark: SparkSession) -> None:
    of_load = {**effect(5, 2, is_whole=True), "source_format": "cdl_debezium_json"}
    rows = versions(
        spark,
        [{**of_load, "op": "snapshot", "message_position": 1}, overtaken(6, 3, position=4)],
        [
            {**record(5, 2), "source_format": "cdl_debezium_json", "column_types": {"id": "int64"}},
            {**record(6, 3), "source_format": "cdl_debezium_json", "column_types": {"id": "int32"}},
        ],
    )
    assert {version: whole for version, (_, _, whole, *_) in seen(rows).items()} == {2: 5, 3: 4}
