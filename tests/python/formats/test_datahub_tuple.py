"""DataHub tuples: what the rows of the three dialects come to in staging."""

from __future__ import annotations

import datetime as dt
import functools
import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from cdc_marts.formats import datahub_tuple
from tests.python.formats.staging import (
    LANDED_AT,
    LANDING_COMMIT,
    TOPIC_NUMBER,
    landed,
    lists_all_columns,
    rows_of,
    staged,
    without_ids,
)

SETTINGS = {
    "orders": ["id"],
    "topic": ["id"],
    "named.orders": ["id"],
    "shop.orders": ["id"],
    "odd": ["a.b", "c d", 'e"f', "g`h", "i'j", "列"],
}
ODD_ROW = {name: position for position, name in enumerate(SETTINGS["odd"])}
A, B = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}
BIG = 9223372036854775807

INSERTED = ("1649991610688000000", "1649991726000")
UPDATED = ("1649991610688000001", "1649991756000")
DELETED = ("1649991610688000002", "1649991774000")


def dataworks(
    operation: Any,
    flags: str,
    row: dict[str, Any],
    sequence_id: Any = UPDATED[0],
    time: Any = UPDATED[1],
    table: Any = "orders",
) -> dict[str, Any]:
    """A tuple of DataWorks; `flags` are those for the image before and after, such as NY."""
    return {
        "_sequence_id_": sequence_id,
        "_operation_type_": operation,
        "_excute_time_": time,
        "_source_table_": table,
        "_before_image_": flags[0],
        "_after_image_": flags[1],
        **row,
    }


def dts_old(
    operation: str,
    flags: str,
    row: dict[str, Any],
    record_id: Any = 16,
    time: Any = 1565944878000,
) -> dict[str, Any]:
    """A tuple of DTS by its old naming rule: the row's columns have the prefix as well."""
    return {
        **{f"dts_{name}": value for name, value in row.items()},
        "dts_record_id": record_id,
        "dts_operation_flag": operation,
        "dts_instance_id": "2143656811",
        "dts_db_name": "shop",
        "dts_table_name": "orders",
        "dts_utc_timestamp": time,
        "dts_before_flag": flags[0],
        "dts_after_flag": flags[1],
    }


