"""Canal JSON: one row per message, as Canal servers usually write."""

from __future__ import annotations

from pyspark.sql import functions as F

from benchmarks.messages.message import Message, json, json_object, json_of_texts, texts
from benchmarks.workload import CHANGED_COLUMNS, DATABASE, Change

#: Column type -> (type in MySQL, JDBC's number of it).
_MYSQL_TYPES = {
    "long": ("bigint", -5),
    "text": ("varchar(255)", 12),
    "decimal": ("decimal(12,2)", 3),
    "boolean": ("tinyint(1)", -6),
    "timestamp": ("datetime", 93),
}


def encode(change: Change) -> list[Message]:
    """Encode a change. Columns that an update did not change are only in `data`."""
    rare = change.rare
    row, before = texts(change.row, change.types), texts(change.before, change.types)
    data = json_of_texts(row, {"note": ~rare.lacks_note} if rare else {})
    old_columns = {"id": rare.is_key_change} if rare else {}
    old = json_of_texts(
        {name: before[name] for name in (*old_columns, *CHANGED_COLUMNS)}, old_columns
    )
    value = {
        "data": F.array(data),
        "database": DATABASE,
        "es": F.floor(change.made_at / 1000) * 1000,
        "gtid": "",
        "id": change.transaction.cast("bigint"),
        "isDdl": False,
        "mysqlType": json_object({n: _MYSQL_TYPES[type_][0] for n, type_ in change.types.items()}),
        "old": F.when(change.op == "update", F.array(old)),
        "pkNames": F.array(F.lit("id")),
        "sql": "",
        "sqlType": json_object({n: _MYSQL_TYPES[type_][1] for n, type_ in change.types.items()}),
        "table": change.table,
        "ts": change.published_at,
        "type": F.upper(change.op),
    }
    changed = Message(json(json_object(value)))
    if rare is None:
        return [changed]
    statement = {
        **dict.fromkeys(value),
        **{name: value[name] for name in ("database", "es", "gtid", "id", "ts")},
        "isDdl": True,
        "sql": f"TRUNCATE TABLE `{rare.truncated_table}`",
        "table": rare.truncated_table,
        "type": "TRUNCATE",
    }
    return [Message(json(json_object(statement)), is_published=rare.truncates), changed]
