"""SharePlex JSON: what its messages come to in staging."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from cdc_marts.formats import shareplex_json
from cdc_marts.parsing.ops import source_ops
from tests.python.formats.staging import (
    LANDED_AT,
    LANDING_COMMIT,
    check_are_different_events,
    check_are_one_event,
    each_is_rejected,
    each_said,
    each_said_together,
    lists_all_columns,
    said,
)

Row = dict[str, Any]
Rows = list[Row]

META = {
    "time": "2017-06-16T14:24:34",
    "userid": 84,
    "op": "ins",
    "scn": "14589063118712",
    "rowid": "AAATGpAAIAAItcIAAA",
    "trans": "7.0.411499",
    "seq": 1,
    "size": 11,
    "table": "CL_BIZ1.MIO_LOG",
    "idx": "1/11",
    "posttime": "2017-06-16T14:33:52",
}
OLD_ROW = {
    "MIO_LOG_ID": "32537893",
    "PLNMIO_REC_ID": "31557806",
    "POL_CODE": None,
    "CNTR_TYPE": None,
    "CNTR_NO": "1171201606syui26",
}
NEW_ROW = {**OLD_ROW, "CNTR_NO": "1171201606"}
ROWID_KEY = '{"rowid":"AAATGpAAIAAItcIAAA"}'
TIME = dt.datetime(2017, 6, 16, 14, 24, 34)
PARSE = partial(
    shareplex_json.parse,
    key_settings={"S.KEYED": ["ID"], "S.COMPOSITE": ["B", "ID"]},
)
#: What stands for the topic `topic` in a sequence: its Murmur3 hash.
HASH_OF_TOPIC = 1189834764


def message(op: str | None, data: Any = None, key: Any = None, **meta: Any) -> dict[str, Any]:
    """A message; a member of `meta` that is None is left out."""
    members = {**META, "op": op, **meta}
    images = {"data": data, "key": key}
    return {
        "meta": {name: value for name, value in members.items() if value is not None},
        **{name: image for name, image in images.items() if image is not None},
    }


INSERT = message("ins", {"MIO_LOG_ID": "32539737"})
UPDATE = message("upd", {"CNTR_NO": "1171201606"}, OLD_ROW, time="2017-06-16T15:38:13")
DELETE = message("del", OLD_ROW, time="2017-06-16T15:51:35")
HALF_BEFORE = message("UPDATE BEFORE", OLD_ROW, seq=2)
HALF_AFTER = message("UPDATE AFTER", NEW_ROW, seq=2)


def expected(**values: Any) -> dict[str, Any]:
    """What all the vendor's examples have in common, and what one of them has of its own."""
    return {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": "shareplex_json",
        "topic": "topic",
        "partition": 0,
        "row_index": 0,
        "source_type": "oracle",
        "database_name": None,
        "schema_name": "CL_BIZ1",
        "table_name": "MIO_LOG",
        "table_id": "CL_BIZ1.MIO_LOG",
        "key_columns": ["rowid"],
        "row_key": ROWID_KEY,
        "previous_row_key": None,
        "unavailable_columns": [],
        "column_types": None,
        "lob_columns": None,
        "published_at": dt.datetime(2017, 6, 16, 14, 33, 52),
        "checkpoint_at": None,
        "landed_at": LANDED_AT,
        "landing_commit": LANDING_COMMIT,
        "transaction_id": "7.0.411499",
        "delivery_position": Decimal(14589063118712),
        "pairing_id": None,
        "ddl_text": None,
        "is_truncation": False,
        "table_changes": None,
        "lists_all_columns": lists_all_columns(values.get("op")),
        "value": None,
        **values,
    }


