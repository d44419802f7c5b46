"""Small DataFrames of rows that the driver holds. They need no Python on executors.

If `createDataFrame` gets a list of rows, executors unpickle them, which fails on a cluster whose
executors have no Python.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
from dbt.adapters.spark_session.api import java_class
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType


def held_by_driver(checkpoint: DataFrame) -> DataFrame:
    """Return the few rows of a local checkpoint, as a relation of the driver.

    The rows keep Spark's internal values. As Java values, old dates would shift between the Julian
    and Gregorian calendars. The settings of a session do not reach the tasks that fetch the rows,
    so nothing may be computed.
    """
    session, query = checkpoint.sparkSession, checkpoint._jdf.queryExecution()
    values = query.executedPlan().executeCollect()
    relation = java_class(session, "org.apache.spark.sql.catalyst.plans.logical.LocalRelation")(
        query.analyzed().output(),
        java_class(session, "scala.collection.immutable.ArraySeq").unsafeWrapArray(values),
        False,
        java_class(session, "scala.Option").empty(),
    )
    dataset = java_class(session, "org.apache.spark.sql.classic.Dataset")
    # A new instance has columns of its own, so it can be joined with the inputs of the checkpoint.
    local = dataset.ofRows(session._jsparkSession, relation.newInstance())
    return ClassicDataFrame(local, session)


def local_rows(
    session: SparkSession, rows: Iterable[Sequence[Any]], schema: StructType
) -> DataFrame:
    """Return a DataFrame of rows with values in the schema's order. Structs are dictionaries."""
    named = [dict(zip(schema.names, row, strict=True)) for row in rows]
    return session.createDataFrame(pa.Table.from_pylist(named, to_arrow_schema(schema)), schema)
