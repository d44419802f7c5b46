"""DataHub BLOB: the StreamX envelope without its empty members (all else: DataWorks JSON)."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.formats import datahub_blob
from cdc_marts.parsing.ops import source_ops
from tests.python.formats.staging import (
    LANDED_AT,
    LANDING_COMMIT,
    TOPIC_NUMBER,
    lists_all_columns,
    staged,
    without_ids,
)
from tests.python.formats.streamx import row_message, statement_message, without_nulls

KEY = ["id", "name"]
TYPES = {"id": "LONG", "name": "STRING", "comment": "STRING"}
SOURCE = {"dbName": "yunshi_db", "dbType": "MySQL", "tableName": "t_shiyu_pk"}
JOE = {"name": "joe", "comment": "comment", "id": 1}
NEW_JOE = {**JOE, "comment": "com1"}
INSERTED = ("1605339516000000004", (1605339932000, 1605339932736))
UPDATED = ("1605339516000000005", (1605339934000, 1605339934951))
DELETED = ("1605339516000000006", (1605339937000, 1605339937671))
ALTERED = ("1605339516000000035", (1605342109000, 1605342109259))


def vendor_times(times: tuple[int, int]) -> dict[str, int]:
    event_time, system_time = times
    return {"eventTime": event_time, "systemTime": system_time, "checkpointTime": event_time}


def blob(op: str, sequence_id: str, times: tuple[int, int], **images: Any) -> dict[str, Any]:
    """A row change as on the vendor's page."""
    return without_nulls(
        row_message(
            op,
            sequence_id=sequence_id,
            primary_key=KEY,
            columns=TYPES,
            source=SOURCE,
            times=vendor_times(times),
            **images,
        )
    )


def changed_key(key: list[str] | None, message: dict[str, Any]) -> dict[str, Any]:
    return without_nulls({**message, "schema": {**message["schema"], "primaryKey": key}})


ALTER = without_nulls(
    statement_message(
        "ALTER",
        "alter table t_shiyu_nopk add column holo text",
        sequence_id=ALTERED[0],
        source={**SOURCE, "tableName": "t_shiyu_nopk"},
        times=vendor_times(ALTERED[1]),
    )
)
HEARTBEAT = {
    "schema": {},
    "payload": {
        "op": "MHEARTBEAT",
        "timestamp": {"eventTime": 1605339953629, "checkpointTime": 1605339953629},
    },
    "version": "0.0.1",
}
INSERT = blob("INSERT", *INSERTED, after=JOE)

