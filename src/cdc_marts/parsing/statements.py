"""SQL texts of schema changes."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

# Up to nine comments: Java's regular expressions recurse for every repetition of a group.
_COMMENT = r"(/\*.*?\*/|--[^\n]*\n|#[^\n]*\n)"
_ENDING = rf"(?is)^\s*({_COMMENT}\s*){{0,9}}(truncate\b|drop\s+table\b)"


def ends_rows(sql: Column) -> Column:
    """True for a statement after which its table has no rows: it truncates or drops the table."""
    return F.coalesce(sql.rlike(_ENDING), F.lit(False))
