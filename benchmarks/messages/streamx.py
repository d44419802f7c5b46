"""StreamX envelopes, in Kafka topics (DataWorks) and DataHub BLOB topics."""

from __future__ import annotations

from json import dumps

from pyspark.sql import Column
from pyspark.sql import functions as F

from benchmarks.messages.message import Message, json, json_object
from benchmarks.workload import DATABASE, Change

#: Column type -> StreamX's type.
_TYPES = {
    "long": "LONG",
    "text": "STRING",
    "decimal": "DOUBLE",
    "boolean": "BOOLEAN",
    "timestamp": "DATE",
}


def envelopes(change: Change, *, writes_nulls: bool) -> list[Message]:
    """Return the messages of a change.

    An update is two messages of one sequence id, before and after.

    `writes_nulls`: whether a missing member is null; otherwise, it is left out.
    """
    before, after = _image("before", change.before), _image("after", change.after)
    if writes_nulls:
        no_before, no_after = F.lit('"before":null'), F.lit('"after":null')
    else:
        no_before = no_after = F.lit(None).cast("string")
    is_update = change.op == "update"
    op = F.when(is_update, "UPDATE_AFTER").otherwise(F.upper(change.op))
    return [
        Message(_envelope(change, F.lit("UPDATE_BEFOR"), before, no_after), is_published=is_update),
        Message(
            _envelope(
                change,
                op,
                F.when(change.op == "delete", before).otherwise(no_before),
                F.when(change.has_after, after).otherwise(no_after),
            )
        ),
    ]


def _envelope(change: Change, op: Column, before: Column, after: Column) -> Column:
    columns = [{"name": name, "type": _TYPES[type_]} for name, type_ in change.types.items()]
    times = json_object(
        {
            "eventTime": change.made_at,
            "systemTime": change.published_at,
            "checkpointTime": change.made_at,
        }
    )
    source = json_object({"dbType": "MySQL", "dbName": DATABASE, "tableName": change.table})
    payload = [
        before,
        after,
        F.concat(F.lit('"sequenceId":"'), change.position, F.lit('"')),
        F.concat(F.lit('"timestamp":'), json(times)),
        F.concat(F.lit('"op":"'), op, F.lit('"')),
    ]
    return F.concat(
        F.lit(f'{{"schema":{{"dataColumn":{dumps(columns)},"primaryKey":["id"],"source":'),
        json(source),
        F.lit('},"payload":{'),
        F.concat_ws(",", *payload),
        F.lit('},"version":"0.0.1"}'),
    )


def _image(name: str, values: dict[str, Column]) -> Column:
    """Return a member that contains a row. Its decimals are text."""
    written = {
        column: value.cast("string") if column == "amount" else value
        for column, value in values.items()
    }
    return F.concat(F.lit(f'"{name}":{{"dataColumn":'), json(json_object(written)), F.lit("}"))