@pytest.mark.parametrize(
    "event",
    [
        pytest.param(expected(**values), id=values["op"], marks=said(value))
        for value, values in [
            (
                INSERT,
                {
                    "op": "insert",
                    "source_op": "ins",
                    "before": None,
                    "after": {"MIO_LOG_ID": "32539737"},
                    "event_at": TIME,
                },
            ),
            (
                UPDATE,
                {
                    "op": "update",
                    "source_op": "upd",
                    "before": OLD_ROW,
                    "after": NEW_ROW,
                    "event_at": dt.datetime(2017, 6, 16, 15, 38, 13),
                },
            ),
            (
                DELETE,
                {
                    "op": "delete",
                    "source_op": "del",
                    "before": OLD_ROW,
                    "after": None,
                    "event_at": dt.datetime(2017, 6, 16, 15, 51, 35),
                },
            ),
        ]
    ],
)
def test_the_examples_of_the_vendor(row: Row, event: Row) -> None:
    assert {column: row[column] for column in event} == event
    assert row["sequence"] == {
        "position": Decimal(14589063118712),
        "transaction_index": 1,
        "partition": 0,
        "offset": row["offset"],
        "row_index": HASH_OF_TOPIC,
    }
    assert row["event_id"]


LONG_INSERT = message("INSERT", {"MIO_LOG_ID": "32539737"})


@said(
    *(INSERT, LONG_INSERT),
    *(UPDATE, message("UPDATE", {"CNTR_NO": "1171201606"}, OLD_ROW)),
    *(DELETE, message("DELETE", OLD_ROW)),
    message("Ins", {"MIO_LOG_ID": "32539737"}),
)
def test_an_op_may_be_long_or_short_in_any_case(rows: Rows) -> None:
    *pairs, other_case = rows
    for name, short, long in zip(
        ("insert", "update", "delete"), pairs[::2], pairs[1::2], strict=True
    ):
        assert (long["op"], long["before"], long["after"]) == (
            *(name, short["before"], short["after"]),
        )
        assert long["source_op"] == name.upper()
    assert (other_case["op"], other_case["source_op"]) == ("insert", "Ins")


@said(*(message(op, NEW_ROW, OLD_ROW) for op in source_ops("shareplex_json")))
def test_every_op_of_the_code_table_is_read(rows: Rows) -> None:
    read = {row["source_op"]: (row["record_type"], row["op"], row["is_truncation"]) for row in rows}
    assert read == source_ops("shareplex_json")


@pytest.mark.parametrize(
    "is_truncation",
    [
        pytest.param(True, id="truncate", marks=said(message("TRUNCATE", rowid=None))),
        pytest.param(True, id="drop", marks=said(message("Drop"))),
        pytest.param(False, id="drop column", marks=said(message("DROP COLUMN", {"x": 1}))),
    ],
)
def test_truncate_and_drop_end_the_rows(row: Row, is_truncation: bool) -> None:
    assert (row["record_type"], row["is_truncation"]) == ("ddl", is_truncation)
    assert row["event_id"]
    assert (row["op"], row["row_key"]) == (None, None)
    assert (row["before"], row["after"], row["key_columns"]) == (None, None, None)
    assert (row["table_id"], row["event_at"]) == ("CL_BIZ1.MIO_LOG", TIME)
    assert row["sequence"]["position"] == 14589063118712


@said(message("upd", {"CNTR_NO": None, "POL_CODE": "P"}, OLD_ROW))
def test_a_null_among_the_changes_of_an_update_is_null(row: Row) -> None:
    assert row["after"] == {**OLD_ROW, "CNTR_NO": None, "POL_CODE": "P"}
    assert row["before"] == OLD_ROW


@said(message("upd", {}, OLD_ROW))
def test_an_update_that_changed_nothing_leaves_the_row(row: Row) -> None:
    assert (row["before"], row["after"]) == (OLD_ROW, OLD_ROW)


