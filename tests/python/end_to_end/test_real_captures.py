"""Captures of real engines come out as their databases were.

What a message can't tell is named here, with its cause; all else is equal.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

import pytest

from cdc_marts.scaffold import TYPED_MARTS, Scaffolding, scaffold, seen_tables
from tests.python.end_to_end import captures
from tests.python.end_to_end.copied_project import copy_without_tables, own_folders
from tests.python.end_to_end.database_values import (
    canal_value,
    debezium_value,
    mariadb_value,
    postgres_value,
)
from tests.python.end_to_end.project import Project
from tests.python.end_to_end.typed_values import collected, is_beyond_spark, typed

pytestmark = pytest.mark.thorough

CANAL, DEBEZIUM = "canal_json", "cdl_debezium_json"

#: PostgreSQL, (table, column) -> why some values can't be told from the messages.
DEBEZIUM_CANNOT_TELL = {
    ("customers", "level"): "a NULL in a column with a default is published as the default,"
    " and rows from before ADD COLUMN … DEFAULT have no message with it",
    ("orders", "channel"): "rows from before ADD COLUMN have no message with it",
    ("wide", "iv"): "an interval is published as microseconds of average months",
}

#: MariaDB, likewise.
CANAL_CANNOT_TELL = {
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

    def told(state: dict[str, Any], column: str) -> Any:
        return canal_value(state["row"][column], types[column])

    differences = _differences(
        built,
        CANAL,
        f"shop.{table}",
        captures.final_rows("canal_mariadb", table),
        told,
        lambda text, column: mariadb_value(text, types[column]),
    )
    assert _unexplained(table, differences, CANAL_CANNOT_TELL) == []


@pytest.mark.parametrize("table", captures.tables_of("cdl_debezium_postgres"))
def test_debezium_on_postgres_ends_with_the_databases_rows(built: Project, table: str) -> None:
    fields = _connect_fields(table)

    def told(state: dict[str, Any], column: str) -> Any:
        offset = state["last_sequence"]["offset"]
        return debezium_value(state["row"][column], fields[offset][column])

    newest = fields[max(fields)]
    differences = _differences(
        built,
        DEBEZIUM,
        f"shop.public.{table}",
        captures.final_rows("cdl_debezium_postgres", table),
        told,
        lambda text, column: postgres_value(text, newest[column]),
    )
    assert _unexplained(table, differences, DEBEZIUM_CANNOT_TELL) == []


# --- Typed marts -------------------------------------------------------------------------------

#: What only a typed mart can't tell, (table, column) -> why.
TYPED_CANNOT_TELL = {
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
    Project(built.spark, copy).dbt(*("run", "--select", str(TYPED_MARTS), *own_folders(copy)))
    return written


@pytest.mark.parametrize("table", captures.tables_of("canal_mariadb"))
def test_typed_marts_of_canal_are_the_databases_tables(
    built: Project, typed_marts: dict[str, Scaffolding], table: str
) -> None:
    mart = _mart_of(typed_marts[CANAL], f"shop.{table}")
    rows = captures.final_rows("canal_mariadb", table)
    assert _typed_differences(built, mart, table, rows, CANAL_CANNOT_TELL) == []


@pytest.mark.parametrize("table", captures.tables_of("cdl_debezium_postgres"))
def test_typed_marts_of_debezium_are_the_databases_tables(
    built: Project, typed_marts: dict[str, Scaffolding], table: str
) -> None:
    mart = _mart_of(typed_marts[DEBEZIUM], f"shop.public.{table}")
    rows = captures.final_rows("cdl_debezium_postgres", table)
    cannot_tell = {**DEBEZIUM_CANNOT_TELL, **TYPED_CANNOT_TELL}
    assert _typed_differences(built, mart, table, rows, cannot_tell) == []


def _mart_of(written: Scaffolding, table_id: str) -> str:
    return next(name for name, table in written.declared.items() if table.table_id == table_id)


def _typed_differences(
    project: Project,
    mart: str,
    table: str,
    database_rows: list[dict[str, str | None]],
    cannot_tell: Mapping[tuple[str, str], str],
) -> list[str]:
    """Where the mart is not what the database is, rows as a multiset of what can be told."""
    types = dict(project.spark.table(f"marts.{mart}").dtypes)
    columns = list(database_rows[0])
    if {c for c in types if not c.startswith("_")} != set(columns):
        return [f"columns are {sorted(types)}"]
    numbers = [c for c in columns if (table, c) in NUMBERS_IN_TEXT]
    selected = [
        # as UTC, whatever the zone of this machine
        f"cast(`{c}` as timestamp_ntz) as `{c}`" if types[c] == "timestamp" else f"`{c}`"
        for c in columns
    ]
    told = [c for c in columns if (table, c) not in cannot_tell]
    ours: Counter[Any] = Counter()
    for row in project.rows(
        f"select {', '.join(selected)}, _cast_errors.`column` as _errors from marts.{mart}"
    ):
        errors = row.pop("_errors")
        row.update({c: None if row[c] is None else Decimal(row[c]).normalize() for c in numbers})
        ours[tuple("beyond" if c in errors else str(collected(row[c])) for c in told)] += 1
    theirs: Counter[Any] = Counter(
        tuple(
            "beyond"
            if types[c] not in ("string", "float", "double") and is_beyond_spark(row[c])
            else str(typed(row[c], "number" if c in numbers else types[c]))
            for c in told
        )
        for row in database_rows
    )
    return [f"missing {row}" for row in theirs - ours] + [f"extra {row}" for row in ours - theirs]


def _connect_fields(table: str) -> dict[int, dict[str, Any]]:
    """Offset -> column -> its Connect schema: decimals need the scale of their message."""
    fields = {}
    for message in captures.debezium_messages():
        if message.topic == f"pg.public.{table}" and message.value is not None:
            schema = json.loads(message.value)["schema"]
            images = next(f for f in schema["fields"] if f["field"] == "after")
            fields[message.offset] = {f["field"]: f for f in images["fields"]}
    return fields


def _differences(
    project: Project,
    source_format: str,
    table_id: str,
    database_rows: list[dict[str, str | None]],
    told: Callable[[dict[str, Any], str], Any],
    known: Callable[[str | None, str], Any],
) -> list[tuple[str, str, Any, Any]]:
    """(row, column, database's value, mart's value) where the two differ.

    Rows are matched by key, those of a keyless table as a multiset.
    """
    states = list(project.latest_state(source_format, table_id))
    keys = json.loads(states[0]["row_key"]).keys()
    if set(keys) >= set(database_rows[0]):  # keyless: the key is the whole row
        ours: Counter[Any] = Counter()
        for state in states:
            ours[tuple(told(state, c) for c in database_rows[0])] += state["row_count"]
        theirs = Counter(tuple(known(row[c], c) for c in row) for row in database_rows)
        return [("rows", "*", theirs - ours, ours - theirs)] if ours != theirs else []
    ours_by_key = {tuple(str(s["row"][c]) for c in keys): s for s in states}
    theirs_by_key = {tuple(row[c] for c in keys): row for row in database_rows}
    found: list[tuple[str, str, Any, Any]] = [
        (str(key), "(row)", key in theirs_by_key, key in ours_by_key)
        for key in ours_by_key.keys() ^ theirs_by_key.keys()
    ]
    for key in ours_by_key.keys() & theirs_by_key.keys():
        state, row = ours_by_key[key], theirs_by_key[key]
        found += [(str(key), column, "dropped", "held") for column in state["row"].keys() - row]
        for column, text in row.items():
            mine = told(state, column) if column in state["row"] else "(not told)"
            if mine != known(text, column):
                found.append((str(key), column, text, mine))
    return found


def _unexplained(
    table: str,
    differences: list[tuple[str, str, Any, Any]],
    cannot_tell: Mapping[tuple[str, str], str],
) -> list[tuple[str, str, Any, Any]]:
    return [d for d in differences if (table, d[1]) not in cannot_tell]
