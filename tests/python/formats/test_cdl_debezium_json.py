"""Debezium JSON of CDL: what its messages come to in staging."""

from __future__ import annotations

import base64
import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.formats import cdl_debezium_json
from cdc_marts.parsing.ops import source_ops
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
    "time1": ("string", "com.xxx.cdc.data.timestamp"),
    "decimalNum": ("string", "com.xxx.cdc.data.Decimal"),
}
DESCRIBED = {"before": COLUMNS, "after": COLUMNS, "unique": {"id": "int32"}}
ROW = {"count1": 14, "id": 35, "time1": None, "decimalNum": None}
OLD_ROW = {"count1": 12, "id": 35, "time1": "2024-02-04 11:59:56", "decimalNum": "1.50"}
KEY_ONLY = {"count1": None, "id": 35, "time1": None, "decimalNum": None}
LSN = 163955586912
ODD_KEYS = ["g`h", "a.b", "c d", 'e"f', "i'j", "列"]
ODD_ROW = {name: position for position, name in enumerate(ODD_KEYS)}
BIG = 9223372036854775807
BIGGER = 12345678901234567890123456789012345678
SETTINGS = {"cdl.public.ct_pg2hudi": ["count1"], "cdl.public.set": ["time1", "id"]}

SNAPSHOT_FLAGS = [
    "true",
    "first",
    "last",
    "first_in_data_collection",
    "last_in_data_collection",
    "incremental",
]
PLACEHOLDER_BYTES = PLACEHOLDER.encode()
PLACEHOLDER_UUID = "b68a35a7-17ad-35b3-af2a-ae46edb4545a"
PLACEHOLDERS = {
    "text": PLACEHOLDER,
    "bytes as base64": base64.b64encode(PLACEHOLDER_BYTES).decode(),
    "bytes as hex": PLACEHOLDER_BYTES.hex(),
    "an array of text": [PLACEHOLDER],
    "an array of bytes": [base64.b64encode(PLACEHOLDER_BYTES).decode()],
    "an array of integers": list(PLACEHOLDER_BYTES),
    "an array of uuid": [PLACEHOLDER_UUID],
    "a map": {PLACEHOLDER: PLACEHOLDER},
    "a map as JSON": json.dumps({PLACEHOLDER: PLACEHOLDER}, separators=(",", ":")),
}
NO_PLACEHOLDERS = [
    f"{PLACEHOLDER}!",
    PLACEHOLDER.upper(),
    f'{{"a":"{PLACEHOLDER}"}}',
    [PLACEHOLDER, "a"],
    {"a": PLACEHOLDER},
    [*PLACEHOLDER_BYTES, 1],
]


def payload(
    op: str | None,
    after: Any = None,
    before: Any = None,
    source: dict[str, Any] | None = None,
    **values: Any,
) -> dict[str, Any]:
    return {
        "before": before,
        "after": after,
        "source": {
            "version": "1.4.0.Final",
            "connector": "postgresql",
            "name": "cdl",
            "ts_ms": 1707048891235,
            "snapshot": "false",
            "db": "cdl",
            "schema": "public",
            "table": "ct_pg2hudi",
            "txId": 57227663,
            "lsn": LSN,
            **(source or {}),
        },
        "op": op,
        "ts_ms": 1707048984208,
        "message_version": "2.0",
        "message_type": "0",
        "LOB_COLUMNS": None,
        "unique": {"id": 35},
        **values,
    }


def message(op: str, after: Any = None, before: Any = None, **values: Any) -> dict[str, Any]:
    return enveloped(payload(op, after, before, **values), **DESCRIBED)


