"""Rows of the driver as a DataFrame.  No executor runs Python for them.

Executors unpickle what `createDataFrame` takes from a list of rows, and that needs Python on each
of them.  A cluster may have none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType


def collected(rows: DataFrame) -> DataFrame:
    """The same rows, read once: what uses the result does not run the query of `rows` again."""
    query, session = rows._jdf, rows.sparkSession
    local = session._jsparkSession.createDataFrame(query.collectAsList(), query.schema())
    return ClassicDataFrame(local, session)


def local_rows(
    session: SparkSession, rows: Sequence[dict[str, Any]], schema: StructType
) -> DataFrame:
    """A DataFrame of dictionaries by column name; a struct is a dictionary too."""
    table = pa.Table.from_pylist(list(rows), to_arrow_schema(schema))
    return session.createDataFrame(table, schema)
