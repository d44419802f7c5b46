"""SharePlex JSON: what its messages come to in staging."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.formats import shareplex_json
from cdc_marts.parsing.ops import source_ops
from tests.python.formats.staging import LANDED_AT, LANDING_COMMIT, lists_all_columns, staged

Rows = dict[str, dict[str, Any]]

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
SETTINGS = {
    "S.KEYED": ["ID"],
    "S.COMPOSITE": ["B", "ID"],
    "S.ODD": ["g`h", "a.b", "c d", 'e"f', "i'j", "列"],
}
#: What stands for the topic `topic` in a sequence: its Murmur3 hash.
HASH_OF_TOPIC = 1189834764
ODD_ROW = {name: position for position, name in enumerate(SETTINGS["S.ODD"])}


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
KEYLESS = message("ins", {"ID": 1}, rowid=None)

READ = {
    "vendor insert": INSERT,
    "vendor update": UPDATE,
    "vendor delete": DELETE,
    "long insert": message("INSERT", {"MIO_LOG_ID": "32539737"}),
    "long update": message("UPDATE", {"CNTR_NO": "1171201606"}, OLD_ROW),
    "long delete": message("DELETE", OLD_ROW),
    "insert in another case": message("Ins", {"MIO_LOG_ID": "32539737"}),
    "truncate": message("TRUNCATE", rowid=None),
    "drop": message("Drop"),
    "drop column": message("DROP COLUMN", {"x": 1}),
    "half before": HALF_BEFORE,
    "half after": HALF_AFTER,
    "half before in lower case": message("update before", OLD_ROW, seq=2),
    "half before in key": message("UPDATE BEFORE", None, OLD_ROW, seq=2),
    "half after with key": message("UPDATE AFTER", {"CNTR_NO": "1171201606"}, OLD_ROW, seq=2),
    "halves of another place": message("UPDATE AFTER", NEW_ROW, seq=3),
    "halves of another table": message("UPDATE AFTER", NEW_ROW, seq=2, table="CL_BIZ1.T2"),
    "insert, again": json.dumps({**INSERT, "meta": {**INSERT["meta"], "posttime": None}}, indent=1),
    "insert, other scn": message("ins", INSERT["data"], scn="14589063118713"),
    "insert, other trans": message("ins", INSERT["data"], trans="7.0.411500"),
    "insert, other seq": message("ins", INSERT["data"], seq=2),
    "insert, other op": message("del", INSERT["data"]),
    "insert, other table": message("ins", INSERT["data"], table="CL_BIZ1.T2"),
    "insert without seq": message("ins", {"A": 1}, seq=None),
    "insert without seq, again": message("ins", {"A": 1}, seq=None),
    "update to NULL": message("upd", {"CNTR_NO": None, "POL_CODE": "P"}, OLD_ROW),
    "update of nothing": message("upd", {}, OLD_ROW),
    "update by its key": message("upd", {"B": 2}, {"ID": 1}, table="S.KEYED"),
    "update by its key to NULL": message("upd", {"B": None}, {"ID": 1}, table="S.KEYED"),
    "update of its key": message("upd", {"ID": 2, "B": 2}, {"ID": 1}, table="S.KEYED"),
    "delete in key": message("del", None, OLD_ROW),
    "insert with a null key": {**INSERT, "key": None},
    "key set": message("upd", {"N": 2}, {"ID": 7, "N": 1}, table="S.KEYED"),
    "key set and changed": message("upd", {"ID": 8}, {"ID": 7, "N": 1}, table="S.KEYED"),
    "composite key": message("ins", {"ID": 7, "B": None}, table="S.COMPOSITE"),
    "odd key": message("ins", ODD_ROW, table="S.ODD"),
    "keyless": KEYLESS,
    "odd row address": message("ins", {"ID": 1}, rowid='A"A\\é'),
    "column named rowid": message("ins", {"rowid": "x", "ID": 1}),
    "large numbers": message("ins", {"N": 12345678901234567890123456789012345678, "F": 1.5}),
    "numbers in meta": message("ins", {"A": 1}, scn=90071992547409931234, seq="12"),
    "scn of 38 digits": message("ins", {"A": 1}, scn="9" * 38),
    "no owner": message("ins", {"A": 1}, table="MIO_LOG"),
    "dot in the table": message("ins", {"A": 1}, table="O.A.B"),
    "no times": message("ins", {"A": 1}, time=None, posttime=None),
    "empty times": message("ins", {"A": 1}, time="", posttime=""),
    "time in UTC": message("ins", {"A": 1}, time="2017-06-16T14:24:34Z"),
    "time with a fraction": message("ins", {"A": 1}, time="2017-06-16T14:24:34.5"),
    "time with nanoseconds": message("ins", {"A": 1}, time="2017-06-16T14:24:34.123456789Z"),
    "time with a blank": message("ins", {"A": 1}, time="2017-06-16 14:24:34"),
    "more members": {**INSERT, "extra": [1], "meta": {**INSERT["meta"], "extra": {"x": 1}}},
    "no transaction": message("ins", {"A": 1}, trans=None),
}

#: name -> (reject code, message)
REJECTED = {
    "comma behind a member": ("malformed_json", json.dumps(INSERT)[:-1] + ",}"),
    "column twice": ("malformed_json", json.dumps(DELETE).replace("POL_CODE", "CNTR_NO")),
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


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> Rows:
    """Every message of this module, read in one go: name -> its staging row."""
    messages = {**READ, **{name: value for name, (_, value) in REJECTED.items()}}
    staging = staged(spark, shareplex_json.parse, *messages.values(), key_settings=SETTINGS)
    return dict(zip(messages, staging, strict=True))


def expected(offset: int, **values: Any) -> dict[str, Any]:
    """What all the vendor's examples have in common, and what one of them has of its own."""
    return {
        "record_type": "change",
        "reject_code": None,
        "reject_reason": None,
        "source_format": "shareplex_json",
        "topic": "topic",
        "partition": 0,
        "offset": offset,
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
        "sequence": {
            "position": Decimal(14589063118712),
            "transaction_index": 1,
            "partition": 0,
            "offset": offset,
            "row_index": HASH_OF_TOPIC,
        },
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
    ("name", "event"),
    [
        (
            "vendor insert",
            expected(
                0,
                op="insert",
                source_op="ins",
                before=None,
                after={"MIO_LOG_ID": "32539737"},
                event_at=TIME,
            ),
        ),
        (
            "vendor update",
            expected(
                1,
                op="update",
                source_op="upd",
                before=OLD_ROW,
                after=NEW_ROW,
                event_at=dt.datetime(2017, 6, 16, 15, 38, 13),
            ),
        ),
        (
            "vendor delete",
            expected(
                2,
                op="delete",
                source_op="del",
                before=OLD_ROW,
                after=None,
                event_at=dt.datetime(2017, 6, 16, 15, 51, 35),
            ),
        ),
    ],
)
def test_the_examples_of_the_vendor(rows: Rows, name: str, event: dict[str, Any]) -> None:
    assert {column: rows[name][column] for column in event} == event
    assert rows[name]["event_id"]


