"""The baseline of SharePlex. A row's key is its address."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from benchmarks.baselines.job import change_events, join_halves, read_json

_MESSAGE = """
    meta struct<
        op: string, table: string, scn: string, rowid: string, trans: string, seq: bigint,
        time: timestamp, posttime: timestamp
    >,
    data map<string, variant>, key map<string, variant>
"""


def events(messages: DataFrame) -> DataFrame:
    rows, meta = read_json(messages, _MESSAGE), F.col("m.meta")
    code, data = F.upper(meta.op), F.to_variant_object("m.data")
    names = F.split(meta.table, r"\.")
    is_whole_update = code == "UPD"
    updated = F.to_variant_object(F.map_concat("m.key", "m.data"))
    return join_halves(
        change_events(
            rows,
            "shareplex_json",
            "rowid",
            source_type=F.lit("oracle"),
            schema_name=names[0],
            table_name=names[1],
            op=F.when(code.startswith("UPD"), "update")
            .when(code.startswith("INS"), "insert")
            .otherwise("delete"),
            source_op=meta.op,
            before=F.when(is_whole_update, F.to_variant_object("m.key")).when(
                code.isin("DEL", "DELETE", "UPDATE BEFORE"), data
            ),
            after=F.when(is_whole_update, updated).when(
                code.isin("INS", "INSERT", "UPDATE AFTER"), data
            ),
            event_at=meta.time,
            published_at=meta.posttime,
            transaction_id=meta.trans,
            position=meta.scn,
            transaction_index=meta.seq,
            row_key=F.concat(F.lit('{"rowid":"'), meta.rowid, F.lit('"}')),
        )
    )
