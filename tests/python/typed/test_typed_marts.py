"""A typed mart is its source table, whatever becomes of the table."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from itertools import count
from typing import Any, NamedTuple

import pytest

from cdc_marts.typed.types import DECODING_CASTS
from tests.python.typed.folded import MARTS, Folded, SourceTable, declared

pytestmark = pytest.mark.thorough

DECIMAL = "org.apache.kafka.connect.data.Decimal"
WALL_CLOCK, MICROS = "io.debezium.time.Timestamp", "io.debezium.time.MicroTimestamp"
#: 2024-03-01 07:01:00.001
MILLIS, SECONDS, MIDNIGHT = 1_709_276_460_001, 1_709_276_460, 1_709_251_200_000
READ_MILLIS = dt.datetime(2024, 3, 1, 7, 1, 0, 1000)

_numbers = count()


@pytest.fixture
def table(folded: Folded) -> SourceTable:
    """A table with a column for the key and one for a number; nothing in it."""
    table = folded.table(f"table_{next(_numbers)}")
    table.has_version(1, id="int64", amount="int32")
    return table


def run(table: SourceTable, *arguments: str, **options: Any) -> list[str]:
    return table.folded.run(
        {table.table_id: {**declared([table])[table.table_id], **options}}, *arguments
    )


def columns_of(table: SourceTable) -> list[str]:
    return [name for name in table.folded.types(table.table_id) if not name.startswith("_")]


def quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def contents(table: SourceTable) -> list[tuple[Any, ...]]:
    """The rows, their own columns only."""
    names = ", ".join(map(quoted, columns_of(table)))
    return [tuple(row) for row in table.folded.rows(table.table_id, names)]


def errors(table: SourceTable) -> list[tuple[str, str, str]]:
    rows = table.folded.rows(table.table_id, "explode(_cast_errors) as error, _row_key, _row_copy")
    return [tuple(row.error) for row in rows]


def check_full_refresh_gives_the_same(table: SourceTable, **options: Any) -> None:
    columns = ", ".join(sorted(map(quoted, table.folded.types(table.table_id))))
    before = table.folded.rows(table.table_id, columns)
    run(table, "--full-refresh", **options)
    assert table.folded.rows(table.table_id, columns) == before


# --- Rows --------------------------------------------------------------------------------------


def test_rows_come_change_and_go(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    table.holds({"id": 2, "amount": 20}, 1)
    run(table)
    assert contents(table) == [(1, 10), (2, 20)]

    table.holds({"id": 2, "amount": 21}, 1)
    table.holds({"id": 3, "amount": 30}, 1)
    table.loses('{"id": 1}')
    run(table)
    assert contents(table) == [(2, 21), (3, 30)]
    check_full_refresh_gives_the_same(table)


def test_a_run_writes_only_what_changed(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    run(table)
    # the row of a key without a new event is not looked at
    table.rows['{"id": 1}'] = ('{"id": 1, "amount": 99}', 1, 1, 1)
    table.holds({"id": 2, "amount": 20}, 1)
    run(table)
    assert contents(table) == [(1, 10), (2, 20)]


@pytest.mark.parametrize("beside_an_effect", [True, False])
@pytest.mark.parametrize("fold_model", ["int_colliding_keys", "int_filled_rows"])
def test_a_row_changes_without_an_effect_on_its_key(
    table: SourceTable, fold_model: str, beside_an_effect: bool
) -> None:
    """Such as a row that remains on a colliding key, or that has a value from an earlier key."""
    table.holds({"id": 1, "amount": 10}, 1)
    table.holds({"id": 2, "amount": 20}, 1)
    run(table)
    table.changes_without_effect({"id": 1, "amount": 11}, 1, fold_model)
    if beside_an_effect:
        table.holds({"id": 3, "amount": 30}, 1)
    run(table)
    assert contents(table) == [(1, 11), (2, 20)] + [(3, 30)] * beside_an_effect


def test_nothing_new_writes_nothing(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    run(table)
    written = snapshots(table)
    run(table)
    assert snapshots(table) == written


def snapshots(table: SourceTable) -> int:
    name = f"typed_marts.{table.table_id}.snapshots"
    return table.folded.spark.sql(f"select count(*) from {name}").collect()[0][0]


def test_an_emptied_table_leaves_no_row(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    table.holds({"id": 2, "amount": 20}, 1)
    run(table)
    table.is_emptied()
    table.holds({"id": 2, "amount": 21}, 1)
    run(table)
    assert contents(table) == [(2, 21)]


def test_equal_rows_of_a_keyless_table_are_rows_each(table: SourceTable) -> None:
    table.holds({"amount": 10, "id": 1}, 1, key="", copies=3)
    table.holds({"amount": 20, "id": 2}, 1, key="", copies=1)
    run(table)
    assert contents(table) == [(1, 10)] * 3 + [(2, 20)]

    table.holds({"amount": 10, "id": 1}, 1, key="", copies=1)
    table.holds({"amount": 20, "id": 2}, 1, key="", copies=2)
    run(table)
    assert contents(table) == [(1, 10)] + [(2, 20)] * 2
    check_full_refresh_gives_the_same(table)


def test_a_table_without_messages_has_an_empty_mart(folded: Folded) -> None:
    table = folded.table("nothing_yet")
    run(table, partition_by=["days(placed_at)", "region"])
    assert contents(table) == []

    table.has_version(
        1, id="int64", placed_at="org.apache.kafka.connect.data.Timestamp", region="string"
    )
    table.holds({"id": 1, "placed_at": 0, "region": "eu"}, 1)
    run(table, partition_by=["days(placed_at)", "region"])
    assert sorted(columns_of(table)) == ["id", "placed_at", "region"]
    partitions = folded.spark.sql("select * from typed_marts.nothing_yet.partitions").collect()
    assert [row.partition.region for row in partitions] == ["eu"]


# --- Columns -----------------------------------------------------------------------------------


def test_a_new_column_appears(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    run(table)
    table.has_version(2, id="int64", amount="int32", **{"new`column": "string"})
    table.holds({"id": 2, "amount": 20, "new`column": "x"}, 2)
    run(table)
    assert columns_of(table)[:2] == ["id", "amount"]
    assert contents_by_name(table) == [
        {"id": 1, "amount": 10, "new`column": None},
        {"id": 2, "amount": 20, "new`column": "x"},
    ]
    check_full_refresh_gives_the_same(table)


def contents_by_name(table: SourceTable) -> list[dict[str, Any]]:
    return [
        {c: v for c, v in row.asDict().items() if not c.startswith("_")}
        for row in table.folded.rows(table.table_id)
    ]


def test_a_dropped_column_disappears(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    run(table)
    table.has_version(2, id="int64")
    table.holds({"id": 2}, 2)
    run(table, renames={"amount": "total"})
    assert contents(table) == [(1,), (2,)]


@pytest.mark.parametrize("by_statement", [True, False])
def test_a_column_that_was_never_lost_after_all_has_the_values_of_all_rows(
    table: SourceTable, by_statement: bool
) -> None:
    """A withdrawn drop has no event of the table, a partial image is one."""
    table.holds({"id": 1, "amount": 10}, 1)
    table.has_version(2, id="int64")
    table.holds({"id": 2}, 2)
    run(table)
    assert contents(table) == [(1,), (2,)]
    table.has_version(1, id="int64", amount="int32")
    if by_statement:
        table.loses_no_column_by_a_statement()
    else:
        table.loses('{"id": 2}')
    run(table)
    assert contents(table) == [(1, 10)] + [(2, None)] * by_statement
    written = snapshots(table)
    table.holds({"id": 1, "amount": 11}, 1)
    run(table)
    assert contents(table)[0] == (1, 11)
    assert snapshots(table) == written + 1


@pytest.mark.parametrize("is_gone", [False, True])
def test_a_column_that_takes_the_name_of_a_renamed_one_gets_none_of_its_values(
    table: SourceTable, is_gone: bool
) -> None:
    """`total` is a name for `amount`, until the table itself has a column of that name."""
    table.holds({"id": 1, "amount": 10}, 1)
    run(table, renames={"amount": "total"})
    assert contents(table) == [(1, 10)]
    if is_gone:
        table.has_version(2, id="int64", total="int32")
        table.rows['{"id": 1}'] = ('{"id": 1}', 1, 1, 1)
        table.holds({"id": 2, "total": 7}, 2)
        expected = [{"id": 1, "total": None}, {"id": 2, "total": 7}]
    else:
        table.has_version(2, id="int64", total="int32", amount="int32")
        table.holds({"id": 2, "total": 7, "amount": 20}, 2)
        expected = [
            {"id": 1, "total": None, "total_2": 10},
            {"id": 2, "total": 7, "total_2": 20},
        ]
    run(table, renames={"amount": "total"})
    assert contents_by_name(table) == expected
    check_full_refresh_gives_the_same(table, renames={"amount": "total"})


def test_a_source_that_renames_a_column_as_the_declaration_does_is_read_anew(
    table: SourceTable,
) -> None:
    table.has_version(1, id="int64", amt="int32")
    table.holds({"id": 1, "amt": 10}, 1)
    run(table, renames={"amt": "amount"})
    # The table has `amount` now; a row that was not written since lacks it.
    table.has_version(2, id="int64", amount="int32")
    table.rows['{"id": 1}'] = ('{"id": 1}', 1, 1, 1)
    table.holds({"id": 2, "amount": 20}, 2)
    run(table, renames={"amt": "amount"})
    assert contents(table) == [(1, None), (2, 20)]
    check_full_refresh_gives_the_same(table, renames={"amt": "amount"})


def test_a_new_column_beside_a_renamed_one_builds_no_mart_anew(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    run(table, renames={"amount": "total"})
    table.rows['{"id": 1}'] = ('{"id": 1, "amount": 99}', 1, 1, 1)
    table.has_version(2, id="int64", amount="int32", note="string")
    table.holds({"id": 2, "amount": 20, "note": "x"}, 2)
    run(table, renames={"amount": "total"})
    assert contents_by_name(table) == [
        {"id": 1, "total": 10, "note": None},
        {"id": 2, "total": 20, "note": "x"},
    ]


def test_a_column_that_changes_only_its_letter_case_is_read_anew(table: SourceTable) -> None:
    table.has_version(1, id="int64", Amount="int32")
    table.holds({"id": 1, "Amount": 10}, 1)
    run(table)
    table.has_version(2, id="int64", amount="int32")
    table.rows['{"id": 1}'] = ('{"id": 1, "amount": 10}', 1, 1, 1)
    table.holds({"id": 2, "amount": 20}, 2)
    run(table)
    assert contents_by_name(table) == [{"id": 1, "amount": 10}, {"id": 2, "amount": 20}]
    check_full_refresh_gives_the_same(table)


class Widening(NamedTuple):
    """A column whose type changed from one row to the next; rows in the order of their keys."""

    types: tuple[Any, Any]
    values: tuple[Any, Any]
    spark_type: str
    read: list[Any]


WIDENINGS = [
    Widening(("int32", "int64"), (1, 2**40), "bigint", [1, 2**40]),
    Widening(
        (
            (DECIMAL, {"scale": "2", "connect.decimal.precision": "20"}),
            (DECIMAL, {"scale": "6", "connect.decimal.precision": "24"}),
        ),
        ("AfQ=", "D0JA"),
        "decimal(24,6)",
        [Decimal("5.000000"), Decimal("1.000000")],
    ),
    Widening(
        ("int64", (DECIMAL, {"scale": "2", "connect.decimal.precision": "4"})),
        (2**62, "AfQ="),
        "decimal(21,2)",
        [Decimal(2**62), Decimal(5)],
    ),
    Widening(("float", "double"), (0.5, 0.1), "double", [0.5, 0.1]),
    Widening(
        ("io.debezium.time.Date", "io.debezium.time.Timestamp"),
        (0, 1),
        "timestamp_ntz",
        [dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, 0, 0, 0, 1000)],
    ),
    Widening(("int32", "string"), (7, "seven"), "string", ["7", "seven"]),
    Widening(("io.debezium.time.Date", "string"), (0, "x"), "string", ["1970-01-01", "x"]),
    Widening(("bytes", "string"), ("AAE=", "x"), "string", ["AAE=", "x"]),
    Widening(
        (("array", {"type": "int32"}), ("array", {"type": "string"})),
        ([1], ["x"]),
        "string",
        ["[1]", '["x"]'],
    ),
]


@pytest.fixture(scope="module")
def widened(folded: Folded) -> tuple[list[SourceTable], list[str]]:
    """A table for each widening, built before and after it, and the warnings of the second run."""
    tables = [folded.table(f"widened_{number}") for number in range(len(WIDENINGS))]
    warnings: list[str] = []
    for run_ in range(2):
        for table, widening in zip(tables, WIDENINGS, strict=True):
            table.has_version(run_, id="int64", v=widening.types[run_])
            table.holds({"id": run_, "v": widening.values[run_]}, run_)
        warnings = folded.run(declared(tables))
    return tables, warnings


@pytest.mark.parametrize("number", range(len(WIDENINGS)))
def test_a_changed_type_widens(
    folded: Folded, widened: tuple[list[SourceTable], list[str]], number: int
) -> None:
    table, widening = widened[0][number], WIDENINGS[number]
    assert folded.types(table.table_id)["v"] == widening.spark_type
    assert [row.v for row in folded.rows(table.table_id)] == widening.read
    assert errors(table) == []


@pytest.mark.parametrize("number", range(len(WIDENINGS)))
def test_a_type_that_only_text_holds_is_said(
    widened: tuple[list[SourceTable], list[str]], number: int
) -> None:
    table, widening = widened[0][number], WIDENINGS[number]
    said = [w for w in widened[1] if f"`{table.table_id}`" in w and "only text holds" in w]
    assert bool(said) == (widening.spark_type == "string")


def test_widened_marts_are_those_of_a_rebuild(
    folded: Folded, widened: tuple[list[SourceTable], list[str]]
) -> None:
    tables, _ = widened
    before = [folded.rows(table.table_id) for table in tables]
    folded.run(declared(tables), "--full-refresh")
    assert [folded.rows(table.table_id) for table in tables] == before


def test_odd_names_are_columns_too(folded: Folded) -> None:
    names = [
        *(
            "a.b",
            "a b",
            "back`tick",
            'double"quote',
            "single'quote",
            "back\\slash",
            "both'\"quotes",
        ),
        *("列", "$[0]", "select", "_row_key", "Id", "ID", "1"),
    ]
    table = folded.table("odd_names")
    table.has_columns(1, {"id": "int64", **dict.fromkeys(names, "string")})
    table.holds({"id": 1, **{name: f"value of {name}" for name in names}}, 1)
    run(table)
    row = folded.rows("odd_names")[0].asDict()
    taken = {"_row_key": "_row_key_2", "Id": "Id_2", "ID": "ID_3"}
    assert row["id"] == 1
    assert {name: row[taken.get(name, name)] for name in names} == {
        name: f"value of {name}" for name in names
    }
    table.holds({"id": 1, **dict.fromkeys(names, "new")}, 1)
    run(table)
    row = folded.rows("odd_names")[0].asDict()
    assert {row[taken.get(name, name)] for name in names} == {"new"}


def test_columns_stand_in_the_order_of_key_and_schema_version(folded: Folded) -> None:
    table = folded.table("in_order")
    table.has_version(1, zone="string", b="string", id="int64", a="string")
    table.holds({"a": "a", "b": "b", "id": 1, "zone": "z"}, 1)
    run(table)
    assert columns_of(table) == ["id", "zone", "b", "a"]


@pytest.mark.parametrize("source_format", ["shareplex_json", "datahub_tuple"])
def test_a_format_without_types_has_columns_of_text(folded: Folded, source_format: str) -> None:
    table = folded.table("without_types", source_format)
    version = 1 if source_format == "shareplex_json" else None
    if version:
        table.has_version(1, ID=None, AMOUNT=None, AT=None, NOTE=None)
    table.holds({"ID": "1", "AMOUNT": "12.50", "AT": "2024-03-01T07:01:00"}, version, key="ID")
    table.holds({"ID": "2", "NOTE": "no amount"}, version, key="ID")
    warnings = run(table, casts={"AMOUNT": "decimal(10, 2)", "AT": "timestamp_ntz"})
    assert [text for text in warnings if "name no type" in text] == []
    assert folded.types("without_types")["AMOUNT"] == "decimal(10,2)"
    assert columns_of(table) == ["ID", "AMOUNT", "AT", "NOTE"]
    assert [row.AMOUNT for row in folded.rows("without_types")] == [Decimal("12.5"), None]
    assert [row.NOTE for row in folded.rows("without_types")] == [None, "no amount"]


def test_rows_of_schemaless_messages_are_read_as_the_others(table: SourceTable) -> None:
    table.has_version(2, id=None, amount=None, note=None)
    table.holds({"id": 1, "amount": 10}, 1)
    table.holds({"id": 2, "amount": 20, "note": "x"}, 2)
    [warning] = [text for text in run(table) if "name no type" in text]
    assert "no type of note;" in warning
    assert contents(table) == [(1, 10, None), (2, 20, "x")]


def test_rows_without_a_version_are_read_as_the_newest(table: SourceTable) -> None:
    table.has_version(2, id="int64", amount="string")
    table.holds({"id": 1, "amount": 10}, 1)
    table.holds({"id": 2, "amount": "many"})
    run(table)
    assert contents(table) == [(1, "10"), (2, "many")]
    assert errors(table) == []


def test_rows_without_types_are_read_by_the_types_that_their_table_had(folded: Folded) -> None:
    table = folded.table("rows_without_types")
    table.holds({"id": 1, "amount": "AfQ="})
    for version, scale in ((1, "2"), (2, "4")):
        amount = (DECIMAL, {"scale": scale, "connect.decimal.precision": "12"})
        table.has_version(version, id="int64", amount=amount)
        table.holds({"id": 2 * version, "amount": "AfQ="}, version)
        table.holds({"id": 2 * version + 1, "amount": "AfQ="})
        run(table)
    old, new = Decimal("5"), Decimal("0.05")
    assert contents(table) == [(1, old), (2, old), (3, old), (4, new), (5, new)]
    check_full_refresh_gives_the_same(table)


def test_a_late_version_decides_how_earlier_rows_without_types_are_read(folded: Folded) -> None:
    """Both types are a `timestamp_ntz`, so no type of the mart shows that its rows change."""
    table = folded.table("late_version")
    table.versions = 4
    table.has_version(2, id="int64", at=MICROS)
    table.holds({"id": 1, "at": MILLIS * 1000}, 2)
    table.versions = 3
    table.holds({"id": 2, "at": MILLIS})
    run(table)
    # The first event lands last.
    table.versions = 0
    table.has_version(1, id="int64", at=WALL_CLOCK)
    table.holds({"id": 3, "at": MILLIS}, 1)
    run(table)
    assert contents(table) == [(number, READ_MILLIS) for number in (1, 2, 3)]
    check_full_refresh_gives_the_same(table)


def test_a_type_that_is_read_as_before_builds_no_mart_anew(folded: Folded) -> None:
    table = folded.table("type_of_another_name")
    table.has_version(1, id="int64", note="string")
    table.holds({"id": 1, "note": "a"}, 1)
    run(table)
    table.rows['{"id": 1}'] = ('{"id": 1, "note": "z"}', 1, 1, 1)
    table.has_version(2, id="int64", note="io.debezium.data.Json")
    table.holds({"id": 2, "note": "{}"}, 2)
    run(table)
    assert contents(table) == [(1, "a"), (2, "{}")]


def test_rows_without_types_are_read_as_before_if_their_type_comes_back(folded: Folded) -> None:
    table = folded.table("type_that_comes_back")
    types = ((WALL_CLOCK, MILLIS), (MICROS, MILLIS * 1000), (WALL_CLOCK, MILLIS))
    for version, (type_, published) in enumerate(types):
        table.has_version(version, id="int64", at=type_)
        table.holds({"id": 2 * version, "at": published}, version)
        table.holds({"id": 2 * version + 1, "at": published})
    run(table)
    assert contents(table) == [(number, READ_MILLIS) for number in range(6)]


def test_a_column_that_was_dropped_from_the_mart_has_the_values_of_all_rows(
    table: SourceTable,
) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    run(table)
    table.folded.spark.sql(f"alter table {MARTS}.{table.table_id} drop column amount")
    table.holds({"id": 2, "amount": 20}, 1)
    run(table)
    assert contents(table) == [(1, 10), (2, 20)]


@pytest.mark.parametrize("by_statement", [True, False])
def test_a_column_that_went_and_came_back_between_two_runs_is_read_anew(
    table: SourceTable, by_statement: bool
) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    run(table)
    table.loses_column("amount", 1, by_statement)
    table.rows['{"id": 1}'] = ('{"id": 1}', 1, 1, 1)
    if not by_statement:
        table.holds({"id": 2, "amount": 20}, 1)
    run(table)
    assert contents(table) == [(1, None)] + [(2, 20)] * (not by_statement)
    written = snapshots(table)
    table.loses_column("gone", 2, by_statement)
    table.holds({"id": 1, "amount": 11}, 1)
    run(table)
    assert snapshots(table) == written + 1
    assert contents(table)[0] == (1, 11)


# --- Declarations ------------------------------------------------------------------------------


def test_columns_are_renamed_and_cast(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    run(table, renames={"amount": "total"}, casts={"amount": "decimal(10,2)"})
    assert folded_row(table) == {"id": 1, "total": Decimal("10.00")}
    assert table.folded.types(table.table_id)["total"] == "decimal(10,2)"
    # a declaration that changes rebuilds the mart, without a new row too
    run(table, casts={"amount": "string"}, partition_by=["amount"])
    assert folded_row(table) == {"id": 1, "amount": "10"}
    mart = f"typed_marts.{table.table_id}.partitions"
    partition = table.folded.spark.sql(f"select partition from {mart}").collect()[0][0]
    assert partition.amount == "10"


def test_a_mart_may_become_that_of_another_table(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    run(table)
    other = table.folded.table(f"{table.table_id}_other")
    other.has_version(1, key="string")
    other.holds({"key": "x"}, 1, key="key")
    run(table)
    table.folded.run({table.table_id: declared([other])[other.table_id]})
    assert contents(table) == [("x",)]


def test_a_table_of_somebody_else_is_not_replaced(folded: Folded) -> None:
    table = folded.table("of_somebody_else")
    table.has_version(1, id="int64")
    table.holds({"id": 1}, 1)
    mart = f"{MARTS}.of_somebody_else"
    folded.spark.sql(f"create table {mart} using iceberg as select 'theirs' as v")
    with pytest.raises(AssertionError, match=f"{mart} is no typed mart: it lacks _row_key"):
        run(table)
    assert [row.v for row in folded.rows("of_somebody_else", order_by="v")] == ["theirs"]
    folded.spark.sql(f"drop table {mart}")
    run(table)
    assert contents(table) == [(1,)]


def test_a_run_after_a_loss_writes_only_what_changed(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    table.loses_column("amount", 1, by_statement=True)
    run(table)
    table.rows['{"id": 1}'] = ('{"id": 1, "amount": 99}', 1, 1, 1)
    table.holds({"id": 2, "amount": 20}, 1)
    run(table)
    assert contents(table) == [(1, 10), (2, 20)]


def folded_row(table: SourceTable) -> dict[str, Any]:
    return contents_by_name(table)[0]


#: (text as published, cast, value in the mart)
CASTS = [
    ("1.255", "decimal(10,2)", None),
    ("1.250", "decimal(10,2)", Decimal("1.25")),
    ("1e3", "decimal(10,2)", Decimal("1000.00")),
    ("1e-3", "decimal(10,2)", None),
    ("999999999", "decimal(10,2)", None),
    ("1.5", "int", None),
    ("12.00", "int", 12),
    ("1e3", "bigint", 1000),
    ("1.5e0", "bigint", None),
    ("9223372036854775808.0", "bigint", None),
    ("2147483648", "int", None),
    ("2147483648", "bigint", 2147483648),
    ("twelve", "double", None),
    ("12345678901234567.89", "double", None),
    ("16777217", "float", None),
    ("1.00000000000000000001e1", "decimal(38,18)", None),
    ("2024-02-30", "date", None),
    ("0000-00-00", "date", None),
    ("2024", "date", None),
    ("2024-03-01T00:00:00", "date", dt.date(2024, 3, 1)),
    ("2024-03-01 00:00:00.000", "date", dt.date(2024, 3, 1)),
    ("2024-03-01T07:01:00", "date", None),
    ("0000-00-00 00:00:00", "timestamp_ntz", None),
    ("07:01:00", "timestamp", None),
    ("+10000-01-01T00:00:00Z", "timestamp", None),
    ("9999-12-31T23:59:59-01:00", "timestamp", None),
    ("infinity", "timestamp", None),
    ("2024-03-01 07:01:00+08:00", "timestamp_ntz", None),
    ("2024-03-01 07:01:00.1234567", "timestamp_ntz", None),
    ("2024-03-01T07:01:00", "timestamp_ntz", dt.datetime(2024, 3, 1, 7, 1)),
    ("2024-03-01", "timestamp_ntz", dt.datetime(2024, 3, 1)),
    ("2024-03-01", "timestamp", None),
    ("no base64!", "binary", None),
    ("AAE=", "binary", bytearray(b"\0\1")),
    ("00ffDEAD", "hexadecimal", bytearray(b"\0\xff\xde\xad")),
    ("", "hexadecimal", bytearray()),
    ("FFF", "hexadecimal", None),
    ("AAE=", "hexadecimal", None),
    ("{", "variant", None),
    ("maybe", "boolean", None),
    ("1760000000000001", "epoch_micros", dt.datetime(2025, 10, 9, 8, 53, 20, 1)),
    ("-1", "epoch_millis", dt.datetime(1969, 12, 31, 23, 59, 59, 999000)),
    ("253402300800000000", "epoch_micros", None),
    ("1760000000000000001", "epoch_nanos", None),
    ("19783", "epoch_days", dt.date(2024, 3, 1)),
    ("2024-03-01", "epoch_days", None),
]

TIMESTAMP, DATE = "org.apache.kafka.connect.data.Timestamp", "io.debezium.time.Date"
ZONED = "io.debezium.time.ZonedTimestamp"

#: (source type, value as published, cast, value in the mart)
CASTS_OF_DECODED: list[tuple[str, Any, str, Any]] = [
    (TIMESTAMP, MILLIS, "date", None),
    (TIMESTAMP, MIDNIGHT, "date", dt.date(2024, 3, 1)),
    (TIMESTAMP, MILLIS, "bigint", None),
    (TIMESTAMP, SECONDS * 1000, "bigint", SECONDS),
    (TIMESTAMP, SECONDS * 1000, "int", SECONDS),
    (TIMESTAMP, 253_402_300_799_000, "int", None),
    (TIMESTAMP, MILLIS, "decimal(12,2)", None),
    (TIMESTAMP, MILLIS, "decimal(13,3)", Decimal("1709276460.001")),
    (TIMESTAMP, 253_402_300_799_001, "decimal(15,3)", Decimal("253402300799.001")),
    (TIMESTAMP, MILLIS, "double", 1_709_276_460.001),
    (TIMESTAMP, MILLIS, "float", None),
    (TIMESTAMP, MILLIS, "timestamp_ntz", dt.datetime(2024, 3, 1, 7, 1, 0, 1000)),
    (TIMESTAMP, MILLIS, "string", "2024-03-01 07:01:00.001"),
    (TIMESTAMP, MILLIS, "boolean", None),
    (TIMESTAMP, MILLIS, "binary", None),
    (ZONED, "2024-03-01T07:01:00Z", "bigint", SECONDS),
    (ZONED, "2024-03-01T07:01:00.5Z", "bigint", None),
    (WALL_CLOCK, MILLIS, "date", None),
    (WALL_CLOCK, MIDNIGHT, "date", dt.date(2024, 3, 1)),
    (WALL_CLOCK, MIDNIGHT, "bigint", None),
    (DATE, 19_783, "timestamp_ntz", dt.datetime(2024, 3, 1)),
    (DATE, 19_783, "int", None),
    ("bytes", "AAE=", "int", None),
    ("struct", 1.5, "int", None),
    ("struct", 2, "int", 2),
]

#: (source type, a value that is not of it)
MISFITS: list[tuple[Any, Any]] = [
    (MICROS, 9223372036825200000),
    (WALL_CLOCK, -9223372036832400),
    ("io.debezium.time.NanoTimestamp", 1),
    ("io.debezium.time.Date", 2932897),
    ("int32", "x"),
    ("bytes", "?"),
    ((DECIMAL, {"scale": "2"}), "f" * 24),
    (("array", {"type": "int32"}), [1, "x"]),
]


@pytest.fixture(scope="module")
def cast_columns(folded: Folded) -> SourceTable:
    """A table with a column for each cast, and one for each misfit, all in one row."""
    table = folded.table("casts")
    columns = [
        *((f"cast_{n}", "string", value, cast) for n, (value, cast, _) in enumerate(CASTS)),
        *((f"decoded_{n}", *case[:3]) for n, case in enumerate(CASTS_OF_DECODED)),
        *((f"misfit_{n}", *misfit, None) for n, misfit in enumerate(MISFITS)),
    ]
    table.has_columns(1, {"id": "int64", **{name: type_ for name, type_, *_ in columns}})
    table.holds({"id": 1, **{name: value for name, _, value, _ in columns}}, 1)
    run(table, casts={name: cast for name, *_, cast in columns if cast is not None})
    return table


@pytest.mark.parametrize("number", range(len(CASTS)))
def test_what_does_not_cast_is_null_and_listed(cast_columns: SourceTable, number: int) -> None:
    published, cast, read = CASTS[number]
    name = f"cast_{number}"
    assert contents_by_name(cast_columns)[0][name] == read
    expected = [(name, published, DECODING_CASTS.get(cast, cast))] if read is None else []
    assert [error for error in errors(cast_columns) if error[0] == name] == expected


@pytest.mark.parametrize("number", range(len(CASTS_OF_DECODED)))
def test_what_a_type_does_not_hold_of_a_decoded_value_is_null_and_listed(
    cast_columns: SourceTable, number: int
) -> None:
    _, published, cast, read = CASTS_OF_DECODED[number]
    name = f"decoded_{number}"
    assert contents_by_name(cast_columns)[0][name] == read
    expected = [(name, str(published), cast)] if read is None else []
    assert [error for error in errors(cast_columns) if error[0] == name] == expected


def test_a_double_of_streamx_that_would_be_rounded_is_null_and_listed(folded: Folded) -> None:
    table = folded.table("streamx_numbers", "dataworks_json")
    table.has_version(1, id="LONG", v="DOUBLE")
    table.holds({"id": 1, "v": "12345678901234567.89"}, 1)
    table.holds({"id": 2, "v": "0.1"}, 1)
    run(table)
    assert contents(table) == [(1, None), (2, 0.1)]
    assert errors(table) == [("v", "12345678901234567.89", "double")]


@pytest.mark.parametrize("number", range(len(MISFITS)))
def test_what_is_not_of_its_type_is_null_and_listed(cast_columns: SourceTable, number: int) -> None:
    name = f"misfit_{number}"
    assert contents_by_name(cast_columns)[0][name] is None
    assert [error[0] for error in errors(cast_columns)].count(name) == 1


def test_null_is_no_cast_error(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": None}, 1)
    table.holds({"id": 2}, 1)
    run(table)
    assert contents(table) == [(1, None), (2, None)]
    assert errors(table) == []


@pytest.mark.parametrize("cast", ["variant", "string"])
def test_null_of_a_type_with_parts_is_null(folded: Folded, cast: str) -> None:
    """A struct, a map or a geometry: a null of JSON is a value to Spark's VARIANT."""
    table = folded.table(f"null_of_parts_{cast}")
    types = ("struct", "map", "io.debezium.data.geometry.Point")
    table.has_columns(1, {"id": "int64", **{f"v_{n}": type_ for n, type_ in enumerate(types)}})
    nulls = {f"v_{n}": None for n in range(len(types))}
    table.holds({"id": 1, **nulls}, 1)
    table.holds({"id": 2, "v_0": {"x": None}}, 1)
    run(table, casts={} if cast == "variant" else dict.fromkeys(nulls, cast))
    columns = ", ".join(f"{name} is null as {name}" for name in nulls)
    [of_nulls, of_values] = folded.rows(table.table_id, columns)
    assert [of_nulls[name] for name in nulls] == [True] * len(types)
    assert [of_values[name] for name in nulls] == [False, True, True]
    assert errors(table) == []