def dts(operation: str, flags: str, row: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    """A tuple of DTS by its new naming rule: only the metadata has a prefix."""
    metadata = dts_old(operation, flags, {}, **metadata)
    return {**row, **{f"new_dts_sync_{name}": value for name, value in metadata.items()}}


def without(message: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name not in names}


INSERT = dataworks("I", "NY", A, *INSERTED)
READ_UPDATE_BEFORE = dataworks("U", "YN", A, *UPDATED)
FIVE_COLUMNS = without(INSERT, "_source_table_")
#: Metadata of the new naming rule, as columns of a row by the old one.
AS_COLUMNS = {f"dts_{name}": value for name, value in dts("D", "YN", {}).items()}

READ = {
    # The table of the vendor's page.
    "insert": INSERT,
    "update before": READ_UPDATE_BEFORE,
    "update after": dataworks("U", "NY", B, *UPDATED),
    "delete": dataworks("D", "YN", B, *DELETED),
    "dts_old insert": dts_old("I", "NY", A),
    "dts_old update before": dts_old("U", "YN", A),
    "dts_old update after": dts_old("U", "NY", B),
    "dts_old delete": dts_old("D", "YN", B),
    "dts insert": dts("I", "NY", A),
    "dts update before": dts("U", "YN", A),
    "dts update after": dts("U", "NY", B),
    "dts delete": dts("D", "YN", B),
    "insert again": INSERT,
    "update before again": dataworks("U", "YN", A, *UPDATED),
    "update after again": dataworks("U", "NY", B, *UPDATED),
    "insert later": dataworks("I", "NY", A, "1649991610688000009"),
    "insert elsewhere": dataworks("I", "NY", A, *INSERTED, table="items"),
    "time spelled right": {**without(INSERT, "_excute_time_"), "_execute_time_": INSERTED[1]},
    "numbers for texts": dataworks("I", "NY", A, int(INSERTED[0]), int(INSERTED[1])),
    "time -1": dataworks("I", "NY", A, time=-1),
    "no time": without(INSERT, "_excute_time_"),
    "time in seconds": dts_old("I", "NY", A, time="1565944878"),
    "no instance": without(dts_old("I", "NY", A), "dts_instance_id"),
    "snapshot": dataworks("I", "NY", A, "-1", "-1"),
    "snapshot again": dataworks("I", "NY", A, -1, -1),
    "keyless insert": dataworks("I", "NY", {"b": 1, "a": None}, table="keyless"),
    "keyless snapshot": dataworks("I", "NY", A, "-1", table="keyless"),
    "keyless snapshot again": dataworks("I", "NY", A, "-1", table="keyless"),
    "odd names": dataworks("I", "NY", {**ODD_ROW, "z": 1}, table="odd"),
    "exact values": (
        f'{{"_sequence_id_": {"1" * 38}, "_operation_type_": "I", "_source_table_": "keyless",'
        f' "_before_image_": "N", "_after_image_": "Y", "id": {BIG}, "text": "1.10",'
        ' "price": 12345678901234567890.0123456789}'
    ),
    "columns named as metadata of the old dialect": dts("I", "NY", {**A, "dts_record_id": 7}),
    "dataworks columns named as metadata of dts": dataworks("I", "NY", {**A, "dts_db_name": "x"}),
    "a dataworks row that is a tuple of dts": dataworks("I", "NY", dts("D", "YN", A)),
    "a dataworks row that is a tuple of the old dts": dataworks(
        "I", "NY", dts_old("D", "YN", A), table="keyless"
    ),
    "a tuple of the old dts with one of the new in it": {**dts_old("I", "NY", A), **AS_COLUMNS},
    "a tuple of the new dts with some of dataworks in it": {
        **dts("I", "NY", A),
        "_sequence_id_": "7",
        "_operation_type_": "x",
    },
    "five metadata columns": FIVE_COLUMNS,
    "five metadata columns, update before": without(READ_UPDATE_BEFORE, "_source_table_"),
    "null as the table": dataworks("I", "NY", A, table=None),
    "both spellings of the time": dataworks("I", "NY", {**A, "_execute_time_": "noon"}),
    "a column that has the prefix twice": dts_old("I", "NY", {**A, "dts_x": 1}),
    "a column without the prefix": {**dts_old("I", "NY", A), "added_by": "etl"},
}

REJECTED = {
    "a repeated column": (json.dumps(INSERT)[:-1] + ', "id": 2}', "malformed_json"),
    "a repeated flag": (json.dumps(INSERT)[:-1] + ', "_after_image_": "Y"}', "malformed_json"),
    "an empty object": ({}, "wrong_format"),
    "a row without metadata": (A, "wrong_format"),
    "metadata in another case": ({name.upper(): v for name, v in INSERT.items()}, "wrong_format"),
    **{
        f"no {name}": (without(INSERT, name), "missing_field")
        for name in INSERT
        if name.startswith("_") and name not in ("_excute_time_", "_source_table_")
    },
    **{
        f"no {name}": (without(dts_old("I", "NY", A), name), "missing_field")
        for name in without(dts_old("I", "NY", {}), "dts_utc_timestamp", "dts_instance_id")
    },
    "no new_dts_sync_dts_record_id": (
        without(dts("I", "NY", A), "new_dts_sync_dts_record_id"),
        "missing_field",
    ),
    "null as the table of dts": (
        {**dts_old("I", "NY", A), "dts_table_name": None},
        "missing_field",
    ),
    "a column with the prefix and without": ({**dts_old("I", "NY", A), "id": 2}, "malformed_json"),
    "an empty table": (dataworks("I", "NY", A, table=""), "missing_field"),
    "a lacking key column": (dataworks("I", "NY", {"name": "a"}), "missing_field"),
    "another op": (dataworks("R", "NY", A), "unknown_op"),
    "an op in lower case": (dataworks("i", "NY", A), "unknown_op"),
    "an op in words": (dataworks("INSERT", "NY", A), "unknown_op"),
    "the name that the code table has for a half": (
        dataworks("U (before image)", "YN", A),
        "unknown_op",
    ),
    **{
        f"{op} with {flags}": (dataworks(op, flags, A), "missing_image")
        for op, all_flags in {
            "I": ("YN", "YY", "NN", "ny"),
            "U": ("YY", "NN"),
            "D": ("NY", "YY", "NN"),
        }.items()
        for flags in all_flags
    },
    "metadata only": (dataworks("I", "NY", {}), "missing_image"),
    "a delete in the full load": (dataworks("D", "YN", A, "-1"), "missing_image"),
    "a half in the full load": (dataworks("U", "YN", A, "-1"), "missing_image"),
    "a sequence id of letters": (dataworks("I", "NY", A, "x"), "bad_sequence"),
    "a negative sequence id": (dataworks("I", "NY", A, "-2"), "bad_sequence"),
    "a sequence id that is too long": (dataworks("I", "NY", A, "1" * 39), "bad_sequence"),
    "a time in words": (dataworks("I", "NY", A, time="2022-04-15 03:02:06"), "bad_timestamp"),
    "a time out of range": (dataworks("I", "NY", A, time=10**18), "bad_timestamp"),
}


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> dict[str, dict[str, Any]]:
    """Name of a message -> its staging row."""
    rejected = {name: value for name, (value, _) in REJECTED.items()}
    messages = {**READ, **rejected}
    assert len(messages) == len(READ) + len(rejected)
    staging = staged(spark, datahub_tuple.parse, *messages.values(), key_settings=SETTINGS)
    return dict(zip(messages, staging, strict=True))


def members(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def utc(millis: Any) -> dt.datetime:
    return dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=int(millis))


def event(offset: int, position: Any, time: Any, **members_: Any) -> dict[str, Any]:
    """What every row change of the table `orders` has in common."""
    return {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": "datahub_tuple",
        "topic": "topic",
        "partition": 0,
        "offset": offset,
        "row_index": 0,
        "source_type": None,
        "database_name": None,
        "schema_name": None,
        "table_name": "orders",
        "table_id": "orders",
        "op": None,
        "key_columns": ["id"],
        "row_key": '{"id":1}',
        "previous_row_key": None,
        "before": None,
        "after": None,
        "unavailable_columns": [],
        "column_types": None,
        "lob_columns": None,
        "event_at": utc(time),
        "published_at": None,
        "checkpoint_at": None,
        "landed_at": LANDED_AT,
        "landing_commit": LANDING_COMMIT,
        "transaction_id": None,
        "sequence": {
            "position": Decimal(position),
            "transaction_index": TOPIC_NUMBER,
            "partition": 0,
            "offset": offset,
            "row_index": 0,
        },
        "delivery_position": Decimal(position),
        "pairing_id": None,
        "ddl_text": None,
        "ddl_meta": None,
        "is_truncation": False,
        "table_changes": None,
        "lists_all_columns": lists_all_columns(members_.get("op")),
        "value": None,
        **members_,
    }


DTS = {"database_name": "shop", "table_id": "shop.orders"}
BEFORE = {"record_type": "update_before", "source_op": "U", "before": A}
AFTER = {"op": "update", "source_op": "U", "after": B}
PAIR = {"pairing_id": "datahub_tuple:orders:1649991610688000001"}
DTS_PAIR = {"pairing_id": "datahub_tuple:shop.orders:16"}
DTS_AT = (16, 1565944878000)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("insert", event(0, *INSERTED, op="insert", source_op="I", after=A)),
        ("update before", event(1, *UPDATED, **BEFORE, **PAIR)),
        ("update after", event(2, *UPDATED, **AFTER, **PAIR)),
        ("delete", event(3, *DELETED, op="delete", source_op="D", before=B)),
        ("dts_old insert", event(4, *DTS_AT, **DTS, op="insert", source_op="I", after=A)),
        ("dts_old update before", event(5, *DTS_AT, **DTS, **BEFORE, **DTS_PAIR)),
        ("dts_old update after", event(6, *DTS_AT, **DTS, **AFTER, **DTS_PAIR)),
        ("dts_old delete", event(7, *DTS_AT, **DTS, op="delete", source_op="D", before=B)),
        ("dts insert", event(8, *DTS_AT, **DTS, op="insert", source_op="I", after=A)),
        ("dts update before", event(9, *DTS_AT, **DTS, **BEFORE, **DTS_PAIR)),
        ("dts update after", event(10, *DTS_AT, **DTS, **AFTER, **DTS_PAIR)),
        ("dts delete", event(11, *DTS_AT, **DTS, op="delete", source_op="D", before=B)),
    ],
)
def test_a_row_change_of_every_dialect_is_read(
    rows: dict[str, dict[str, Any]], name: str, expected: dict[str, Any]
) -> None:
    assert without_ids(rows[name]) == expected


