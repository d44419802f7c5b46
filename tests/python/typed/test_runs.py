"""Typed marts of the project itself: what they hold after runs of all models, and of some."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyspark.sql import SparkSession

from cdc_marts.scaffold import PROJECT_FILE
from tests.python.harness.copied_project import (
    add_typed_marts,
    copy_without_tables,
)
from tests.python.harness.project import Landed, Project

pytestmark = pytest.mark.long

#: Mart -> the columns that it has beside its own, in order.
TABLES = (
    "orders",
    "without_types",
    "partly_typed",
    "of_oracle",
    "of_postgresql",
    "readded",
    "readded_by_statements",
    "dropped_by_statement",
    "listed_in_part",
    "dropped_elsewhere",
    "rekeyed",
    "rekeyed_in_another_order",
    "unkeyed",
    "unkeyed_late",
)
#: Tables that get a key of all their columns -> the key.
REKEYED = {"rekeyed": ["a", "b"], "rekeyed_in_another_order": ["b", "a"]}
#: What reads messages and lists their records, without the models that fold them.
WITHOUT_THE_FOLD = "stg_canal_json+1 int_records int_exceptional_records"

Rows = dict[str, list[dict[str, Any]]]


class Story:
    """Canal messages of one topic, and the project that reads them."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        folder = copy_without_tables(folder)
        self.project = Project(spark, folder)
        self._offsets = count()
        settings = yaml.safe_load((folder / PROJECT_FILE).read_text("utf-8"))
        settings["vars"]["tables"] = {
            name: {"source_format": "canal_json", "table_id": f"shop.{name}"} for name in TABLES
        }
        (folder / PROJECT_FILE).write_text(yaml.safe_dump(settings), "utf-8")
        add_typed_marts(folder, TABLES)

    def land(self, *messages: dict[str, Any], partition: int = 0) -> None:
        landed = []
        for message in messages:
            offset = next(self._offsets)
            whole = {"database": "shop", "es": 1_760_000_000_000 + offset, **message}
            whole["ts"] = whole["es"] + 1
            value = json.dumps(whole).encode()
            landed.append(Landed("shop", offset, value, partition=partition))
        self.project.land("canal_json", landed)

    def run(self, *arguments: str) -> None:
        self.project.dbt("run", *arguments)

    def marts(self) -> Rows:
        """The rows of all marts, without what the marts add, but for errors of casts."""
        return {
            table: self.project.rows(
                "select * except (_row_key, _row_copy, _last_op, _last_event_at)"
                f" from marts.{table} order by _row_key, _row_copy"
            )
            for table in TABLES
        }

    def latest_state(self, table: str) -> list[dict[str, Any]]:
        rows = self.project.latest_state("canal_json", f"shop.{table}")
        return sorted((row["row"] for row in rows), key=json.dumps)


