"""The baseline of DataHub tuples, in the newer dialect of DTS."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from benchmarks.baselines.job import change_events, join_halves, read

_PREFIX = "new_dts_sync_"
_OPS = {"I": "insert", "U": "update", "D": "delete"}


def events(messages: DataFrame) -> DataFrame:
    rows = read(messages, F.parse_json(F.col("value").cast("string")).cast("map<string, variant>"))
    row = F.to_variant_object(F.map_filter("m", lambda name, _: ~name.startswith(_PREFIX)))
    flag = _member("operation_flag")
    return join_halves(
        change_events(
            rows.select("*", row.alias("row")),
            "datahub_tuple",
            database_name=_member("db_name"),
            table_name=_member("table_name"),
            op=F.coalesce(*(F.when(flag == code, op) for code, op in _OPS.items())),
            source_op=flag,
            before=F.when(_member("before_flag") == "Y", F.col("row")),
            after=F.when(_member("after_flag") == "Y", F.col("row")),
            event_at=F.timestamp_millis(_member("utc_timestamp").cast("bigint")),
            position=_member("record_id"),
        )
    )


def _member(name: str) -> Column:
    return F.col("m")[f"{_PREFIX}dts_{name}"].cast("string")
