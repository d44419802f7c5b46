"""Marts compared with the tables of a database, row by row and value by value."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container, Mapping
from decimal import Decimal
from typing import Any

from cdc_marts.scaffold import Scaffolding
from tests.python.end_to_end.typed_values import collected, is_beyond_spark, typed
from tests.python.harness.project import Project

#: In place of a value that no event has.
UNAVAILABLE = "(unavailable)"


def mart_of(written: Scaffolding, table_id: str) -> str:
    return next(name for name, table in written.declared.items() if table.table_id == table_id)


def typed_differences(
    project: Project,
    mart: str,
    table: str,
    database_rows: list[dict[str, str | None]],
    not_in_messages: Mapping[tuple[str, str], str],
    numbers_in_text: Container[tuple[str, str]] = (),
) -> list[str]:
    """Where the mart is not what the database is, rows as a multiset of what is compared.

    `not_in_messages`: (table, column) -> why some of its values are not in the messages: it is not
    compared.  `numbers_in_text`: (table, column) of numbers that are text in the mart.
    """
    types = dict(project.spark.table(f"marts.{mart}").dtypes)
    columns = list(database_rows[0])
    if {c for c in types if not c.startswith("_")} != set(columns):
        return [f"columns are {sorted(types)}"]
    numbers = [c for c in columns if (table, c) in numbers_in_text]
    selected = [
        # as UTC, whatever the zone of this machine
        f"cast(`{c}` as timestamp_ntz) as `{c}`" if types[c] == "timestamp" else f"`{c}`"
        for c in columns
    ]
    compared = [c for c in columns if (table, c) not in not_in_messages]
    ours: Counter[Any] = Counter()
    for row in project.rows(
        f"select {', '.join(selected)}, _cast_errors.`column` as _errors from marts.{mart}"
    ):
        errors = row.pop("_errors")
        row.update({c: None if row[c] is None else Decimal(row[c]).normalize() for c in numbers})
        ours[tuple("beyond" if c in errors else str(collected(row[c])) for c in compared)] += 1
    theirs: Counter[Any] = Counter(
        tuple(
            "beyond"
            if types[c] not in ("string", "float", "double") and is_beyond_spark(row[c])
            else str(typed(row[c], "number" if c in numbers else types[c]))
            for c in compared
        )
        for row in database_rows
    )
    return [f"missing {row}" for row in theirs - ours] + [f"extra {row}" for row in ours - theirs]


def state_differences(
    project: Project,
    source_format: str,
    table_id: str,
    database_rows: list[dict[str, str | None]],
    mart_value: Callable[[dict[str, Any], str], Any],
    known: Callable[[str | None, str], Any],
) -> list[tuple[str, str, Any, Any]]:
    """(row, column, database's value, mart's value) where the two differ.

    Rows are matched by key, those of a keyless table as a multiset.  `mart_value`: of a state's
    column, and `known`: of the database's text of a column, the value to compare.
    """
    states = list(project.latest_state(source_format, table_id))
    keys = json.loads(states[0]["row_key"]).keys()
    if set(keys) >= set(database_rows[0]):  # keyless: the key is the whole row
        ours: Counter[Any] = Counter()
        for state in states:
            ours[tuple(mart_value(state, c) for c in database_rows[0])] += state["row_count"]
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
            mine = mart_value(state, column) if column in state["row"] else UNAVAILABLE
            if mine != known(text, column):
                found.append((str(key), column, text, mine))
    return found


def unexplained(
    table: str,
    differences: list[tuple[str, str, Any, Any]],
    not_in_messages: Mapping[tuple[str, str], str],
    is_absent_null: bool = False,
) -> list[tuple[str, str, Any, Any]]:
    """The differences that have no reason.

    `not_in_messages`: (table, column) -> why some of its values are not in the messages.
    `is_absent_null`: whether a column that no event of a row has stands for NULL.
    """
    return [
        (row, column, theirs, ours)
        for row, column, theirs, ours in differences
        if (table, column) not in not_in_messages
        and not (is_absent_null and ours == UNAVAILABLE and theirs is None)
    ]
