"""Images with fewer columns than their table: what a mart keeps, what it fills, what it drops."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.python.harness.project import Landed, Project
from tests.python.histories.marts import CHANGE_EVENTS, LATEST_STATE, ROW_HISTORY, Row, Stages

pytestmark = pytest.mark.thorough

DATABASE = "partial"
#: An hour's start; places in the log are seconds from it.
START = 1_709_280_000_000

SHIFTED = range(1, 46)
#: The first offset that stands for a message in another partition.
OTHER = 1000

Message = dict[str, Any] | None


@dataclass(frozen=True)
class Case:
    """What happens to one table.

    `runs`: for each run the messages that land before it, by their offset, as functions of the
    table's name.  `rows`: those of the table in the end, without a trace of types.
    `unavailable`: of the events with any, the place in the log -> the columns.
    """

    name: str
    source_format: str
    runs: list[dict[int, Callable[[str, int], Message]]]
    rows: list[Row]
    unavailable: dict[int, list[str]] = field(default_factory=dict)
    #: Versions of the row with this key, oldest first; not looked at where it is None.
    history: list[Row] | None = None


def canal(
    op: str,
    data: Row | None = None,
    *,
    old: Row | None = None,
    lists: str | None = None,
    sql: str = "",
    at: int | None = None,
) -> Callable[[str, int], Message]:
    """`lists`: the columns in `mysqlType`, by default those of the image, as a Canal server has.

    `at`: the place in the log, if it is not the offset.
    """

    def message(table: str, offset: int) -> Message:
        place = offset if at is None else at
        columns = lists.split() if lists else list(data or ())
        return {
            "database": DATABASE,
            "table": table,
            "type": op,
            "isDdl": data is None,
            "sql": sql.format(table=table),
            "es": START + place * 1000,
            "ts": START + place * 1000,
            "pkNames": ["id"],
            "mysqlType": dict.fromkeys(columns, "varchar(9)") or None,
            "data": [data] if data else None,
            "old": [old] if old else None,
        }

    return message


def streamx(
    op: str,
    *,
    before: Row | None = None,
    after: Row | None = None,
    lists: str,
    place: int = -1,
    key: str = "id",
) -> Callable[[str, int], Message]:
    """`place`: the other half's, where this is the second one of an update; `key`: "" for none."""

    def message(table: str, offset: int) -> Message:
        at = offset if place < 0 else place
        return {
            "schema": {
                "dataColumn": [{"name": name, "type": "STRING"} for name in lists.split()],
                "primaryKey": key.split(),
                "source": {"dbType": "mysql", "dbName": DATABASE, "tableName": table},
            },
            "payload": {
                "before": before and {"dataColumn": before},
                "after": after and {"dataColumn": after},
                "sequenceId": str(START * 1_000_000 + at),
                "op": op,
                "timestamp": {"eventTime": START + at, "systemTime": START + at},
            },
        }

    return message


def blob(
    op: str, *, before: Row | None = None, after: Row | None = None, lists: str, place: int = -1
) -> Callable[[str, int], Message]:
    """As `streamx`; members that would be null are left out."""

    def message(table: str, offset: int) -> Message:
        envelope = streamx(op, before=before, after=after, lists=lists, place=place)(table, offset)
        assert envelope is not None
        payload = {
            name: member for name, member in envelope["payload"].items() if member is not None
        }
        return {**envelope, "payload": payload}

    return message


def shareplex(
    op: str, data: Row, key: Row | None = None, other_half: int | None = None
) -> Callable[[str, int], Message]:
    def message(table: str, offset: int) -> Message:
        place = offset if other_half is None else other_half
        return {
            "meta": {
                "op": op,
                "table": f"{DATABASE}.{table}",
                "scn": str(1000 + place),
                "trans": "1.2.3",
                "seq": "1",
                "rowid": f"AAA{data.get('ID') or (key or {}).get('ID')}",
                "time": "2024-03-01T08:00:00",
            },
            "data": data,
            **({"key": key} if key else {}),
        }

    return message


def debezium(
    op: str, row: Row, lsn: int, *, before: Row | None = None, is_keyed: bool = True
) -> Callable[[str, int], Message]:
    """Without a schema: the columns of a whole image are the list."""

    def message(table: str, place: int) -> Message:
        return {
            "before": row if op == "d" else before,
            "after": None if op == "d" else row,
            "source": {
                "connector": "postgresql",
                "db": DATABASE,
                "schema": "public",
                "table": table,
                "txId": 7,
                "lsn": lsn,
                "ts_ms": START + place,
                "snapshot": "false",
            },
            "op": op,
            "ts_ms": START + place,
            "message_version": "2.0",
            "unique": {"id": row["id"]} if is_keyed else {},
        }

    return message


