"""Lindorm and CDL by hand: the payloads of Kafka Connect's JSON."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from benchmarks.floors.job import change_events, read_json

_OPS = {"c": "insert", "u": "update", "d": "delete"}


def events(
    messages: DataFrame,
    source_format: str,
    *,
    payload: str,
    names: tuple[str, ...],
    code: str,
    after: str,
    millis: str,
    position: Column,
) -> DataFrame:
    """Messages -> change events; arguments tell where in the payload things are."""
    payloads = read_json(messages, f"payload struct<{payload}>").select(
        "topic", "partition", "offset", "m.payload"
    )
    op = F.lower(F.col(f"payload.{code}"))
    op = F.coalesce(*(F.when(op == short, long) for short, long in _OPS.items()), op)
    return change_events(
        payloads,
        source_format,
        table_id=F.concat_ws(".", *(F.col(f"payload.{name}") for name in names)),
        op=op,
        # A null in JSON is a VARIANT null.
        before=F.when(op != "insert", F.col("payload.before")),
        after=F.when(op != "delete", F.col(f"payload.{after}")),
        event_at=F.timestamp_millis(f"payload.{millis}"),
        position=position,
    )
