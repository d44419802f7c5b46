"""This module reads the operation codes of the formats from `seeds/code_tables/source_ops.csv`."""

from __future__ import annotations

import csv
from functools import cache

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc_marts.package_files import PACKAGE_ROOT

#: Types of records that name a row. Other records are about whole messages.
ROW_RECORDS = ("change", "update_before")
#: Operations that remove a table itself with its rows, in capitals.
TABLE_DROPS = ("ERASE", "DROP")
#: The operation of SharePlex that drops a column, and does not name it.
COLUMN_DROP = "DROP COLUMN"

_CODE_TABLE = PACKAGE_ROOT / "seeds" / "code_tables" / "source_ops.csv"


@cache
def source_ops(source_format: str) -> dict[str, tuple[str, str | None, bool]]:
    """Return a map from a published code to (record type, op, whether it is a truncation)."""
    with _CODE_TABLE.open(encoding="utf-8", newline="") as rows:
        return {
            row["source_op"]: (
                row["record_type"],
                row["op"] or None,
                row["is_truncation"] == "true",
            )
            for row in csv.DictReader(rows)
            if row["source_format"] == source_format
        }


def meaning_of(source_op: Column, source_format: str) -> Column:
    """Return struct<record_type, op, is_truncation>, or null if the format lacks the code."""
    meanings = []
    for code, (record_type, op, is_truncation) in source_ops(source_format).items():
        meanings += [
            F.lit(code),
            F.struct(
                F.lit(record_type).alias("record_type"),
                F.lit(op).cast("string").alias("op"),
                F.lit(is_truncation).alias("is_truncation"),
            ),
        ]
    return F.create_map(*meanings)[source_op]