def test_an_op_may_be_long_or_short_in_any_case(rows: Rows) -> None:
    for name in ("insert", "update", "delete"):
        short, long = rows[f"vendor {name}"], rows[f"long {name}"]
        assert (long["op"], long["before"], long["after"]) == (
            *(name, short["before"], short["after"]),
        )
        assert long["source_op"] == name.upper()
    other_case = rows["insert in another case"]
    assert (other_case["op"], other_case["source_op"]) == ("insert", "Ins")


def test_every_op_of_the_code_table_is_tried(rows: Rows) -> None:
    tried = {row["source_op"].upper() for row in rows.values() if row["source_op"]}
    assert tried == set(source_ops("shareplex_json"))


def test_truncate_and_drop_end_the_rows(rows: Rows) -> None:
    for name, is_truncation in {"truncate": True, "drop": True, "drop column": False}.items():
        record = rows[name]
        assert (record["record_type"], record["is_truncation"]) == ("ddl", is_truncation)
        assert record["event_id"]
        assert (record["op"], record["row_key"]) == (None, None)
        assert (record["before"], record["after"], record["key_columns"]) == (None, None, None)
        assert (record["table_id"], record["event_at"]) == ("CL_BIZ1.MIO_LOG", TIME)
        assert record["sequence"]["position"] == 14589063118712