@said(
    message("upd", {"B": 2}, {"ID": 1}, table="S.KEYED"),
    message("upd", {"B": None}, {"ID": 1}, table="S.KEYED"),
    message("upd", {"ID": 2, "B": 2}, {"ID": 1}, table="S.KEYED"),
)
def test_an_update_may_have_only_the_key_of_the_old_row(rows: Rows) -> None:
    update, to_null, moved = rows
    assert (update["before"], update["after"]) == ({"ID": 1}, {"ID": 1, "B": 2})
    assert (update["row_key"], update["previous_row_key"]) == ('{"ID":1}', None)
    # What else the table has is for the fold to find out, from its inserts.
    assert update["lists_all_columns"] is False
    assert to_null["after"] == {"ID": 1, "B": None}
    assert (moved["before"], moved["after"]) == ({"ID": 1}, {"ID": 2, "B": 2})
    assert (moved["row_key"], moved["previous_row_key"]) == ('{"ID":2}', '{"ID":1}')


@pytest.mark.parametrize(
    "lists_all_columns",
    [
        pytest.param(True, id="insert", marks=said(INSERT)),
        pytest.param(False, id="update", marks=said(UPDATE)),
        pytest.param(False, id="delete", marks=said(DELETE)),
        pytest.param(False, id="half after", marks=said(HALF_AFTER)),
    ],
)
def test_only_an_insert_has_all_columns_of_its_table(row: Row, lists_all_columns: bool) -> None:
    assert row["lists_all_columns"] is lists_all_columns


@said(message("del", None, OLD_ROW))
def test_a_delete_may_have_its_row_in_key(row: Row) -> None:
    assert row["before"] == OLD_ROW


@said(
    *(HALF_BEFORE, HALF_AFTER),
    message("UPDATE AFTER", NEW_ROW, seq=3),
    message("UPDATE AFTER", NEW_ROW, seq=2, table="CL_BIZ1.T2"),
)
def test_the_halves_of_an_update_find_each_other(rows: Rows) -> None:
    before, after, *others = rows
    assert (before["record_type"], before["op"]) == ("update_before", None)
    assert (before["before"], before["after"]) == (OLD_ROW, None)
    assert (after["record_type"], after["op"]) == ("change", "update")
    assert (after["before"], after["after"]) == (None, NEW_ROW)
    assert before["pairing_id"] == after["pairing_id"]
    assert before["row_key"] == after["row_key"] == ROWID_KEY
    assert before["event_id"] != after["event_id"]
    for other in others:
        assert other["op"] == "update"
        assert other["pairing_id"] != after["pairing_id"]
    assert len(others) == 2


@said(
    HALF_BEFORE,
    message("update before", OLD_ROW, seq=2),
    message("UPDATE BEFORE", None, OLD_ROW, seq=2),
    message("UPDATE BEFORE", {"CNTR_NO": OLD_ROW["CNTR_NO"]}, OLD_ROW, seq=2),
    message("UPDATE BEFORE", {}, OLD_ROW, seq=2),
)
def test_a_half_before_is_read_alike_in_each_shape(rows: Rows) -> None:
    assert [row["before"] for row in rows] == [OLD_ROW] * 5
    assert len({row["event_id"] for row in rows}) == 1


@said(HALF_AFTER, message("UPDATE AFTER", {"CNTR_NO": "1171201606"}, OLD_ROW, seq=2))
def test_a_half_after_is_read_alike_in_either_shape(rows: Rows) -> None:
    assert [(row["before"], row["after"]) for row in rows] == [(None, NEW_ROW)] * 2
    assert len({row["event_id"] for row in rows}) == 1


@said(
    message("upd", {"N": 2}, {"ID": 7, "N": 1}, table="S.KEYED"),
    message("upd", {"ID": 8}, {"ID": 7, "N": 1}, table="S.KEYED"),
    message("ins", {"ID": 7, "B": None}, table="S.COMPOSITE"),
)
def test_a_key_set_for_the_table_goes_before_the_row_address(rows: Rows) -> None:
    update, changed, composite = rows
    assert (update["key_columns"], update["row_key"]) == (["ID"], '{"ID":7}')
    assert update["previous_row_key"] is None
    assert (changed["previous_row_key"], changed["row_key"]) == ('{"ID":7}', '{"ID":8}')
    assert composite["row_key"] == '{"B":null,"ID":7}'