def tombstone(table: str, place: int) -> Message:
    return None


def of_upper_case(message: Callable[[str, int], Message]) -> Callable[[str, int], Message]:
    """Of the table whose name has the same letters, all in upper case."""
    return lambda table, place: message(table.upper(), place)


def row(**columns: str) -> Row:
    return columns


PLACEHOLDER = "__debezium_unavailable_value"
#: Two keys change in one transaction.  The connector restarts behind the first of the two changes.
RESTARTED = {
    0: debezium("c", row(id="8", big="EIGHT"), 10),
    1: debezium("c", row(id="1", big="ONE"), 11),
    2: debezium("d", row(id="8"), 20),
    3: tombstone,
    4: debezium("c", row(id="9", big=PLACEHOLDER), 20),
    5: debezium("d", row(id="1"), 20),
    6: tombstone,
    7: debezium("c", row(id="9", big=PLACEHOLDER), 20),
    8: debezium("d", row(id="1"), 20),
    9: tombstone,
    10: debezium("c", row(id="2", big=PLACEHOLDER), 20),
    11: debezium("u", row(id="2", big=PLACEHOLDER), 30),
}
XY = row(id="1", a="x", b="y")
KEYLESS = row(a="1", n="long")
#: A row as it was inserted, in most cases.
WHOLE = row(id="1", v="a", body="long")