def captured(
    op: str, table: str, lsn: int, unique: Any, before: Any = None, after: Any = None
) -> dict[str, Any]:
    """A message that Debezium 3.5 wrote of PostgreSQL, as CDL passes it on, without schemas."""
    return {
        "before": before,
        "after": after,
        "source": {
            "version": "3.5.0.Final",
            "connector": "postgresql",
            "name": "pg",
            "ts_ms": 1795172069084,
            "snapshot": "first" if op == "r" else "false",
            "db": "shop",
            "sequence": f'[null,"{lsn}"]',
            "ts_us": 1795172069084849,
            "ts_ns": 1795172069084849000,
            "schema": "public",
            "table": table,
            "txId": 733,
            "lsn": lsn,
            "xmin": None,
            "origin": None,
            "origin_lsn": None,
        },
        "transaction": None,
        "op": op,
        "ts_ms": 1795172069272,
        "ts_us": 1795172069272092,
        "ts_ns": 1795172069272092461,
        "message_version": "2.0",
        "message_type": "0",
        "LOB_COLUMNS": None,
        "unique": unique,
    }


INSERT = payload("c", ROW)
UPDATE = payload("u", ROW, OLD_ROW)
DELETE = payload("d", before=ROW)
NO_LSN = {"snapshot": "true", "lsn": None}
HEARTBEAT = payload(None, source={"table": None}, unique=None, HEARTBEAT_IDENTIFIER="279fb050")
EVENT = {"k": 40, "who": "Cyd", "msg": "NULL", "at": 703098611000}
WIDE = {
    "id": 96,
    "bi": 9223372036854775807,
    "r": "NaN",
    "d": "-Infinity",
    "n": {"scale": 0, "value": "ZA=="},
    "n0": "tMSzV6V5O4X2dd3AAAAAAQ==",
    "ta": ["a,b", None, "中"],
    "tz": "infinity",
    "ch": "中文      ",
}