def test_a_type_that_the_code_table_lacks_is_text_and_said(folded: Folded) -> None:
    table = folded.table("unknown_type")
    table.has_version(1, id="int64", v="com.example.Mystery")
    table.holds({"id": 1, "v": "x"}, 1)
    assert any("`com.example.Mystery` of column `v`" in warning for warning in run(table))
    assert contents(table) == [(1, "x")]


WRONG: Mapping[str, tuple[dict[str, Any], str]] = {
    "unknown format": ({"source_format": "mongo"}, "there is no format `mongo`"),
    "no table": ({"table_id": ""}, "it lacks `table_id`"),
    "unknown option": ({"rename": {}}, "there is no option `rename`"),
    "renames are a list": ({"renames": ["id"]}, "`renames` must be a mapping"),
    "partition_by is a text": ({"partition_by": "id"}, "`partition_by` must be a list"),
    "cast to no type": ({"casts": {"amount": "money"}}, "`amount` can't be cast to `money`"),
    "too many digits": ({"casts": {"amount": "decimal(39,2)"}}, "to `decimal(39,2)`"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_declaration_is_said(table: SourceTable, case: str) -> None:
    options, problem = WRONG[case]
    table.holds({"id": 1, "amount": 10}, 1)
    with pytest.raises(AssertionError, match=table.table_id) as failure:
        run(table, **options)
    assert problem in str(failure.value)


#: A message may bring columns or lack some, and stops no run.
DOUBTFUL: Mapping[str, tuple[dict[str, Any], str]] = {
    "cast of no column": ({"casts": {"amonut": "int"}}, "a column `amonut`"),
    "rename of no column": ({"renames": {"amonut": "x"}}, "a column `amonut`"),
    "renamed to another column": ({"renames": {"amount": "ID"}}, "another column's name"),
}


def partitions(table: SourceTable) -> list[dict[str, Any]]:
    mart = f"{MARTS}.{table.table_id}"
    if "partition" not in table.folded.spark.table(f"{mart}.partitions").columns:
        return []
    rows = table.folded.spark.sql(f"select distinct partition from {mart}.partitions").collect()
    return [row.partition.asDict() for row in rows]


def test_a_partition_of_no_column_is_left_out_until_the_mart_has_it(table: SourceTable) -> None:
    options = {"partition_by": ["bucket(1, AMOUNT)", "`region`"]}
    table.holds({"id": 1, "amount": 10}, 1)
    [warning] = [text for text in run(table, **options) if "`partition_by`" in text]
    assert f"`{table.table_id}`" in warning
    assert "a column `region`" in warning
    assert "it has id, amount: write one of them, or remove ``region``" in warning
    assert partitions(table) == [{"amount_bucket": 0}]

    table.has_version(2, id="int64", amount="int32", region="string")
    table.holds({"id": 1, "amount": 10, "region": "eu"}, 2)
    assert not [text for text in run(table, **options) if "partition" in text]
    assert partitions(table) == [{"amount_bucket": 0, "region": "eu"}]

    # The source drops both.
    table.has_version(3, id="int64")
    table.holds({"id": 2}, 3)
    assert len([text for text in run(table, **options) if "`partition_by`" in text]) == 2
    assert contents(table) == [(1,), (2,)]
    assert partitions(table) == []
    check_full_refresh_gives_the_same(table, **options)


def test_a_partition_by_the_name_that_the_source_has_is_said(table: SourceTable) -> None:
    table.holds({"id": 1, "amount": 10}, 1)
    options = {"renames": {"amount": "total"}, "partition_by": ["truncate(amount, 10)"]}
    [warning] = [text for text in run(table, **options) if "`partition_by`" in text]
    assert "column `amount` is `total` there: write that" in warning
    assert contents(table) == [(1, 10)]
    options["partition_by"] = ["truncate(total, 10)"]
    assert not [text for text in run(table, **options) if "partition" in text]
    assert partitions(table) == [{"total_trunc": 10}]


@pytest.mark.parametrize("case", DOUBTFUL)
def test_a_declaration_that_does_not_fit_the_columns_is_said(table: SourceTable, case: str) -> None:
    options, doubt = DOUBTFUL[case]
    table.holds({"id": 1, "amount": 10}, 1)
    [warning] = [text for text in run(table, **options) if doubt in text]
    assert table.table_id in warning
    assert "Correct it in `vars: tables` of dbt_project.yml." in warning
    assert contents(table) == [(1, 10)]