@pytest.mark.parametrize("name", REJECTED)
def test_what_cannot_be_read_whole_is_rejected_with_its_bytes(
    rows: dict[str, dict[str, Any]], name: str
) -> None:
    value, code = REJECTED[name]
    if not isinstance(value, bytes):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        value = text.encode()
    row = rows[name]
    assert members(row, "record_type", "reject_code", "value") == ("rejected", code, value)
    assert row["reject_reason"]
    assert members(row, "event_id", "table_id", "op", "before", "after", "sequence") == (None,) * 6


def test_a_reject_names_what_is_missing(rows: dict[str, dict[str, Any]]) -> None:
    assert rows["no _sequence_id_"]["reject_reason"] == "the tuple has no _sequence_id_"
    assert "`_operation_type_`: R" in rows["another op"]["reject_reason"]
    assert "`_sequence_id_`" in rows["a sequence id of letters"]["reject_reason"]


def test_a_redelivery_has_the_event_id_of_the_first(rows: dict[str, dict[str, Any]]) -> None:
    for name in ("insert", "update before", "update after", "snapshot"):
        assert rows[name]["event_id"] == rows[f"{name} again"]["event_id"], name


def test_different_events_have_different_event_ids(rows: dict[str, dict[str, Any]]) -> None:
    names = (
        "insert",
        "insert later",
        "insert elsewhere",
        "update before",
        "update after",
        "delete",
        "snapshot",
        "keyless insert",
        "keyless snapshot",
        "keyless snapshot again",
        "dts insert",
        "dts update before",
        "dts update after",
        "dts delete",
    )
    assert len({rows[name]["event_id"] for name in names}) == len(names)


