"""Queries on the marts: which statements may run, how results are written, and the prompt."""

from enum import Enum


class ResultFormat(str, Enum):
    """The formats in which the result of a query is written."""

    table = "table"
    csv = "csv"
    json = "json"
    parquet = "parquet"
    md = "md"