READ = {
    "vendor insert": message("c", ROW),
    "update": message("u", ROW, OLD_ROW),
    "delete": message("d", before=ROW),
    "bare insert": INSERT,
    "bare insert, again": changed(INSERT, ts_ms=1707048984999, source__lsn=str(LSN)),
    "bare update": UPDATE,
    "bare update, backwards": backwards(UPDATE),
    "bare update, again": json.dumps(UPDATE, indent=1),
    "bare delete": DELETE,
    "update to another image": payload("u", {**ROW, "count1": 15}),
    "update to a third image": payload("u", {**ROW, "count1": 16}),
    "version as a whole number": payload("c", ROW, message_version=2),
    "version without a point": payload("c", ROW, message_version="2"),
    "later insert": payload("c", ROW, source={"lsn": LSN + 1}),
    "insert of another row": payload("c", {**ROW, "id": 36}),
    "insert into another table": payload("c", ROW, source={"table": "t2"}),
    "update without before": payload("u", ROW),
    "update of a key": payload("u", ROW, {**ROW, "id": 33}),
    "update with the old key only": payload("u", ROW, {"id": 33}),
    "insert with before": payload("c", ROW, OLD_ROW),
    "delete with after": payload("d", OLD_ROW, ROW),
    "delete with nulls but the key": payload("d", before=KEY_ONLY),
    "delete with the key only": message("d", before={"id": 35}),
    "truncate": payload("t", unique={}),
    "truncate, again": changed(payload("t", unique={}), ts_ms=1707048999999),
    "truncate of another table": payload("t", unique={}, source={"table": "t2"}),
    "snapshot": payload("r", ROW, source={"snapshot": "true"}),
    "snapshot without a flag": payload("r", ROW, source={"snapshot": None}),
    "snapshot without an lsn": payload("r", ROW, source=NO_LSN),
    "snapshot without an lsn, again": payload("r", ROW, source=NO_LSN, ts_ms=1707048999999),
    "later snapshot without an lsn": payload("r", ROW, source={**NO_LSN, "ts_ms": 1707048899999}),
    "insert with a boolean flag": payload("c", ROW, source={"snapshot": True}),
    "insert with another flag": payload("c", ROW, source={"snapshot": "no"}),
    "insert without a flag": without(INSERT, "source__snapshot"),
    "update in a snapshot": payload("u", ROW, source={"snapshot": "incremental"}),
    **{
        f"{op} with the flag {flag}": payload(op, ROW, source={"snapshot": flag})
        for op in "cr"
        for flag in SNAPSHOT_FLAGS
    },
    "null unique": message("d", before=KEY_ONLY, unique=None),
    "null unique, no schema": payload("c", ROW, unique=None, source={"table": "keyless"}),
    "null unique, keyless schema": {
        "schema": schema_of(unique={}, after=COLUMNS),
        "payload": payload("c", ROW, unique=None, source={"table": "keyless"}),
    },
    "null unique, set": payload("c", ROW, unique=None, source={"table": "set"}),
    "empty unique": payload("c", ROW, unique={}, source={"table": "keyless"}),
    "empty unique, set": payload("c", ROW, unique={}, source={"table": "set"}),
    "keyless update": payload("u", ROW, OLD_ROW, unique={}, source={"table": "keyless"}),
    "keyless snapshot": payload(
        "r", ROW, unique={}, source={"table": "keyless", "snapshot": "true"}
    ),
    "equal row of a keyless snapshot": payload(
        "r", ROW, unique={}, source={"table": "keyless", "snapshot": "true"}
    ),
    "composite key": payload("c", ROW, unique={"time1": None, "id": 34, "count1": 13}),
    "odd key": payload("c", ODD_ROW, unique=ODD_ROW),
    "large numbers": payload("c", {"id": BIG, "n": BIGGER}, source={"lsn": 18446744073709551615}),
    "null column": message("c", ROW),
    "partial image": message("c", {"id": 35, "count1": None}),
    "partial before image": message("u", ROW, {"id": 35}),
    "placeholder in before": payload("u", {"id": 35, "a": 1}, {"id": 35, "a": PLACEHOLDER}),
    "placeholder of a delete": payload("d", before={"id": 35, "a": PLACEHOLDER}),
    "placeholder and another unavailable column": message(
        "u", {"count1": PLACEHOLDER, "id": 35, "time1": None}
    ),
    **{
        f"placeholder: {kind}": payload("u", {"id": 35, "a": None, "b": BIG, "c": value})
        for kind, value in PLACEHOLDERS.items()
    },
    "placeholder: compact integers": json.dumps(
        payload("u", {"id": 35, "a": None, "b": BIG, "c": list(PLACEHOLDER_BYTES)}),
        separators=(",", ":"),
    ),
    "placeholder: spaced integers": json.dumps(
        payload("u", {"id": 35, "a": None, "b": BIG, "c": list(PLACEHOLDER_BYTES)})
    ).replace("[95", "[ 95"),
    "no placeholders": payload(
        "u", {"id": 35, **{f"v{i}": value for i, value in enumerate(NO_PLACEHOLDERS)}}
    ),
    "large objects": payload("c", ROW, LOB_COLUMNS="note"),
    "unknown times": payload("c", ROW, source={"ts_ms": -1}, ts_ms=-1),
    "no times": without(without(INSERT, "ts_ms"), "source__ts_ms"),
    "no transaction number": payload("c", ROW, source={"txId": None}),
    "little": {
        "op": "c",
        "after": ROW,
        "source": {"table": "t", "lsn": "7"},
        "message_version": "2.0",
    },
    "more members": {**INSERT, "data": 1, "OPERATION": [1], "transaction": {"id": "571:1"}},
    "heartbeat": HEARTBEAT,
    "heartbeat with little": {"HEARTBEAT_IDENTIFIER": "x", "ts_ms": 1707048984208},
    "heartbeat that names a table": changed(HEARTBEAT, source__table="ct_pg2hudi"),
    "heartbeat by its type": payload("c", ROW, message_type="heartbeat"),
    "enveloped heartbeat": enveloped(HEARTBEAT),
    "row with a heartbeat's identifier": payload("c", ROW, HEARTBEAT_IDENTIFIER="279fb050"),
    "captured snapshot": captured("r", "wide", 26554216, {"id": 96}, after=WIDE),
    "captured keyless insert": captured("c", "events_nopk", 26561000, {}, after=EVENT),
    "captured keyless delete": captured("d", "events_nopk", 26562000, {}, before=EVENT),
    "captured old key": captured(
        "d", "docs", 26563000, {"id": 7}, before={"id": 7, "title": None, "body": None}
    ),
    "captured new key": captured(
        "c", "docs", 26563000, {"id": 8}, after={"id": 8, "title": "t", "body": PLACEHOLDER}
    ),
    "captured truncate": captured("t", "scratch", 27010736, {}),
    "enveloped tombstone": {"payload": None, "schema": None},
    "tombstone with a schema": enveloped(None, **DESCRIBED),
}

