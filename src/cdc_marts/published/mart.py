"""The rows of a published mart: those of the mart, images as JSON text.

An incremental run looks for what the new messages touched (`touched`): keys of
rows, or messages.  The rows of these go, and those that the mart has now take
their place, in one commit.  So a published mart equals its mart after each run,
whatever the touched rows became.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dbt.adapters.spark_session.api import ModelRun, create_view
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DataType, StructType, VariantType

from cdc_marts.checkpoints import checkpointed
from cdc_marts.fold.columns import KEY, MESSAGE
from cdc_marts.fold.ranges import is_one_of
from cdc_marts.published import touched


@dataclass(frozen=True)
class Grain:
    """By what a mart is kept up to date.

    `by`: columns of the mart that name the rows of one thing.  `touched`: the things whose rows
    may have changed, once each.  `near`: a condition on the mart's rows that all touched ones
    fulfil, and by which files are left out.
    """

    by: Sequence[str]
    touched: Callable[[ModelRun, DataFrame], DataFrame]
    near: Callable[[DataFrame], Column]


#: None: few rows, which are made anew.
GRAINS: dict[str, Grain | None] = {
    "key": Grain(
        KEY,
        touched.keys,
        # Spark pushes an `in` through views and windows, like any filter; a join stays above them.
        lambda found: F.col("row_key").isin(found.select("row_key")),
    ),
    "event": Grain(MESSAGE, touched.messages_of_events, is_one_of),
    "message": Grain(MESSAGE, touched.messages, is_one_of),
    "whole": None,
}


def rows(session: SparkSession, run: ModelRun, grain: str) -> DataFrame:
    """The rows to write to a published mart, of which `run` has the mart and what it follows from.

    `grain`: a name in GRAINS.
    """
    if not run.has_inputs:
        return session.range(0)
    mart = _with_json_texts(run.rows("mart"))
    if not run.is_incremental:
        return mart
    if not run.has_new_rows:
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
    """Columns of types that other engines do not read, or not exactly, as JSON text.

    Few read VARIANT, and PyIceberg takes NULL for an empty array where the elements are structs.
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
