"""SharePlex by hand; a row's key is its address."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.floors.job import change_events, join_halves, read_json

_MESSAGE = """
    meta struct<op: string, table: string, scn: string, rowid: string, time: timestamp>,
    data map<string, variant>, key map<string, variant>
"""


def events(messages: DataFrame) -> DataFrame:
    read = read_json(messages, _MESSAGE)
    code, data = F.upper("m.meta.op"), F.to_variant_object("m.data")
    is_whole_update = code == "UPD"
    updated = F.to_variant_object(F.map_concat("m.key", "m.data"))
    return join_halves(
        change_events(
            read,
            "shareplex_json",
            table_id=F.col("m.meta.table"),
            op=F.when(code.startswith("UPD"), "update")
            .when(code.startswith("INS"), "insert")
            .otherwise("delete"),
            before=F.when(is_whole_update, F.to_variant_object("m.key")).when(
                code.isin("DEL", "DELETE", "UPDATE BEFORE"), data
            ),
            after=F.when(is_whole_update, updated).when(
                code.isin("INS", "INSERT", "UPDATE AFTER"), data
            ),
            event_at=F.col("m.meta.time"),
            position=F.col("m.meta.scn"),
            row_key=F.concat(F.lit('{"rowid":"'), F.col("m.meta.rowid"), F.lit('"}')),
        )
    )
