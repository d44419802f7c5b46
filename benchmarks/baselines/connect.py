"""The baselines of Lindorm and CDL: Kafka Connect's JSON."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from benchmarks.baselines.job import change_events, read_json

_OPS = {"c": "insert", "u": "update", "d": "delete"}
_FIELD = "field: string, type: string, name: string"
_SCHEMA = f"struct<fields: array<struct<field: string, fields: array<struct<{_FIELD}>>>>>"


def events(
    messages: DataFrame, source_format: str, *, payload: str, after: str, **columns: Column
) -> DataFrame:
    """Return the change events of messages.

    `payload`: the fields to read. `after`: the field with the row as it is. `columns`: the columns
    of an event; `source_op` determines `op`.
    """
    rows = read_json(messages, f"schema {_SCHEMA}, payload struct<{payload}>")
    code = F.lower(columns["source_op"])
    op = F.coalesce(*(F.when(code == short, long) for short, long in _OPS.items()), code)
    return change_events(
        rows,
        source_format,
        op=op,
        # A null in JSON is a VARIANT null.
        before=F.when(op != "insert", F.col("m.payload.before")),
        after=F.when(op != "delete", F.col(f"m.payload.{after}")),
        column_types=_column_types(after),
        **columns,
    )


def _column_types(member: str) -> Column:
    """Return the types of the columns in a member, from the message's schema."""
    described = F.filter("m.schema.fields", lambda field: field["field"] == member)
    columns = F.get(described, 0)["fields"]
    types = F.transform(columns, lambda column: F.coalesce(column["name"], column["type"]))
    return F.map_from_arrays(columns["field"], types)
