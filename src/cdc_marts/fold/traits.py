"""The condition that a row is of a format that has a trait."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc_marts.source_formats import formats_that


def is_of_format_that(trait: str) -> Column:
    """Return whether the column `source_format` names a format that has a trait."""
    return F.col("source_format").isin(list(formats_that(trait)))
