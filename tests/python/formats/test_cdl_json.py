"""CDL JSON: what its messages come to in staging."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.formats import cdl_json
from tests.python.formats.connect import (
    PLACEHOLDER,
    backwards,
    changed,
    enveloped,
    schema_of,
    without,
)
from tests.python.formats.staging import LANDED_AT, LANDING_COMMIT, TOPIC_NUMBER, staged

Rows = dict[str, dict[str, Any]]

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
SETTINGS = {"public.ct_pg2hudi": ["count1"], "public.set": ["time1", "id"]}


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

READ = {
    "vendor insert": message("INSERT", ROW),
    "update": message("UPDATE", ROW, OLD_ROW),
    "delete": message("DELETE", before=ROW),
    "bare insert": INSERT,
    "bare insert, again": json.dumps(INSERT, indent=1),
    "bare update": UPDATE,
    "bare update, backwards": backwards(UPDATE),
    "bare update, again": changed(UPDATE, TIMESTAMP=1707047999999),
    "bare update to another image": payload("UPDATE", {**ROW, "count1": 15}, OLD_ROW),
    "bare update to a null": payload("UPDATE", {"id": 34, "count1": None, "note": "null"}),
    "bare update to a text of null": payload("UPDATE", {"id": 34, "count1": "null", "note": None}),
    "bare update from another image": payload("UPDATE", ROW, {**OLD_ROW, "count1": 11}),
    "bare delete": DELETE,
    "later insert": payload("INSERT", ROW, lsn=LSN + 1),
    "insert of another row": payload("INSERT", {**ROW, "id": 35}),
    "insert into another table": payload("INSERT", ROW, TABLE_NAME="t2"),
    "update without before": payload("UPDATE", ROW),
    "update of a key": payload("UPDATE", ROW, {**ROW, "id": 33}),
    "update with the old key only": payload("UPDATE", ROW, {"id": 33}),
    "update with half an old row": payload("UPDATE", ROW, {"count1": 12}),
    "insert with before": payload("INSERT", ROW, OLD_ROW),
    "delete with data": payload("DELETE", OLD_ROW, ROW),
    "delete with the key only": message("DELETE", before={"id": 34}),
    "null unique": message("DELETE", before=ROW, unique=None),
    "null unique, no schema": payload("INSERT", ROW, unique=None, TABLE_NAME="keyless"),
    "null unique, keyless schema": {
        "schema": schema_of(unique={}, data=COLUMNS),
        "payload": payload("INSERT", ROW, unique=None, TABLE_NAME="keyless"),
    },
    "null unique, set": payload("INSERT", ROW, unique=None, TABLE_NAME="set"),
    "empty unique": message("INSERT", ROW, unique={}, TABLE_NAME="keyless"),
    "empty unique, set": message("INSERT", ROW, unique={}, TABLE_NAME="set"),
    "keyless update": payload("UPDATE", ROW, OLD_ROW, unique={}, TABLE_NAME="keyless"),
    "composite key": payload("INSERT", ROW, unique={"time1": None, "id": 34, "count1": 13}),
    "odd key": payload("INSERT", ODD_ROW, unique=ODD_ROW),
    "odd key in the schema": enveloped(
        payload("INSERT", ODD_ROW, unique=None), unique=dict.fromkeys(ODD_KEYS, "int32")
    ),
    "key from the image": payload("INSERT", {**ROW, "id": "a"}, unique={"id": 1}),
    "text lsn": payload("INSERT", ROW, lsn=str(LSN)),
    "large lsn": payload("INSERT", ROW, lsn=18446744073709551615),
    "properties in another order": payload(
        "INSERT", ROW, transaction=properties(other="x", txId="77", lsn=LSN)
    ),
    "no transaction number": payload("INSERT", ROW, transaction=properties(lsn=LSN)),
    "large numbers": payload("INSERT", {"id": BIG, "n": BIGGER}),
    "partial image": message("INSERT", {"id": 34, "count1": None}),
    "partial image of an update": message("UPDATE", {"id": 34, "count1": 1}, OLD_ROW),
    "partial before image": message("UPDATE", ROW, {"id": 34}),
    "placeholder": payload("UPDATE", {"id": 34, "note": PLACEHOLDER, "count1": 1}),
    "large objects": payload("INSERT", ROW, LOB_COLUMNS="note,photo"),
    "large objects as a list": payload("INSERT", ROW, LOB_COLUMNS=["note", "photo"]),
    "unknown time": payload("INSERT", ROW, TIMESTAMP=-1),
    "no time": without(INSERT, "TIMESTAMP"),
    "no owner": payload("INSERT", ROW, SEG_OWNER=None, DATA_STORE=None),
    "more members": {**INSERT, "op": {"x": 1}, "ts_ms": 3, "source": [1]},
    "version as a number": payload("INSERT", ROW, message_version=1.0),
    "version as a whole number": payload("INSERT", ROW, message_version=1),
    "version without a point": payload("INSERT", ROW, message_version="1"),
    "heartbeat": HEARTBEAT,
    "heartbeat with little": {"message_version": "1.0", "HEARTBEAT_IDENTIFIER": "x"},
    "heartbeat without a version": {"HEARTBEAT_IDENTIFIER": "x", "TIMESTAMP": 1707047996013},
    "heartbeat by its type": payload("INSERT", ROW, message_type="HEARTBEAT"),
    "heartbeat that names a table": payload(None),
    "heartbeat without a table": payload("INSERT", TABLE_NAME=None),
    "enveloped heartbeat": enveloped(HEARTBEAT),
    "enveloped tombstone": {"payload": None, "schema": None},
    "tombstone with a schema": enveloped(None, **DESCRIBED),
}

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


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Rows:
    """Every message of this module, read in one go: name -> its staging row."""
    values = [*READ.values(), *(value for _, value in REJECTED.values())]
    staging = staged(spark, cdl_json.parse, *values, key_settings=SETTINGS)
    return dict(zip((*READ, *REJECTED), staging, strict=True))


def test_the_example_of_the_vendor(rows: Rows) -> None:
    event = {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": "cdl_json",
        "topic": "topic",
        "partition": 0,
        "offset": 0,
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
            "offset": 0,
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
    assert event.items() <= rows["vendor insert"].items()
    assert len(rows["vendor insert"]["event_id"]) == 32


@pytest.mark.parametrize("prefix", ["", "bare "])
def test_an_update_has_both_images(rows: Rows, prefix: str) -> None:
    row = rows[f"{prefix}update"]
    assert (row["op"], row["source_op"]) == ("update", "UPDATE")
    assert (row["before"], row["after"]) == (OLD_ROW, ROW)
    assert (row["row_key"], row["previous_row_key"]) == ('{"id":34}', None)


@pytest.mark.parametrize("prefix", ["", "bare "])
def test_a_delete_has_the_row_in_before(rows: Rows, prefix: str) -> None:
    row = rows[f"{prefix}delete"]
    assert (row["op"], row["source_op"]) == ("delete", "DELETE")
    assert (row["before"], row["after"]) == (ROW, None)
    assert row["row_key"] == '{"id":34}'


def test_an_image_that_does_not_fit_the_operation_is_left_out(rows: Rows) -> None:
    assert rows["insert with before"]["before"] is None
    assert rows["delete with data"]["after"] is None


@pytest.mark.parametrize("name", ["update of a key", "update with the old key only"])
def test_the_old_key_comes_from_before(rows: Rows, name: str) -> None:
    assert (rows[name]["row_key"], rows[name]["previous_row_key"]) == ('{"id":34}', '{"id":33}')


@pytest.mark.parametrize("name", ["update without before", "update with half an old row"])
def test_without_the_key_columns_in_before_the_key_has_not_changed(rows: Rows, name: str) -> None:
    assert rows[name]["op"] == "update"
    assert rows[name]["previous_row_key"] is None


@pytest.mark.parametrize(
    ("name", "key_columns"),
    [
        ("bare insert", ["id"]),
        ("composite key", ["time1", "id", "count1"]),
        ("odd key", ODD_KEYS),
        ("odd key in the schema", ODD_KEYS),
        ("null unique", ["id"]),
        ("null unique, no schema", []),
        ("null unique, keyless schema", []),
        ("null unique, set", ["time1", "id"]),
        ("empty unique", []),
        ("empty unique, set", ["time1", "id"]),
    ],
)
def test_the_key_is_unique_s_else_the_schema_s_else_the_project_s(
    rows: Rows, name: str, key_columns: list[str]
) -> None:
    assert rows[name]["key_columns"] == key_columns


def test_a_row_key_has_the_values_of_the_image_in_the_order_of_the_key(rows: Rows) -> None:
    assert rows["composite key"]["row_key"] == '{"time1":null,"id":34,"count1":13}'
    assert rows["key from the image"]["row_key"] == '{"id":"a"}'
    assert list(json.loads(rows["odd key"]["row_key"]).items()) == list(ODD_ROW.items())


def test_the_key_of_a_keyless_table_is_the_whole_image(rows: Rows) -> None:
    key = '{"count1":13,"decimalNum":null,"id":34,"time1":null}'
    assert rows["empty unique"]["row_key"] == key
    assert rows["keyless update"]["row_key"] == key
    assert json.loads(rows["keyless update"]["previous_row_key"]) == OLD_ROW


def test_the_lsn_may_be_text_and_stand_anywhere(rows: Rows) -> None:
    for name in ("text lsn", "properties in another order"):
        assert rows[name]["sequence"]["position"] == LSN
    assert rows["properties in another order"]["transaction_id"] == "77"
    assert rows["no transaction number"]["transaction_id"] is None


def test_numbers_are_exact(rows: Rows) -> None:
    assert rows["large lsn"]["sequence"]["position"] == 18446744073709551615
    assert rows["large numbers"]["after"] == {"id": BIG, "n": BIGGER}
    assert rows["large numbers"]["row_key"] == f'{{"id":{BIG}}}'


def test_a_column_of_the_schema_that_the_image_lacks_is_unavailable(rows: Rows) -> None:
    row = rows["partial image"]
    assert row["unavailable_columns"] == ["time1", "decimalNum"]
    assert row["after"] == {"id": 34, "count1": None}
    row = rows["partial image of an update"]
    assert row["unavailable_columns"] == ["time1", "decimalNum"]
    assert rows["delete with the key only"]["unavailable_columns"] == [
        "count1",
        "time1",
        "decimalNum",
    ]


def test_what_only_the_image_before_lacks_is_available(rows: Rows) -> None:
    assert rows["partial before image"]["unavailable_columns"] == []
    assert rows["partial before image"]["before"] == {"id": 34}


def test_a_placeholder_is_unavailable(rows: Rows) -> None:
    row = rows["placeholder"]
    assert row["unavailable_columns"] == ["note"]
    assert row["after"] == {"id": 34, "count1": 1}


def test_large_objects_are_listed(rows: Rows) -> None:
    assert rows["large objects"]["lob_columns"] == "note,photo"
    assert rows["large objects as a list"]["lob_columns"] == '["note","photo"]'


def test_an_unknown_time_is_null(rows: Rows) -> None:
    assert rows["unknown time"]["event_at"] is None
    assert rows["no time"]["event_at"] is None


def test_what_the_format_does_not_need_may_be_missing(rows: Rows) -> None:
    row = rows["no owner"]
    assert (row["source_type"], row["schema_name"], row["table_id"]) == (None, None, "ct_pg2hudi")


def test_members_that_the_format_does_not_know_are_ignored(rows: Rows) -> None:
    assert rows["more members"]["after"] == ROW


@pytest.mark.parametrize("name", [name for name in READ if name.startswith("version")])
def test_the_version_may_be_a_number(rows: Rows, name: str) -> None:
    assert rows[name]["record_type"] == "change"


def test_a_message_with_a_schema_lists_all_columns(rows: Rows) -> None:
    for name in ("vendor insert", "update", "delete", "delete with the key only"):
        assert rows[name]["lists_all_columns"] is True


def test_a_message_without_a_schema_lists_them_where_it_inserts(rows: Rows) -> None:
    assert rows["bare insert"]["lists_all_columns"] is True
    assert rows["bare update"]["lists_all_columns"] is False
    assert rows["bare delete"]["lists_all_columns"] is False


@pytest.mark.parametrize("name", [name for name in READ if "heartbeat" in name])
def test_a_message_about_no_row_with_an_identifier_is_a_heartbeat(rows: Rows, name: str) -> None:
    row = rows[name]
    assert (row["record_type"], row["reject_code"]) == ("heartbeat", None)
    assert row["event_id"] is None and row["op"] is None and row["row_key"] is None


def test_a_heartbeat_keeps_what_it_knows(rows: Rows) -> None:
    row = rows["heartbeat"]
    assert (row["source_type"], row["schema_name"]) == ("postgresql", "public")
    assert row["event_at"] == dt.datetime(2024, 2, 4, 11, 59, 56, 13000)


def test_a_redelivered_event_has_the_same_identity(rows: Rows) -> None:
    ids = {name: row["event_id"] for name, row in rows.items()}
    assert ids["vendor insert"] == ids["bare insert"] == ids["bare insert, again"]
    assert ids["vendor insert"] == ids["text lsn"]
    assert ids["update"] == ids["bare update"] == ids["bare update, again"]
    assert ids["update"] == ids["bare update, backwards"]
    assert ids["delete"] == ids["bare delete"]


def test_other_events_have_other_identities(rows: Rows) -> None:
    names = [
        "vendor insert",
        "update",
        "delete",
        "bare update to another image",
        "bare update to a null",
        "bare update to a text of null",
        "bare update from another image",
        "update without before",
        "later insert",
        "insert of another row",
        "insert into another table",
        "empty unique",
        "keyless update",
    ]
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
