"""DataWorks JSON: what its Kafka messages come to in staging."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.formats import dataworks_json
from cdc_marts.parsing.ops import source_ops
from tests.python.formats.staging import (
    LANDED_AT,
    LANDING_COMMIT,
    TOPIC_NUMBER,
    lists_all_columns,
    staged,
    without_ids,
)
from tests.python.formats.streamx import SOURCE, TIMES, row_message, statement_message

ROW_ID = "#alibaba_rds_row_id#"
ORACLE = {"dbType": "Oracle", "dbName": "ORCL", "schemaName": "HR", "tableName": "EMPLOYEES"}
ODD_KEYS = ["a.b", "c d", 'e"f', "g`h", "i'j", "列"]
ODD_ROW = {name: position for position, name in enumerate(ODD_KEYS)}
BIG = 9223372036854775807

SETTINGS = {"shop.logs": ["day", "line"], "shop.orders": ["name"], "shop.hidden": ["id"]}


def vendor_message(op: str, sequence_id: str, times: tuple[int, int], **images: Any) -> Any:
    """A message of the vendor's page: a MySQL table without a key."""
    event_time, system_time = times
    return row_message(
        op,
        sequence_id=sequence_id,
        columns={"name": "STRING", "job": "STRING", "sex": "STRING", ROW_ID: "LONG"},
        primary_key=None,
        source={"dbType": "MySQL", "dbName": "pkset_test", "tableName": "pkset_test_no_pk"},
        times={
            "eventTime": event_time,
            "systemTime": system_time,
            "checkpointTime": event_time,
        },
        **images,
    )


def vendor_row(sex: str) -> dict[str, Any]:
    return {"name": "name11", "job": "job11", "sex": sex, ROW_ID: 15}


MAN, WOMAN = vendor_row("man"), vendor_row("woman")
INSERTED = ("1620457642589000000", (1620457896000, 1620457896977))
UPDATED = ("1620457642589000001", (1620458077000, 1620458077779))
DELETED = ("1620457642589000002", (1620458266000, 1620458266101))
VENDOR_HEARTBEAT = {
    "schema": {"dataColumn": None, "primaryKey": None, "source": None},
    "payload": {
        "before": None,
        "after": None,
        "sequenceId": None,
        "timestamp": {"eventTime": 1620457659000, "checkpointTime": 1620457659000},
        "op": "MHEARTBEAT",
        "ddl": None,
    },
    "version": "0.0.1",
}

A, B = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}


