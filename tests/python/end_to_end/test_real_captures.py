"""Captures of real engines come out as their databases were.

What no message has is named here, with its cause; all else is equal.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from cdc_marts.project.target import TYPED_MARTS
from cdc_marts.scaffold import Scaffolding, scaffold, seen_tables
from tests.python.end_to_end import captures
from tests.python.end_to_end.database_values import (
    canal_value,
    debezium_value,
    mariadb_value,
    postgres_value,
)
from tests.python.end_to_end.table_comparison import (
    mart_of,
    state_differences,
    typed_differences,
    unexplained,
)
from tests.python.harness.copied_project import copy_without_tables
from tests.python.harness.project import Project

pytestmark = pytest.mark.thorough

CANAL, DEBEZIUM = "canal_json", "cdl_debezium_json"

#: PostgreSQL, (table, column) -> why some values are not in the messages.
DEBEZIUM_NOT_IN_MESSAGES = {
    ("customers", "level"): "a NULL in a column with a default is published as the default,"
    " and rows from before ADD COLUMN … DEFAULT have no message with it",
    ("orders", "channel"): "rows from before ADD COLUMN have no message with it",
    ("wide", "iv"): "an interval is published as microseconds of average months",
}

#: MariaDB, likewise.
CANAL_NOT_IN_MESSAGES = {
    ("customers", "level"): "rows from before ADD COLUMN … DEFAULT have no message with it",
    ("orders", "channel"): "rows from before ADD COLUMN have no message with it",
}


@pytest.fixture(scope="module")
def built(project: Project) -> Project:
    project.land(CANAL, captures.canal_messages())
    project.land(DEBEZIUM, captures.debezium_messages())
    project.dbt("build", "--exclude-resource-type", "unit_test")
    return project


@pytest.mark.parametrize("source_format", [CANAL, DEBEZIUM])
def test_no_message_of_a_real_engine_is_rejected(built: Project, source_format: str) -> None:
    assert not built.rows(
        "select reject_code, reject_reason, value_text from marts.quarantined_messages"
        f" where source_format = '{source_format}' limit 3"
    )
    ledger = built.rows(
        "select sum(landed) as landed, sum(`change`) as changes, sum(rejected) as rejected"
        f" from marts.message_ledger where source_format = '{source_format}'"
    )[0]
    assert ledger["landed"] > 5000
    assert ledger["changes"] > 2000
    assert ledger["rejected"] == 0


@pytest.mark.parametrize("table", captures.tables_of("canal_mariadb"))
def test_canal_on_mariadb_ends_with_the_databases_rows(built: Project, table: str) -> None:
    types = built.rows(
        "select column_types from marts.source_tables"
        f" where source_format = '{CANAL}' and table_id = 'shop.{table}'"
    )[0]["column_types"]

    def mart_value(state: dict[str, Any], column: str) -> Any:
        return canal_value(state["row"][column], types[column])

    differences = state_differences(
        built,
        CANAL,
        f"shop.{table}",
        captures.final_rows("canal_mariadb", table),
        mart_value,
        lambda text, column: mariadb_value(text, types[column]),
    )
    assert unexplained(table, differences, CANAL_NOT_IN_MESSAGES) == []


@pytest.mark.parametrize("table", captures.tables_of("cdl_debezium_postgres"))
def test_debezium_on_postgres_ends_with_the_databases_rows(built: Project, table: str) -> None:
    fields = _connect_fields(table)

    def mart_value(state: dict[str, Any], column: str) -> Any:
        offset = state["last_sequence"]["offset"]
        return debezium_value(state["row"][column], fields[offset][column])

    newest = fields[max(fields)]
    differences = state_differences(
        built,
        DEBEZIUM,
        f"shop.public.{table}",
        captures.final_rows("cdl_debezium_postgres", table),
        mart_value,
        lambda text, column: postgres_value(text, newest[column]),
    )
    assert unexplained(table, differences, DEBEZIUM_NOT_IN_MESSAGES) == []


def test_a_row_that_comes_and_goes_in_a_transaction_is_one_row(built: Project) -> None:
    """Debezium knows only the key of a deleted row, and has nulls or defaults for the rest."""
    [found] = built.found_by(["deletes_take_the_inserted_row"]).values()
    assert [row["table_id"] for row in found] == []


# --- Typed marts -------------------------------------------------------------------------------

#: What only a typed mart can't hold as the database does, (table, column) -> why.
NOT_IN_TYPED_MARTS = {
    ("wide", "ttz"): "a time with zone is text as published: +08:00 where PostgreSQL shows +08",
    ("wide", "vb"): "the leading zeros of a bit string are not in a number",
}

#: Numbers that are text, (table, column): Debezium leaves out the zeros at their end.
NUMBERS_IN_TEXT = {("wide", "n")}


@pytest.fixture(scope="module")
def typed_marts(built: Project, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scaffolding]:
    """Format -> the marts of its tables, as `cdc-marts scaffold` declares them, and built."""
    copy = copy_without_tables(tmp_path_factory.mktemp("scaffolded"))
    seen = seen_tables(built.spark, "local")
    written = {
        source_format: scaffold(copy, [t for t in seen if t.source_format == source_format])
        for source_format in (CANAL, DEBEZIUM)
    }
    Project(built.spark, copy).dbt("run", "--select", str(TYPED_MARTS))
    return written


@pytest.mark.parametrize("table", captures.tables_of("canal_mariadb"))
def test_typed_marts_of_canal_are_the_databases_tables(
    built: Project, typed_marts: dict[str, Scaffolding], table: str
) -> None:
    mart = mart_of(typed_marts[CANAL], f"shop.{table}")
    rows = captures.final_rows("canal_mariadb", table)
    assert typed_differences(built, mart, table, rows, CANAL_NOT_IN_MESSAGES) == []


@pytest.mark.parametrize("table", captures.tables_of("cdl_debezium_postgres"))
def test_typed_marts_of_debezium_are_the_databases_tables(
    built: Project, typed_marts: dict[str, Scaffolding], table: str
) -> None:
    mart = mart_of(typed_marts[DEBEZIUM], f"shop.public.{table}")
    rows = captures.final_rows("cdl_debezium_postgres", table)
    not_compared = {**DEBEZIUM_NOT_IN_MESSAGES, **NOT_IN_TYPED_MARTS}
    assert typed_differences(built, mart, table, rows, not_compared, NUMBERS_IN_TEXT) == []


def _connect_fields(table: str) -> dict[int, dict[str, Any]]:
    """Offset -> column -> its Connect schema: decimals need the scale of their message."""
    fields = {}
    for message in captures.debezium_messages():
        if message.topic == f"pg.public.{table}" and message.value is not None:
            schema = json.loads(message.value)["schema"]
            images = next(f for f in schema["fields"] if f["field"] == "after")
            fields[message.offset] = {f["field"]: f for f in images["fields"]}
    return fields
