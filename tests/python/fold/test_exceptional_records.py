"""Which records do something else to rows than they say when read alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from cdc_marts.fold.exceptional_records import exceptional_records
from tests.python.fold.frames import frame

FORMATS = {
    "cdl_json": {},
    "dataworks_json": {"splits_updates": True},
    "canal_json": {"known_by_coordinates": True},
}
COLUMNS = (
    "source_format topic partition offset row_index record_type event_id table_id row_key"
    " previous_row_key is_keyless schema_id op pairing_id delivery_position landing_commit"
)
KNOWN = (
    "source_format topic partition offset row_index event_id exception table_id row_keys"
    " old_row_key schema_id is_keyless op delivery_position is_revision"
)

Record = dict[str, Any]


def change(offset: int, event_id: str, **other: Any) -> Record:
    return {
        "source_format": "cdl_json",
        "topic": "shop",
        "partition": 0,
        "offset": offset,
        "row_index": 0,
        "record_type": "change",
        "event_id": event_id,
        "table_id": "shop.orders",
        "row_key": '{"id":1}',
        "is_keyless": False,
        "op": "update",
        "delivery_position": 7,
        "landing_commit": 1,
        **other,
    }


def half(offset: int, event_id: str, key: int, *, before: bool, **other: Any) -> Record:
    return change(
        offset,
        event_id,
        source_format="dataworks_json",
        record_type="update_before" if before else "change",
        row_key=f'{{"id":{key}}}',
        pairing_id="pair",
        **other,
    )


def found(
    spark: SparkSession,
    new: list[Record],
    earlier: list[Record] | None = None,
    replaced: list[Mapping[str, Any]] | None = None,
    known: DataFrame | None = None,
) -> list[tuple[int, str, list[str], str | None, bool]]:
    """offset, exception, row_keys, old_row_key and is_revision.

    `earlier`: what earlier runs have read, None in the first one.
    """
    if earlier is not None and known is None:
        known = frame(spark, KNOWN, [])
    rows = exceptional_records(
        frame(spark, COLUMNS, new),
        records=frame(spark, COLUMNS, [*(earlier or []), *new]),
        replaced_messages=frame(spark, "source_format topic partition offset", replaced or []),
        known=known,
        formats=FORMATS,
    ).collect()
    return sorted(
        (row.offset, row.exception, sorted(row.row_keys), row.old_row_key, row.is_revision)
        for row in rows
    )


def test_a_keyless_row_takes_columns_from_its_update_before(spark: SparkSession) -> None:
    """The key of the row is known then, and what an earlier run took for its key is looked at."""
    keyless = {"is_keyless": True}
    before = {**half(2, "b", 1, before=True), **keyless, "row_key": '{"b":"y","a":1}'}
    after = {**half(1, "a", 1, before=False), **keyless, "row_key": '{"a":2}'}
    keys = ['{"a":2,"b":"y"}', '{"a":2}', '{"b":"y","a":1}']
    assert found(spark, [before], [after]) == [
        (1, "split_update", sorted(keys), '{"b":"y","a":1}', True)
    ]


def test_the_delivery_that_landed_first_counts(spark: SparkSession) -> None:
    late = change(8, "twice", landing_commit=1)
    first = change(9, "twice", landing_commit=0)
    assert found(spark, [late, first]) == [(8, "redelivery", ['{"id":1}'], None, False)]


@pytest.mark.parametrize(
    "records",
    [
        [change(1, "one"), change(2, "other")],
        # Only coordinates distinguish these.
        [change(o, "canal_json:shop:0:1:0", source_format="canal_json") for o in (1, 2)],
        [change(o, "cdl_json:shop:0:1:0") for o in (1, 2)],
        [change(o, "twice", record_type="ddl") for o in (1, 2)],
        [half(1, "a", 1, before=True), half(2, "b", 1, before=False)],
    ],
)
def test_what_is_no_exception(spark: SparkSession, records: list[Record]) -> None:
    assert found(spark, records) == []
    assert found(spark, records[1:], records[:1]) == []


def test_earlier_records_known_by_coordinates_are_not_read(spark: SparkSession) -> None:
    """Nothing near which to look for another delivery: their history may be long."""
    of_canal = {"source_format": "canal_json", "delivery_position": None}
    new = [change(2, "canal_json:shop:0:2:0", **of_canal), change(9, "once")]
    earlier = [change(1, "canal_json:shop:0:1:0", **of_canal), *new]
    read = frame(spark, COLUMNS, earlier).withColumn(
        "row_key", F.expr("if(source_format = 'canal_json', raise_error('it is read'), row_key)")
    )
    no_messages = frame(spark, "source_format topic partition offset", [])
    exceptions = exceptional_records(
        frame(spark, COLUMNS, new),
        records=read,
        replaced_messages=no_messages,
        known=frame(spark, KNOWN, []),
        formats=FORMATS,
    )
    assert exceptions.isEmpty()


def test_a_delivery_of_an_earlier_run_is_repeated(spark: SparkSession) -> None:
    assert found(spark, [change(9, "twice", landing_commit=2)], [change(1, "twice")]) == [
        (9, "redelivery", ['{"id":1}'], None, False)
    ]


def test_an_earlier_run_took_the_later_copy_for_the_first(spark: SparkSession) -> None:
    """Keys that a row left because of it are looked at, too."""
    taken = change(9, "twice", landing_commit=2, previous_row_key='{"id":2}')
    split = {
        **{name: taken[name] for name in ("source_format", "topic", "partition", "offset")},
        "row_index": 0,
        "event_id": "twice",
        "exception": "split_update",
        "row_keys": ['{"id":1}', '{"id":3}'],
        "old_row_key": '{"id":3}',
        "op": "update",
        "delivery_position": 7,
        "is_revision": False,
    }
    known = frame(spark, KNOWN, [split])
    keys = ['{"id":1}', '{"id":2}', '{"id":3}']
    assert found(spark, [change(1, "twice")], [taken], known=known) == [
        (9, "redelivery", keys, None, True)
    ]


def test_what_is_known_is_not_said_again(spark: SparkSession) -> None:
    earlier = [change(1, "twice"), change(2, "twice", landing_commit=2)]
    redelivery = exceptional_records(
        frame(spark, COLUMNS, earlier),
        records=frame(spark, COLUMNS, earlier),
        replaced_messages=frame(spark, "source_format topic partition offset", []),
        known=None,
        formats=FORMATS,
    )
    known = spark.createDataFrame(redelivery.collect(), redelivery.schema)
    assert found(spark, [change(3, "twice", landing_commit=3)], earlier, known=known) == [
        (3, "redelivery", ['{"id":1}'], None, False)
    ]


@pytest.mark.parametrize("is_before_first", [True, False])
def test_halves_with_different_keys_move_their_row(
    spark: SparkSession, is_before_first: bool
) -> None:
    before, after = half(1, "a", 1, before=True), half(2, "b", 2, before=False)
    keys = ['{"id":1}', '{"id":2}']
    assert found(spark, [before, after]) == [(2, "split_update", keys, '{"id":1}', False)]
    one, other = (before, after) if is_before_first else (after, before)
    assert found(spark, [other], [one]) == [
        (2, "split_update", keys, '{"id":1}', not is_before_first)
    ]


def test_halves_of_a_keyless_row_always_do(spark: SparkSession) -> None:
    halves = [half(o, str(o), 1, before=o == 1, is_keyless=True) for o in (1, 2)]
    assert found(spark, halves) == [(2, "split_update", ['{"id":1}'], '{"id":1}', False)]


def test_a_message_in_a_new_place_is_looked_at_again(spark: SparkSession) -> None:
    moved = change(3, "moved", previous_row_key='{"id":2}')
    place = {name: moved[name] for name in ("source_format", "topic", "partition", "offset")}
    assert found(spark, [], [moved, change(4, "other")], [place]) == [
        (3, "replacement", ['{"id":1}', '{"id":2}'], None, True)
    ]
    # Read in this run, it is new in its new place.
    assert found(spark, [moved], [], [place]) == []