def change(
    type_: str,
    table: str,
    *rows: dict[str, Any],
    types: dict[str, str] | None,
    key: Sequence[str] | None = ("id",),
    old: Sequence[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    return {
        "type": type_,
        "table": table,
        "isDdl": False,
        "mysqlType": types,
        "pkNames": key and list(key),
        "data": list(rows),
        "old": old,
    }


def statement(type_: str, table: str, text: str) -> dict[str, Any]:
    return {"type": type_, "table": table, "isDdl": True, "sql": text}


def in_upper_case(message: dict[str, Any]) -> dict[str, Any]:
    """The same of the table whose name has the same letters, all in upper case."""
    table = message["table"]
    text = message.get("sql", "").replace(table, table.upper())
    return {**message, "table": table.upper(), "sql": text}


ORDER = {"id": "int", "status": "varchar(20)"}
ORACLE = {"ID": "NUMBER(10)", "PRICE": "FLOAT", "AT": "DATE", "NAME": "VARCHAR2(20)"}
POSTGRESQL = {"id": "int4", "flags": "bit(4)", "at": "timestamptz"}
WITH_V, WITHOUT_V = {"id": "int", "v": "varchar(20)"}, {"id": "int"}
WITH_BODY = WITH_V | {"body": "varchar(20)"}
PAIR = {"a": "varchar(20)", "b": "varchar(20)"}


@pytest.fixture(scope="module")
def story(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Story]:
    story = Story(spark, tmp_path_factory.mktemp("runs"))
    story.project.empty()
    yield story
    story.project.drop_all()


@pytest.fixture(scope="module")
def first(story: Story) -> Rows:
    story.land(
        change("INSERT", "orders", {"id": "1", "status": "new"}, types=ORDER),
        change("INSERT", "without_types", {"id": "1", "v": "1.10", "at": None}, types=None),
        change(
            "INSERT",
            "partly_typed",
            {"id": "1", "more": "1.10", "v": "2"},
            types={"id": "int", "v": "int"},
        ),
        change(
            "INSERT",
            "of_oracle",
            {"ID": "1", "PRICE": "123456789.123", "AT": "2024-03-01 07:01:00", "NAME": "x"},
            types=ORACLE,
            key=["ID"],
        ),
        change(
            "INSERT",
            "of_postgresql",
            {"id": "1", "flags": "0101", "at": "2024-03-01 07:01:00+08"},
            types=POSTGRESQL,
        ),
        *(
            change("INSERT", table, {"id": "1", "v": "old"}, types=WITH_V)
            for table in (
                *("readded", "readded_by_statements"),
                *("dropped_by_statement", "dropped_elsewhere"),
            )
        ),
        change("INSERT", "listed_in_part", {"id": "1", "v": "a", "body": "old"}, types=WITH_BODY),
        change("INSERT", "listed_in_part", {"id": "2", "v": "b"}, types=WITH_V),
        in_upper_case(
            statement("ALTER", "dropped_elsewhere", "alter table dropped_elsewhere drop v")
        ),
        *(
            change("INSERT", table, {"a": a, "b": "x"}, types=PAIR, key=None)
            for table in REKEYED
            for a in ("1", "1", "2", "3")
        ),
        *(
            change("INSERT", "unkeyed", {"a": a, "b": "x"}, types=PAIR, key=["b", "a"])
            for a in ("1", "2", "3")
        ),
        *(
            change(type_, "unkeyed_late", {"a": "1", "b": "x"}, types=PAIR, key=None)
            for type_ in ("DELETE", "INSERT")
        ),
    )
    story.run()
    return story.marts()


def gets_a_key(table: str, key: list[str]) -> list[dict[str, Any]]:
    """One row goes before, and with the key one changes, one goes, one is loaded again."""
    return [
        change("DELETE", table, {"a": "1", "b": "x"}, types=PAIR, key=None),
        change("UPDATE", table, {"a": "1", "b": "y"}, types=PAIR, key=key, old=[{"b": "x"}]),
        change("DELETE", table, {"a": "2", "b": "x"}, types=PAIR, key=key),
        change("INIT", table, {"a": "3", "b": "x"}, types=PAIR, key=key),
    ]


@pytest.fixture(scope="module")
def while_behind(story: Story, first: Rows) -> Rows:
    """The marts, run when the fold had not seen what came since."""
    story.land(
        change(
            "UPDATE",
            "orders",
            {"id": "1", "status": "sent"},
            types=ORDER,
            old=[{"status": "new"}],
        ),
        *(message for table, key in REKEYED.items() for message in gets_a_key(table, key)),
        change("INSERT", "unkeyed", {"a": "1", "b": "x"}, types=PAIR, key=None),
        change("DELETE", "unkeyed", {"a": "2", "b": "x"}, types=PAIR, key=None),
        change("INSERT", "readded", {"id": "2"}, types=WITHOUT_V),
        change("INSERT", "readded", {"id": "3", "v": "new"}, types=WITH_V),
        statement("ALTER", "readded_by_statements", "alter table readded_by_statements drop v"),
        statement(
            "ALTER", "readded_by_statements", "alter table readded_by_statements add v varchar(20)"
        ),
        change("INSERT", "readded_by_statements", {"id": "2", "v": "new"}, types=WITH_V),
        statement("ALTER", "dropped_by_statement", "alter table dropped_by_statement drop v"),
        change("DELETE", "listed_in_part", {"id": "2"}, types=WITHOUT_V),
        in_upper_case(change("INSERT", "dropped_elsewhere", {"id": "1"}, types=WITHOUT_V)),
    )
    early = change("INSERT", "unkeyed_late", {"a": "1", "b": "x"}, types=PAIR, key=["b", "a"])
    story.land({**early, "es": 1_759_999_999_999}, partition=1)
    story.run("--select", WITHOUT_THE_FOLD)
    story.run("--select", *TABLES)
    return story.marts()


@pytest.fixture(scope="module")
def last(story: Story, while_behind: Rows) -> Rows:
    story.run()
    story.run()
    return story.marts()


def row(**values: Any) -> dict[str, Any]:
    return {**values, "_cast_errors": []}


# --- Columns and types ---------------------------------------------------------------------------


def test_columns_without_types_are_text(first: Rows) -> None:
    assert first["without_types"] == [row(id="1", v="1.10", at=None)]


def test_a_column_that_the_list_lacks_is_text(first: Rows) -> None:
    assert first["partly_typed"] == [row(id=1, v=2, more="1.10")]


def test_types_are_read_as_their_own_database_means_them(first: Rows) -> None:
    at = dt.datetime(2024, 3, 1, 7, 1)
    assert first["of_oracle"] == [row(ID=1, PRICE=Decimal("123456789.123"), AT=at, NAME="x")]
    assert first["of_postgresql"] == [row(id=1, flags="0101", at=at - dt.timedelta(hours=8))]


# --- Runs ----------------------------------------------------------------------------------------


def test_a_mart_that_runs_before_the_fold_loses_nothing(while_behind: Rows, last: Rows) -> None:
    assert while_behind["orders"] == [row(id=1, status="new")]
    assert last["orders"] == [row(id=1, status="sent")]


def test_a_column_that_was_dropped_and_added_again_keeps_no_old_value(last: Rows) -> None:
    assert last["readded"] == [row(id=1, v=None), row(id=2, v=None), row(id=3, v="new")]
    assert last["readded_by_statements"] == [row(id=1, v=None), row(id=2, v="new")]


def test_a_statement_without_a_row_drops_a_column(first: Rows, last: Rows) -> None:
    assert first["dropped_by_statement"] == [row(id=1, v="old")]
    assert last["dropped_by_statement"] == [row(id=1)]


def test_a_column_that_was_not_lost_after_all_has_the_values_of_all_rows(
    first: Rows, last: Rows
) -> None:
    # A delete with the key alone shows that an insert may leave out columns too.
    assert first["listed_in_part"] == [row(id=1, v="a"), row(id=2, v="b")]
    assert last["listed_in_part"] == [row(id=1, v="a", body="old")]
    # The statement meant the table with upper-case letters.
    assert first["dropped_elsewhere"] == [row(id=1)]
    assert last["dropped_elsewhere"] == [row(id=1, v="old")]


@pytest.mark.parametrize("table", REKEYED)
def test_rows_are_not_doubled_when_their_table_gets_a_key(
    first: Rows, last: Rows, story: Story, table: str
) -> None:
    assert first[table] == [row(a=a, b="x") for a in ("1", "1", "2", "3")]
    # Marts are read in the order of their keys, which may begin with `b`.
    assert sorted(last[table], key=json.dumps) == [row(a="1", b="y"), row(a="3", b="x")]
    assert story.latest_state(table) == [{"a": "1", "b": "y"}, {"a": "3", "b": "x"}]


def test_rows_are_counted_on_when_their_table_loses_its_key(first: Rows, last: Rows) -> None:
    assert first["unkeyed"] == [row(a=a, b="x") for a in ("1", "2", "3")]
    assert last["unkeyed"] == [row(a=a, b="x") for a in ("1", "1", "3")]


def test_a_late_event_under_the_former_key_brings_a_row_back(
    first: Rows, last: Rows, story: Story
) -> None:
    """The mart had no row under either key, because the delete landed first."""
    assert first["unkeyed_late"] == []
    assert last["unkeyed_late"] == [row(a="1", b="x")]
    assert story.latest_state("unkeyed_late") == [{"a": "1", "b": "x"}]


def test_a_rebuild_gives_the_same_marts(last: Rows, story: Story) -> None:
    story.project.dbt("test", "--select", "latest_state row_history")
    story.run("--full-refresh")
    assert story.marts() == last
