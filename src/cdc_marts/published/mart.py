"""The rows of a published mart: the rows of its mart, with images as JSON text.

An incremental run finds what the new messages touched (`touched`): keys of rows, or messages. It
replaces the rows of these by the rows that the mart has now, in one commit. So a published mart
equals its mart after each run, however the touched rows have changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dbt.adapters.spark_session.api import ModelRun, create_view
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType, VariantType

from cdc_marts.checkpoints import checkpointed
from cdc_marts.fold.ranges import is_one_of
from cdc_marts.identifying_columns import KEY, MESSAGE
from cdc_marts.published import touched


@dataclass(frozen=True)
class Grain:
    """How an incremental run updates a published mart.

    `by`: the columns of the mart that identify a key or a message. `touched`: the keys or messages
    whose rows may have changed, once each. `near`: a condition that all touched rows of the mart
    fulfil, by which files are skipped.
    """

    by: Sequence[str]
    touched: Callable[[ModelRun, DataFrame], DataFrame]
    near: Callable[[DataFrame], Column]


def _has_key_of(found: DataFrame) -> Column:
    # Spark pushes an `in` through views and windows, like any filter; a join stays above them.
    return F.col("row_key").isin(found.select("row_key"))


#: None: the mart has few rows, and is rebuilt.
GRAINS: dict[str, Grain | None] = {
    "key": Grain(KEY, touched.keys_of_rows, _has_key_of),
    "version": Grain(KEY, touched.keys_of_versions, _has_key_of),
    "event": Grain(MESSAGE, touched.messages_of_events, is_one_of),
    "message": Grain(MESSAGE, touched.messages, is_one_of),
    "whole": None,
}


def rows(session: SparkSession, run: ModelRun, grain: str) -> DataFrame:
    """Return the rows to write to a published mart.

    The inputs of `run` are the mart and its sources.

    `grain`: a name in GRAINS.
    """
    if not run.has_inputs:
        return session.range(0)
    mart = _with_json_texts(run.rows("mart"))
    if not run.is_incremental:
        return mart
    if not run.has_something_to_write:
        return mart.where("false")
    way = GRAINS[grain]
    if way is None:
        run.rebuild()
        return mart
    published = session.table(run.relation)
    found = way.touched(run, published).transform(checkpointed)
    near, by = way.near(found), list(way.by)
    held = published.where(near).join(found, by, "left_semi").select(*by).distinct()
    held = checkpointed(held)
    if not held.isEmpty():
        view = f"{run.relation.replace('.', '__')}__replaced"
        create_view(session, held, view)
        run.replace(f"({_listed(by)}) in (select {_listed(by)} from {view})")
    return mart.where(near).join(found, by, "left_semi").select(*mart.columns)


def _with_json_texts(mart: DataFrame) -> DataFrame:
    """Return the mart with JSON text for types that other engines can't read, or not exactly.

    Few engines read VARIANT, and PyIceberg reads NULL as an empty array if the elements are
    structs.
    """
    return mart.select(
        *(
            F.to_json(F.col(f"`{field.name}`"), {"ignoreNullFields": "false"}).alias(field.name)
            if _is_read_by_few(field.dataType)
            else F.col(f"`{field.name}`")
            for field in mart.schema
        )
    )


def _is_read_by_few(type_: DataType) -> bool:
    if isinstance(type_, ArrayType):
        return isinstance(type_.elementType, StructType)
    return isinstance(type_, VariantType)


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(f"`{column}`" for column in columns)
