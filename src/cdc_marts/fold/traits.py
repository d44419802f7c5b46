"""The traits of the formats, as the var `source_formats` of the project lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F

#: Name of a format -> its traits.
Traits = Mapping[str, Mapping[str, Any]]


def is_of_format_that(formats: Traits, trait: str) -> Column:
    """Return whether the column `source_format` names a format that has a trait."""
    return F.col("source_format").isin([name for name in formats if formats[name].get(trait)])