CASES = [
    Case(
        "a_delete_with_the_key_alone_takes_nothing_from_other_rows",
        "canal_json",
        [
            {0: canal("INSERT", WHOLE), 1: canal("INSERT", row(id="2", v="b", body="too"))},
            {2: canal("DELETE", row(id="1"))},
        ],
        [row(id="2", v="b", body="too")],
        {2: ["body", "v"]},
    ),
    Case(
        "an_update_with_fewer_columns_keeps_the_others",
        "canal_json",
        [
            {0: canal("INSERT", WHOLE), 1: canal("INSERT", row(id="2", v="b", body="too"))},
            {2: canal("UPDATE", row(id="1", v="c"), old=row(v="a"))},
            {3: canal("UPDATE", row(id="1", v="d"), old=row(v="c"))},
        ],
        [row(id="1", v="d", body="long"), row(id="2", v="b", body="too")],
        {2: ["body"], 3: ["body"]},
    ),
    Case(
        "an_update_without_a_blob_keeps_it_and_the_next_one_may_set_it",
        "canal_json",
        [
            {
                0: canal("INSERT", WHOLE),
                1: canal("UPDATE", row(id="1", v="b"), old=row(v="a")),
                2: canal("UPDATE", row(id="1", v="b", body="new"), old=row(body="long")),
            },
            {3: canal("UPDATE", row(id="1", v="c"), old=row(v="b"))},
        ],
        [row(id="1", v="c", body="new")],
        {1: ["body"], 3: ["body"]},
        history=[
            WHOLE,
            row(id="1", v="b", body="long"),
            row(id="1", v="b", body="new"),
            row(id="1", v="c", body="new"),
        ],
    ),
    Case(
        "a_key_change_with_fewer_columns_takes_the_others_along",
        "canal_json",
        [
            {0: canal("INSERT", WHOLE)},
            {1: canal("UPDATE", row(id="2"), old=row(id="1"))},
            {2: canal("UPDATE", row(id="2", v="c"), old=row(v="a"))},
        ],
        [row(id="2", v="c", body="long")],
        {1: ["body", "v"], 2: ["body"]},
    ),
    Case(
        "a_column_that_keeps_its_letter_case_stays",
        "canal_json",
        [
            {
                0: canal("INSERT", WHOLE),
                1: canal("ALTER", sql="alter table {table} change BODY body varchar(320)"),
            },
            {2: canal("INSERT", row(id="2", v="b", body="too"))},
        ],
        [WHOLE, row(id="2", v="b", body="too")],
    ),
    Case(
        "a_column_in_a_new_letter_case_is_gone_in_the_old_one",
        "canal_json",
        [
            {
                0: canal("INSERT", row(id="1", BODY="long")),
                1: canal("ALTER", sql="alter table {table} rename column BODY to body"),
            },
            {2: canal("UPDATE", row(id="1", body="new"), old=row(body="long"))},
        ],
        [row(id="1", body="new")],
    ),
    # MODIFY names a column in any letter case, and MySQL then calls it so.
    Case(
        "a_column_that_modify_spells_anew_is_gone_in_the_old_letter_case",
        "canal_json",
        [
            {
                0: canal("INSERT", row(id="1", email="a")),
                1: canal("INSERT", row(id="3", email="z")),
                2: canal("ALTER", sql="alter table {table} modify column Email varchar(20)"),
            },
            {3: canal("UPDATE", row(id="1", Email="b"), old=row(Email="a"))},
            {4: canal("INSERT", row(id="2", Email="c"))},
        ],
        [row(id="1", Email="b"), row(id="2", Email="c"), row(id="3")],
    ),
    Case(
        "a_column_that_modify_spells_anew_is_gone_with_the_update_that_shows_it",
        "canal_json",
        [
            {
                0: canal("INSERT", row(id="1", email="a")),
                1: canal("ALTER", sql="alter table {table} modify Email varchar(20)"),
            },
            {2: canal("UPDATE", row(id="1", Email="b"), old=row(Email="a"))},
        ],
        [row(id="1", Email="b")],
        history=[row(id="1", email="a"), row(id="1", Email="b")],
    ),
    # More keys than a run follows in both directions from the key that changes in the second run.
    Case(
        "rows_keep_their_values_when_the_last_of_many_shifted_keys_changes",
        "canal_json",
        [
            {
                **{n: canal("INSERT", row(id=str(n), v="a", body=f"of {n}")) for n in SHIFTED},
                **{
                    100 - n: canal("UPDATE", row(id=str(n + 1), v="b"), old=row(id=str(n), v="a"))
                    for n in SHIFTED
                },
            },
            {101: canal("UPDATE", row(id="46", v="c"), old=row(v="b"))},
        ],
        sorted(
            (row(id=str(n + 1), v="c" if n == 45 else "b", body=f"of {n}") for n in SHIFTED),
            key=lambda shifted: json.dumps(shifted["id"]),
        ),
        {**{100 - n: ["body"] for n in SHIFTED}, 101: ["body"]},
    ),
    Case(
        "where_images_are_partial_an_insert_drops_no_column",
        "canal_json",
        [
            {0: canal("INSERT", WHOLE), 1: canal("INSERT", row(id="2", v="b"))},
            # until now the second insert looked like the end of a column
            {2: canal("DELETE", row(id="2"))},
            {3: canal("INSERT", row(id="3", v="c"))},
        ],
        [WHOLE, row(id="3", v="c")],
        {2: ["body", "v"]},
    ),
    Case(
        "a_column_that_was_dropped_stays_so_when_one_of_its_letters_is_added",
        "canal_json",
        [
            {
                0: canal("INSERT", WHOLE),
                1: canal("INSERT", row(id="2", v="a", body="too")),
                2: canal("INSERT", row(id="3", v="a", body="three")),
                3: canal("ALTER", sql="alter table {table} drop column BODY"),
                4: canal("UPDATE", row(id="2", v="b"), old=row(v="a")),
            },
            {
                5: canal("ALTER", sql="alter table {table} add column BODY text"),
                6: canal("UPDATE", {**row(id="1", v="a"), "BODY": "new"}, old={"BODY": None}),
            },
        ],
        [{**row(id="1", v="a"), "BODY": "new"}, row(id="2", v="b"), row(id="3", v="a")],
    ),
    # The second run shows that the statement means another table.
    Case(
        "a_column_is_filled_again_when_its_drop_turns_out_to_be_that_of_another_table",
        "canal_json",
        [
            {
                0: canal("INSERT", WHOLE),
                1: of_upper_case(canal("ALTER", sql="alter table {table} drop column body")),
                2: canal("UPDATE", row(id="1", v="b"), old=row(v="a")),
            },
            {3: of_upper_case(canal("INSERT", row(id="9", v="z")))},
        ],
        [row(id="1", v="b", body="long")],
        {2: ["body"]},
    ),
    Case(
        "an_insert_that_lists_what_an_update_did_drops_no_column",
        "canal_json",
        [
            {0: canal("INSERT", WHOLE)},
            {1: canal("UPDATE", row(id="1", v="b"), old=row(v="a"))},
            {2: canal("INSERT", row(id="2", v="c"))},
        ],
        [row(id="1", v="b", body="long"), row(id="2", v="c")],
        {1: ["body"]},
    ),
    Case(
        "where_images_are_whole_an_insert_with_fewer_columns_drops_the_others",
        "canal_json",
        [
            {0: canal("INSERT", WHOLE)},
            {1: canal("INSERT", row(id="2", v="b"))},
            {2: canal("UPDATE", row(id="2", v="c"), old=row(v="b"))},
        ],
        [row(id="1", v="a"), row(id="2", v="c")],
    ),
    Case(
        "a_late_insert_shows_what_an_update_left_out",
        "canal_json",
        [
            {1: canal("UPDATE", row(id="1", v="b"), old=row(v="a"))},
            {0: canal("INSERT", WHOLE)},
        ],
        [row(id="1", v="b", body="long")],
        {1: ["body"]},
    ),
    Case(
        "a_late_insert_of_another_row_shows_what_an_update_left_out",
        "canal_json",
        [
            {1: canal("UPDATE", row(id="1", v="b"), old=row(v="a"))},
            {0: canal("INSERT", row(id="2", v="b", body="too"))},
        ],
        [row(id="1", v="b"), row(id="2", v="b", body="too")],
        {1: ["body"]},
    ),
    Case(
        "an_insert_takes_no_value_from_an_earlier_row_under_its_key",
        "canal_json",
        [
            {0: canal("INSERT", WHOLE)},
            {1: canal("INSERT", row(id="1", v="b"), lists="id v body")},
        ],
        [row(id="1", v="b")],
        {1: ["body"]},
    ),
    Case(
        "a_row_gets_nothing_of_rows_deleted_at_its_time",
        "canal_json",
        [
            {
                0: canal("INSERT", row(id="5", a="m", b="five")),
                1: canal("INSERT", row(id="6", a="n", b="six")),
                2: canal("DELETE", row(id="5", a="m", b="five")),
            },
            {
                3: lambda table, _: canal("DELETE", row(id="6", a="n", b="six"))(table, 2),
                4: lambda table, _: canal("INSERT", row(id="9", a="y"), lists="id a b")(table, 2),
            },
        ],
        [row(id="9", a="y")],
        {4: ["b"]},
    ),
    Case(
        "a_late_truncation_takes_values_from_filled_rows",
        "canal_json",
        [
            {
                1: canal("INSERT", row(id="1", a="1", b="2")),
                3: canal("UPDATE", row(id="1", a="9"), old=row(a="1")),
            },
            {2: canal("TRUNCATE", sql="truncate table {table}")},
        ],
        [row(id="1", a="9")],
        {3: ["b"]},
    ),
    *(
        Case(
            f"a_table_anew_has_no_column_of_the_one_before_{number}",
            "canal_json",
            [
                {0: canal("INSERT", WHOLE), 1: canal("UPDATE", row(id="1", v="b"), old=row(v="a"))},
                {2: canal(op, sql=sql), 3: canal("INSERT", row(id="1", v="c"))},
                {4: canal("UPDATE", row(id="1", v="d"), old=row(v="c"))},
            ],
            [row(id="1", v="d")],
            {1: ["body"]},
        )
        for number, (op, sql) in enumerate(
            [
                ("ERASE", "drop table {table}"),
                ("ERASE", ""),
                ("CREATE", "create or replace table {table} (id int, v text)"),
                ("QUERY", "truncate table {table}; drop table {table}"),
            ]
        )
    ),
    Case(
        "an_emptied_table_has_the_columns_that_it_had",
        "canal_json",
        [
            {0: canal("INSERT", WHOLE), 1: canal("UPDATE", row(id="1", v="b"), old=row(v="a"))},
            {2: canal("TRUNCATE", sql="truncate table {table}")},
            {
                3: canal("INSERT", row(id="1", v="c")),
                4: canal("UPDATE", row(id="1", v="d"), old=row(v="c")),
            },
        ],
        [row(id="1", v="d")],
        {1: ["body"], 4: ["body"]},
    ),
    Case(
        "images_were_partial_though_a_column_of_theirs_is_dropped",
        "canal_json",
        [
            {0: canal("INSERT", WHOLE), 1: canal("UPDATE", row(id="1", v="b"), old=row(v="a"))},
            {
                2: canal("ALTER", sql="alter table {table} drop column body"),
                3: canal("UPDATE", row(id="1", v="c"), old=row(v="b")),
            },
            {4: canal("INSERT", row(id="2"))},
        ],
        [row(id="1", v="c"), row(id="2")],
        {1: ["body"]},
    ),
    Case(
        "images_are_partial_of_a_table_anew_too",
        "canal_json",
        [
            {0: canal("INSERT", WHOLE), 1: canal("DELETE", row(id="1"))},
            {
                2: canal("ERASE", sql="drop table {table}"),
                3: canal("INSERT", WHOLE),
                4: canal("INSERT", row(id="2", v="b", body="too")),
                5: canal("DELETE", row(id="2")),
            },
            {6: canal("INSERT", row(id="3", v="c"))},
        ],
        [WHOLE, row(id="3", v="c")],
        {1: ["body", "v"], 5: ["body", "v"]},
    ),
    Case(
        "a_value_is_not_carried_over_a_delete",
        "canal_json",
        [
            {0: canal("INSERT", WHOLE), 1: canal("DELETE", row(id="1"))},
            {2: canal("UPDATE", row(id="1", v="b"), old=row(v="a"))},
        ],
        [row(id="1", v="b")],
        {1: ["body", "v"], 2: ["body"]},
    ),
    Case(
        "a_half_with_fewer_columns_keeps_the_others",
        "dataworks_json",
        [
            {
                0: streamx("INSERT", after=WHOLE, lists="id v body"),
                1: streamx("INSERT", after=row(id="2", v="b", body="too"), lists="id v body"),
            },
            {
                2: streamx("UPDATE_AFTER", after=row(id="1", v="c"), lists="id v"),
                3: streamx("DELETE", before=row(id="2"), lists="id"),
            },
        ],
        [row(id="1", v="c", body="long")],
        {2: ["body"], 3: ["body", "v"]},
    ),
    Case(
        "an_unavailable_value_is_the_one_in_the_image_before",
        "dataworks_json",
        [
            {
                0: streamx(
                    "UPDATE_AFTER",
                    before=row(id="1", name="joe", big="TOAST"),
                    after=row(id="1", name="jim"),
                    lists="id name big",
                )
            },
            {1: streamx("UPDATE_AFTER", after=row(id="1", name="jon"), lists="id name big")},
        ],
        [row(id="1", name="jon", big="TOAST")],
        {0: ["big"], 1: ["big"]},
        history=[row(id="1", name=name, big="TOAST") for name in ("jim", "jon")],
    ),
    Case(
        "an_update_takes_no_column_that_its_image_before_has",
        "dataworks_json",
        [
            {
                0: streamx(
                    "UPDATE_AFTER",
                    before=row(id="1", name="joe", big="TOAST"),
                    after=row(id="1", name="jim"),
                    lists="id name",
                )
            },
        ],
        [row(id="1", name="jim", big="TOAST")],
        {0: ["big"]},
    ),
    Case(
        "the_image_before_may_come_as_a_late_half",
        "dataworks_json",
        [
            {1: streamx("UPDATE_AFTER", after=row(id="1", name="jim"), lists="id name big")},
            {
                0: streamx(
                    "UPDATE_BEFOR",
                    before=row(id="1", name="joe", big="TOAST"),
                    lists="id name big",
                    place=1,
                )
            },
        ],
        [row(id="1", name="jim", big="TOAST")],
        {1: ["big"]},
    ),
    Case(
        "a_column_that_came_back_has_no_value_from_before",
        "dataworks_json",
        [
            {
                0: streamx("INSERT", after=row(id="1", a="1", note="x"), lists="id a note"),
                1: streamx("INSERT", after=row(id="4", a="4", note="x"), lists="id a note"),
            },
            {
                2: streamx("INSERT", after=row(id="2", a="2"), lists="id a"),
                3: streamx("INSERT", after=row(id="3", a="3", note="y"), lists="id a note"),
                4: streamx("UPDATE_AFTER", after=row(id="1", a="5"), lists="id a note"),
            },
        ],
        [row(id="1", a="5"), row(id="2", a="2"), row(id="3", a="3", note="y"), row(id="4", a="4")],
        {4: ["note"]},
    ),
    *(
        Case(
            f"a_column_that_came_back_has_{what}_of_the_image_before",
            "canal_json",
            [
                {
                    0: canal("INSERT", WHOLE),
                    1: canal("ALTER", sql="alter table {table} drop column body"),
                    2: canal("ALTER", sql="alter table {table} add column body text"),
                },
                {
                    3: canal(
                        "UPDATE",
                        row(id="1", v="b"),
                        old=row(v="a", body=old_body),
                        lists="id v body",
                    ),
                },
                {4: canal("UPDATE", row(id="1", v="c"), old=row(v="b"), lists="id v body")},
            ],
            [row(id="1", v="c", body=old_body)],
            {3: ["body"], 4: ["body"]},
            history=[WHOLE, row(id="1", v="b", body=old_body), row(id="1", v="c", body=old_body)],
        )
        for what, old_body in [("another_value", "new"), ("the_value", "long")]
    ),
    Case(
        "a_listed_column_that_a_blob_message_leaves_out_is_null",
        "datahub_blob",
        [
            {0: blob("INSERT", after=row(id="1", name="joe", c="c"), lists="id name c")},
            {1: blob("UPDATE_AFTER", after=row(id="1", name="joe"), lists="id name c")},
        ],
        [{"id": "1", "name": "joe", "c": None}],
    ),
    Case(
        "a_key_change_in_halves_that_are_both_an_update",
        "datahub_blob",
        [
            {
                0: blob("INSERT", after=row(id="1", v="a"), lists="id v"),
                1: blob("UPDATE", before=row(id="1", v="a"), lists="id v", place=2),
                2: blob("UPDATE", after=row(id="2", v="a"), lists="id v"),
            },
            {
                3: blob("UPDATE", before=row(id="2", v="a"), lists="id v", place=4),
            },
            {4: blob("UPDATE", after=row(id="3", v="b"), lists="id v")},
        ],
        [row(id="3", v="b")],
    ),
    Case(
        "AN_UPDATE_WITH_THE_KEY_ALONE_KEEPS_THE_OTHER_COLUMNS",
        "shareplex_json",
        [
            {0: shareplex("ins", row(ID="1", A="a", B="b"))},
            {1: shareplex("upd", row(B="c"), row(ID="1"))},
        ],
        [row(ID="1", A="a", B="c")],
        {1: ["A"]},
    ),
    Case(
        "AN_INSERT_WITHOUT_A_COLUMN_THAT_IS_NULL_DROPS_NONE",
        "shareplex_json",
        [
            {
                0: shareplex("ins", row(ID="1", A="a", B="b")),
                1: shareplex("upd", row(YEAR_END="1999"), row(ID="1")),
            },
            {2: shareplex("ins", row(ID="2", A="a", B="b"))},
        ],
        [row(ID="1", A="a", B="b", YEAR_END="1999"), row(ID="2", A="a", B="b")],
        {1: ["A", "B"]},
    ),
    Case(
        "AN_INSERT_BEHIND_A_DROP_COLUMN_SHOWS_WHICH_COLUMN_IS_GONE",
        "shareplex_json",
        [
            {
                0: shareplex("ins", row(ID="1", A="a", B="b")),
                1: shareplex("upd", row(A="c"), row(ID="1")),
                2: shareplex("DROP COLUMN", {}),
            },
            {3: shareplex("upd", row(A="d"), row(ID="1")), 4: shareplex("ins", row(ID="2", A="a"))},
        ],
        [row(ID="1", A="d"), row(ID="2", A="a")],
        {1: ["B"], 3: ["B"]},
    ),
    *(
        Case(
            f"halves_of_an_update_are_the_first_that_is_seen_{name}",
            "dataworks_json",
            runs,
            [row(id="1", a="z", b="y")],
            {after: ["b"]},
            history=[row(id="1", a="z", b="y")],
        )
        for name, after, runs in (
            (
                "in_one_run",
                1,
                [
                    {
                        0: streamx("UPDATE_BEFOR", before=XY, lists="id a b", place=1),
                        1: streamx("UPDATE_AFTER", after=row(id="1", a="z"), lists="id a"),
                    }
                ],
            ),
            (
                "the_later_one_first",
                0,
                [
                    {0: streamx("UPDATE_AFTER", after=row(id="1", a="z"), lists="id a")},
                    {1: streamx("UPDATE_BEFOR", before=XY, lists="id a b", place=0)},
                ],
            ),
        )
    ),
    Case(
        "HALVES_OF_AN_UPDATE_ARE_THE_FIRST_THAT_IS_SEEN",
        "shareplex_json",
        [
            {
                0: shareplex("UPDATE BEFORE", row(ID="1", A="x", B="y"), other_half=1),
                1: shareplex("UPDATE AFTER", row(A="z"), row(ID="1")),
            }
        ],
        [row(ID="1", A="z", B="y")],
        {1: ["B"]},
    ),
    *(
        Case(
            f"a_keyless_row_takes_what_its_image_lacks_from_the_one_before{name}",
            source_format,
            [created | changed, *deleted],
            [] if deleted else [row(a="2", n="long")],
            history=None if deleted else [row(a="1", n="long"), row(a="2", n="long")],
        )
        for source_format, created, changed, delete in (
            (
                "cdl_debezium_json",
                {0: debezium("c", KEYLESS, 10, is_keyed=False)},
                {1: debezium("u", row(a="2", n=PLACEHOLDER), 20, before=KEYLESS, is_keyed=False)},
                debezium("d", row(a="2", n="long"), 30, is_keyed=False),
            ),
            (
                "dataworks_json",
                {0: streamx("INSERT", after=KEYLESS, lists="a n", key="")},
                {1: streamx("UPDATE_AFTER", before=KEYLESS, after=row(a="2"), lists="a n", key="")},
                streamx("DELETE", before=row(a="2", n="long"), lists="a n", key=""),
            ),
        )
        for name, deleted in (("", []), ("_and_is_deleted", [{2: delete}]))
    ),
    *(
        Case(
            f"a_keyless_row_takes_what_its_half_lacks_from_the_other_{name}",
            "dataworks_json",
            [{0: streamx("INSERT", after=KEYLESS, lists="a n", key=""), **first}, *others],
            rows,
            history=[row(a="1", n="long"), row(a="2", n="long")],
        )
        for name, first, others, rows in (
            (
                "in_one_run",
                {
                    1: streamx("UPDATE_BEFOR", before=KEYLESS, lists="a n", place=2, key=""),
                    2: streamx("UPDATE_AFTER", after=row(a="2"), lists="a n", key=""),
                },
                [],
                [row(a="2", n="long")],
            ),
            (
                "which_lands_later",
                {1: streamx("UPDATE_AFTER", after=row(a="2"), lists="a", key="")},
                [{2: streamx("UPDATE_BEFOR", before=KEYLESS, lists="a n", place=1, key="")}],
                [row(a="2", n="long")],
            ),
            (
                "and_is_deleted",
                {1: streamx("UPDATE_AFTER", after=row(a="2"), lists="a n", key="")},
                [
                    {2: streamx("UPDATE_BEFOR", before=KEYLESS, lists="a n", place=1, key="")},
                    {3: streamx("DELETE", before=row(a="2", n="long"), lists="a n", key="")},
                ],
                [],
            ),
        )
    ),
    Case(
        "a_placeholder_is_the_value_under_the_old_key",
        "cdl_debezium_json",
        [
            {0: debezium("c", row(id="1", big="TOAST"), 10), 1: debezium("d", row(id="1"), 20)},
            {2: tombstone, 3: debezium("c", row(id="2", big=PLACEHOLDER), 20)},
        ],
        [row(id="2", big="TOAST")],
        {1: ["big"], 3: ["big"]},
    ),
    Case(
        "a_placeholder_is_not_the_value_of_any_row_deleted_at_its_position",
        "cdl_debezium_json",
        [
            {0: debezium("c", row(id="1", big="TOAST"), 10)},
            {
                1: debezium("d", row(id="1"), 20),
                2: debezium("c", row(id="7", big="small"), 20),
                3: debezium("c", row(id="2", big=PLACEHOLDER), 20),
            },
        ],
        [row(id="2"), row(id="7", big="small")],
        {1: ["big"], 3: ["big"]},
    ),
    Case(
        "a_placeholder_behind_a_delete_that_is_sent_again_is_the_value_under_the_old_key",
        "cdl_debezium_json",
        [
            {0: debezium("c", row(id="1", big="TOAST"), 10), 1: debezium("d", row(id="1"), 20)},
            {
                2: tombstone,
                3: debezium("d", row(id="1"), 20),
                4: tombstone,
                5: debezium("c", row(id="2", big=PLACEHOLDER), 20),
                6: debezium("c", row(id="7", big="small"), 20),
            },
        ],
        [row(id="2", big="TOAST"), row(id="7", big="small")],
        {1: ["big"], 5: ["big"]},
    ),
    *(
        Case(
            f"a_placeholder_that_is_sent_again_behind_another_delete_keeps_its_value{when}",
            "cdl_debezium_json",
            [{offset: RESTARTED[offset] for offset in run} for run in runs],
            [row(id="2", big="ONE"), row(id="9", big="EIGHT")],
            {offset: ["big"] for offset in partial},
        )
        for when, runs, partial in (
            ("", [range(7), range(7, 11)], (2, 4, 5, 10)),
            ("_when_its_insert_lands_late", [[*range(4), *range(5, 11)], [4]], (2, 5, 7, 10)),
            (
                "_when_more_lands_late",
                [(0, 1, 2, 7, 8, 10), (5, 11), (3, 4, 6, 9)],
                (2, 7, 8, 10, 11),
            ),
        )
    ),
    Case(
        "a_value_moves_behind_the_image_that_lacked_it",
        "canal_json",
        [
            {
                5: canal("INSERT", row(id="1", a="1", b="2"), at=10),
                OTHER: canal("UPDATE", row(id="1", a="9"), old=row(a="1"), at=20),
            },
            {4: canal("INSERT", row(id="2", a="3", b="4"), at=30)},
        ],
        [row(id="1", a="1", b="2"), row(id="2", a="3", b="4")],
        history=[
            row(id="1", a="9"),
            row(id="2", a="3", b="4"),
            row(id="1", a="1", b="2"),
        ],
    ),
    Case(
        "a_late_redelivery_shows_from_which_key_a_placeholder_has_its_value",
        "cdl_debezium_json",
        [
            {
                0: debezium("c", row(id="8", big="EIGHT"), 10),
                1: debezium("c", row(id="1", big="ONE"), 11),
                2: debezium("d", row(id="8"), 20),
                3: debezium("c", row(id="9", big="EIGHT"), 20),
                4: debezium("d", row(id="1"), 20),
                9: debezium("c", row(id="2", big=PLACEHOLDER), 20),
            },
            {8: debezium("d", row(id="1"), 20)},
        ],
        [row(id="2", big="ONE"), row(id="9", big="EIGHT")],
        {2: ["big"], 4: ["big"], 9: ["big"]},
    ),
    # Two rows swap their keys.  Until the delete of the one is there, its insert under the key of
    # the other is no key change, and the delete behind it takes all that the key has.
    Case(
        "a_placeholder_is_the_value_of_a_row_whose_old_key_was_deleted_in_a_later_run",
        "cdl_debezium_json",
        [
            {
                0: debezium("c", row(id="1", v="a", big="A"), 10),
                1: debezium("c", row(id="2", v="b", big="B"), 11),
            },
            {
                3: debezium("c", row(id="2", v="a", big="A"), 20),
                4: debezium("d", row(id="2"), 21),
                5: debezium("c", row(id="1", v="b", big="B"), 21),
                6: debezium("u", row(id="2", v="n", big=PLACEHOLDER), 30),
            },
            {2: debezium("d", row(id="1"), 20)},
        ],
        [row(id="1", v="b", big="B"), row(id="2", v="n", big="A")],
        {2: ["big", "v"], 4: ["big", "v"], 6: ["big"]},
    ),
]