READ = {
    "insert": INSERT,
    "update before": blob("UPDATE_BEFOR", *UPDATED, before=JOE),
    "update after": blob("UPDATE_AFTER", *UPDATED, after=NEW_JOE),
    "delete": blob("DELETE", *DELETED, before=NEW_JOE),
    "heartbeat": HEARTBEAT,
    "alter": ALTER,
    "insert again": INSERT,
    "update": blob("UPDATE", *UPDATED, before=JOE, after=NEW_JOE),
    "update without before": blob("UPDATE", *UPDATED, after=NEW_JOE),
    "update without after": blob("UPDATE", *UPDATED, before=JOE),
    "the same half again": blob("UPDATE", *UPDATED, before=JOE),
    "update after with both images": blob("UPDATE_AFTER", *UPDATED, before=JOE, after=NEW_JOE),
    "a number as the sequence id": blob("INSERT", 1605339516000000004, INSERTED[1], after=JOE),
    "snapshot": blob("INSERT", "-1", (-1, -1), after=JOE),
    "a column that is left out": blob("INSERT", "8", INSERTED[1], after={"id": 2, "name": "x"}),
    "columns that are left out of an update": blob(
        "UPDATE_AFTER", "9", UPDATED[1], before={"id": 1, "name": "x"}, after=JOE
    ),
    "update after with an empty before": blob("UPDATE_AFTER", *UPDATED, before={}, after=NEW_JOE),
    "a keyless row of NULLs": changed_key(None, blob("INSERT", "8", INSERTED[1], after={})),
    "a keyless row gets NULLs": changed_key(
        None, blob("UPDATE", "9", UPDATED[1], before=JOE, after={})
    ),
}
REJECTED = {
    "empty object": ({}, "missing_field"),
    "no table": ({"schema": {}, "payload": INSERT["payload"]}, "missing_field"),
    "a lacking key column": (blob("INSERT", *INSERTED, after={"id": 1}), "missing_field"),
    "unknown op": (blob("UPSERT", *INSERTED, after=JOE), "unknown_op"),
    "no image": (blob("UPDATE", *UPDATED), "missing_image"),
    "an empty image": (blob("DELETE", *UPDATED, before={}), "missing_image"),
    "bad sequence id": (blob("INSERT", "8a", INSERTED[1], after=JOE), "bad_sequence"),
}
OPS = {
    op: (
        without_nulls(statement_message(op, f"{op} something"))
        if record_type in ("ddl", "transaction", "heartbeat")
        else blob(op, *UPDATED, before=JOE, after=NEW_JOE)
    )
    for op, (record_type, _, _) in source_ops("datahub_blob").items()
}


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> dict[str, dict[str, Any]]:
    """Name of a message -> its staging row."""
    rejected = {f"rejected: {name}": value for name, (value, _) in REJECTED.items()}
    ops = {f"op {op}": message for op, message in OPS.items()}
    messages = {**READ, **rejected, **ops}
    staging = staged(spark, datahub_blob.parse, *messages.values())
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
        "source_format": "datahub_blob",
        "topic": "topic",
        "partition": 0,
        "offset": offset,
        "row_index": 0,
        "source_type": "mysql",
        "database_name": "yunshi_db",
        "schema_name": None,
        "table_name": "t_shiyu_pk",
        "table_id": "yunshi_db.t_shiyu_pk",
        "op": None,
        "key_columns": KEY,
        "row_key": '{"id":1,"name":"joe"}',
        "previous_row_key": None,
        "before": None,
        "after": None,
        "unavailable_columns": [],
        "column_types": TYPES,
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


PAIRING_ID = "datahub_blob:yunshi_db.t_shiyu_pk:1605339516000000005"


@pytest.mark.parametrize(
    ("name", "event"),
    [
        ("insert", vendor_event(0, *INSERTED, op="insert", source_op="INSERT", after=JOE)),
        (
            "update before",
            vendor_event(
                1,
                *UPDATED,
                record_type="update_before",
                source_op="UPDATE_BEFOR",
                before=JOE,
                pairing_id=PAIRING_ID,
            ),
        ),
        (
            "update after",
            vendor_event(
                2,
                *UPDATED,
                op="update",
                source_op="UPDATE_AFTER",
                after=NEW_JOE,
                pairing_id=PAIRING_ID,
            ),
        ),
        ("delete", vendor_event(3, *DELETED, op="delete", source_op="DELETE", before=NEW_JOE)),
    ],
)
def test_a_row_change_of_the_vendors_page_is_read(
    rows: dict[str, dict[str, Any]], name: str, event: dict[str, Any]
) -> None:
    assert without_ids(rows[name]) == event


def test_the_heartbeat_of_the_vendors_page_tells_its_times(rows: dict[str, dict[str, Any]]) -> None:
    heartbeat = rows["heartbeat"]
    times = members(heartbeat, "event_at", "published_at", "checkpoint_at")
    assert times == (utc(1605339953629), None, utc(1605339953629))
    assert members(heartbeat, "record_type", "source_op", "table_id", "event_id") == (
        "heartbeat",
        "MHEARTBEAT",
        None,
        None,
    )


