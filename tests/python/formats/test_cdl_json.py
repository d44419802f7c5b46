"""CDL JSON: what its messages come to in staging."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from cdc_marts.formats import cdl_json
from tests.python.formats.connect import (
    PLACEHOLDER,
    backwards,
    changed,
    enveloped,
    schema_of,
    without,
)
from tests.python.formats.staging import LANDED_AT, LANDING_COMMIT, TOPIC_NUMBER, each_said, said

Row = dict[str, Any]
Rows = list[Row]

COLUMNS = {
    "count1": "int64",
    "id": "int32",
    "time1": ("int64", "org.apache.kafka.connect.data.Timestamp"),
    "decimalNum": ("string", "com.xxx.cdc.data.Decimal"),
}
DESCRIBED = {"unique": {"id": "int32"}, "data": COLUMNS, "before": COLUMNS}
ROW = {"count1": 13, "id": 34, "time1": None, "decimalNum": None}
OLD_ROW = {"count1": 12, "id": 34, "time1": 1707047996013, "decimalNum": "1.50"}
LSN, TX_ID = 163955221008, 57227595
ODD_KEYS = ["g`h", "a.b", "c d", 'e"f', "i'j", "列"]
ODD_ROW = {name: position for position, name in enumerate(ODD_KEYS)}
BIG = 9223372036854775807
BIGGER = 12345678901234567890123456789012345678
PARSE = partial(
    cdl_json.parse,
    key_settings={"public.ct_pg2hudi": ["count1"], "public.set": ["time1", "id"]},
)


def properties(**values: Any) -> dict[str, Any]:
    return {"properties": [{"name": name, "value": value} for name, value in values.items()]}


def payload(
    operation: str | None,
    data: Any = None,
    before: Any = None,
    lsn: Any = LSN,
    **values: Any,
) -> dict[str, Any]:
    return {
        "DATA_STORE": "POSTGRESQL",
        "SEG_OWNER": "public",
        "TABLE_NAME": "ct_pg2hudi",
        "TIMESTAMP": 1707047996013,
        "OPERATION": operation,
        "LOB_COLUMNS": None,
        "transaction": properties(lsn=lsn, txId=TX_ID),
        "unique": {"id": 34},
        "data": data,
        "before": before,
        "message_version": "1.0",
        "message_type": "0",
        "HEARTBEAT_IDENTIFIER": "279fb050-0143-45c1-b184-50bc48c2461c",
        **values,
    }


def message(operation: str, data: Any = None, before: Any = None, **values: Any) -> dict[str, Any]:
    return enveloped(payload(operation, data, before, **values), **DESCRIBED)


INSERT = payload("INSERT", ROW)
UPDATE = payload("UPDATE", ROW, OLD_ROW)
DELETE = payload("DELETE", before=ROW)
HEARTBEAT = payload(None, TABLE_NAME=None, unique=None, transaction=None)


@said(message("INSERT", ROW))
def test_the_example_of_the_vendor(row: Row) -> None:
    event = {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": "cdl_json",
        "topic": "topic",
        "partition": 0,
        "offset": row["offset"],
        "row_index": 0,
        "source_type": "postgresql",
        "database_name": None,
        "schema_name": "public",
        "table_name": "ct_pg2hudi",
        "table_id": "public.ct_pg2hudi",
        "op": "insert",
        "source_op": "INSERT",
        "key_columns": ["id"],
        "row_key": '{"id":34}',
        "previous_row_key": None,
        "before": None,
        "after": ROW,
        "unavailable_columns": [],
        "column_types": {
            "count1": "int64",
            "id": "int32",
            "time1": "org.apache.kafka.connect.data.Timestamp",
            "decimalNum": "com.xxx.cdc.data.Decimal",
        },
        "lob_columns": None,
        "event_at": dt.datetime(2024, 2, 4, 11, 59, 56, 13000),
        "published_at": None,
        "checkpoint_at": None,
        "landed_at": LANDED_AT,
        "landing_commit": LANDING_COMMIT,
        "transaction_id": "57227595",
        "sequence": {
            "position": Decimal(LSN),
            "transaction_index": TOPIC_NUMBER,
            "partition": 0,
            "offset": row["offset"],
            "row_index": 0,
        },
        "delivery_position": Decimal(LSN),
        "pairing_id": None,
        "ddl_text": None,
        "is_truncation": False,
        "table_changes": None,
        "lists_all_columns": True,
        "value": None,
    }
    assert event.items() <= row.items()
    assert len(row["event_id"]) == 32


@each_said({"enveloped": message("UPDATE", ROW, OLD_ROW), "bare": UPDATE})
def test_an_update_has_both_images(row: Row) -> None:
    assert (row["op"], row["source_op"]) == ("update", "UPDATE")
    assert (row["before"], row["after"]) == (OLD_ROW, ROW)
    assert (row["row_key"], row["previous_row_key"]) == ('{"id":34}', None)


@each_said({"enveloped": message("DELETE", before=ROW), "bare": DELETE})
def test_a_delete_has_the_row_in_before(row: Row) -> None:
    assert (row["op"], row["source_op"]) == ("delete", "DELETE")
    assert (row["before"], row["after"]) == (ROW, None)
    assert row["row_key"] == '{"id":34}'


@said(payload("INSERT", ROW, OLD_ROW), payload("DELETE", OLD_ROW, ROW))
def test_an_image_that_does_not_fit_the_operation_is_left_out(rows: Rows) -> None:
    insert, delete = rows
    assert (insert["op"], insert["before"]) == ("insert", None)
    assert (delete["op"], delete["after"]) == ("delete", None)


@each_said(
    {
        "whole old row": payload("UPDATE", ROW, {**ROW, "id": 33}),
        "old key only": payload("UPDATE", ROW, {"id": 33}),
    }
)
def test_the_old_key_comes_from_before(row: Row) -> None:
    assert (row["row_key"], row["previous_row_key"]) == ('{"id":34}', '{"id":33}')


WITHOUT_BEFORE = payload("UPDATE", ROW)


@each_said(
    {"no old row": WITHOUT_BEFORE, "half an old row": payload("UPDATE", ROW, {"count1": 12})}
)
def test_without_the_key_columns_in_before_the_key_has_not_changed(row: Row) -> None:
    assert (row["op"], row["previous_row_key"]) == ("update", None)


KEYLESS_INSERT = message("INSERT", ROW, unique={}, TABLE_NAME="keyless")
KEYLESS_UPDATE = payload("UPDATE", ROW, OLD_ROW, unique={}, TABLE_NAME="keyless")
COMPOSITE_KEY = payload("INSERT", ROW, unique={"time1": None, "id": 34, "count1": 13})
ODD_KEY = payload("INSERT", ODD_ROW, unique=ODD_ROW)
NULL_UNIQUE = payload("INSERT", ROW, unique=None, TABLE_NAME="keyless")


@pytest.mark.parametrize(
    "key_columns",
    [
        pytest.param(key_columns, id=name, marks=said(value))
        for name, value, key_columns in [
            ("bare insert", INSERT, ["id"]),
            ("composite key", COMPOSITE_KEY, ["time1", "id", "count1"]),
            ("odd key", ODD_KEY, ODD_KEYS),
            (
                "odd key in the schema",
                enveloped(
                    payload("INSERT", ODD_ROW, unique=None),
                    unique=dict.fromkeys(ODD_KEYS, "int32"),
                ),
                ODD_KEYS,
            ),
            ("null unique", message("DELETE", before=ROW, unique=None), ["id"]),
            ("null unique, no schema", NULL_UNIQUE, []),
            (
                "null unique, keyless schema",
                {"schema": schema_of(unique={}, data=COLUMNS), "payload": NULL_UNIQUE},
                [],
            ),
            ("null unique, set", changed(NULL_UNIQUE, TABLE_NAME="set"), ["time1", "id"]),
            ("empty unique", KEYLESS_INSERT, []),
            (
                "empty unique, set",
                message("INSERT", ROW, unique={}, TABLE_NAME="set"),
                ["time1", "id"],
            ),
        ]
    ],
)
def test_the_key_is_unique_s_else_the_schema_s_else_the_project_s(
    row: Row, key_columns: list[str]
) -> None:
    assert row["key_columns"] == key_columns


@said(COMPOSITE_KEY, payload("INSERT", {**ROW, "id": "a"}, unique={"id": 1}), ODD_KEY)
def test_a_row_key_has_the_values_of_the_image_in_the_order_of_the_key(rows: Rows) -> None:
    composite, from_image, odd = (row["row_key"] for row in rows)
    assert composite == '{"time1":null,"id":34,"count1":13}'
    assert from_image == '{"id":"a"}'
    assert list(json.loads(odd).items()) == list(ODD_ROW.items())


@said(KEYLESS_INSERT, KEYLESS_UPDATE)
def test_the_key_of_a_keyless_table_is_the_whole_image(rows: Rows) -> None:
    insert, update = rows
    key = '{"count1":13,"decimalNum":null,"id":34,"time1":null}'
    assert insert["row_key"] == update["row_key"] == key
    assert json.loads(update["previous_row_key"]) == OLD_ROW


TEXT_LSN = payload("INSERT", ROW, lsn=str(LSN))


@said(
    TEXT_LSN,
    payload("INSERT", ROW, transaction=properties(other="x", txId="77", lsn=LSN)),
    payload("INSERT", ROW, transaction=properties(lsn=LSN)),
)
def test_the_lsn_may_be_text_and_stand_anywhere(rows: Rows) -> None:
    assert [row["sequence"]["position"] for row in rows] == [LSN] * 3
    assert [row["transaction_id"] for row in rows] == [str(TX_ID), "77", None]


@said(
    payload("INSERT", ROW, lsn=18446744073709551615),
    payload("INSERT", {"id": BIG, "n": BIGGER}),
)
def test_numbers_are_exact(rows: Rows) -> None:
    large_lsn, large_numbers = rows
    assert large_lsn["sequence"]["position"] == 18446744073709551615
    assert large_numbers["after"] == {"id": BIG, "n": BIGGER}
    assert large_numbers["row_key"] == f'{{"id":{BIG}}}'


DELETE_OF_KEY = message("DELETE", before={"id": 34})


@said(
    message("INSERT", {"id": 34, "count1": None}),
    message("UPDATE", {"id": 34, "count1": 1}, OLD_ROW),
    DELETE_OF_KEY,
)
def test_a_column_of_the_schema_that_the_image_lacks_is_unavailable(rows: Rows) -> None:
    insert, update, delete = rows
    assert insert["unavailable_columns"] == ["time1", "decimalNum"]
    assert insert["after"] == {"id": 34, "count1": None}
    assert update["unavailable_columns"] == ["time1", "decimalNum"]
    assert delete["unavailable_columns"] == ["count1", "time1", "decimalNum"]


@said(message("UPDATE", ROW, {"id": 34}))
def test_what_only_the_image_before_lacks_is_available(row: Row) -> None:
    assert row["unavailable_columns"] == []
    assert row["before"] == {"id": 34}


@said(payload("UPDATE", {"id": 34, "note": PLACEHOLDER, "count1": 1}))
def test_a_placeholder_is_unavailable(row: Row) -> None:
    assert row["unavailable_columns"] == ["note"]
    assert row["after"] == {"id": 34, "count1": 1}


@said(
    payload("INSERT", ROW, LOB_COLUMNS="note,photo"),
    payload("INSERT", ROW, LOB_COLUMNS=["note", "photo"]),
)
def test_large_objects_are_listed(rows: Rows) -> None:
    assert [row["lob_columns"] for row in rows] == ["note,photo", '["note","photo"]']


@said(payload("INSERT", ROW, TIMESTAMP=-1), without(INSERT, "TIMESTAMP"))
def test_an_unknown_time_is_null(rows: Rows) -> None:
    assert [(row["op"], row["event_at"]) for row in rows] == [("insert", None)] * 2


@said(payload("INSERT", ROW, SEG_OWNER=None, DATA_STORE=None))
def test_what_the_format_does_not_need_may_be_missing(row: Row) -> None:
    assert (row["source_type"], row["schema_name"], row["table_id"]) == (None, None, "ct_pg2hudi")


@said({**INSERT, "op": {"x": 1}, "ts_ms": 3, "source": [1]})
def test_members_that_the_format_does_not_know_are_ignored(row: Row) -> None:
    assert row["after"] == ROW


@each_said(
    {
        "number": payload("INSERT", ROW, message_version=1.0),
        "whole number": payload("INSERT", ROW, message_version=1),
        "text without a point": payload("INSERT", ROW, message_version="1"),
    }
)
def test_the_version_may_be_a_number(row: Row) -> None:
    assert row["record_type"] == "change"


@said(
    message("INSERT", ROW),
    message("UPDATE", ROW, OLD_ROW),
    message("DELETE", before=ROW),
    DELETE_OF_KEY,
)
def test_a_message_with_a_schema_lists_all_columns(rows: Rows) -> None:
    assert [row["lists_all_columns"] for row in rows] == [True] * 4


@said(INSERT, UPDATE, DELETE)
def test_a_message_without_a_schema_lists_them_where_it_inserts(rows: Rows) -> None:
    assert [row["lists_all_columns"] for row in rows] == [True, False, False]


@each_said(
    {
        "heartbeat": HEARTBEAT,
        "with little": {"message_version": "1.0", "HEARTBEAT_IDENTIFIER": "x"},
        "without a version": {"HEARTBEAT_IDENTIFIER": "x", "TIMESTAMP": 1707047996013},
        "by its type": payload("INSERT", ROW, message_type="HEARTBEAT"),
        "that names a table": payload(None),
        "without a table": payload("INSERT", TABLE_NAME=None),
        "enveloped": enveloped(HEARTBEAT),
    }
)
def test_a_message_about_no_row_with_an_identifier_is_a_heartbeat(row: Row) -> None:
    assert (row["record_type"], row["reject_code"]) == ("heartbeat", None)
    assert row["event_id"] is None and row["op"] is None and row["row_key"] is None


@said(HEARTBEAT)
def test_a_heartbeat_keeps_what_it_knows(row: Row) -> None:
    assert (row["source_type"], row["schema_name"]) == ("postgresql", "public")
    assert row["event_at"] == dt.datetime(2024, 2, 4, 11, 59, 56, 13000)


@pytest.mark.parametrize(
    "op",
    [
        pytest.param(op, marks=said(*redeliveries))
        for op, redeliveries in {
            "insert": (message("INSERT", ROW), INSERT, json.dumps(INSERT, indent=1), TEXT_LSN),
            "update": (
                message("UPDATE", ROW, OLD_ROW),
                UPDATE,
                changed(UPDATE, TIMESTAMP=1707047999999),
                backwards(UPDATE),
            ),
            "delete": (message("DELETE", before=ROW), DELETE),
        }.items()
    ],
)
def test_a_redelivered_event_has_the_same_identity(rows: Rows, op: str) -> None:
    first, *again = [(row["op"], row["event_id"]) for row in rows]
    assert first[0] == op
    assert again == [first] * len(again)


@said(
    message("INSERT", ROW),
    message("UPDATE", ROW, OLD_ROW),
    message("DELETE", before=ROW),
    payload("UPDATE", {**ROW, "count1": 15}, OLD_ROW),
    payload("UPDATE", {"id": 34, "count1": None, "note": "null"}),
    payload("UPDATE", {"id": 34, "count1": "null", "note": None}),
    payload("UPDATE", ROW, {**OLD_ROW, "count1": 11}),
    WITHOUT_BEFORE,
    payload("INSERT", ROW, lsn=LSN + 1),
    payload("INSERT", {**ROW, "id": 35}),
    payload("INSERT", ROW, TABLE_NAME="t2"),
    KEYLESS_INSERT,
    KEYLESS_UPDATE,
)
def test_other_events_have_other_identities(rows: Rows) -> None:
    ids = {row["event_id"] for row in rows}
    assert None not in ids
    assert len(ids) == len(rows) == 13


@each_said(
    {
        "no schema": {"payload": None, "schema": None},
        "schema": enveloped(None, **DESCRIBED),
    }
)
def test_a_tombstone_is_kept_as_one(row: Row) -> None:
    assert (row["record_type"], row["reject_code"], row["event_id"]) == ("tombstone", None, None)


#: name -> (reject code, message)
REJECTED = {
    "column twice": ("malformed_json", json.dumps(INSERT).replace("count1", "id")),
    "transaction is text": ("malformed_json", payload("INSERT", ROW, transaction="x")),
    "other version": ("wrong_format", payload("INSERT", ROW, message_version="2.0")),
    "other version as a number": ("wrong_format", payload("INSERT", ROW, message_version=2)),
    "unknown version": ("wrong_format", payload("INSERT", ROW, message_version="1.1")),
    "other version of a heartbeat": ("wrong_format", changed(HEARTBEAT, message_version="2.0")),
    "other format": (
        "wrong_format",
        {"op": "c", "after": ROW, "source": {"table": "t", "lsn": 1}, "message_version": "2.0"},
    ),
    "no version": ("missing_field", without(INSERT, "message_version")),
    "no members": ("missing_field", {}),
    "schema only": ("missing_field", {"schema": schema_of()}),
    "no operation": ("missing_field", without(INSERT, "OPERATION")),
    "image that is no row, no operation": ("missing_field", payload(None, "oops")),
    "image that is no row, no table": (
        "missing_field",
        payload("INSERT", "oops", TABLE_NAME=None),
    ),
    "no operation, no identifier": ("missing_field", payload(None, HEARTBEAT_IDENTIFIER=None)),
    "no table": ("missing_field", without(INSERT, "TABLE_NAME")),
    "no transaction": ("missing_field", without(INSERT, "transaction")),
    "no lsn": ("missing_field", payload("INSERT", ROW, transaction=properties(txId=1))),
    "null lsn": ("missing_field", payload("INSERT", ROW, lsn=None)),
    "key column missing": ("missing_field", payload("INSERT", {"count1": 1})),
    "unavailable key column": ("missing_field", payload("UPDATE", {**ROW, "id": PLACEHOLDER})),
    "lower case operation": ("unknown_op", payload("insert", ROW)),
    "truncate": ("unknown_op", payload("TRUNCATE")),
    "time is a date": ("bad_timestamp", payload("INSERT", ROW, TIMESTAMP="2024-02-04")),
    "time in seconds": ("bad_timestamp", payload("INSERT", ROW, TIMESTAMP=1707047996)),
    "time is too large": ("bad_timestamp", payload("INSERT", ROW, TIMESTAMP=BIG)),
    "lsn is text": ("bad_sequence", payload("INSERT", ROW, lsn="0/26B7F1A8")),
    "lsn is empty": ("bad_sequence", payload("INSERT", ROW, lsn="")),
    "lsn is a fraction": ("bad_sequence", payload("INSERT", ROW, lsn=1.5)),
    "lsn is negative": ("bad_sequence", payload("INSERT", ROW, lsn=-1)),
    "lsn is too large": ("bad_sequence", payload("INSERT", ROW, lsn="9" * 39)),
    "insert without data": ("missing_image", payload("INSERT", None, ROW)),
    "update without data": ("missing_image", payload("UPDATE", None, ROW)),
    "update with empty data": ("missing_image", payload("UPDATE", {}, ROW)),
    "delete without before": ("missing_image", payload("DELETE", ROW)),
    "image is text": ("missing_image", payload("INSERT", "x")),
    "image is an array": ("missing_image", payload("UPDATE", ROW, [ROW])),
}


@pytest.mark.parametrize(
    "reject_code",
    [pytest.param(code, id=name, marks=said(value)) for name, (code, value) in REJECTED.items()],
)
def test_what_cannot_be_read_is_rejected_whole(row: Row, reject_code: str) -> None:
    assert (row["record_type"], row["reject_code"]) == ("rejected", reject_code)
    assert row["reject_reason"]
    assert row["value"] is not None
    assert row["op"] is None and row["after"] is None and row["table_id"] is None
