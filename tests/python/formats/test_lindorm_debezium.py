"""Lindorm: what its Debezium messages come to in staging."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.formats import lindorm_debezium
from tests.python.formats.connect import PLACEHOLDER, backwards, changed, enveloped, without
from tests.python.formats.staging import LANDED_AT, LANDING_COMMIT, staged

Rows = dict[str, dict[str, Any]]

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
#: Columns of an image that its schema does not list.
NOT_LISTED = {"first_name": None, "last_name": None}
TWO_KEYS = {"b": 2, "a": 1}
ODD_KEYS = ["g`h", "a.b", "c d", 'e"f', "i'j", "列"]
ODD_ROW = {name: position for position, name in enumerate(ODD_KEYS)}
BIG = 9223372036854775807
BIGGER = 12345678901234567890123456789012345678
SETTINGS = {"ld-xxxx.default.set": ["last_name", "id"], "ld-xxxx.default.customers": ["first_name"]}
NOT_SET = "not_set"


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

#: name -> (record key, message)
READ = {
    "vendor insert": (KEY, message("c", after=ANNE)),
    "vendor update": (KEY, message("u", ANNE_MARIE, ANNE)),
    "vendor delete": (KEY, message("d", ANNE_MARIE)),
    "vendor delete of a column": (KEY, message("d", ANNE_MARIE, NO_LAST_NAME)),
    "snapshot": (KEY, message("r", after=ANNE)),
    "snapshot without a time": (KEY, without(payload("r", after=ANNE), "source__ts_ms")),
    "snapshot of an unknown time": (KEY, payload("r", after=ANNE, ts_ms=-1)),
    "insert with an image before": (KEY, payload("c", ANNE_MARIE, ANNE)),
    "delete with an empty image after": (KEY, payload("d", ANNE_MARIE, {})),
    "update without before": (KEY, payload("u", after=ANNE)),
    "update of a key": (KEY, payload("u", ANNE, {**ANNE, "id": "1005"})),
    "update of another row": (KEY, payload("u", ANNE, {"id": "1004", "age": 7})),
    "bare": (KEY, INSERT),
    "bare, again": (KEY, json.dumps(INSERT, indent=2)),
    "bare, a millisecond later": (KEY, payload("c", after=ANNE, ts_ms=1465491411808)),
    "bare, another image": (KEY, payload("c", after=ANNE_MARIE)),
    "bare, another table": (KEY, payload("c", after=ANNE, table="clients")),
    "bare, times as text": (
        KEY,
        changed(INSERT, ts_ms="1465491411815", source__ts_ms="1465491411807"),
    ),
    "update, again": (KEY, UPDATE),
    "update, backwards": (KEY, backwards(UPDATE)),
    "without optional members": (
        KEY,
        {"op": "c", "after": ANNE, "source": {"table": "t", "ts_ms": 1465491411807}},
    ),
    "more members": (
        KEY,
        {**changed(INSERT, source__host="h"), "transaction": {"id": [1]}, "extra": {"op": 1}},
    ),
    "unknown write time": (KEY, changed(INSERT, ts_ms=-1)),
    "large numbers": (KEY, payload("c", after={**KEY, "big": BIG, "bigger": BIGGER})),
    "null column": (KEY, message("c", after={**KEY, "first_name": None})),
    "placeholder": (KEY, payload("c", after={**KEY, "note": PLACEHOLDER})),
    "semantic types": (
        KEY,
        enveloped(
            INSERT,
            before={"id": "string"},
            after={"id": "string", "at": ("int64", "org.apache.kafka.connect.data.Timestamp")},
        ),
    ),
    "types of a delete": (KEY, enveloped(payload("d", ANNE), before={"id": "string"})),
    "key with a schema": (enveloped({"id": 1, "first_name": 2}), INSERT),
    "key with an empty schema": ({"schema": None, "payload": {"id": 1}}, INSERT),
    "key with a schema without a type": ({"schema": {}, "payload": {"id": 1}}, INSERT),
    "odd key": (dict.fromkeys(ODD_KEYS, 0), payload("c", after=ODD_ROW)),
    "odd key with a schema": (enveloped(dict.fromkeys(ODD_KEYS, 0)), payload("c", after=ODD_ROW)),
    "key with a column named payload": (
        {"payload": 1, "schema": 2},
        payload("c", after={"schema": "a", "payload": "b"}),
    ),
    "two keys": (TWO_KEYS, payload("c", after=TWO_KEYS)),
    "two keys in another order": ('{"a": 1, "b": 2}', payload("c", after=TWO_KEYS)),
    "two keys with a schema": (enveloped(TWO_KEYS), payload("c", after=TWO_KEYS)),
    "key of other names": ({"rowkey": 1}, INSERT),
    "key of another name too": ({"id": 1, "rowkey": 1}, INSERT),
    "key of other names, not set": ({"rowkey": 1}, payload("c", after=ANNE, table=NOT_SET)),
    "key of the row before": (KEY, payload("d", ANNE, table=NOT_SET)),
    "text behind the key": ('{"id":1} x', payload("c", after=ANNE, table=NOT_SET)),
    "object behind the key": ('{"id":1}{"id":2}', payload("c", after=ANNE, table=NOT_SET)),
    "key and an array": ('{"id":1}],[{"id":2}', payload("c", after=ANNE, table=NOT_SET)),
    "key that repeats a name": ('{"id":1,"id":2}', payload("c", after=ANNE, table=NOT_SET)),
    "key in single quotes": ("{'id':1}", payload("c", after=ANNE, table=NOT_SET)),
    "no key": (None, INSERT),
    "no key, set": (None, payload("c", after=ANNE, table="set")),
    "no key, not set": (None, payload("c", after=ANNE, table="keyless")),
    "no key, delete": (None, payload("d", ANNE, table="keyless")),
    "no key, update": (None, payload("u", ANNE, ANNE_MARIE, table="keyless")),
    "empty key": ({}, payload("c", after=ANNE, table="set")),
    "text key": ("1004", payload("c", after=ANNE, table="set")),
    "text key with a schema": (
        {"schema": {"type": "string"}, "payload": "1004"},
        payload("c", after=ANNE, table="set"),
    ),
    "bytes key": (b"\xff\xfe\x00{", payload("c", after=ANNE, table="set")),
    "cut off key": ('{"id":', payload("c", after=ANNE, table="set")),
    "array key": ([1], payload("c", after=ANNE, table="set")),
    "enveloped tombstone": (KEY, {"schema": None, "payload": None}),
    "tombstone with a schema": (KEY, enveloped(None, before=COLUMNS, after=COLUMNS)),
}

#: name -> (reject code, message), all with the record key
REJECTED = {
    "column twice": ("malformed_json", json.dumps(INSERT).replace("first_name", "id")),
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


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Rows:
    """Every message of this module, read in one go: name -> its staging row."""
    keys = [key for key, _ in READ.values()] + [KEY] * len(REJECTED)
    values = [value for _, value in (*READ.values(), *REJECTED.values())]
    staging = staged(spark, lindorm_debezium.parse, *values, keys=keys, key_settings=SETTINGS)
    return dict(zip((*READ, *REJECTED), staging, strict=True))


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
    ("name", "event"),
    [
        ("vendor insert", expected("c", "insert", after=ANNE)),
        ("vendor update", expected("u", "update", before=ANNE_MARIE, after=ANNE)),
        ("vendor delete", expected("d", "delete", before=ANNE_MARIE)),
        (
            "vendor delete of a column",
            expected("d", "update", before=ANNE_MARIE, after=NO_LAST_NAME),
        ),
        ("snapshot", expected("r", "snapshot", after=ANNE)),
    ],
)
def test_the_examples_of_the_vendor(rows: Rows, name: str, event: dict[str, Any]) -> None:
    assert event.items() <= rows[name].items()
    position = rows[name]["sequence"]["position"]
    assert position == Decimal(1465491411807)


def test_a_delete_with_an_empty_image_after_is_a_delete_of_the_row(rows: Rows) -> None:
    row = rows["delete with an empty image after"]
    assert (row["op"], row["before"], row["after"]) == ("delete", ANNE_MARIE, None)


def test_an_image_that_does_not_fit_the_operation_is_left_out(rows: Rows) -> None:
    row = rows["insert with an image before"]
    assert (row["op"], row["before"], row["after"]) == ("insert", None, ANNE)


def test_an_update_may_have_no_image_before(rows: Rows) -> None:
    row = rows["update without before"]
    assert (row["op"], row["before"], row["after"]) == ("update", None, ANNE)
    assert row["previous_row_key"] is None


def test_an_update_of_a_key_keeps_the_key_before(rows: Rows) -> None:
    row = rows["update of a key"]
    assert row["row_key"] == '{"id":"1005"}'
    assert row["previous_row_key"] == '{"id":"1004"}'


def test_columns_that_an_image_lacks_are_not_unavailable(rows: Rows) -> None:
    assert rows["update of another row"]["after"] == {"id": "1004", "age": 7}
    assert {name for name in READ if rows[name]["unavailable_columns"]} == set()


def test_a_column_that_is_null_stays_in_the_image(rows: Rows) -> None:
    assert rows["null column"]["after"] == {"id": "1004", "first_name": None}


def test_a_placeholder_of_other_formats_is_a_value(rows: Rows) -> None:
    assert rows["placeholder"]["after"] == {"id": "1004", "note": PLACEHOLDER}


def test_a_bare_payload_reads_as_the_enveloped_one_without_types(rows: Rows) -> None:
    bare, envelope = dict(rows["bare"]), dict(rows["vendor insert"])
    assert bare["column_types"] is None and bare["schema_id"] is None
    differing = ("column_types", "column_parameters", "schema_id", "sequence", "offset")
    for row in (bare, envelope):
        for column in differing:
            row.pop(column)
    assert bare == envelope


def test_what_the_format_does_not_need_may_be_missing(rows: Rows) -> None:
    row = rows["without optional members"]
    assert (row["record_type"], row["table_id"]) == ("change", "t")
    assert row["database_name"] is None and row["schema_name"] is None
    assert row["published_at"] is None


def test_members_that_the_format_does_not_know_are_ignored(rows: Rows) -> None:
    assert rows["more members"]["after"] == ANNE
    assert rows["more members"]["event_id"] == rows["bare"]["event_id"]


def test_times_may_come_as_text(rows: Rows) -> None:
    row = rows["bare, times as text"]
    assert row["event_at"] == dt.datetime(2016, 6, 9, 16, 56, 51, 807000)
    assert row["published_at"] == dt.datetime(2016, 6, 9, 16, 56, 51, 815000)
    assert row["sequence"]["position"] == 1465491411807


def test_an_unknown_time_is_null(rows: Rows) -> None:
    assert rows["unknown write time"]["published_at"] is None


@pytest.mark.parametrize("name", ["snapshot without a time", "snapshot of an unknown time"])
def test_a_snapshot_without_a_time_sorts_before_everything(rows: Rows, name: str) -> None:
    row = rows[name]
    assert (row["op"], row["event_at"], row["sequence"]["position"]) == ("snapshot", None, None)


def test_numbers_are_exact(rows: Rows) -> None:
    assert rows["large numbers"]["after"] == {"id": "1004", "big": BIG, "bigger": BIGGER}


def test_column_types_are_the_semantic_ones_where_there_are_any(rows: Rows) -> None:
    assert rows["semantic types"]["column_types"] == {
        "id": "string",
        "at": "org.apache.kafka.connect.data.Timestamp",
        **NOT_LISTED,
    }


def test_column_types_come_from_the_image_that_the_schema_has(rows: Rows) -> None:
    assert rows["types of a delete"]["column_types"] == {"id": "string", **NOT_LISTED}


@pytest.mark.parametrize(
    ("name", "key_columns"),
    [
        ("bare", ["id"]),
        ("key with a schema", ["first_name", "id"]),
        ("key with an empty schema", ["id"]),
        ("key with a schema without a type", ["id"]),
        ("odd key", sorted(ODD_KEYS)),
        ("odd key with a schema", sorted(ODD_KEYS)),
        ("key with a column named payload", ["payload", "schema"]),
        ("no key", ["first_name"]),
        ("no key, set", ["last_name", "id"]),
        ("no key, not set", []),
        ("empty key", ["last_name", "id"]),
        ("text key", ["last_name", "id"]),
        ("text key with a schema", ["last_name", "id"]),
        ("bytes key", ["last_name", "id"]),
        ("cut off key", ["last_name", "id"]),
        ("array key", ["last_name", "id"]),
        ("key of other names", ["first_name"]),
        ("key of another name too", ["first_name"]),
        ("key of other names, not set", []),
        ("key of the row before", ["id"]),
        ("text behind the key", []),
        ("object behind the key", []),
        ("key and an array", []),
        ("key that repeats a name", []),
        ("key in single quotes", []),
    ],
)
def test_the_key_is_the_record_key_s_else_the_project_s(
    rows: Rows, name: str, key_columns: list[str]
) -> None:
    assert rows[name]["key_columns"] == key_columns


def test_a_row_key_has_the_values_of_the_image_in_the_order_of_the_key(rows: Rows) -> None:
    assert rows["no key, set"]["row_key"] == '{"last_name":"Kretchmar","id":"1004"}'
    assert rows["key with a schema"]["row_key"] == '{"first_name":"Anne","id":"1004"}'
    assert json.loads(rows["odd key"]["row_key"]) == ODD_ROW
    assert list(json.loads(rows["odd key"]["row_key"])) == sorted(ODD_KEYS)


@pytest.mark.parametrize(
    "name", ["two keys", "two keys in another order", "two keys with a schema"]
)
def test_the_order_of_names_in_a_record_key_makes_no_other_key(rows: Rows, name: str) -> None:
    assert rows[name]["key_columns"] == ["a", "b"]
    assert rows[name]["row_key"] == '{"a":1,"b":2}'


def test_no_row_lists_all_columns_of_its_table(rows: Rows) -> None:
    assert {row["lists_all_columns"] for row in rows.values()} == {False, None}


def test_the_key_of_a_keyless_table_is_the_whole_image(rows: Rows) -> None:
    anne = '{"first_name":"Anne","id":"1004","last_name":"Kretchmar"}'
    anne_marie = anne.replace("Anne", "Anne Marie")
    assert rows["no key, not set"]["row_key"] == anne
    assert rows["no key, delete"]["row_key"] == anne
    assert rows["no key, update"]["row_key"] == anne_marie
    assert rows["no key, update"]["previous_row_key"] == anne


def test_a_redelivered_event_has_the_same_identity(rows: Rows) -> None:
    ids = {name: row["event_id"] for name, row in rows.items()}
    assert ids["vendor insert"] == ids["bare"] == ids["bare, again"]
    assert ids["vendor update"] == ids["update, again"] == ids["update, backwards"]


def test_other_events_have_other_identities(rows: Rows) -> None:
    names = [
        "vendor insert",
        "vendor update",
        "vendor delete",
        "vendor delete of a column",
        "snapshot",
        "snapshot without a time",
        "insert with an image before",
        "update without before",
        "bare, a millisecond later",
        "bare, another image",
        "bare, another table",
        "no key, not set",
        "no key, delete",
    ]
    names.remove("insert with an image before")  # what is left of it is the insert
    ids = [rows[name]["event_id"] for name in names]
    assert None not in ids
    assert len(set(ids)) == len(names)


@pytest.mark.parametrize("name", [name for name in READ if "tombstone" in name])
def test_a_tombstone_is_kept_as_one(rows: Rows, name: str) -> None:
    row = rows[name]
    assert (row["record_type"], row["reject_code"], row["event_id"]) == ("tombstone", None, None)


@pytest.mark.parametrize("name", REJECTED)
def test_what_cannot_be_read_is_rejected_whole(rows: Rows, name: str) -> None:
    row = rows[name]
    assert (row["record_type"], row["reject_code"]) == ("rejected", REJECTED[name][0])
    assert row["reject_reason"]
    assert row["value"] is not None
    assert row["op"] is None and row["after"] is None and row["table_id"] is None


def test_everything_else_is_read(rows: Rows) -> None:
    assert {name for name in READ if rows[name]["reject_code"]} == set()
