"""DataHub TUPLE topics in the newer dialect of DTS: an update is two tuples."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from benchmarks.messages.message import Message, code_of, json, json_object, moment
from benchmarks.workload import DATABASE, Change

_PREFIX = "new_dts_sync_"
_CODES = {"insert": "I", "update": "U", "delete": "D"}


def encode(change: Change) -> list[Message]:
    is_update = change.op == "update"
    code = code_of(change.op, _CODES)
    has_after = change.has_after
    return [
        Message(_tuple(change, F.lit("U"), F.lit(False), change.before), is_published=is_update),
        Message(_tuple(change, code, has_after, change.row)),
    ]


def _tuple(change: Change, code: Column, has_after: Column, row: dict[str, Column]) -> Column:
    metadata = {
        "dts_record_id": change.position.cast("string"),
        "dts_operation_flag": code,
        "dts_instance_id": "rm-bp1shop",
        "dts_db_name": DATABASE,
        "dts_table_name": change.table,
        "dts_utc_timestamp": change.made_at.cast("string"),
        "dts_before_flag": F.when(has_after, "N").otherwise("Y"),
        "dts_after_flag": F.when(has_after, "Y").otherwise("N"),
    }
    columns = {name: _written(value, change.types[name]) for name, value in row.items()}
    prefixed: dict[str, object] = {_PREFIX + name: value for name, value in metadata.items()}
    return json(json_object({**prefixed, **columns}))


def _written(value: Column, type_: str) -> Column:
    match type_:
        case "decimal":
            return value.cast("string")
        case "timestamp":
            return moment(value)
    return value