def land(project: Project, run: int) -> None:
    for source_format in {case.source_format for case in CASES}:
        project.land(source_format, _messages(source_format, run))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rows_are_those_of_the_table(stages: Stages, case: Case) -> None:
    assert [held["row"] for held in _of(stages, LATEST_STATE, case)] == case.rows


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_an_event_names_the_columns_that_its_image_lacks(stages: Stages, case: Case) -> None:
    unavailable = {
        event["offset"]: sorted(event["unavailable_columns"])
        for event in _of(stages, CHANGE_EVENTS, case)
        if event.get("unavailable_columns")
    }
    assert unavailable == case.unavailable


@pytest.mark.parametrize(
    "case", [case for case in CASES if case.history], ids=lambda case: case.name
)
def test_each_version_of_a_row_is_filled(stages: Stages, case: Case) -> None:
    assert [version["row"] for version in _of(stages, ROW_HISTORY, case)] == case.history


def _of(stages: Stages, mart: str, case: Case) -> list[Row]:
    """The rows of a mart that are of a case's table."""
    table = (case.source_format, case.name)
    rows = stages.last.rows[mart]
    return [row for row in rows if (row["source_format"], row["table_name"]) == table]


def _messages(source_format: str, run: int) -> list[Landed]:
    landed = []
    for case in CASES:
        if case.source_format == source_format and run < len(case.runs):
            for offset, message in case.runs[run].items():
                body = message(case.name, offset)
                value = None if body is None else json.dumps(body).encode()
                topic = f"partial.{case.name}"
                landed.append(Landed(topic, offset, value, partition=offset // OTHER))
    return landed