#: name -> (reject code, message)
REJECTED = {
    "column twice": ("malformed_json", json.dumps(INSERT).replace("count1", "id")),
    "source is text": ("malformed_json", {**INSERT, "source": "x"}),
    "other version as a number": ("wrong_format", payload("c", ROW, message_version=1)),
    "other version": ("wrong_format", payload("c", ROW, message_version="1.0")),
    "other format": (
        "wrong_format",
        {"OPERATION": "INSERT", "TABLE_NAME": "t", "data": ROW, "message_version": "1.0"},
    ),
    "no version": ("missing_field", without(INSERT, "message_version")),
    "no members": ("missing_field", {}),
    "schema only": ("missing_field", {"schema": schema_of()}),
    "no op": ("missing_field", without(INSERT, "op")),
    "no source": ("missing_field", without(INSERT, "source")),
    "no table": ("missing_field", without(INSERT, "source__table")),
    "truncate of no table": ("missing_field", payload("t", source={"table": ""})),
    "no lsn": ("missing_field", without(INSERT, "source__lsn")),
    "truncate without an lsn": ("missing_field", payload("t", source={"lsn": None})),
    "update in a snapshot without an lsn": ("missing_field", payload("u", ROW, source=NO_LSN)),
    "key column missing": ("missing_field", payload("c", {"count1": 1})),
    "unavailable key column": ("missing_field", payload("u", {**ROW, "id": PLACEHOLDER})),
    "long op": ("unknown_op", payload("INSERT", ROW)),
    "upper case op": ("unknown_op", payload("C", ROW)),
    "logical message": ("unknown_op", payload("m")),
    "time in seconds": ("bad_timestamp", payload("c", ROW, source={"ts_ms": 1707048891})),
    "write time in seconds": ("bad_timestamp", payload("c", ROW, ts_ms=1707048984)),
    "write time is too large": ("bad_timestamp", payload("c", ROW, ts_ms=BIG)),
    "lsn is text": ("bad_sequence", payload("c", ROW, source={"lsn": "26/2C6FB0A0"})),
    "lsn is empty": ("bad_sequence", payload("c", ROW, source={"lsn": ""})),
    "lsn is negative": ("bad_sequence", payload("c", ROW, source={"lsn": -5})),
    "lsn is too large": ("bad_sequence", payload("c", ROW, source={"lsn": "9" * 39})),
    "insert without after": ("missing_image", payload("c", None, ROW)),
    "update without after": ("missing_image", payload("u", None, ROW)),
    "snapshot with an empty image": ("missing_image", payload("r", {})),
    "delete without before": ("missing_image", payload("d", ROW)),
    "image is text": ("missing_image", payload("u", ROW, "x")),
    "image is an array": ("missing_image", payload("c", [ROW])),
}


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Rows:
    """Every message of this module, read in one go: name -> its staging row."""
    values = [*READ.values(), *(value for _, value in REJECTED.values())]
    staging = staged(spark, cdl_debezium_json.parse, *values, key_settings=SETTINGS)
    return dict(zip((*READ, *REJECTED), staging, strict=True))


