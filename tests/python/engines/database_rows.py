"""The rows of a database as its texts, and those texts as the messages of an engine mean them."""

from __future__ import annotations

import datetime as dt
import json
from typing import Any

from tests.python.end_to_end.database_values import postgres_value, six_digits
from tests.python.engines.sql_client import SqlClient

Rows = list[dict[str, str | None]]

_DAY = dt.datetime(1970, 1, 1)
#: type in MariaDB -> the text of a column's value, where a cast to text is not that
_MARIADB_TEXTS = {
    "varbinary": "to_base64({0})",
    "bit": "cast({0} + 0 as char)",
    "float": "cast(cast({0} as double) as char)",
}
_POSTGRES_TEXTS = {"bytea": "encode({0}, 'base64')", "boolean": "{0}::text"}


def mariadb_rows(client: SqlClient, table: str) -> Rows:
    """A table's rows; binaries are base64, bits a number, a float its exact value."""
    columns = client.execute(
        "select concat(column_name, ' ', data_type) from information_schema.columns"
        f" where table_schema = database() and table_name = '{table}' order by ordinal_position"
    )
    texts = []
    for column, kind in (line.split(" ") for line in columns):
        text = _MARIADB_TEXTS.get(kind, "cast({0} as char)").format(f"`{column}`")
        texts.append(f"'{column}', {text}")
    return _rows(client.execute(f"select json_object({', '.join(texts)}) from {table}"))


def postgres_rows(client: SqlClient, table: str) -> Rows:
    """A table's rows; binaries are base64, all else is what the database shows."""
    columns = client.execute(
        "select concat(column_name, ' ', data_type) from information_schema.columns"
        f" where table_schema = 'public' and table_name = '{table}' order by ordinal_position"
    )
    texts = []
    for column, kind in (line.split(" ", 1) for line in columns):
        # A cast to text would take away what pads a char.
        text = _POSTGRES_TEXTS.get(kind, "format('%s', {0})").format(column)
        texts.append(f"'{column}', case when {column} is not null then {text} end")
    return _rows(client.execute(f"select json_build_object({', '.join(texts)}) from {table}"))


def as_typed_marts_show(rows: Rows, fields: dict[str, dict[str, Any]]) -> Rows:
    """MariaDB's rows with times as typed marts of Debezium's messages have them.

    `fields`: column -> its Connect schema.  MariaDB shows a TIMESTAMP in the zone of the session,
    here UTC, without naming it.  A TIME is a number in the messages, and in the mart a text
    without zeros at the end of its fraction.
    """
    return [{c: _shown(text, fields[c].get("name")) for c, text in row.items()} for row in rows]


def _shown(text: str | None, kind: str | None) -> str | None:
    if text is None:
        return None
    if kind == "io.debezium.time.ZonedTimestamp":
        return f"{text}+00"
    if kind == "io.debezium.time.MicroTime" and "." in text:
        return text.rstrip("0").rstrip(".")
    return text


def mariadb_as_debezium(text: str | None, field: dict[str, Any]) -> Any:
    """What MariaDB says of a column, comparable with `debezium_value`.

    `field`: its Connect schema.
    """
    if text is None:
        return None
    match (field.get("name") or "").rsplit(".", 1)[-1]:
        case "MicroTime":
            moment = dt.datetime.fromisoformat(f"1970-01-01 {six_digits(text)}")
            return str((moment - _DAY) // dt.timedelta(microseconds=1))
        case "Bits":
            return int(text)
    return postgres_value(text, field)


def _rows(lines: list[str]) -> Rows:
    return [json.loads(line) for line in lines]