def with_member(message: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """The message with another value at a path such as `payload.op`."""
    changed = json.loads(json.dumps(message))
    *parents, last = path.split(".")
    member = changed
    for parent in parents:
        member = member[parent]
    member[last] = value
    return changed


INSERT = row_message("INSERT", after=A)
UPDATE = row_message("UPDATE_AFTER", before=A, after=B)

READ = {
    "vendor insert": vendor_message("INSERT", *INSERTED, after=MAN),
    "vendor update before": vendor_message("UPDATE_BEFOR", *UPDATED, before=MAN),
    "vendor update after": vendor_message("UPDATE_AFTER", *UPDATED, after=WOMAN),
    "vendor update": vendor_message("UPDATE_AFTER", *UPDATED, before=MAN, after=WOMAN),
    "vendor delete": vendor_message("DELETE", *DELETED, before=WOMAN),
    "vendor heartbeat": VENDOR_HEARTBEAT,
    "insert": INSERT,
    "insert again": INSERT,
    "insert later": row_message("INSERT", after=A, sequence_id="1620457642589000009"),
    "insert elsewhere": row_message("INSERT", after=A, source={**SOURCE, "tableName": "items"}),
    "insert without null members": json.dumps(
        {
            "payload": {"after": {"dataColumn": A}, "op": "INSERT", "sequenceId": "7"},
            "schema": {"source": {"tableName": "t"}},
        }
    ),
    "insert with more members": {
        **with_member(INSERT, "payload.after.rowImage", "full"),
        "traceId": {"dataColumn": [1]},
    },
    "update": UPDATE,
    "update again": UPDATE,
    "update before": row_message("UPDATE_BEFOR", before=A),
    "update before again": row_message("UPDATE_BEFOR", before=A),
    "update before, spelled out": row_message("UPDATE_BEFORE", before=A, sequence_id="5"),
    "update before with an image after": row_message("UPDATE_BEFOR", before=A, after=B),
    "update after": row_message("UPDATE_AFTER", after=B),
    "update after with an empty image before": row_message("UPDATE_AFTER", before={}, after=B),
    "update of a key": row_message("UPDATE_AFTER", before=A, after={"id": 2, "name": "a"}),
    "plain update": row_message("UPDATE", before=A, after=B),
    "plain update without before": row_message("UPDATE", after=B),
    "plain update without after": row_message("UPDATE", before=A),
    "a value that only the row before has": row_message(
        "UPDATE_AFTER",
        before={**A, "body": "TOAST"},
        after=B,
        columns={"id": "LONG", "name": "STRING", "body": "STRING"},
    ),
    "a key column twice": row_message("INSERT", after=A, primary_key=["id", "id"]),
    "two key columns, one twice": row_message(
        "INSERT", after=A, primary_key=["name", "id", "name"]
    ),
    "a null among key columns": row_message("INSERT", after=A, primary_key=[None, "id"]),
    "a whole number as text": row_message("UPDATE_AFTER", before=A, after={**B, "id": "1"}),
    "a whole number as text without a key": row_message(
        "DELETE",
        before={**A, "id": "1"},
        primary_key=[],
        source={**SOURCE, "tableName": "keyless"},
    ),
    "a whole number of 38 digits as text": row_message("INSERT", after={"id": "9" * 38}),
    "no whole number": row_message("INSERT", after={"id": "1.5"}),
    "a text of digits": row_message("INSERT", after={**A, "name": "1"}, primary_key=["name"]),
    "whole numbers in a key": row_message(
        "INSERT",
        after={"c": "03", "b": "2", "a": None, "d": 4},
        primary_key=["c", "b", "a", "d"],
        columns={"a": "LONG", "b": "STRING", "c": "LONG", "d": "LONG"},
    ),
    "an empty statement": row_message("INSERT", after=A, ddl=""),
    "a heartbeat of a table": statement_message("MHEARTBEAT"),
    "delete": row_message("DELETE", before=A),
    "delete with an image after": row_message("DELETE", before=A, after=B),
    "snapshot": row_message(
        "INSERT",
        after=A,
        sequence_id="-1",
        times={"eventTime": -1, "systemTime": -1, "checkpointTime": -1},
    ),
    "snapshot again": row_message("INSERT", after=A, sequence_id=-1),
    "snapshot of another row": row_message("INSERT", after={**A, "id": 2}, sequence_id="-1"),
    "snapshot of a later load": row_message("INSERT", after=B, sequence_id="-1"),
    "snapshot by update": row_message("UPDATE_AFTER", before=A, after=B, sequence_id="-1"),
    "keyless snapshot": row_message(
        "INSERT",
        after=A,
        sequence_id="-1",
        primary_key=None,
        source={**SOURCE, "tableName": "keyless"},
    ),
    "keyless snapshot again": row_message(
        "INSERT",
        after=A,
        sequence_id="-1",
        primary_key=None,
        source={**SOURCE, "tableName": "keyless"},
    ),
    "keyless insert": row_message(
        "INSERT",
        after={"b": 1, "a": None},
        primary_key=[],
        columns={"b": "LONG", "a": "LONG"},
        source={**SOURCE, "tableName": "keyless"},
    ),
    "key of the project": row_message(
        "INSERT",
        after={"line": 2, "day": "mon"},
        primary_key=None,
        columns={},
        source={**SOURCE, "tableName": "logs"},
    ),
    "hidden row id beside the project's key": row_message(
        "INSERT",
        after={**A, ROW_ID: 3},
        primary_key=None,
        source={**SOURCE, "tableName": "hidden"},
    ),
    "oracle without a key": row_message(
        "INSERT",
        after={"NAME": "x", "rowid": "AAIUMPAAFAACxExAAE"},
        primary_key=None,
        columns={"NAME": "STRING", "rowid": "STRING"},
        source=ORACLE,
        scn="123456",
    ),
    "oracle with a key": row_message(
        "INSERT",
        after={"ID": 1, "rowid": "AAIUMPAAFAACxExAAE"},
        primary_key=["ID"],
        columns={"ID": "LONG", "rowid": "STRING"},
        source=ORACLE,
    ),
    "a column that is called rowid": row_message(
        "INSERT",
        after={"rowid": 1},
        primary_key=None,
        source={**SOURCE, "tableName": "t"},
    ),
    "odd names": row_message("INSERT", after={**ODD_ROW, "z": 1}, primary_key=ODD_KEYS, columns={}),
    "null in a key": row_message("INSERT", after={"id": None, "name": "a"}),
    "null and unavailable": row_message(
        "UPDATE_AFTER",
        before={"id": 1},
        after={"id": 1, "name": None},
        columns={"id": "LONG", "name": "STRING", "body": "STRING"},
    ),
    "unavailable in a delete": row_message("DELETE", before={"id": 1}),
    "exact values": (
        '{"schema": {"source": {"tableName": "t"}}, "payload": {"op": "INSERT",'
        f' "sequenceId": {BIG}{BIG}, "after": {{"dataColumn": {{"id": {BIG}, "ok": true,'
        ' "price": "1.100000", "ratio": 12345678901234567890.0123456789}}}}'
    ),
    "times as text": row_message(
        "INSERT", after=A, times={name: str(t) for name, t in TIMES.items()}
    ),
    "no times": row_message("INSERT", after=A, times=None),
    "empty schema members": with_member(
        statement_message("MHEARTBEAT", sequence_id=None),
        "schema",
        {"dataColumn": [], "primaryKey": [], "source": {}},
    ),
    "nameless column": with_member(
        INSERT, "schema.dataColumn", [{"name": None, "type": "LONG"}, None, {"name": "id"}]
    ),
    "alter": statement_message("ALTER", "ALTER TABLE orders ADD note text"),
    "truncate": statement_message("TRUNCATE", "TRUNCATE TABLE orders"),
    "truncate of the text's table": statement_message(
        "TRUNCATE", "truncate table items", source={"dbType": "MySQL", "dbName": "shop"}
    ),
    "an erased database": statement_message(
        "ERASE", "drop database shop", source={"dbType": "MySQL", "dbName": "shop"}
    ),
    "query that drops": statement_message("QUERY", "drop table a, old.b"),
    "query without a table": statement_message(
        "QUERY",
        "CREATE DATABASE old",
        source={"dbType": "MySQL", "dbName": "old"},
        sequence_id=None,
    ),
    "begin": statement_message("TRANSACTION_BEGIN"),
}

REJECTED = {
    "a repeated column": (json.dumps(INSERT).replace('"name": "a"', '"id": 2'), "malformed_json"),
    "a schema that is text": ({**INSERT, "schema": "none"}, "malformed_json"),
    "nothing": ({}, "missing_field"),
    "no op": (row_message(None, after=A), "missing_field"),
    "an op in lower case": (row_message("insert", after=A), "unknown_op"),
    "an op of another format": (row_message("c", after=A), "unknown_op"),
    "no schema": ({"payload": INSERT["payload"]}, "missing_field"),
    "no table": (with_member(INSERT, "schema.source.tableName", None), "missing_field"),
    "an empty table": (with_member(INSERT, "schema.source.tableName", ""), "missing_field"),
    "no sequence id": (row_message("INSERT", after=A, sequence_id=None), "missing_field"),
    "a truncate at no position": (statement_message("TRUNCATE", sequence_id=None), "missing_field"),
    "a dropped column at no position": (
        statement_message("ALTER", "alter table orders drop column note", sequence_id=None),
        "missing_field",
    ),
    "a truncate of no table": (statement_message("TRUNCATE", source=None), "missing_field"),
    "a query that truncates at no position": (
        statement_message("QUERY", "truncate orders", sequence_id=None),
        "missing_field",
    ),
    "a lacking key column": (row_message("INSERT", after={"name": "a"}), "missing_field"),
    "a lacking key column before": (
        row_message("UPDATE_AFTER", before={"name": "a"}, after=B),
        "missing_field",
    ),
    "a lacking key column in a half": (
        row_message("UPDATE_BEFOR", before={"name": "a"}),
        "missing_field",
    ),
    "a lacking row id": (
        row_message(
            "INSERT",
            after=A,
            primary_key=None,
            columns={ROW_ID: "LONG"},
            source={**SOURCE, "tableName": "keyless"},
        ),
        "missing_field",
    ),
    "a sequence id of letters": (row_message("INSERT", after=A, sequence_id="x1"), "bad_sequence"),
    "a negative sequence id": (row_message("INSERT", after=A, sequence_id="-2"), "bad_sequence"),
    "a fractional sequence id": (row_message("INSERT", after=A, sequence_id=1.5), "bad_sequence"),
    "39 digits": (row_message("INSERT", after=A, sequence_id="1" * 39), "bad_sequence"),
    **{
        f"a bad {time}": (
            row_message("INSERT", after=A, times={**TIMES, time: "2021-05-08"}),
            "bad_timestamp",
        )
        for time in TIMES
    },
    "a time out of range": (
        row_message("INSERT", after=A, times={**TIMES, "eventTime": 10**18}),
        "bad_timestamp",
    ),
    "a time in seconds": (
        row_message("INSERT", after=A, times={**TIMES, "eventTime": 1620458077}),
        "bad_timestamp",
    ),
    "a time of 0": (
        row_message("INSERT", after=A, times={**TIMES, "systemTime": 0}),
        "bad_timestamp",
    ),
    "a heartbeat with a bad time": (
        with_member(VENDOR_HEARTBEAT, "payload.timestamp.eventTime", "now"),
        "bad_timestamp",
    ),
    "an insert without after": (row_message("INSERT", before=A), "missing_image"),
    "an insert of no columns": (row_message("INSERT", after={}), "missing_image"),
    "an insert of null columns": (
        with_member(INSERT, "payload.after.dataColumn", None),
        "missing_image",
    ),
    "an image that is a list": (row_message("INSERT", after=[1, 2]), "missing_image"),
    "an image before that is a list": (
        row_message("UPDATE_AFTER", before=[1], after=B),
        "missing_image",
    ),
    "an image before that is a text": (row_message("INSERT", before="A", after=A), "missing_image"),
    "an image after that is a number": (row_message("DELETE", before=A, after=1), "missing_image"),
    "an update of no images": (row_message("UPDATE"), "missing_image"),
    "a statement that is no object": (row_message("INSERT", after=A, ddl=["x"]), "malformed_json"),
    "null members": ({"schema": None, "payload": None}, "missing_field"),
    "a heartbeat without op": (
        with_member(statement_message("MHEARTBEAT"), "payload.op", None),
        "missing_field",
    ),
    "an update without after": (row_message("UPDATE_AFTER", before=A), "missing_image"),
    "a half without before": (row_message("UPDATE_BEFOR", after=A), "missing_image"),
    "a delete without before": (row_message("DELETE", after=A), "missing_image"),
    "a delete in the full load": (
        row_message("DELETE", before=A, sequence_id="-1"),
        "missing_image",
    ),
    "a half in the full load": (
        row_message("UPDATE_BEFOR", before=A, sequence_id="-1"),
        "missing_image",
    ),
}

OPS = {
    op: (
        statement_message(op, f"{op} something")
        if record_type in ("ddl", "transaction", "heartbeat")
        else row_message(op, before=A, after=B)
    )
    for op, (record_type, _, _) in source_ops("dataworks_json").items()
}


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> dict[str, dict[str, Any]]:
    """Name of a message -> its staging row."""
    rejected = {name: value for name, (value, _) in REJECTED.items()}
    ops = {f"op {op}": message for op, message in OPS.items()}
    messages = {**READ, **rejected, **ops}
    assert len(messages) == len(READ) + len(rejected) + len(ops)
    staging = staged(spark, dataworks_json.parse, *messages.values(), key_settings=SETTINGS)
    return dict(zip(messages, staging, strict=True))


def members(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def utc(millis: int) -> dt.datetime:
    return dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=millis)


def vendor_event(
    offset: int, position: str, times: tuple[int, int], **members_: Any
) -> dict[str, Any]:
    """What every row change of the vendor's page has in common."""
    return {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": "dataworks_json",
        "topic": "topic",
        "partition": 0,
        "offset": offset,
        "row_index": 0,
        "source_type": "mysql",
        "database_name": "pkset_test",
        "schema_name": None,
        "table_name": "pkset_test_no_pk",
        "table_id": "pkset_test.pkset_test_no_pk",
        "key_columns": [ROW_ID],
        "row_key": f'{{"{ROW_ID}":15}}',
        "previous_row_key": None,
        "before": None,
        "after": None,
        "unavailable_columns": [],
        "column_types": {"name": "STRING", "job": "STRING", "sex": "STRING", ROW_ID: "LONG"},
        "lob_columns": None,
        "event_at": utc(times[0]),
        "published_at": utc(times[1]),
        "checkpoint_at": utc(times[0]),
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


@pytest.mark.parametrize(
    ("name", "event"),
    [
        (
            "vendor insert",
            vendor_event(0, *INSERTED, op="insert", source_op="INSERT", after=MAN),
        ),
        (
            "vendor update before",
            vendor_event(
                1,
                *UPDATED,
                record_type="update_before",
                op=None,
                source_op="UPDATE_BEFOR",
                before=MAN,
                pairing_id="dataworks_json:pkset_test.pkset_test_no_pk:1620457642589000001",
            ),
        ),
        (
            "vendor update after",
            vendor_event(
                2,
                *UPDATED,
                op="update",
                source_op="UPDATE_AFTER",
                after=WOMAN,
                pairing_id="dataworks_json:pkset_test.pkset_test_no_pk:1620457642589000001",
            ),
        ),
        (
            "vendor update",
            vendor_event(
                3, *UPDATED, op="update", source_op="UPDATE_AFTER", before=MAN, after=WOMAN
            ),
        ),
        (
            "vendor delete",
            vendor_event(4, *DELETED, op="delete", source_op="DELETE", before=WOMAN),
        ),
    ],
)
def test_a_message_of_the_vendors_page_is_read(
    rows: dict[str, dict[str, Any]], name: str, event: dict[str, Any]
) -> None:
    assert without_ids(rows[name]) == event


def test_the_heartbeat_of_the_vendors_page_tells_its_times(rows: dict[str, dict[str, Any]]) -> None:
    heartbeat = rows["vendor heartbeat"]
    known = {name: member for name, member in heartbeat.items() if member is not None}
    assert known == {
        "record_type": "heartbeat",
        "source_format": "dataworks_json",
        "topic": "topic",
        "partition": 0,
        "offset": 5,
        "row_index": 0,
        "source_op": "MHEARTBEAT",
        "event_at": utc(1620457659000),
        "checkpoint_at": utc(1620457659000),
        "landed_at": LANDED_AT,
        "landing_commit": LANDING_COMMIT,
        "sequence": {
            "position": None,
            "transaction_index": TOPIC_NUMBER,
            "partition": 0,
            "offset": 5,
            "row_index": 0,
        },
        "is_truncation": False,
    }


def test_a_heartbeat_may_have_empty_schema_members(rows: dict[str, dict[str, Any]]) -> None:
    heartbeat = rows["empty schema members"]
    assert members(heartbeat, "record_type", "table_id") == ("heartbeat", None)


@pytest.mark.parametrize("op", OPS)
def test_every_op_code_has_its_meaning(rows: dict[str, dict[str, Any]], op: str) -> None:
    row = rows[f"op {op}"]
    meaning = members(row, "record_type", "op", "is_truncation")
    assert (row["source_op"], meaning) == (op, source_ops("dataworks_json")[op])


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


def test_one_update_message_with_both_images_waits_for_no_other_half(
    rows: dict[str, dict[str, Any]],
) -> None:
    for name in ("update", "plain update"):
        update = rows[name]
        assert members(update, "op", "before", "after", "pairing_id") == ("update", A, B, None)


def test_a_plain_update_of_one_image_is_a_half(rows: dict[str, dict[str, Any]]) -> None:
    pairing_id = rows["update before"]["pairing_id"]
    after = rows["plain update without before"]
    assert members(after, "op", "before", "after", "pairing_id") == ("update", None, B, pairing_id)
    before = rows["plain update without after"]
    assert members(before, "record_type", "op", "before", "after", "pairing_id") == (
        "update_before",
        None,
        A,
        None,
        pairing_id,
    )


def test_the_row_before_is_read_whole(rows: dict[str, dict[str, Any]]) -> None:
    update = rows["a value that only the row before has"]
    assert members(update, "before", "after", "unavailable_columns") == (
        {**A, "body": "TOAST"},
        B,
        ["body"],
    )


def test_a_key_column_counts_once(rows: dict[str, dict[str, Any]]) -> None:
    key = members(rows["a key column twice"], "key_columns", "row_key", "event_id")
    assert key == (["id"], '{"id":1}', rows["insert"]["event_id"])
    two = members(rows["two key columns, one twice"], "key_columns", "row_key")
    assert two == (["name", "id"], '{"name":"a","id":1}')
    assert rows["a null among key columns"]["key_columns"] == ["id"]


def test_a_whole_number_makes_one_key_as_text_and_as_number(
    rows: dict[str, dict[str, Any]],
) -> None:
    update = rows["a whole number as text"]
    assert members(update, "row_key", "previous_row_key", "after") == (
        '{"id":1}',
        None,
        {**B, "id": "1"},
    )
    of_names = {
        "a whole number as text without a key": '{"id":1,"name":"a"}',
        "a whole number of 38 digits as text": f'{{"id":{"9" * 38}}}',
        "no whole number": '{"id":"1.5"}',
        "a text of digits": '{"name":"1"}',
        "whole numbers in a key": '{"c":3,"b":"2","a":null,"d":4}',
    }
    assert {name: rows[name]["row_key"] for name in of_names} == of_names


def test_an_empty_statement_is_none(rows: dict[str, dict[str, Any]]) -> None:
    insert = rows["an empty statement"]
    assert members(insert, "record_type", "after", "ddl_text") == ("change", A, None)


def test_a_heartbeat_may_name_a_table(rows: dict[str, dict[str, Any]]) -> None:
    heartbeat = rows["a heartbeat of a table"]
    assert members(heartbeat, "record_type", "table_id") == ("heartbeat", "shop.orders")


def test_the_halves_of_an_update_share_their_pairing_id_only(
    rows: dict[str, dict[str, Any]],
) -> None:
    before, after = rows["update before"], rows["update after"]
    assert members(before, "record_type", "op", "before", "after") == (
        "update_before",
        None,
        A,
        None,
    )
    assert members(after, "record_type", "op", "before", "after") == ("change", "update", None, B)
    assert (
        before["pairing_id"]
        == after["pairing_id"]
        == ("dataworks_json:shop.orders:1620457642589000001")
    )
    assert before["event_id"] != after["event_id"]
    for half in (before, after):
        assert members(half, "row_key", "key_columns") == ('{"id":1}', ["id"])
        assert half["sequence"]["position"] == Decimal(1620457642589000001)


def test_a_half_takes_only_its_own_image(rows: dict[str, dict[str, Any]]) -> None:
    half = rows["update before with an image after"]
    assert members(half, "record_type", "before", "after") == ("update_before", A, None)
    half = rows["update after with an empty image before"]
    assert members(half, "before", "after") == (None, B)
    assert half["pairing_id"] == rows["update before"]["pairing_id"]
    assert rows["update before, spelled out"]["pairing_id"] == "dataworks_json:shop.orders:5"


def test_an_update_that_changes_the_key_keeps_the_old_one(rows: dict[str, dict[str, Any]]) -> None:
    update = rows["update of a key"]
    assert members(update, "row_key", "previous_row_key") == ('{"id":2}', '{"id":1}')
    assert rows["update"]["previous_row_key"] is None


def test_a_delete_takes_its_row_from_before(rows: dict[str, dict[str, Any]]) -> None:
    for name in ("delete", "delete with an image after"):
        assert members(rows[name], "op", "before", "after") == ("delete", A, None)


def test_a_row_of_the_full_load_is_a_snapshot_before_everything(
    rows: dict[str, dict[str, Any]],
) -> None:
    snapshot = rows["snapshot"]
    assert members(snapshot, "op", "source_op", "before", "after") == (
        "snapshot",
        "INSERT",
        None,
        A,
    )
    assert snapshot["sequence"]["position"] == Decimal(-1)
    assert members(snapshot, "event_at", "published_at", "checkpoint_at") == (None,) * 3
    update = rows["snapshot by update"]
    assert members(update, "op", "before", "after", "pairing_id") == ("snapshot", None, B, None)


def test_a_redelivery_has_the_event_id_of_the_first(rows: dict[str, dict[str, Any]]) -> None:
    for name in ("insert", "update", "update before", "snapshot"):
        assert rows[name]["event_id"] == rows[f"{name} again"]["event_id"], name
    # With and without the image before: the key after the change is enough.
    assert rows["update"]["event_id"] == rows["update after"]["event_id"]


def test_different_events_have_different_event_ids(rows: dict[str, dict[str, Any]]) -> None:
    names = (
        "insert",
        "insert later",
        "insert elsewhere",
        "update",
        "update before",
        "update of a key",
        "delete",
        "snapshot",
        "snapshot of another row",
        "snapshot of a later load",
        "keyless snapshot",
        "keyless snapshot again",
        "keyless insert",
    )
    assert len({rows[name]["event_id"] for name in names}) == len(names)


def test_a_table_without_any_key_is_keyless(rows: dict[str, dict[str, Any]]) -> None:
    insert = rows["keyless insert"]
    assert members(insert, "key_columns", "row_key") == ([], '{"a":null,"b":1}')


def test_the_projects_key_stands_in_for_a_published_one(rows: dict[str, dict[str, Any]]) -> None:
    published = rows["insert"]
    assert published["key_columns"] == ["id"]
    of_project = rows["key of the project"]
    assert members(of_project, "key_columns", "row_key") == (
        ["day", "line"],
        '{"day":"mon","line":2}',
    )
    assert rows["hidden row id beside the project's key"]["key_columns"] == ["id"]


def test_rowid_is_the_key_of_an_oracle_table_without_one(rows: dict[str, dict[str, Any]]) -> None:
    keyless = rows["oracle without a key"]
    assert members(keyless, "source_type", "table_id", "row_key") == (
        "oracle",
        "ORCL.HR.EMPLOYEES",
        '{"rowid":"AAIUMPAAFAACxExAAE"}',
    )
    assert rows["oracle with a key"]["row_key"] == '{"ID":1}'
    assert rows["a column that is called rowid"]["key_columns"] == []


def test_key_columns_may_have_odd_names(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["odd names"]
    assert row["key_columns"] == ODD_KEYS
    assert row["row_key"] == json.dumps(ODD_ROW, ensure_ascii=False, separators=(",", ":"))


def test_null_in_a_key_column_is_a_value(rows: dict[str, dict[str, Any]]) -> None:
    assert rows["null in a key"]["row_key"] == '{"id":null}'


def test_null_is_a_value_and_a_column_that_the_image_lacks_is_unavailable(
    rows: dict[str, dict[str, Any]],
) -> None:
    update = rows["null and unavailable"]
    assert members(update, "before", "after", "unavailable_columns") == (
        {"id": 1},
        {"id": 1, "name": None},
        ["body"],
    )
    assert rows["unavailable in a delete"]["unavailable_columns"] == ["name"]


def test_values_are_exact_as_published(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["exact values"]
    # The key of a keyless table is its whole image as text.
    assert row["row_key"] == (
        f'{{"id":{BIG},"ok":true,"price":"1.100000","ratio":12345678901234567890.0123456789}}'
    )
    assert row["sequence"]["position"] == Decimal(f"{BIG}{BIG}")


def test_a_time_may_be_text_or_absent(rows: dict[str, dict[str, Any]]) -> None:
    times = ("event_at", "published_at", "checkpoint_at")
    assert members(rows["times as text"], *times) == tuple(map(utc, TIMES.values()))
    assert members(rows["no times"], *times) == (None,) * 3


def test_members_that_are_not_there_are_as_null(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["insert without null members"]
    assert members(row, "op", "table_id", "source_type", "key_columns", "after", "event_at") == (
        "insert",
        "t",
        None,
        [],
        A,
        None,
    )


def test_unknown_members_are_ignored(rows: dict[str, dict[str, Any]]) -> None:
    assert rows["insert with more members"]["event_id"] == rows["insert"]["event_id"]
    assert rows["insert with more members"]["after"] == A


def test_a_schema_column_without_a_name_is_ignored(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["nameless column"]
    assert members(row, "column_types", "unavailable_columns") == ({"id": None, "name": None}, [])


def test_a_statement_keeps_its_text_and_table(rows: dict[str, dict[str, Any]]) -> None:
    alter = rows["alter"]
    assert members(alter, "record_type", "table_id", "ddl_text", "ddl_meta", "is_truncation") == (
        "ddl",
        "shop.orders",
        "ALTER TABLE orders ADD note text",
        "rO0ABXNyACk=",
        False,
    )
    assert alter["sequence"]["position"] == Decimal(1620457642589000001)
    assert alter["event_at"] == utc(TIMES["eventTime"])
    assert members(alter, "row_key", "key_columns") == (None, None)


def test_a_statement_has_an_id_by_which_its_redelivery_is_known(
    rows: dict[str, dict[str, Any]],
) -> None:
    assert len({rows[name]["event_id"] for name in ("alter", "truncate")}) == 2


def test_a_truncate_ends_the_rows_of_its_table(rows: dict[str, dict[str, Any]]) -> None:
    truncate = rows["truncate"]
    assert members(truncate, "record_type", "table_id", "is_truncation") == (
        "ddl",
        "shop.orders",
        True,
    )
    assert truncate["sequence"]["position"] == Decimal(1620457642589000001)


def test_the_text_of_a_statement_says_which_tables_it_empties(
    rows: dict[str, dict[str, Any]],
) -> None:
    truncate, query = rows["truncate of the text's table"], rows["query that drops"]
    assert members(truncate, "table_id", "is_truncation") == ("shop.items", True)
    assert members(rows["an erased database"], "record_type", "is_truncation") == ("ddl", True)
    assert [
        (change["change"], change["database_name"], change["table_name"])
        for change in query["table_changes"]
    ] == [("table_drop", "shop", "a"), ("table_drop", "old", "b")]


def test_a_statement_may_have_neither_table_nor_position(rows: dict[str, dict[str, Any]]) -> None:
    query = rows["query without a table"]
    assert members(query, "record_type", "table_id", "ddl_text") == (
        "ddl",
        "old",
        "CREATE DATABASE old",
    )


def test_a_transaction_record_has_no_row(rows: dict[str, dict[str, Any]]) -> None:
    begin = rows["begin"]
    assert members(begin, "record_type", "source_op", "event_at", "event_id", "row_key") == (
        "transaction",
        "TRANSACTION_BEGIN",
        utc(TIMES["eventTime"]),
        None,
        None,
    )