def test_the_example_of_the_vendor(rows: Rows) -> None:
    event = {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": "cdl_debezium_json",
        "topic": "topic",
        "partition": 0,
        "offset": 0,
        "row_index": 0,
        "source_type": "postgresql",
        "database_name": "cdl",
        "schema_name": "public",
        "table_name": "ct_pg2hudi",
        "table_id": "cdl.public.ct_pg2hudi",
        "op": "insert",
        "source_op": "c",
        "key_columns": ["id"],
        "row_key": '{"id":35}',
        "previous_row_key": None,
        "before": None,
        "after": ROW,
        "unavailable_columns": [],
        "column_types": {
            "count1": "int64",
            "id": "int32",
            "time1": "com.xxx.cdc.data.timestamp",
            "decimalNum": "com.xxx.cdc.data.Decimal",
        },
        "lob_columns": None,
        "event_at": dt.datetime(2024, 2, 4, 12, 14, 51, 235000),
        "published_at": dt.datetime(2024, 2, 4, 12, 16, 24, 208000),
        "checkpoint_at": None,
        "landed_at": LANDED_AT,
        "landing_commit": LANDING_COMMIT,
        "transaction_id": "57227663",
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


def test_every_operation_is_read() -> None:
    read = {value.get("op") for value in READ.values() if isinstance(value, dict)}
    assert source_ops("cdl_debezium_json").keys() <= read


@pytest.mark.parametrize("prefix", ["", "bare "])
def test_an_update_has_both_images(rows: Rows, prefix: str) -> None:
    row = rows[f"{prefix}update"]
    assert (row["op"], row["source_op"]) == ("update", "u")
    assert (row["before"], row["after"]) == (OLD_ROW, ROW)
    assert (row["row_key"], row["previous_row_key"]) == ('{"id":35}', None)


@pytest.mark.parametrize("prefix", ["", "bare "])
def test_a_delete_has_the_row_in_before(rows: Rows, prefix: str) -> None:
    row = rows[f"{prefix}delete"]
    assert (row["op"], row["source_op"]) == ("delete", "d")
    assert (row["before"], row["after"]) == (ROW, None)
    assert row["row_key"] == '{"id":35}'


def test_a_delete_may_have_nulls_in_all_but_the_key(rows: Rows) -> None:
    for name in ("delete with nulls but the key", "null unique"):
        assert rows[name]["row_key"] == '{"id":35}'
        assert rows[name]["before"] == KEY_ONLY


def test_an_image_that_does_not_fit_the_operation_is_left_out(rows: Rows) -> None:
    assert rows["insert with before"]["before"] is None
    assert rows["delete with after"]["after"] is None


@pytest.mark.parametrize("name", ["update of a key", "update with the old key only"])
def test_the_old_key_comes_from_before(rows: Rows, name: str) -> None:
    assert (rows[name]["row_key"], rows[name]["previous_row_key"]) == ('{"id":35}', '{"id":33}')


def test_without_before_the_key_has_not_changed(rows: Rows) -> None:
    assert rows["update without before"]["op"] == "update"
    assert rows["update without before"]["previous_row_key"] is None


@pytest.mark.parametrize("name", ["truncate", "captured truncate"])
def test_a_truncate_ends_the_rows_of_its_table(rows: Rows, name: str) -> None:
    row = rows[name]
    assert (row["record_type"], row["source_op"], row["is_truncation"]) == ("ddl", "t", True)
    assert row["table_id"] in ("cdl.public.ct_pg2hudi", "shop.public.scratch")
    assert row["sequence"]["position"] in (LSN, 27010736)
    assert row["op"] is None and row["row_key"] is None


def test_a_truncate_that_is_delivered_again_is_known_as_one(rows: Rows) -> None:
    one, again, other = (
        rows[name]["event_id"]
        for name in ("truncate", "truncate, again", "truncate of another table")
    )
    assert one is not None
    assert one == again != other


@pytest.mark.parametrize("flag", SNAPSHOT_FLAGS)
@pytest.mark.parametrize("op", ["c", "r"])
def test_a_row_with_a_snapshot_flag_is_a_snapshot(rows: Rows, op: str, flag: str) -> None:
    row = rows[f"{op} with the flag {flag}"]
    assert (row["op"], row["source_op"]) == ("snapshot", op)


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("snapshot without a flag", "snapshot"),
        ("insert with a boolean flag", "snapshot"),
        ("insert with another flag", "insert"),
        ("insert without a flag", "insert"),
        ("update in a snapshot", "update"),
    ],
)
def test_other_flags_leave_the_operation(rows: Rows, name: str, op: str) -> None:
    assert rows[name]["op"] == op


def test_a_snapshot_without_an_lsn_sorts_before_everything(rows: Rows) -> None:
    assert rows["snapshot without an lsn"]["op"] == "snapshot"
    assert rows["snapshot without an lsn"]["sequence"]["position"] is None
    assert rows["snapshot"]["sequence"]["position"] == LSN