def test_the_statement_of_the_vendors_page_keeps_its_text(rows: dict[str, dict[str, Any]]) -> None:
    alter = rows["alter"]
    assert members(alter, "record_type", "source_op", "table_id", "is_truncation") == (
        "ddl",
        "ALTER",
        "yunshi_db.t_shiyu_nopk",
        False,
    )
    assert alter["ddl_text"] == "alter table t_shiyu_nopk add column holo text"
    assert alter["ddl_meta"] == "rO0ABXNyACk="
    assert alter["sequence"]["position"] == Decimal(ALTERED[0])
    assert alter["event_at"] == utc(1605342109000)


@pytest.mark.parametrize("op", OPS)
def test_every_op_code_has_its_meaning(rows: dict[str, dict[str, Any]], op: str) -> None:
    row = rows[f"op {op}"]
    meaning = members(row, "record_type", "op", "is_truncation")
    assert (row["source_op"], meaning) == (op, source_ops("datahub_blob")[op])


@pytest.mark.parametrize("name", REJECTED)
def test_what_cannot_be_read_whole_is_rejected(rows: dict[str, dict[str, Any]], name: str) -> None:
    row = rows[f"rejected: {name}"]
    assert members(row, "record_type", "reject_code") == ("rejected", REJECTED[name][1])
    assert row["value"] is not None
    assert row["event_id"] is None


def test_an_update_in_one_message_waits_for_no_other_half(rows: dict[str, dict[str, Any]]) -> None:
    for name in ("update", "update after with both images"):
        assert members(rows[name], "op", "before", "after", "pairing_id") == (
            "update",
            JOE,
            NEW_JOE,
            None,
        )


def test_an_update_of_one_image_is_a_half_that_waits_for_the_other(
    rows: dict[str, dict[str, Any]],
) -> None:
    compared = ("record_type", "op", "source_op", "before", "after", "pairing_id")
    before = members(rows["update without after"], *compared)
    assert before == ("update_before", None, "UPDATE", JOE, None, PAIRING_ID)
    after = members(rows["update without before"], *compared)
    assert after == ("change", "update", "UPDATE", None, NEW_JOE, PAIRING_ID)


def test_a_redelivery_has_the_event_id_of_the_first(rows: dict[str, dict[str, Any]]) -> None:
    insert = rows["insert"]["event_id"]
    assert rows["insert again"]["event_id"] == insert
    assert rows["a number as the sequence id"]["event_id"] == insert
    assert rows["update after with both images"]["event_id"] == rows["update after"]["event_id"]
    halves = {rows[f"update {half}"]["event_id"] for half in ("before", "after")}
    assert halves == {rows[f"update without {half}"]["event_id"] for half in ("after", "before")}
    assert len(halves) == 2
    assert rows["the same half again"]["event_id"] in halves


def test_a_row_of_the_full_load_is_a_snapshot(rows: dict[str, dict[str, Any]]) -> None:
    snapshot = rows["snapshot"]
    assert members(snapshot, "op", "after", "event_at") == ("snapshot", JOE, None)
    assert snapshot["sequence"]["position"] == Decimal(-1)


def test_a_listed_column_that_is_left_out_is_null(rows: dict[str, dict[str, Any]]) -> None:
    row = rows["a column that is left out"]
    assert members(row, "after", "unavailable_columns") == (
        {"id": 2, "name": "x", "comment": None},
        [],
    )
    update = rows["columns that are left out of an update"]
    assert members(update, "before", "after", "unavailable_columns") == (
        {"id": 1, "name": "x", "comment": None},
        JOE,
        [],
    )


def test_a_row_of_nulls_is_a_row(rows: dict[str, dict[str, Any]]) -> None:
    nulls = dict.fromkeys(TYPES)
    row = rows["a keyless row of NULLs"]
    assert members(row, "op", "after", "row_key") == (
        "insert",
        nulls,
        '{"comment":null,"id":null,"name":null}',
    )
    update = rows["a keyless row gets NULLs"]
    assert members(update, "op", "before", "after", "pairing_id") == ("update", JOE, nulls, None)