@said(
    message("ins", {"ID": 1}, rowid='A"A\\é'),
    message("ins", {"rowid": "x", "ID": 1}),
)
def test_a_row_address_is_the_key_and_no_column(rows: Rows) -> None:
    odd, named_so = rows
    assert json.loads(odd["row_key"]) == {"rowid": 'A"A\\é'}
    assert odd["after"] == {"ID": 1}
    assert (named_so["row_key"], named_so["after"]) == (ROWID_KEY, {"rowid": "x", "ID": 1})


@said(message("ins", {"ID": 1}, rowid=None))
def test_a_row_without_an_address_is_known_by_all_its_columns(row: Row) -> None:
    assert (row["key_columns"], row["row_key"]) == ([], '{"ID":1}')


@said(message("ins", {"A": 1}, table="MIO_LOG"), message("ins", {"A": 1}, table="O.A.B"))
def test_a_table_may_come_without_an_owner(rows: Rows) -> None:
    no_owner, dot = rows
    assert (no_owner["schema_name"], no_owner["table_id"]) == (None, "MIO_LOG")
    assert (dot["schema_name"], dot["table_name"]) == ("O", "A.B")


@said(
    message("ins", {"N": 12345678901234567890123456789012345678, "F": 1.5}),
    message("ins", {"A": 1}, scn=90071992547409931234, seq="12"),
    message("ins", {"A": 1}, scn="9" * 38),
)
def test_numbers_are_exact(rows: Rows) -> None:
    large, in_meta, of_38_digits = rows
    assert large["after"] == {"N": 12345678901234567890123456789012345678, "F": 1.5}
    sequence = in_meta["sequence"]
    assert (sequence["position"], sequence["transaction_index"]) == (90071992547409931234, 12)
    assert of_38_digits["sequence"]["position"] == Decimal("9" * 38)


@pytest.mark.parametrize(
    "event_at",
    [
        pytest.param(event_at, id=time, marks=said(message("ins", {"A": 1}, time=time)))
        for time, event_at in {
            "2017-06-16T14:24:34Z": TIME,
            "2017-06-16T14:24:34+0000": TIME,
            "2017-06-16T14:24:34-00:00": TIME,
            "2017-06-16T14:24:34.5": TIME.replace(microsecond=500000),
            "2017-06-16T14:24:34.123456789Z": TIME.replace(microsecond=123456),
            "2017-06-16 14:24:34": TIME,
        }.items()
    ],
)
def test_times_are_iso_in_utc(row: Row, event_at: dt.datetime) -> None:
    assert (row["record_type"], row["event_at"]) == ("change", event_at)


@each_said(
    {
        "no times": message("ins", {"A": 1}, time=None, posttime=None),
        "empty times": message("ins", {"A": 1}, time="", posttime=""),
    }
)
def test_times_may_be_missing(row: Row) -> None:
    assert row["record_type"] == "change"
    assert (row["event_at"], row["published_at"]) == (None, None)


@said(
    INSERT,
    {**INSERT, "extra": [1], "meta": {**INSERT["meta"], "extra": {"x": 1}}},
    {**INSERT, "key": None},
)
def test_unknown_members_and_null_members_change_nothing(rows: Rows) -> None:
    insert, *others = [(row["event_id"], row["after"]) for row in rows]
    assert None not in insert
    assert others == [insert] * 2


@said(message("ins", {"A": 1}, trans=None))
def test_a_change_may_come_without_its_transaction(row: Row) -> None:
    assert (row["op"], row["transaction_id"]) == ("insert", None)


@said(
    *(INSERT, LONG_INSERT),
    json.dumps({**INSERT, "meta": {**INSERT["meta"], "posttime": None}}, indent=1),
)
def test_a_redelivery_has_the_same_event_id(rows: Rows) -> None:
    check_are_one_event(rows)
    assert rows[-1]["published_at"] is None