def test_a_row_of_the_full_load_is_a_snapshot(rows: dict[str, dict[str, Any]]) -> None:
    snapshot = rows["snapshot"]
    assert members(snapshot, "op", "source_op", "after", "event_at", "pairing_id") == (
        "snapshot",
        "I",
        A,
        None,
        None,
    )
    assert snapshot["sequence"]["position"] == Decimal(-1)


def test_a_table_without_a_key_setting_is_keyless(rows: dict[str, dict[str, Any]]) -> None:
    insert = rows["keyless insert"]
    assert members(insert, "key_columns", "row_key", "after") == (
        [],
        '{"a":null,"b":1}',
        {"a": None, "b": 1},
    )


def test_key_columns_may_have_odd_names(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["odd names"]
    assert row["key_columns"] == SETTINGS["odd"]
    assert row["row_key"] == json.dumps(ODD_ROW, ensure_ascii=False, separators=(",", ":"))


def test_values_are_exact_as_published(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["exact values"]
    # The key of a keyless table is its whole image as text.
    assert row["row_key"] == (
        f'{{"id":{BIG},"price":12345678901234567890.0123456789,"text":"1.10"}}'
    )
    assert row["sequence"]["position"] == Decimal("1" * 38)


def test_a_number_may_come_as_text_and_the_other_way_round(
    rows: dict[str, dict[str, Any]],
) -> None:
    numbers = rows["numbers for texts"]
    assert numbers["event_at"] == utc(INSERTED[1])
    assert numbers["event_id"] == rows["insert"]["event_id"]


def test_the_time_may_be_spelled_right_or_be_unknown(rows: dict[str, dict[str, Any]]) -> None:
    spelled_right = rows["time spelled right"]
    assert members(spelled_right, "event_at", "after") == (utc(INSERTED[1]), A)
    assert rows["time -1"]["event_at"] is None
    assert rows["no time"]["event_at"] is None


def test_a_time_of_dts_may_be_in_seconds(rows: dict[str, dict[str, Any]]) -> None:
    assert rows["time in seconds"]["event_at"] == utc(1565944878000)


def test_the_instance_is_not_needed(rows: dict[str, dict[str, Any]]) -> None:
    assert members(rows["no instance"], "op", "after") == ("insert", A)


def test_a_row_may_have_columns_named_as_the_metadata_of_another_dialect(
    rows: dict[str, dict[str, Any]],
) -> None:
    new_names = rows["columns named as metadata of the old dialect"]
    assert members(new_names, "table_id", "after") == ("shop.orders", {**A, "dts_record_id": 7})
    of_dataworks = rows["dataworks columns named as metadata of dts"]
    assert members(of_dataworks, "table_id", "after") == ("orders", {**A, "dts_db_name": "x"})


def test_a_tuple_is_of_the_first_dialect_whose_metadata_is_all_there(
    rows: dict[str, dict[str, Any]],
) -> None:
    of_dataworks = rows["a dataworks row that is a tuple of dts"]
    assert members(of_dataworks, "op", "table_id") == ("insert", "orders")
    assert of_dataworks["after"] == dts("D", "YN", A)
    of_dataworks = rows["a dataworks row that is a tuple of the old dts"]
    assert members(of_dataworks, "op", "table_id") == ("insert", "keyless")
    assert of_dataworks["after"] == dts_old("D", "YN", A)
    of_old_dts = rows["a tuple of the old dts with one of the new in it"]
    assert members(of_old_dts, "op", "table_id") == ("insert", "shop.orders")
    assert of_old_dts["after"] == {**A, **dts("D", "YN", {})}
    of_new_dts = rows["a tuple of the new dts with some of dataworks in it"]
    assert members(of_new_dts, "op", "table_id") == ("insert", "shop.orders")
    assert of_new_dts["after"] == {**A, "_sequence_id_": "7", "_operation_type_": "x"}


def test_a_topic_without_tables_in_its_tuples_is_one_table(rows: dict[str, dict[str, Any]]) -> None:
    insert = rows["five metadata columns"]
    assert members(insert, "op", "table_name", "table_id") == ("insert", "topic", "topic")
    assert members(insert, "row_key", "after") == ('{"id":1}', A)
    before = rows["five metadata columns, update before"]
    assert members(before, "record_type", "table_id", "before") == ("update_before", "topic", A)
    assert members(rows["null as the table"], "table_id", "after") == ("topic", A)


def test_of_both_spellings_of_the_time_the_other_one_is_a_column(
    rows: dict[str, dict[str, Any]],
) -> None:
    both = rows["both spellings of the time"]
    assert members(both, "event_at", "after") == (utc(UPDATED[1]), {**A, "_execute_time_": "noon"})


# -- settings of topics ------------------------------------------------------------------------

TOPICS = datahub_tuple.declared_topics(
    {
        "proj.named": {"database": "named"},
        "proj.other": {"database": "other"},
        "proj.new": {"dialect": "dts_new"},
        "proj.incomplete": {"dialect": "dts_old"},
        "proj.dts": {"database": "named"},
    }
)
OF_TWO_DIALECTS = dataworks("I", "NY", dts("D", "YN", A))


@pytest.fixture(scope="module")
def topics(spark: SparkSession) -> dict[str, dict[str, Any]]:
    """Topic -> the staging row of its message."""
    messages = {
        "proj.named": INSERT,
        "proj.other": INSERT,
        "proj.plain": FIVE_COLUMNS,
        "proj.new": OF_TWO_DIALECTS,
        "proj.incomplete": INSERT,
        "proj.dts": dts("I", "NY", A),
    }
    landing = [landed(spark, [message], topic=topic) for topic, message in messages.items()]
    staging = datahub_tuple.parse(
        functools.reduce(DataFrame.union, landing), key_settings=SETTINGS, topics=TOPICS
    )
    return {row["topic"]: row for row in rows_of(staging)}


def test_a_setting_names_the_database_of_a_topic(topics: dict[str, dict[str, Any]]) -> None:
    named, other = topics["proj.named"], topics["proj.other"]
    assert members(named, "database_name", "table_id") == ("named", "named.orders")
    assert members(named, "key_columns", "row_key") == (["id"], '{"id":1}')
    assert members(other, "database_name", "table_id") == ("other", "other.orders")
    assert named["event_id"] != other["event_id"]
    assert topics["proj.dts"]["database_name"] == "shop"


def test_a_table_is_named_by_the_last_part_of_its_topic(
    topics: dict[str, dict[str, Any]],
) -> None:
    assert members(topics["proj.plain"], "database_name", "table_id") == (None, "plain")


def test_a_setting_names_the_dialect_of_a_topic(topics: dict[str, dict[str, Any]]) -> None:
    deleted = topics["proj.new"]
    assert members(deleted, "op", "table_id") == ("delete", "shop.orders")
    assert deleted["before"] == {**A, **dataworks("I", "NY", {})}
    incomplete = topics["proj.incomplete"]
    assert members(incomplete, "record_type", "reject_code") == ("rejected", "missing_field")
    assert "dts_record_id" in incomplete["reject_reason"]


def test_no_setting_is_an_empty_one() -> None:
    assert datahub_tuple.declared_topics(None) == datahub_tuple.declared_topics({}) == {}


def test_only_the_prefix_of_the_old_dialect_is_taken_off(rows: dict[str, dict[str, Any]]) -> None:
    assert rows["a column that has the prefix twice"]["after"] == {**A, "dts_x": 1}
    assert rows["a column without the prefix"]["after"] == {**A, "added_by": "etl"}