def test_a_null_among_the_changes_of_an_update_is_null(rows: Rows) -> None:
    update = rows["update to NULL"]
    assert update["after"] == {**OLD_ROW, "CNTR_NO": None, "POL_CODE": "P"}
    assert update["before"] == OLD_ROW


def test_an_update_that_changed_nothing_leaves_the_row(rows: Rows) -> None:
    update = rows["update of nothing"]
    assert (update["before"], update["after"]) == (OLD_ROW, OLD_ROW)


def test_an_update_may_have_only_the_key_of_the_old_row(rows: Rows) -> None:
    update = rows["update by its key"]
    assert (update["before"], update["after"]) == ({"ID": 1}, {"ID": 1, "B": 2})
    assert (update["row_key"], update["previous_row_key"]) == ('{"ID":1}', None)
    # What else the table has is for the fold to find out, from its inserts.
    assert update["lists_all_columns"] is False
    assert rows["update by its key to NULL"]["after"] == {"ID": 1, "B": None}
    moved = rows["update of its key"]
    assert (moved["before"], moved["after"]) == ({"ID": 1}, {"ID": 2, "B": 2})
    assert (moved["row_key"], moved["previous_row_key"]) == ('{"ID":2}', '{"ID":1}')


@pytest.mark.parametrize("name", ["vendor insert", "vendor update", "vendor delete", "half after"])
def test_only_an_insert_has_all_columns_of_its_table(rows: Rows, name: str) -> None:
    assert rows[name]["lists_all_columns"] is (name == "vendor insert")


def test_a_delete_may_have_its_row_in_key(rows: Rows) -> None:
    assert rows["delete in key"]["before"] == OLD_ROW


def test_the_halves_of_an_update_find_each_other(rows: Rows) -> None:
    before, after = rows["half before"], rows["half after"]
    assert (before["record_type"], before["op"]) == ("update_before", None)
    assert (before["before"], before["after"]) == (OLD_ROW, None)
    assert (after["record_type"], after["op"]) == ("change", "update")
    assert (after["before"], after["after"]) == (None, NEW_ROW)
    assert before["pairing_id"] == after["pairing_id"]
    assert before["row_key"] == after["row_key"] == ROWID_KEY
    assert before["event_id"] != after["event_id"]
    for name in ("halves of another place", "halves of another table"):
        assert rows[name]["pairing_id"] != after["pairing_id"]


def test_a_half_is_read_alike_in_either_shape(rows: Rows) -> None:
    for name in ("half before in lower case", "half before in key"):
        assert rows[name]["before"] == OLD_ROW
        assert rows[name]["event_id"] == rows["half before"]["event_id"]
    whole_row = rows["half after with key"]
    assert (whole_row["before"], whole_row["after"]) == (None, NEW_ROW)
    assert whole_row["event_id"] == rows["half after"]["event_id"]


def test_a_key_set_for_the_table_goes_before_the_row_address(rows: Rows) -> None:
    update = rows["key set"]
    assert (update["key_columns"], update["row_key"]) == (["ID"], '{"ID":7}')
    assert update["previous_row_key"] is None
    changed = rows["key set and changed"]
    assert (changed["previous_row_key"], changed["row_key"]) == ('{"ID":7}', '{"ID":8}')
    assert rows["composite key"]["row_key"] == '{"B":null,"ID":7}'