@each_said_together(
    {
        "scn": (INSERT, message("ins", INSERT["data"], scn="14589063118713")),
        "trans": (INSERT, message("ins", INSERT["data"], trans="7.0.411500")),
        "seq": (INSERT, message("ins", INSERT["data"], seq=2)),
        "op": (INSERT, message("del", INSERT["data"])),
        "table": (INSERT, message("ins", INSERT["data"], table="CL_BIZ1.T2")),
    }
)
def test_another_change_has_another_event_id(rows: Rows) -> None:
    check_are_different_events(rows)


@said(*[message("ins", {"A": 1}, seq=None)] * 2)
def test_changes_without_a_place_in_their_transaction_are_each_their_own(rows: Rows) -> None:
    check_are_different_events(rows)


#: name -> (reject code, message)
REJECTED = {
    "meta is text": ("malformed_json", {**INSERT, "meta": "ins"}),
    "no members": ("missing_field", {}),
    "no op": ("missing_field", message(None, {"A": 1})),
    "empty op": ("missing_field", message("", {"A": 1})),
    "no table": ("missing_field", message("ins", {"A": 1}, table=None)),
    "no table in a truncate": ("missing_field", message("TRUNCATE", table=None)),
    "no scn": ("missing_field", message("ins", {"A": 1}, scn=None)),
    "no scn in a truncate": ("missing_field", message("TRUNCATE", scn=None)),
    "half without seq": ("missing_field", message("UPDATE AFTER", NEW_ROW, seq=None)),
    "half without trans": ("missing_field", message("UPDATE BEFORE", OLD_ROW, trans=None)),
    "key column missing": ("missing_field", message("ins", {"N": 1}, table="S.KEYED")),
    "unknown op": ("unknown_op", message("MERGE", {"A": 1})),
    "op of another format": ("unknown_op", message("UPDATE_BEFORE", {"A": 1})),
    "scn is text": ("bad_sequence", message("ins", {"A": 1}, scn="0x1f")),
    "scn is a fraction": ("bad_sequence", message("ins", {"A": 1}, scn=1.5)),
    "scn is negative": ("bad_sequence", message("ins", {"A": 1}, scn=-1)),
    "scn is too large": ("bad_sequence", message("ins", {"A": 1}, scn="9" * 39)),
    "seq is text": ("bad_sequence", message("ins", {"A": 1}, seq="1/11")),
    "seq is too large": ("bad_sequence", message("ins", {"A": 1}, seq="9" * 19)),
    "time is a number": ("bad_timestamp", message("ins", {"A": 1}, time=1497623074)),
    "time of no day": ("bad_timestamp", message("ins", {"A": 1}, time="2017-02-30T00:00:00")),
    "time in a zone": ("bad_timestamp", message("ins", {"A": 1}, time="2017-06-16T14:24:34+08:00")),
    "time in minutes": ("bad_timestamp", message("ins", {"A": 1}, time="2017-06-16T14:24+0000")),
    "post time is text": ("bad_timestamp", message("ins", {"A": 1}, posttime="now")),
    "insert without data": ("missing_image", message("ins")),
    "insert of nothing": ("missing_image", message("ins", {})),
    "insert with data in key": ("missing_image", message("ins", None, OLD_ROW)),
    "update without key": ("missing_image", message("upd", NEW_ROW)),
    "update with an empty key": ("missing_image", message("upd", NEW_ROW, {})),
    "update without data": ("missing_image", message("upd", None, OLD_ROW)),
    "delete without data": ("missing_image", message("del")),
    "half before without data": ("missing_image", message("UPDATE BEFORE")),
    "half after without data": ("missing_image", message("UPDATE AFTER", None, OLD_ROW)),
    "half after of nothing": ("missing_image", message("UPDATE AFTER", {})),
    "data is an array": ("missing_image", message("ins", [{"A": 1}])),
    "data is text": ("missing_image", message("upd", "x", OLD_ROW)),
    "delete with an array beside its key": ("missing_image", message("del", ["x"], OLD_ROW)),
    "half before with text beside its key": (
        "missing_image",
        message("UPDATE BEFORE", "x", OLD_ROW),
    ),
}
test_what_cannot_be_read_is_rejected = each_is_rejected(REJECTED)