@pytest.mark.parametrize(
    ("name", "key_columns"),
    [
        ("bare insert", ["id"]),
        ("composite key", ["time1", "id", "count1"]),
        ("odd key", ODD_KEYS),
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
    assert rows["composite key"]["row_key"] == '{"time1":null,"id":35,"count1":14}'
    assert list(json.loads(rows["odd key"]["row_key"]).items()) == list(ODD_ROW.items())


def test_the_key_of_a_keyless_table_is_the_whole_image(rows: Rows) -> None:
    key = '{"count1":14,"decimalNum":null,"id":35,"time1":null}'
    assert rows["empty unique"]["row_key"] == key
    assert rows["keyless update"]["row_key"] == key
    assert json.loads(rows["keyless update"]["previous_row_key"]) == OLD_ROW


def test_numbers_are_exact(rows: Rows) -> None:
    row = rows["large numbers"]
    assert row["sequence"]["position"] == 18446744073709551615
    assert row["after"] == {"id": BIG, "n": BIGGER}


@pytest.mark.parametrize("kind", [*PLACEHOLDERS, "compact integers", "spaced integers"])
def test_a_placeholder_is_unavailable_and_not_in_the_image(rows: Rows, kind: str) -> None:
    row = rows[f"placeholder: {kind}"]
    assert row["unavailable_columns"] == ["c"]
    assert row["after"] == {"id": 35, "a": None, "b": BIG}


def test_what_only_resembles_a_placeholder_is_a_value(rows: Rows) -> None:
    row = rows["no placeholders"]
    assert row["unavailable_columns"] == []
    assert [row["after"][f"v{i}"] for i in range(len(NO_PLACEHOLDERS))] == NO_PLACEHOLDERS


def test_a_placeholder_in_the_image_before_of_an_update_is_left_out(rows: Rows) -> None:
    row = rows["placeholder in before"]
    assert (row["before"], row["after"]) == ({"id": 35}, {"id": 35, "a": 1})
    assert row["unavailable_columns"] == []


def test_a_placeholder_in_a_delete_is_unavailable(rows: Rows) -> None:
    row = rows["placeholder of a delete"]
    assert (row["before"], row["unavailable_columns"]) == ({"id": 35}, ["a"])


def test_a_column_of_the_schema_that_the_image_lacks_is_unavailable(rows: Rows) -> None:
    row = rows["partial image"]
    assert row["unavailable_columns"] == ["time1", "decimalNum"]
    assert row["after"] == {"id": 35, "count1": None}
    assert rows["placeholder and another unavailable column"]["unavailable_columns"] == [
        "count1",
        "decimalNum",
    ]
    assert rows["partial before image"]["unavailable_columns"] == []
    assert rows["null column"]["unavailable_columns"] == []


def test_large_objects_are_listed(rows: Rows) -> None:
    assert rows["large objects"]["lob_columns"] == "note"


@pytest.mark.parametrize("name", ["unknown times", "no times", "little"])
def test_an_unknown_time_is_null(rows: Rows, name: str) -> None:
    assert rows[name]["record_type"] == "change"
    assert rows[name]["event_at"] is None and rows[name]["published_at"] is None


def test_what_the_format_does_not_need_may_be_missing(rows: Rows) -> None:
    row = rows["little"]
    assert (row["table_id"], row["key_columns"], row["source_type"]) == ("t", [], None)
    assert row["transaction_id"] is None
    assert row["sequence"]["position"] == 7


def test_members_that_the_format_does_not_know_are_ignored(rows: Rows) -> None:
    assert rows["more members"]["event_id"] == rows["bare insert"]["event_id"]


@pytest.mark.parametrize(
    "name",
    [name for name in READ if name.split()[0] == "heartbeat" or name == "enveloped heartbeat"],
)
def test_a_message_about_no_row_with_an_identifier_is_a_heartbeat(rows: Rows, name: str) -> None:
    row = rows[name]
    assert (row["record_type"], row["reject_code"]) == ("heartbeat", None)
    assert row["event_id"] is None and row["op"] is None and row["row_key"] is None
    assert row["published_at"] == dt.datetime(2024, 2, 4, 12, 16, 24, 208000)


def test_a_row_is_no_heartbeat_for_its_identifier(rows: Rows) -> None:
    assert rows["row with a heartbeat's identifier"]["record_type"] == "change"


def test_a_redelivered_event_has_the_same_identity(rows: Rows) -> None:
    ids = {name: row["event_id"] for name, row in rows.items()}
    assert ids["vendor insert"] == ids["bare insert"] == ids["bare insert, again"]
    assert ids["update"] == ids["bare update"] == ids["bare update, again"]
    assert ids["update"] == ids["bare update, backwards"]
    assert ids["delete"] == ids["bare delete"]
    assert ids["snapshot without an lsn"] == ids["snapshot without an lsn, again"]


def test_other_events_have_other_identities(rows: Rows) -> None:
    names = [
        "vendor insert",
        "update",
        "delete",
        "update to another image",
        "update to a third image",
        "update without before",
        "later insert",
        "insert of another row",
        "insert into another table",
        "snapshot",
        "snapshot without an lsn",
        "later snapshot without an lsn",
        "empty unique",
        "keyless update",
        "captured old key",
        "captured new key",
    ]
    ids = [rows[name]["event_id"] for name in names]
    assert None not in ids
    assert len(set(ids)) == len(names)


def test_equal_rows_of_a_keyless_snapshot_are_two_events(rows: Rows) -> None:
    one, other = rows["keyless snapshot"], rows["equal row of a keyless snapshot"]
    assert one["row_key"] == other["row_key"]
    assert one["event_id"] != other["event_id"]


def test_a_captured_key_change_is_a_delete_and_an_insert_at_one_lsn(rows: Rows) -> None:
    old, new = rows["captured old key"], rows["captured new key"]
    assert (old["op"], old["row_key"]) == ("delete", '{"id":7}')
    assert (new["op"], new["row_key"]) == ("insert", '{"id":8}')
    assert (new["after"], new["unavailable_columns"]) == ({"id": 8, "title": "t"}, ["body"])
    assert old["transaction_id"] == new["transaction_id"] == "733"
    assert old["sequence"]["position"] == new["sequence"]["position"] == 26563000
    assert old["sequence"]["partition"] == new["sequence"]["partition"]
    assert new["sequence"]["offset"] == old["sequence"]["offset"] + 1


def test_two_changes_of_a_row_at_one_lsn_are_two_events(rows: Rows) -> None:
    one, other = rows["update to another image"], rows["update to a third image"]
    assert (one["row_key"], one["op"]) == (other["row_key"], other["op"])
    assert one["sequence"]["position"] == other["sequence"]["position"]
    assert one["event_id"] != other["event_id"]


@pytest.mark.parametrize("name", [name for name in READ if name.startswith("version")])
def test_the_version_may_be_a_number(rows: Rows, name: str) -> None:
    assert rows[name]["record_type"] == "change"


def test_a_message_with_a_schema_lists_all_columns(rows: Rows) -> None:
    for name in ("vendor insert", "update", "delete", "delete with the key only"):
        assert rows[name]["lists_all_columns"] is True


def test_a_message_without_a_schema_lists_them_where_its_row_is_whole(rows: Rows) -> None:
    for name in ("bare insert", "snapshot", "captured new key"):
        assert rows[name]["lists_all_columns"] is True
    for name in ("bare update", "bare delete", "delete with nulls but the key"):
        assert rows[name]["lists_all_columns"] is False


def test_captured_values_stay_as_they_are(rows: Rows) -> None:
    row = rows["captured snapshot"]
    assert (row["op"], row["after"]) == ("snapshot", WIDE)
    assert row["database_name"] == "shop"


def test_captured_rows_of_a_keyless_table_have_the_same_key(rows: Rows) -> None:
    insert, delete = rows["captured keyless insert"], rows["captured keyless delete"]
    assert insert["key_columns"] == delete["key_columns"] == []
    assert insert["row_key"] == delete["row_key"]
    assert json.loads(insert["row_key"]) == EVENT


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
