"""Lindorm: what its Debezium messages come to in staging."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from cdc_marts.formats import lindorm_debezium
from tests.python.formats.connect import PLACEHOLDER, backwards, changed, enveloped, without
from tests.python.formats.staging import (
    LANDED_AT,
    LANDING_COMMIT,
    check_are_different_events,
    check_are_one_event,
    each_is_rejected,
    each_said,
    said,
)

Row = dict[str, Any]
Rows = list[Row]

COLUMNS = {"id": "string", "first_name": "string", "last_name": "string"}
SOURCE = {
    "version": "v1.0",
    "db": "ld-xxxx",
    "namespace": "default",
    "table": "customers",
    "ts_ms": 1465491411807,
}
ANNE_MARIE = {"id": "1004", "first_name": "Anne Marie", "last_name": "Kretchmar"}
ANNE = {"id": "1004", "first_name": "Anne", "last_name": "Kretchmar"}
NO_LAST_NAME = {"id": "1004", "first_name": "Anne Marie"}
KEY = {"id": "1004"}
ODD_KEYS = ["g`h", "a.b", "c d", 'e"f', "i'j", "列"]
ODD_ROW = {name: position for position, name in enumerate(ODD_KEYS)}
BIG = 9223372036854775807
BIGGER = 12345678901234567890123456789012345678
PARSE = partial(
    lindorm_debezium.parse,
    key_settings={
        "ld-xxxx.default.set": ["last_name", "id"],
        "ld-xxxx.default.customers": ["first_name"],
    },
)


def payload(op: str, before: Any = None, after: Any = None, **source: Any) -> dict[str, Any]:
    return {
        "op": op,
        "ts_ms": 1465491411815,
        "before": before,
        "after": after,
        "source": {**SOURCE, **source},
    }


def message(op: str, before: Any = None, after: Any = None, **source: Any) -> dict[str, Any]:
    images = {"before": COLUMNS, "after": COLUMNS}
    return enveloped(payload(op, before, after, **source), **images)


INSERT = payload("c", after=ANNE)
UPDATE = payload("u", ANNE_MARIE, ANNE)


def expected(source_op: str, op: str, **columns: Any) -> dict[str, Any]:
    """What all events of the vendor's examples have, and what is the example's own."""
    return {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": "lindorm_debezium",
        "topic": "topic",
        "partition": 0,
        "row_index": 0,
        "source_type": "lindorm",
        "database_name": "ld-xxxx",
        "schema_name": "default",
        "table_name": "customers",
        "table_id": "ld-xxxx.default.customers",
        "op": op,
        "source_op": source_op,
        "key_columns": ["id"],
        "row_key": '{"id":"1004"}',
        "previous_row_key": None,
        "before": None,
        "after": None,
        "unavailable_columns": [],
        "column_types": COLUMNS,
        "lob_columns": None,
        "event_at": dt.datetime(2016, 6, 9, 16, 56, 51, 807000),
        "published_at": dt.datetime(2016, 6, 9, 16, 56, 51, 815000),
        "checkpoint_at": None,
        "landed_at": LANDED_AT,
        "landing_commit": LANDING_COMMIT,
        "transaction_id": None,
        "pairing_id": None,
        "ddl_text": None,
        "value": None,
        **columns,
    }


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(event, id=name, marks=said(value, key=KEY))
        for name, value, event in [
            ("insert", message("c", after=ANNE), expected("c", "insert", after=ANNE)),
            (
                "update",
                message("u", ANNE_MARIE, ANNE),
                expected("u", "update", before=ANNE_MARIE, after=ANNE),
            ),
            ("delete", message("d", ANNE_MARIE), expected("d", "delete", before=ANNE_MARIE)),
            (
                "delete of a column",
                message("d", ANNE_MARIE, NO_LAST_NAME),
                expected("d", "update", before=ANNE_MARIE, after=NO_LAST_NAME),
            ),
            ("snapshot", message("r", after=ANNE), expected("r", "snapshot", after=ANNE)),
        ]
    ],
)
def test_the_examples_of_the_vendor(row: Row, event: Row) -> None:
    assert event.items() <= row.items()
    assert row["sequence"]["position"] == Decimal(1465491411807)


@said(payload("d", ANNE_MARIE, {}), key=KEY)
def test_a_delete_with_an_empty_image_after_is_a_delete_of_the_row(row: Row) -> None:
    assert (row["op"], row["before"], row["after"]) == ("delete", ANNE_MARIE, None)


@said(payload("c", ANNE_MARIE, ANNE), key=KEY)
def test_an_image_that_does_not_fit_the_operation_is_left_out(row: Row) -> None:
    assert (row["op"], row["before"], row["after"]) == ("insert", None, ANNE)


WITHOUT_BEFORE = payload("u", after=ANNE)


@said(WITHOUT_BEFORE, key=KEY)
def test_an_update_may_have_no_image_before(row: Row) -> None:
    assert (row["op"], row["before"], row["after"]) == ("update", None, ANNE)
    assert row["previous_row_key"] is None


@said(payload("u", ANNE, {**ANNE, "id": "1005"}), key=KEY)
def test_an_update_of_a_key_keeps_the_key_before(row: Row) -> None:
    assert row["row_key"] == '{"id":"1005"}'
    assert row["previous_row_key"] == '{"id":"1004"}'


@said(payload("u", ANNE, {"id": "1004", "age": 7}), key=KEY)
def test_columns_that_an_image_lacks_are_not_unavailable(row: Row) -> None:
    assert (row["after"], row["unavailable_columns"]) == ({"id": "1004", "age": 7}, [])


@said(message("c", after=ANNE), message("d", ANNE_MARIE, NO_LAST_NAME), {}, key=KEY)
def test_no_row_of_any_test_lists_all_columns_or_has_unavailable_ones(rows_of_module: Rows) -> None:
    assert {row["lists_all_columns"] for row in rows_of_module} == {False, None}
    assert [row for row in rows_of_module if row["unavailable_columns"]] == []


@said(message("c", after={**KEY, "first_name": None}), key=KEY)
def test_a_column_that_is_null_stays_in_the_image(row: Row) -> None:
    assert row["after"] == {"id": "1004", "first_name": None}


@said(payload("c", after={**KEY, "note": PLACEHOLDER}), key=KEY)
def test_a_placeholder_of_other_formats_is_a_value(row: Row) -> None:
    assert row["after"] == {"id": "1004", "note": PLACEHOLDER}


@said(INSERT, message("c", after=ANNE), key=KEY)
def test_a_bare_payload_reads_as_the_enveloped_one_without_types(rows: Rows) -> None:
    bare, envelope = map(dict, rows)
    assert bare["op"] == "insert"
    assert bare["column_types"] is None and bare["schema_id"] is None
    differing = ("column_types", "column_parameters", "schema_id", "sequence", "offset")
    for row in (bare, envelope):
        for column in differing:
            row.pop(column)
    assert bare == envelope


@said({"op": "c", "after": ANNE, "source": {"table": "t", "ts_ms": 1465491411807}}, key=KEY)
def test_what_the_format_does_not_need_may_be_missing(row: Row) -> None:
    assert (row["record_type"], row["table_id"]) == ("change", "t")
    assert row["database_name"] is None and row["schema_name"] is None
    assert row["published_at"] is None


@said(
    INSERT,
    {**changed(INSERT, source__host="h"), "transaction": {"id": [1]}, "extra": {"op": 1}},
    key=KEY,
)
def test_members_that_the_format_does_not_know_are_ignored(rows: Rows) -> None:
    insert, with_more = rows
    assert with_more["after"] == ANNE
    assert with_more["event_id"] == insert["event_id"]


@said(changed(INSERT, ts_ms="1465491411815", source__ts_ms="1465491411807"), key=KEY)
def test_times_may_come_as_text(row: Row) -> None:
    assert row["event_at"] == dt.datetime(2016, 6, 9, 16, 56, 51, 807000)
    assert row["published_at"] == dt.datetime(2016, 6, 9, 16, 56, 51, 815000)
    assert row["sequence"]["position"] == 1465491411807


@said(changed(INSERT, ts_ms=-1), key=KEY)
def test_an_unknown_time_is_null(row: Row) -> None:
    assert (row["op"], row["published_at"]) == ("insert", None)


SNAPSHOT_WITHOUT_TIME = without(payload("r", after=ANNE), "source__ts_ms")


@each_said(
    {"no time": SNAPSHOT_WITHOUT_TIME, "an unknown time": payload("r", after=ANNE, ts_ms=-1)},
    key=KEY,
)
def test_a_snapshot_without_a_time_sorts_before_everything(row: Row) -> None:
    assert (row["op"], row["event_at"], row["sequence"]["position"]) == ("snapshot", None, None)


@said(payload("c", after={**KEY, "big": BIG, "bigger": BIGGER}), key=KEY)
def test_numbers_are_exact(row: Row) -> None:
    assert row["after"] == {"id": "1004", "big": BIG, "bigger": BIGGER}


#: Columns of an image that its schema does not list.
NOT_LISTED = {"first_name": None, "last_name": None}


@said(
    enveloped(
        INSERT,
        before={"id": "string"},
        after={"id": "string", "at": ("int64", "org.apache.kafka.connect.data.Timestamp")},
    ),
    key=KEY,
)
def test_column_types_are_the_semantic_ones_where_there_are_any(row: Row) -> None:
    assert row["column_types"] == {
        "id": "string",
        "at": "org.apache.kafka.connect.data.Timestamp",
        **NOT_LISTED,
    }


@said(enveloped(payload("d", ANNE), before={"id": "string"}), key=KEY)
def test_column_types_come_from_the_image_that_the_schema_has(row: Row) -> None:
    assert row["column_types"] == {"id": "string", **NOT_LISTED}


IN_TABLE_NOT_SET = payload("c", after=ANNE, table="not_set")
IN_TABLE_SET = payload("c", after=ANNE, table="set")
KEYLESS_INSERT = payload("c", after=ANNE, table="keyless")
ODD_INSERT = payload("c", after=ODD_ROW)


@pytest.mark.parametrize(
    "key_columns",
    [
        pytest.param(key_columns, id=name, marks=said(value, key=key))
        for name, key, value, key_columns in [
            ("key", KEY, INSERT, ["id"]),
            (
                "key with a schema",
                enveloped({"id": 1, "first_name": 2}),
                INSERT,
                ["first_name", "id"],
            ),
            ("key with an empty schema", {"schema": None, "payload": {"id": 1}}, INSERT, ["id"]),
            (
                "key with a schema without a type",
                {"schema": {}, "payload": {"id": 1}},
                INSERT,
                ["id"],
            ),
            ("odd key", dict.fromkeys(ODD_KEYS, 0), ODD_INSERT, sorted(ODD_KEYS)),
            (
                "odd key with a schema",
                enveloped(dict.fromkeys(ODD_KEYS, 0)),
                ODD_INSERT,
                sorted(ODD_KEYS),
            ),
            (
                "key with a column named payload",
                {"payload": 1, "schema": 2},
                payload("c", after={"schema": "a", "payload": "b"}),
                ["payload", "schema"],
            ),
            ("no key", None, INSERT, ["first_name"]),
            ("no key, set", None, IN_TABLE_SET, ["last_name", "id"]),
            ("no key, not set", None, KEYLESS_INSERT, []),
            ("empty key", {}, IN_TABLE_SET, ["last_name", "id"]),
            ("text key", "1004", IN_TABLE_SET, ["last_name", "id"]),
            (
                "text key with a schema",
                {"schema": {"type": "string"}, "payload": "1004"},
                IN_TABLE_SET,
                ["last_name", "id"],
            ),
            ("bytes key", b"\xff\xfe\x00{", IN_TABLE_SET, ["last_name", "id"]),
            ("cut off key", '{"id":', IN_TABLE_SET, ["last_name", "id"]),
            ("array key", [1], IN_TABLE_SET, ["last_name", "id"]),
            ("key of other names", {"rowkey": 1}, INSERT, ["first_name"]),
            ("key of another name too", {"id": 1, "rowkey": 1}, INSERT, ["first_name"]),
            ("key of other names, not set", {"rowkey": 1}, IN_TABLE_NOT_SET, []),
            ("key of the row before", KEY, payload("d", ANNE, table="not_set"), ["id"]),
            ("text behind the key", '{"id":1} x', IN_TABLE_NOT_SET, []),
            ("object behind the key", '{"id":1}{"id":2}', IN_TABLE_NOT_SET, []),
            ("key and an array", '{"id":1}],[{"id":2}', IN_TABLE_NOT_SET, []),
            ("key that repeats a name", '{"id":1,"id":2}', IN_TABLE_NOT_SET, []),
            ("key in single quotes", "{'id':1}", IN_TABLE_NOT_SET, []),
        ]
    ],
)
def test_the_key_is_the_record_key_s_else_the_project_s(row: Row, key_columns: list[str]) -> None:
    assert row["key_columns"] == key_columns


@pytest.mark.parametrize(
    "row_key",
    [
        pytest.param(
            {"last_name": "Kretchmar", "id": "1004"}, id="no key", marks=said(IN_TABLE_SET)
        ),
        pytest.param(
            {"first_name": "Anne", "id": "1004"},
            id="key with a schema",
            marks=said(INSERT, key=enveloped({"id": 1, "first_name": 2})),
        ),
        pytest.param(
            dict(sorted(ODD_ROW.items())),
            id="odd key",
            marks=said(ODD_INSERT, key=dict.fromkeys(ODD_KEYS, 0)),
        ),
    ],
)
def test_a_row_key_has_the_values_of_the_image_in_the_order_of_the_key(
    row: Row, row_key: dict[str, Any]
) -> None:
    assert row["row_key"] == json.dumps(row_key, ensure_ascii=False, separators=(",", ":"))


@pytest.mark.parametrize(
    (),
    [
        pytest.param(id=name, marks=said(payload("c", after={"b": 2, "a": 1}), key=key))
        for name, key in {
            "b and a": {"b": 2, "a": 1},
            "a and b": '{"a": 1, "b": 2}',
            "schema": enveloped({"b": 2, "a": 1}),
        }.items()
    ],
)
def test_the_order_of_names_in_a_record_key_makes_no_other_key(row: Row) -> None:
    assert row["key_columns"] == ["a", "b"]
    assert row["row_key"] == '{"a":1,"b":2}'


KEYLESS_DELETE = payload("d", ANNE, table="keyless")


@said(KEYLESS_INSERT, KEYLESS_DELETE, payload("u", ANNE, ANNE_MARIE, table="keyless"))
def test_the_key_of_a_keyless_table_is_the_whole_image(rows: Rows) -> None:
    insert, delete, update = rows
    anne = '{"first_name":"Anne","id":"1004","last_name":"Kretchmar"}'
    assert insert["row_key"] == delete["row_key"] == update["previous_row_key"] == anne
    assert update["row_key"] == anne.replace("Anne", "Anne Marie")


@pytest.mark.parametrize(
    "op",
    [
        pytest.param(
            "insert",
            marks=said(message("c", after=ANNE), INSERT, json.dumps(INSERT, indent=2), key=KEY),
        ),
        pytest.param(
            "update",
            marks=said(message("u", ANNE_MARIE, ANNE), UPDATE, backwards(UPDATE), key=KEY),
        ),
    ],
)
def test_a_redelivered_event_has_the_same_identity(rows: Rows, op: str) -> None:
    check_are_one_event(rows)
    assert {row["op"] for row in rows} == {op}


@said(
    message("c", after=ANNE),
    message("u", ANNE_MARIE, ANNE),
    message("d", ANNE_MARIE),
    message("d", ANNE_MARIE, NO_LAST_NAME),
    message("r", after=ANNE),
    SNAPSHOT_WITHOUT_TIME,
    WITHOUT_BEFORE,
    payload("c", after=ANNE, ts_ms=1465491411808),
    payload("c", after=ANNE_MARIE),
    payload("c", after=ANNE, table="clients"),
    key=KEY,
)
@said(KEYLESS_INSERT, KEYLESS_DELETE)
def test_other_events_have_other_identities(rows: Rows) -> None:
    check_are_different_events(rows)
    assert len(rows) == 12


#: name -> (reject code, message)
REJECTED = {
    "payload is text": ("malformed_json", {"payload": "x"}),
    "no members": ("missing_field", {}),
    "schema only": ("missing_field", {"schema": enveloped(None)["schema"]}),
    "no op": ("missing_field", without(INSERT, "op")),
    "null op": ("missing_field", payload(None, after=ANNE)),
    "no source": ("missing_field", without(INSERT, "source")),
    "no table": ("missing_field", without(INSERT, "source__table")),
    "empty table": ("missing_field", payload("c", after=ANNE, table="")),
    "no time": ("missing_field", without(INSERT, "source__ts_ms")),
    "upper case op": ("unknown_op", payload("C", after=ANNE)),
    "truncate": ("unknown_op", payload("t")),
    "time is text": ("bad_timestamp", payload("c", after=ANNE, ts_ms="yesterday")),
    "time is a fraction": ("bad_timestamp", payload("c", after=ANNE, ts_ms=1.5)),
    "time is too large": ("bad_timestamp", payload("c", after=ANNE, ts_ms=BIG)),
    "time in seconds": ("bad_timestamp", payload("c", after=ANNE, ts_ms=1465491411)),
    "snapshot's time in seconds": ("bad_timestamp", payload("r", after=ANNE, ts_ms=1465491411)),
    "time is zero": ("bad_timestamp", payload("c", after=ANNE, ts_ms=0)),
    "write time in seconds": ("bad_timestamp", changed(INSERT, ts_ms=1465491411)),
    "unknown time": ("bad_sequence", payload("u", ANNE_MARIE, ANNE, ts_ms=-1)),
    "insert without an image": ("missing_image", payload("c", ANNE)),
    "snapshot without an image": ("missing_image", payload("r")),
    "update without after": ("missing_image", payload("u", ANNE)),
    "update with an empty image": ("missing_image", payload("u", ANNE, {})),
    "delete without an image": ("missing_image", payload("d")),
    "delete with after only": ("missing_image", payload("d", None, ANNE)),
    "image is text": ("missing_image", payload("c", after="x")),
    "image is an array": ("missing_image", payload("u", [1], ANNE)),
}
test_what_cannot_be_read_is_rejected = each_is_rejected(REJECTED, key=KEY)
