"""DataHub tuples: what the rows of the three dialects come to in staging."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from dbt_common.exceptions import CompilationError

from cdc_marts.formats import datahub_tuple
from tests.python.formats.staging import (
    check_are_different_events,
    check_are_one_event,
    each_is_rejected,
    members,
    row_change,
    said,
    utc,
    without_ids,
)

Row = dict[str, Any]
Rows = list[Row]

PARSE = partial(
    datahub_tuple.parse,
    key_settings={
        "orders": ["id"],
        "topic": ["id"],
        "named.orders": ["id"],
        "shop.orders": ["id"],
    },
    topics=datahub_tuple.declared_topics(
        {
            "proj.named": {"database": "named"},
            "proj.other": {"database": "other"},
            "proj.new": {"dialect": "dts_new"},
            "proj.incomplete": {"dialect": "dts_old"},
            "proj.dts": {"database": "named"},
        }
    ),
)
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
BEFORE = dataworks("U", "YN", A, *UPDATED)
AFTER = dataworks("U", "NY", B, *UPDATED)
DELETE = dataworks("D", "YN", B, *DELETED)
SNAPSHOT = dataworks("I", "NY", A, "-1", "-1")
FIVE_COLUMNS = without(INSERT, "_source_table_")


def event(position: Any, time: Any, **members_: Any) -> Row:
    """What every row change of the table `orders` has in common."""
    return row_change(
        "datahub_tuple",
        position,
        {
            "source_type": None,
            "database_name": None,
            "table_name": "orders",
            "table_id": "orders",
            "key_columns": ["id"],
            "row_key": '{"id":1}',
            "column_types": None,
            "event_at": utc(time),
            "published_at": None,
            "checkpoint_at": None,
        },
        **members_,
    )


DTS = {"database_name": "shop", "table_id": "shop.orders"}
INSERT_EVENT = {"op": "insert", "source_op": "I", "after": A}
BEFORE_EVENT = {"record_type": "update_before", "source_op": "U", "before": A}
AFTER_EVENT = {"op": "update", "source_op": "U", "after": B}
DELETE_EVENT = {"op": "delete", "source_op": "D", "before": B}
PAIR = {"pairing_id": "datahub_tuple:orders:1649991610688000001"}
DTS_PAIR = {"pairing_id": "datahub_tuple:shop.orders:16:1565944878000:2143656811"}
DTS_AT = (16, 1565944878000)


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param(expected, id=name, marks=said(value))
        for name, value, expected in [
            # The table of the vendor's page.
            ("insert", INSERT, event(*INSERTED, **INSERT_EVENT)),
            ("update before", BEFORE, event(*UPDATED, **BEFORE_EVENT, **PAIR)),
            ("update after", AFTER, event(*UPDATED, **AFTER_EVENT, **PAIR)),
            ("delete", DELETE, event(*DELETED, **DELETE_EVENT)),
            *(
                (f"{dialect.__name__} {name}", dialect(*tuple_), event(*DTS_AT, **DTS, **expected))
                for dialect in (dts_old, dts)
                for name, tuple_, expected in [
                    ("insert", ("I", "NY", A), INSERT_EVENT),
                    ("update before", ("U", "YN", A), BEFORE_EVENT | DTS_PAIR),
                    ("update after", ("U", "NY", B), AFTER_EVENT | DTS_PAIR),
                    ("delete", ("D", "YN", B), DELETE_EVENT),
                ]
            ),
        ]
    ],
)
def test_a_row_change_of_every_dialect_is_read(row: Row, expected: Row) -> None:
    assert without_ids(row) == expected


#: name -> (reject code, message)
REJECTED = {
    "a repeated flag": ("malformed_json", json.dumps(INSERT)[:-1] + ', "_after_image_": "Y"}'),
    "an empty object": ("wrong_format", {}),
    "a row without metadata": ("wrong_format", A),
    "metadata in another case": ("wrong_format", {name.upper(): v for name, v in INSERT.items()}),
    **{
        f"no {name}": ("missing_field", without(INSERT, name))
        for name in INSERT
        if name.startswith("_") and name not in ("_excute_time_", "_source_table_")
    },
    **{
        f"no {name}": ("missing_field", without(dts_old("I", "NY", A), name))
        for name in without(dts_old("I", "NY", {}), "dts_utc_timestamp", "dts_instance_id")
    },
    "no new_dts_sync_dts_record_id": (
        "missing_field",
        without(dts("I", "NY", A), "new_dts_sync_dts_record_id"),
    ),
    "null as the table of dts": (
        "missing_field",
        {**dts_old("I", "NY", A), "dts_table_name": None},
    ),
    "a column with the prefix and without": ("malformed_json", {**dts_old("I", "NY", A), "id": 2}),
    "an empty table": ("missing_field", dataworks("I", "NY", A, table="")),
    "a lacking key column": ("missing_field", dataworks("I", "NY", {"name": "a"})),
    "another op": ("unknown_op", dataworks("R", "NY", A)),
    "an op in lower case": ("unknown_op", dataworks("i", "NY", A)),
    "an op in words": ("unknown_op", dataworks("INSERT", "NY", A)),
    "the name that the code table has for a half": (
        "unknown_op",
        dataworks("U (before image)", "YN", A),
    ),
    **{
        f"{op} with {flags}": ("missing_image", dataworks(op, flags, A))
        for op, all_flags in {
            "I": ("YN", "YY", "NN", "ny"),
            "U": ("YY", "NN"),
            "D": ("NY", "YY", "NN"),
        }.items()
        for flags in all_flags
    },
    "metadata only": ("missing_image", dataworks("I", "NY", {})),
    "a delete in the full load": ("missing_image", dataworks("D", "YN", A, "-1")),
    "a half in the full load": ("missing_image", dataworks("U", "YN", A, "-1")),
    "a sequence id of letters": ("bad_sequence", dataworks("I", "NY", A, "x")),
    "a negative sequence id": ("bad_sequence", dataworks("I", "NY", A, "-2")),
    "a sequence id that is too long": ("bad_sequence", dataworks("I", "NY", A, "1" * 39)),
    "a time in words": ("bad_timestamp", dataworks("I", "NY", A, time="2022-04-15 03:02:06")),
    "a time out of range": ("bad_timestamp", dataworks("I", "NY", A, time=10**18)),
    "a time in seconds": ("bad_timestamp", dataworks("I", "NY", A, time=1565944878)),
}
test_what_cannot_be_read_is_rejected = each_is_rejected(REJECTED)


@said(without(INSERT, "_sequence_id_"), dataworks("R", "NY", A), dataworks("I", "NY", A, "x"))
def test_a_reject_names_what_is_missing(rows: Rows) -> None:
    no_sequence_id, another_op, letters = (row["reject_reason"] for row in rows)
    assert no_sequence_id == "the tuple has no _sequence_id_"
    assert "`_operation_type_`: R" in another_op
    assert "`_sequence_id_`" in letters


@said(SNAPSHOT, dataworks("I", "NY", A, -1, -1))
def test_a_redelivered_row_of_the_full_load_has_the_event_id_of_the_first(rows: Rows) -> None:
    check_are_one_event(rows)


KEYLESS_INSERT = dataworks("I", "NY", {"b": 1, "a": None}, table="keyless")


@said(
    INSERT,
    dataworks("I", "NY", A, "1649991610688000009"),
    dataworks("I", "NY", A, *INSERTED, table="items"),
    BEFORE,
    AFTER,
    DELETE,
    SNAPSHOT,
    KEYLESS_INSERT,
    *[dataworks("I", "NY", A, "-1", table="keyless")] * 2,
    dts("I", "NY", A),
    dts("U", "YN", A),
    dts("U", "NY", B),
    dts("D", "YN", B),
)
def test_different_events_have_different_event_ids(rows: Rows) -> None:
    check_are_different_events(rows)
    assert len(rows) == 14


@said(
    *[dialect("U", "YN", A) for dialect in (dts_old, dts)],
    *[dialect("U", "NY", B) for dialect in (dts_old, dts)],
    dts("U", "YN", A, time=1565944878001),
    {**dts("U", "YN", A), "new_dts_sync_dts_instance_id": "of another task"},
    {**dts("U", "YN", A), "new_dts_sync_dts_instance_id": None},
)
def test_halves_of_two_dts_tasks_are_not_those_of_one_update(rows: Rows) -> None:
    of_one_task, others = rows[:4], rows[4:]
    assert {row["pairing_id"] for row in of_one_task} == {DTS_PAIR["pairing_id"]}
    assert len({row["pairing_id"] for row in [of_one_task[0], *others]}) == 4


@said(SNAPSHOT)
def test_a_row_of_the_full_load_is_a_snapshot(row: Row) -> None:
    assert members(row, "op", "source_op", "after", "event_at", "pairing_id") == (
        "snapshot",
        "I",
        A,
        None,
        None,
    )
    assert row["sequence"]["position"] == Decimal(-1)


@said(KEYLESS_INSERT)
def test_a_table_without_a_key_setting_is_keyless(row: Row) -> None:
    assert members(row, "key_columns", "row_key", "after") == (
        [],
        '{"a":null,"b":1}',
        {"a": None, "b": 1},
    )


@said(
    f'{{"_sequence_id_": {"1" * 38}, "_operation_type_": "I", "_source_table_": "keyless",'
    f' "_before_image_": "N", "_after_image_": "Y", "id": {BIG}, "text": "1.10",'
    ' "price": 12345678901234567890.0123456789}'
)
def test_values_are_exact_as_published(row: Row) -> None:
    # The key of a keyless table is its whole image as text.
    assert row["row_key"] == (
        f'{{"id":{BIG},"price":12345678901234567890.0123456789,"text":"1.10"}}'
    )
    assert row["sequence"]["position"] == Decimal("1" * 38)


@said(INSERT, dataworks("I", "NY", A, int(INSERTED[0]), int(INSERTED[1])))
def test_a_number_may_come_as_text_and_the_other_way_round(rows: Rows) -> None:
    texts, numbers = (members(row, "event_id", "event_at") for row in rows)
    assert numbers == (texts[0], utc(INSERTED[1]))


@said(
    {**without(INSERT, "_excute_time_"), "_execute_time_": INSERTED[1]},
    dataworks("I", "NY", A, time=-1),
    without(INSERT, "_excute_time_"),
)
def test_the_time_may_be_spelled_right_or_be_unknown(rows: Rows) -> None:
    assert [members(row, "event_at", "after") for row in rows] == [
        (utc(INSERTED[1]), A),
        (None, A),
        (None, A),
    ]


@said(dts_old("I", "NY", A, time="1565944878"))
def test_a_time_of_dts_may_be_in_seconds(row: Row) -> None:
    assert row["event_at"] == utc(1565944878000)


@said(without(dts_old("I", "NY", A), "dts_instance_id"))
def test_the_instance_is_not_needed(row: Row) -> None:
    assert members(row, "op", "after") == ("insert", A)


@said(
    dts("I", "NY", {**A, "dts_record_id": 7}),
    dataworks("I", "NY", {**A, "dts_db_name": "x"}),
)
def test_a_row_may_have_columns_named_as_the_metadata_of_another_dialect(rows: Rows) -> None:
    new_names, of_dataworks = rows
    assert members(new_names, "table_id", "after") == ("shop.orders", {**A, "dts_record_id": 7})
    assert members(of_dataworks, "table_id", "after") == ("orders", {**A, "dts_db_name": "x"})


OF_TWO_DIALECTS = dataworks("I", "NY", dts("D", "YN", A))


@pytest.mark.parametrize(
    ("table_id", "after"),
    [
        pytest.param(table_id, after, id=name, marks=said(value))
        for name, value, table_id, after in [
            ("dataworks, with dts in its row", OF_TWO_DIALECTS, "orders", dts("D", "YN", A)),
            (
                "dataworks, with the old dts in its row",
                dataworks("I", "NY", dts_old("D", "YN", A), table="keyless"),
                "keyless",
                dts_old("D", "YN", A),
            ),
            (
                "the old dts, with the new one in its row",
                dts_old("I", "NY", A | dts("D", "YN", {})),
                "shop.orders",
                A | dts("D", "YN", {}),
            ),
            (
                "the new dts, with some of dataworks in its row",
                {**dts("I", "NY", A), "_sequence_id_": "7", "_operation_type_": "x"},
                "shop.orders",
                {**A, "_sequence_id_": "7", "_operation_type_": "x"},
            ),
        ]
    ],
)
def test_a_tuple_is_of_the_first_dialect_whose_metadata_is_all_there(
    row: Row, table_id: str, after: Row
) -> None:
    assert members(row, "op", "table_id", "after") == ("insert", table_id, after)


@said(
    FIVE_COLUMNS,
    without(BEFORE, "_source_table_"),
    dataworks("I", "NY", A, table=None),
)
def test_a_topic_without_tables_in_its_tuples_is_one_table(rows: Rows) -> None:
    insert, before, null = rows
    assert members(insert, "op", "table_name", "table_id") == ("insert", "topic", "topic")
    assert members(insert, "row_key", "after") == ('{"id":1}', A)
    assert members(before, "record_type", "table_id", "before") == ("update_before", "topic", A)
    assert members(null, "table_id", "after") == ("topic", A)


@said(dataworks("I", "NY", {**A, "_execute_time_": "noon"}))
def test_of_both_spellings_of_the_time_the_other_one_is_a_column(row: Row) -> None:
    assert members(row, "event_at", "after") == (utc(UPDATED[1]), {**A, "_execute_time_": "noon"})


@said(dts_old("I", "NY", {**A, "dts_x": 1}), {**dts_old("I", "NY", A), "added_by": "etl"})
def test_only_the_prefix_of_the_old_dialect_is_taken_off(rows: Rows) -> None:
    assert [row["after"] for row in rows] == [{**A, "dts_x": 1}, {**A, "added_by": "etl"}]


# -- settings of topics ------------------------------------------------------------------------


@said(INSERT, topic="proj.named")
@said(INSERT, topic="proj.other")
@said(dts("I", "NY", A), topic="proj.dts")
def test_a_setting_names_the_database_of_a_topic(rows: Rows) -> None:
    of_topic = {row["topic"]: row for row in rows}
    named, other = of_topic["proj.named"], of_topic["proj.other"]
    assert members(named, "database_name", "table_id") == ("named", "named.orders")
    assert members(named, "key_columns", "row_key") == (["id"], '{"id":1}')
    assert members(other, "database_name", "table_id") == ("other", "other.orders")
    assert named["event_id"] != other["event_id"]
    assert of_topic["proj.dts"]["database_name"] == "shop"


@said(FIVE_COLUMNS, topic="proj.plain")
def test_a_table_is_named_by_the_last_part_of_its_topic(row: Row) -> None:
    assert members(row, "database_name", "table_id") == (None, "plain")


@said(OF_TWO_DIALECTS, topic="proj.new")
def test_a_setting_names_the_dialect_of_a_topic(row: Row) -> None:
    assert members(row, "op", "table_id") == ("delete", "shop.orders")
    assert row["before"] == {**A, **dataworks("I", "NY", {})}


@said(INSERT, topic="proj.incomplete")
def test_a_tuple_of_another_dialect_than_its_topic_s_is_rejected(row: Row) -> None:
    assert members(row, "record_type", "reject_code") == ("rejected", "missing_field")
    assert "dts_record_id" in row["reject_reason"]


def test_no_setting_is_an_empty_one() -> None:
    assert datahub_tuple.declared_topics(None) == datahub_tuple.declared_topics({}) == {}


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        (["proj.new"], "it is not a mapping"),
        ({"proj.new": "new"}, "the topic `proj.new` has new"),
        ({"proj.new": {"databases": "new"}}, "its settings are `database` and `dialect`"),
        ({"proj.new": {"database": ""}}, "the database of the topic `proj.new` is no name"),
        ({"proj.new": {"database": 1}}, "the database of the topic `proj.new` is no name: 1"),
        ({"proj.new": {"dialect": "dts"}}, "none of dataworks, dts_old, dts_new: dts"),
    ],
)
def test_a_setting_of_topics_that_cannot_be_read_says_what_is_wrong(
    topics: Any, message: str
) -> None:
    with pytest.raises(CompilationError) as error:
        datahub_tuple.check_topics(topics)
    assert "`vars: datahub_topics`" in str(error.value)
    assert message in str(error.value)


def test_settings_of_topics_may_be_left_out() -> None:
    for topics in (None, {}, {"t": {}}, {"t": {"database": "shop", "dialect": "dts_old"}}):
        datahub_tuple.check_topics(topics)
