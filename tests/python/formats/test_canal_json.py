"""Canal JSON: what its messages come to in staging."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.formats import canal_json
from cdc_marts.parsing.ops import source_ops
from tests.python.formats.staging import staged

ES, TS = 1600161894000, 1600161894771
BIG = "9223372036854775807123"
ODD_KEYS = ["a.b", "c d", 'e"f', "g`h", "i'j", "列"]


def message(type_: str, **members: Any) -> dict[str, Any]:
    """A message of `shop.orders`, as a Canal server writes it."""
    return {
        "data": None,
        "database": "shop",
        "es": ES,
        "gtid": "",
        "id": 58,
        "isDdl": False,
        "mysqlType": {"id": "bigint", "name": "varchar(20)"},
        "old": None,
        "pkNames": ["id"],
        "sql": "",
        "sqlType": {"id": -5, "name": 12},
        "table": "orders",
        "ts": TS,
        "type": type_,
        **members,
    }


VENDOR = {
    "database": "dbname",
    "es": ES,
    "id": 58,
    "isDdl": False,
    "mysqlType": {"id": "bigint", "shipping_type": "varchar"},
    "pkNames": ["id"],
    "sql": "",
    "sqlType": {"id": -5, "shipping_type": 12},
    "table": "tablename",
    "ts": TS,
    "type": "DELETE",
}
VENDOR_DELETE = {**VENDOR, "data": [{"id": "500000287", "shipping_type": None}]}
# The page shows the changed column alone; the row of an old delete has all columns.
VENDOR_OLD_DELETE = {**VENDOR, "old": [{"id": "500000287", "shipping_type": "aaa"}]}
VENDOR_DDL = {
    "database": "dbname",
    "es": ES,
    "id": 58,
    "isDdl": True,
    "sql": "eg:createxxx",
    "table": "tablename",
    "ts": TS,
    "type": "DDL",
}

ROW, CHANGED = {"id": "1", "name": "a"}, {"id": "1", "name": "b"}
INSERT = message("INSERT", data=[ROW])
UPDATE = message("UPDATE", data=[CHANGED], old=[{"name": "a"}])
DELETE = message("DELETE", data=[CHANGED])

#: name -> a message whose staging rows the tests look at
MESSAGES: dict[str, Any] = {
    "vendor delete": VENDOR_DELETE,
    "vendor old delete": VENDOR_OLD_DELETE,
    "vendor ddl": VENDOR_DDL,
    "insert": INSERT,
    "update": UPDATE,
    "delete": DELETE,
    "full load": message("INIT", data=[ROW]),
    "rows": message(
        "UPDATE",
        data=[{"id": "1", "name": "x"}, {"id": "3", "name": None}, {"id": "4", "name": "z"}],
        old=[{"name": "w"}, {"id": "2", "name": "b"}, {}],
    ),
    "one object": message("INSERT", data=ROW),
    "null and empty": message("UPDATE", data=[{"id": "1", "name": ""}], old=[{"name": None}]),
    "keyless": message("INSERT", data=[{"name": "b", "id": "1"}], pkNames=None, table="logs"),
    "key by setting": message("INSERT", data=[ROW], pkNames=None, table="set"),
    "a key column twice": message("INSERT", data=[ROW], pkNames=["id", "id"]),
    "odd keys": message("INSERT", data=[{k: k for k in ODD_KEYS}], pkNames=ODD_KEYS),
    "minimal image": message("UPDATE", data=[{"id": "1"}], old=[{"id": "1"}]),
    "unknown fields": {**INSERT, "extra": {"deep": [1, {"x": 2}]}, "_tags": "x"},
    "digits": message("INSERT", data=[{"id": BIG, "name": "1.10"}]),
    "numbers": message("INSERT", data=[{"id": 9007199254740993, "name": True}]),
    "unknown times": message("INSERT", data=[ROW], es=-1, ts=None),
    "a write time of -1": message("INSERT", data=[ROW], ts=-1),
    "no write time": {name: v for name, v in INSERT.items() if name != "ts"},
    "numbers as texts": message("INSERT", data=[ROW], es=str(ES), ts=str(TS), isDdl="false"),
    "no visible change": message("UPDATE", data=[ROW], old=None),
    "one object updated": message("UPDATE", data=CHANGED, old={"name": "a"}),
    "delete of the key": message("DELETE", data=[{"id": "1"}], mysqlType={"id": "bigint"}),
    "no types": message("INSERT", data=[ROW], mysqlType=None, sqlType=None),
    "types of some columns": message("INSERT", data=[ROW], mysqlType={"id": "bigint"}),
    "insert with defaults": message("INSERT", data=[{"id": "1"}]),
    "of PostgreSQL": message("INSERT", data=[ROW], mysqlType={"id": "int4", "name": "varchar"}),
    "of Oracle": message("INSERT", data=[ROW], mysqlType={"id": "NUMBER", "name": "VARCHAR2"}),
    "gtid": message("INSERT", data=[ROW], gtid="0-101-7"),
    "annotated statement": message(
        "QUERY", database="", table="", mysqlType=None, sqlType=None, sql="UPDATE orders SET …"
    ),
    "line separator": message("INSERT", data=[{"id": "1", "name": "a\u2028b\u007f"}]),
}

REJECTED: dict[str, tuple[Any, str]] = {
    "a byte order mark": ("\ufeff" + json.dumps(INSERT), "malformed_json"),
    "nested too deep": ('{"data":' + "[" * 10000 + "]" * 10000 + "}", "malformed_json"),
    "a column twice": (
        json.dumps(INSERT).replace('"name": "a"', '"id": "1", "id": "2"'),
        "malformed_json",
    ),
    "no type": (message("INSERT", type=None, data=[ROW]), "missing_field"),
    "no table": (message("INSERT", table=None, data=[ROW]), "missing_field"),
    "empty table": (message("INSERT", table="", data=[ROW]), "missing_field"),
    "key column not in the image": (message("INSERT", data=[{"name": "a"}]), "missing_field"),
    "key column not in one of the rows": (
        message("INSERT", data=[ROW, {"name": "a"}, ROW]),
        "missing_field",
    ),
    "texts in single quotes": (json.dumps(INSERT).replace('"', "'"), "malformed_json"),
    "not a number": (message("INSERT", data=[{"id": 1, "name": float("nan")}]), "malformed_json"),
    "unknown type": (message("UPSERT", data=[ROW]), "unknown_op"),
    "lower case type": (message("insert", data=[ROW]), "unknown_op"),
    "no data": (message("INSERT"), "missing_image"),
    "no rows": (message("UPDATE", data=[], old=[]), "missing_image"),
    "a row that is no object": (message("INSERT", data=["x"]), "missing_image"),
    "delete without a row": (message("DELETE"), "missing_image"),
    "more old rows than rows": (message("UPDATE", data=[ROW], old=[{}, {}]), "missing_image"),
    "fewer old rows than rows": (
        message("UPDATE", data=[ROW, {"id": "20", "name": "b"}], old=[{"id": "2"}]),
        "missing_image",
    ),
    "fewer old rows than rows, keyless": (
        message("UPDATE", data=[ROW, CHANGED], old=[{"name": "b"}], pkNames=None, table="logs"),
        "missing_image",
    ),
    "an empty old beside rows": (message("UPDATE", data=[ROW], old=[]), "missing_image"),
    "an old row that is no object": (message("UPDATE", data=[ROW], old=["a"]), "missing_image"),
    "an old row that is null": (
        message("UPDATE", data=[ROW, CHANGED], old=[{"name": "x"}, None]),
        "missing_image",
    ),
    "an old that is a text": (message("UPDATE", data=[ROW], old="a"), "missing_image"),
    "a keyless row without columns": (
        message("INSERT", data=[{}], pkNames=None, table="logs"),
        "missing_image",
    ),
    "a keyless row without columns among others": (
        message("DELETE", data=[ROW, {}], pkNames=None, table="logs"),
        "missing_image",
    ),
    "es beyond year 9999": (message("INSERT", data=[ROW], es=10**15), "bad_timestamp"),
    "es in seconds": (message("INSERT", data=[ROW], es=ES // 1000), "bad_timestamp"),
    "ts in seconds": (message("INSERT", data=[ROW], ts=TS // 1000), "bad_timestamp"),
    "ts is no time": (message("INSERT", data=[ROW], ts="soon"), "bad_timestamp"),
}


@pytest.fixture(scope="module")
def rows(spark: SparkSession) -> dict[str, list[dict[str, Any]]]:
    """Name -> staging rows, of all messages above in one job."""
    values = [*MESSAGES.values(), *(value for value, _ in REJECTED.values())]
    parsed = staged(spark, canal_json.parse, *values, key_settings={"shop.set": ["name"]})
    by_offset: dict[int, list[dict[str, Any]]] = {}
    for row in parsed:
        by_offset.setdefault(row["offset"], []).append(row)
    return {name: by_offset[n] for n, name in enumerate([*MESSAGES, *REJECTED])}


def only(rows: dict[str, list[dict[str, Any]]], name: str) -> dict[str, Any]:
    (row,) = rows[name]
    return row


def test_the_vendors_delete_has_its_row_in_data(rows: Any) -> None:
    row = only(rows, "vendor delete")
    expected = {
        "record_type": "change",
        "event_id": "canal_json:topic:0:0:0",
        "source_format": "canal_json",
        "source_type": "mysql",
        "database_name": "dbname",
        "schema_name": None,
        "table_name": "tablename",
        "table_id": "dbname.tablename",
        "op": "delete",
        "source_op": "DELETE",
        "key_columns": ["id"],
        "row_key": '{"id":"500000287"}',
        "previous_row_key": None,
        "before": {"id": "500000287", "shipping_type": None},
        "after": None,
        "unavailable_columns": [],
        "column_types": {"id": "bigint", "shipping_type": "varchar"},
        "event_at": dt.datetime(2020, 9, 15, 9, 24, 54),
        "published_at": dt.datetime(2020, 9, 15, 9, 24, 54, 771000),
        "transaction_id": None,
    }
    assert {name: row[name] for name in expected} == expected
    assert row["sequence"]["position"] == Decimal(TS)


def test_a_delete_of_the_old_kind_has_its_row_in_old(rows: Any) -> None:
    row = only(rows, "vendor old delete")
    assert (row["op"], row["source_op"]) == ("delete", "DELETE")
    assert row["before"] == {"id": "500000287", "shipping_type": "aaa"}
    assert row["after"] is None
    assert row["row_key"] == '{"id":"500000287"}'


def test_the_vendors_ddl_is_a_schema_change_with_its_statement(rows: Any) -> None:
    row = only(rows, "vendor ddl")
    assert (row["record_type"], row["source_op"]) == ("ddl", "DDL")
    assert (row["table_id"], row["ddl_text"]) == ("dbname.tablename", "eg:createxxx")
    assert row["is_truncation"] is False
    assert row["op"] is None


def test_an_insert_has_a_row_after(rows: Any) -> None:
    row = only(rows, "insert")
    assert (row["op"], row["before"], row["after"]) == ("insert", None, ROW)


def test_an_update_lays_old_over_the_row_after(rows: Any) -> None:
    row = only(rows, "update")
    assert (row["op"], row["before"], row["after"]) == ("update", ROW, CHANGED)
    assert row["previous_row_key"] is None


def test_a_full_load_is_a_snapshot(rows: Any) -> None:
    row = only(rows, "full load")
    assert (row["op"], row["source_op"], row["after"]) == ("snapshot", "INIT", ROW)


def test_the_rows_of_a_message_are_events_each_with_its_own_old(rows: Any) -> None:
    first, second, third = rows["rows"]
    assert [row["row_index"] for row in rows["rows"]] == [0, 1, 2]
    assert first["before"] == {"id": "1", "name": "w"}
    assert second["before"] == {"id": "2", "name": "b"}
    assert third["before"] == third["after"] == {"id": "4", "name": "z"}
    assert len({row["event_id"] for row in rows["rows"]}) == 3


def test_a_key_change_names_the_old_key(rows: Any) -> None:
    second = rows["rows"][1]
    assert (second["previous_row_key"], second["row_key"]) == ('{"id":"2"}', '{"id":"3"}')


def test_an_object_in_data_stands_for_one_row(rows: Any) -> None:
    assert only(rows, "one object")["after"] == ROW


def test_null_and_empty_text_differ(rows: Any) -> None:
    row = only(rows, "null and empty")
    assert (row["before"]["name"], row["after"]["name"]) == (None, "")


def test_a_keyless_row_is_its_own_key(rows: Any) -> None:
    row = only(rows, "keyless")
    assert (row["key_columns"], row["row_key"]) == ([], '{"id":"1","name":"b"}')


def test_the_project_sets_the_key_of_a_table_without_one(rows: Any) -> None:
    row = only(rows, "key by setting")
    assert (row["key_columns"], row["row_key"]) == (["name"], '{"name":"a"}')


def test_a_key_column_that_is_named_twice_counts_once(rows: Any) -> None:
    row = only(rows, "a key column twice")
    assert (row["key_columns"], row["row_key"]) == (["id"], '{"id":"1"}')


def test_key_columns_may_have_any_name(rows: Any) -> None:
    row = only(rows, "odd keys")
    assert row["key_columns"] == ODD_KEYS
    assert json.loads(row["row_key"]) == {name: name for name in ODD_KEYS}


def test_a_column_the_image_lacks_is_unavailable(rows: Any) -> None:
    row = only(rows, "minimal image")
    assert row["unavailable_columns"] == ["name"]
    assert row["after"] == {"id": "1"}


def test_unknown_fields_are_ignored(rows: Any) -> None:
    assert only(rows, "unknown fields")["after"] == ROW


def test_values_keep_their_digits_and_types(rows: Any) -> None:
    assert only(rows, "digits")["after"] == {"id": BIG, "name": "1.10"}
    assert only(rows, "numbers")["after"] == {"id": 9007199254740993, "name": True}


def test_unknown_times_are_null(rows: Any) -> None:
    row = only(rows, "unknown times")
    assert (row["event_at"], row["published_at"]) == (None, None)
    assert row["sequence"]["position"] is None


@pytest.mark.parametrize("name", ["a write time of -1", "no write time"])
def test_a_message_without_a_write_time_has_no_position(rows: Any, name: str) -> None:
    row = only(rows, name)
    assert (row["published_at"], row["sequence"]["position"]) == (None, None)
    assert row["after"] == ROW


def test_numbers_may_come_as_texts(rows: Any) -> None:
    row = only(rows, "numbers as texts")
    assert row["sequence"]["position"] == Decimal(TS)
    assert row["event_at"] == dt.datetime(2020, 9, 15, 9, 24, 54)


def test_an_update_without_old_changed_nothing_that_its_message_has(rows: Any) -> None:
    row = only(rows, "no visible change")
    assert row["before"] == row["after"] == ROW


def test_an_object_in_old_belongs_to_the_object_in_data(rows: Any) -> None:
    row = only(rows, "one object updated")
    assert (row["before"], row["after"]) == (ROW, CHANGED)


@pytest.mark.parametrize(
    ("name", "lists_all_columns"),
    [
        ("insert", True),
        ("full load", True),
        ("insert with defaults", True),
        ("no types", None),
        ("types of some columns", False),
        ("update", False),
        ("minimal image", False),
        ("delete", False),
        ("delete of the key", False),
    ],
)
def test_only_inserts_and_snapshot_rows_list_all_columns(
    rows: Any, name: str, lists_all_columns: bool | None
) -> None:
    row = only(rows, name)
    assert row["lists_all_columns"] is (True if lists_all_columns is None else lists_all_columns)


def test_a_row_without_types_has_all_its_columns(rows: Any) -> None:
    row = only(rows, "no types")
    assert (row["after"], row["column_types"], row["unavailable_columns"]) == (ROW, None, [])


def test_a_column_whose_type_is_left_out_is_listed_without_one(rows: Any) -> None:
    row = only(rows, "types of some columns")
    assert row["column_types"] == {"id": "bigint", **dict.fromkeys(ROW.keys() - {"id"})}
    assert row["unavailable_columns"] == []


@pytest.mark.parametrize(
    ("name", "source_type"),
    [("insert", "mysql"), ("no types", "mysql"), ("of PostgreSQL", "postgresql"),
     ("of Oracle", "oracle")],
)  # fmt: skip
def test_type_names_report_the_kind_of_database(rows: Any, name: str, source_type: str) -> None:
    assert only(rows, name)["source_type"] == source_type


def test_a_gtid_is_the_transaction(rows: Any) -> None:
    assert only(rows, "gtid")["transaction_id"] == "0-101-7"


def test_an_annotated_statement_is_no_row_and_no_reject(rows: Any) -> None:
    row = only(rows, "annotated statement")
    assert (row["record_type"], row["source_op"]) == ("transaction", "QUERY")
    assert row["ddl_text"] == "UPDATE orders SET …"


def test_a_line_separator_is_text(rows: Any) -> None:
    assert only(rows, "line separator")["after"]["name"] == "a\u2028b\u007f"


@pytest.mark.parametrize("name", REJECTED)
def test_what_cannot_be_read_is_rejected_by_name(rows: Any, name: str) -> None:
    row = only(rows, name)
    assert (row["record_type"], row["reject_code"]) == ("rejected", REJECTED[name][1])
    assert row["reject_reason"]
    value = REJECTED[name][0]
    raw = value if isinstance(value, bytes) else None
    assert raw is None or bytes(row["value"]) == raw
    assert row["event_id"] is None
    assert row["after"] is None


def test_every_op_has_its_kind_of_record(spark: SparkSession) -> None:
    codes = [code for code in source_ops("canal_json") if " " not in code]
    messages = [message(code, data=[ROW], isDdl=True, sql="x") for code in codes]
    found = {row["source_op"]: row for row in staged(spark, canal_json.parse, *messages)}
    for code in codes:
        record_type, op, is_truncation = source_ops("canal_json")[code]
        assert (found[code]["record_type"], found[code]["op"]) == (record_type, op)
        assert found[code]["is_truncation"] is is_truncation


@pytest.mark.parametrize(
    ("sql", "is_truncation"),
    [
        ("truncate table t", True),
        ("/* a */ TRUNCATE t", True),
        ("DROP TABLE `t`", True),
        ("drop index i on t", False),
        ("alter table t drop column c", False),
    ],
)
def test_a_statement_that_empties_the_table_ends_its_rows(
    spark: SparkSession, sql: str, is_truncation: bool
) -> None:
    (row,) = staged(spark, canal_json.parse, message("DDL", isDdl=True, sql=sql))
    assert row["is_truncation"] is is_truncation


@pytest.mark.parametrize(
    "sql",
    [
        "truncate orders",
        "TRUNCATE TABLE `orders`",
        "/* a */ truncate table shop.orders",
        'truncate table only "orders"',
        "drop table if exists [shop].[orders]",
        "DROP TABLE `orders` /* generated by server */",
    ],
)
def test_a_statement_names_the_table_that_its_message_does_not(
    spark: SparkSession, sql: str
) -> None:
    nameless = message("DDL", isDdl=True, sql=sql, database="shop", table="")
    (row,) = staged(spark, canal_json.parse, nameless)
    assert (row["is_truncation"], row["table_id"]) == (True, "shop.orders")


def test_a_statement_that_the_server_cannot_parse_is_a_schema_change(spark: SparkSession) -> None:
    query = message("QUERY", isDdl=False, sql="truncate a, b", database="", table="")
    (row,) = staged(spark, canal_json.parse, query)
    assert (row["record_type"], row["source_op"], row["is_truncation"]) == ("ddl", "QUERY", True)
    assert [change["table_name"] for change in row["table_changes"]] == ["a", "b"]


def test_a_rollback_of_published_rows_is_not_applied(spark: SparkSession) -> None:
    (row,) = staged(spark, canal_json.parse, message("XAROLLBACK", table=""))
    assert (row["record_type"], row["is_truncation"]) == ("transaction", False)
    assert [change["change"] for change in row["table_changes"]] == ["not_applied"]


SWITCH = dt.datetime(2020, 9, 15, 9, 24, 56, tzinfo=dt.timezone.utc)
SWAPPED = message("UPDATE", data=[ROW], old=[CHANGED])


def test_a_part_of_a_row_in_old_shows_that_a_topic_is_no_longer_swapped(
    spark: SparkSession,
) -> None:
    [row] = staged(spark, canal_json.parse, UPDATE, swapped_topics={"topic": None})
    assert row["reject_code"] == "missing_image"
    assert "`swapped_canal_topics`" in row["reject_reason"]


def test_a_swapped_topic_has_the_row_after_in_old_until_its_time_of_writing(
    spark: SparkSession,
) -> None:
    late = 60_000
    found = staged(
        spark,
        canal_json.parse,
        {**SWAPPED, "ts": 1600161895999},
        {**UPDATE, "ts": 1600161896000},
        # Read from the log before the restart, written after it.
        {**UPDATE, "es": ES - late, "ts": 1600161896001},
        {**SWAPPED, "es": ES + late, "ts": 1600161895998},
        swapped_topics={"topic": SWITCH, "another": None},
    )
    assert [(row["before"], row["after"]) for row in found] == [(ROW, CHANGED)] * 4


def test_an_update_without_a_write_time_is_rejected_only_where_the_time_decides(
    spark: SparkSession,
) -> None:
    updates = [{**SWAPPED, "ts": -1}, {**INSERT, "ts": None}]
    update, insert = staged(spark, canal_json.parse, *updates, swapped_topics={"topic": SWITCH})
    assert (update["reject_code"], insert["op"]) == ("missing_field", "insert")
    assert "`ts`" in update["reject_reason"]
    update, _ = staged(spark, canal_json.parse, *updates, swapped_topics={"topic": None})
    assert (update["before"], update["after"]) == (ROW, CHANGED)


@pytest.mark.parametrize(
    "update",
    [
        {**SWAPPED, "data": None},
        {**SWAPPED, "old": None},
        {**SWAPPED, "data": [ROW, ROW]},
        {**SWAPPED, "data": []},
        {**SWAPPED, "data": ["x"]},
        {**SWAPPED, "old": ["x"]},
    ],
)
def test_an_update_of_a_swapped_topic_needs_both_images_of_each_row(
    spark: SparkSession, update: dict[str, Any]
) -> None:
    [row] = staged(spark, canal_json.parse, update, swapped_topics={"topic": None})
    assert row["reject_code"] == "missing_image"


def test_an_erased_row_leaves_the_others_of_its_message_as_they_were(spark: SparkSession) -> None:
    rows = [{"id": str(number), "name": "x"} for number in range(3)]
    batch = json.dumps(message("UPDATE", data=rows, old=[{"name": "w"}] * 3)).encode()
    before = staged(spark, canal_json.parse, batch)

    first, second, third = staged(spark, canal_json.parse, canal_json.without_rows(batch, {0, 2}))

    assert second == before[1]
    for erased, row_index in ((first, 0), (third, 2)):
        assert (erased["record_type"], erased["row_index"]) == ("tombstone", row_index)
        content = ("row_key", "before", "after", "value", "reject_code", "op", "event_id")
        assert [erased[column] for column in content] == [None] * len(content)


def test_a_swapped_message_loses_its_row_too(spark: SparkSession) -> None:
    batch = message("UPDATE", data=[ROW, ROW], old=[CHANGED, CHANGED])
    erased = canal_json.without_rows(json.dumps(batch).encode(), {0})
    first, second = staged(spark, canal_json.parse, erased, swapped_topics={"topic": None})
    assert (first["record_type"], first["row_key"]) == ("tombstone", None)
    assert (second["before"], second["after"]) == (ROW, CHANGED)


def test_null_in_the_place_of_a_row_is_no_row_unless_it_was_erased(spark: SparkSession) -> None:
    [row] = staged(spark, canal_json.parse, message("INSERT", data=[None, ROW]))
    assert (row["record_type"], row["reject_code"]) == ("rejected", "missing_image")