def test_key_columns_may_have_any_name(rows: Rows) -> None:
    assert rows["odd key"]["key_columns"] == SETTINGS["S.ODD"]
    assert json.loads(rows["odd key"]["row_key"]) == ODD_ROW


def test_a_row_address_is_the_key_and_no_column(rows: Rows) -> None:
    assert json.loads(rows["odd row address"]["row_key"]) == {"rowid": 'A"A\\é'}
    assert rows["odd row address"]["after"] == {"ID": 1}
    named_so = rows["column named rowid"]
    assert (named_so["row_key"], named_so["after"]) == (ROWID_KEY, {"rowid": "x", "ID": 1})


def test_a_row_without_an_address_is_known_by_all_its_columns(rows: Rows) -> None:
    keyless = rows["keyless"]
    assert (keyless["key_columns"], keyless["row_key"]) == ([], '{"ID":1}')


def test_a_table_may_come_without_an_owner(rows: Rows) -> None:
    no_owner = rows["no owner"]
    assert (no_owner["schema_name"], no_owner["table_id"]) == (None, "MIO_LOG")
    dot = rows["dot in the table"]
    assert (dot["schema_name"], dot["table_name"]) == ("O", "A.B")


def test_numbers_are_exact(rows: Rows) -> None:
    assert rows["large numbers"]["after"] == {
        "N": 12345678901234567890123456789012345678,
        "F": 1.5,
    }
    sequence = rows["numbers in meta"]["sequence"]
    assert (sequence["position"], sequence["transaction_index"]) == (90071992547409931234, 12)
    assert rows["scn of 38 digits"]["sequence"]["position"] == Decimal("9" * 38)


@pytest.mark.parametrize(
    ("name", "event_at"),
    [
        ("no times", None),
        ("empty times", None),
        ("time in UTC", TIME),
        ("time with a fraction", TIME.replace(microsecond=500000)),
        ("time with nanoseconds", TIME.replace(microsecond=123456)),
        ("time with a blank", TIME),
    ],
)
def test_times_are_iso_in_utc(rows: Rows, name: str, event_at: dt.datetime | None) -> None:
    assert (rows[name]["record_type"], rows[name]["event_at"]) == ("change", event_at)
    if event_at is None:
        assert rows[name]["published_at"] is None


def test_unknown_members_and_null_members_change_nothing(rows: Rows) -> None:
    for name in ("more members", "insert with a null key"):
        assert rows[name]["event_id"] == rows["vendor insert"]["event_id"]
        assert rows[name]["after"] == rows["vendor insert"]["after"]
    assert rows["no transaction"]["transaction_id"] is None


def test_a_redelivery_has_the_same_event_id(rows: Rows) -> None:
    again = rows["insert, again"]
    assert again["event_id"] == rows["vendor insert"]["event_id"]
    assert again["published_at"] is None
    assert rows["long insert"]["event_id"] == rows["vendor insert"]["event_id"]


@pytest.mark.parametrize("difference", ["scn", "trans", "seq", "op", "table"])
def test_another_change_has_another_event_id(rows: Rows, difference: str) -> None:
    assert rows[f"insert, other {difference}"]["event_id"] != rows["vendor insert"]["event_id"]


def test_changes_without_a_place_in_their_transaction_are_each_their_own(rows: Rows) -> None:
    twice = [rows["insert without seq"], rows["insert without seq, again"]]
    assert twice[0]["event_id"] != twice[1]["event_id"]


@pytest.mark.parametrize("name", REJECTED)
def test_what_cannot_be_read_is_rejected_with_a_reason(rows: Rows, name: str) -> None:
    rejected = rows[name]
    assert (rejected["record_type"], rejected["reject_code"]) == ("rejected", REJECTED[name][0])
    known = {"record_type", "reject_code", "reject_reason", "source_format", "topic", "partition"}
    known |= {"offset", "row_index", "landed_at", "landing_commit", "value"}
    assert {column for column, content in rejected.items() if content is not None} == known
