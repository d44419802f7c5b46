"""DataHub tuples by hand, in the newer dialect of DTS."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from benchmarks.floors.job import change_events, join_halves

_PREFIX = "new_dts_sync_"
_OPS = {"I": "insert", "U": "update", "D": "delete"}


def events(messages: DataFrame) -> DataFrame:
    columns = F.parse_json(F.col("value").cast("string")).cast("map<string, variant>")
    tuples = messages.select("topic", "partition", "offset", columns.alias("columns"))
    row = F.to_variant_object(F.map_filter("columns", lambda name, _: ~name.startswith(_PREFIX)))
    rows = tuples.select("*", row.alias("row"))
    return join_halves(
        change_events(
            rows,
            "datahub_tuple",
            table_id=F.concat_ws(".", _member("db_name"), _member("table_name")),
            op=F.coalesce(
                *(F.when(_member("operation_flag") == flag, op) for flag, op in _OPS.items())
            ),
            before=F.when(_member("before_flag") == "Y", F.col("row")),
            after=F.when(_member("after_flag") == "Y", F.col("row")),
            event_at=F.timestamp_millis(_member("utc_timestamp").cast("bigint")),
            position=_member("record_id"),
        )
    )


def _member(name: str) -> Column:
    return F.col("columns")[f"{_PREFIX}dts_{name}"].cast("string")
