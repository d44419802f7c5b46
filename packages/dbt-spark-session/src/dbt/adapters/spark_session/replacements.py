"""Replacement of rows: they are removed and made again by one change of a table's head.

The new state is written to a branch made from the head: first without the rows to replace, then
with the rows made again. `main` does not change until it moves to the branch, and a kill leaves it
as it was. Readers of the table's increments see a delete, which they skip, and an append.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dbt.adapters.spark_session.catalog import has_rows, iceberg_table
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

MAIN = "main"
BRANCH = "replacement"


@dataclass(frozen=True)
class Replacement:
    """The rows of a model that are made again, and what they were made from.

    `rows`: a condition that the rows fulfil. It is true for whole partitions, so that removing the
    rows rewrites no file. `by`: columns that the model's table and its input share, which identify
    what a row was made from.
    """

    rows: str
    by: Sequence[str]

    def inputs(self, session: SparkSession, source: str, model: str) -> DataFrame | None:
        """Return the rows of `source` that the rows to replace were made from; None if none.

        Raise DbtRuntimeError if some of them are gone: the rows made from them would be lost.
        """
        if not has_rows(session, model):
            return None
        origins = session.table(model).where(self.rows).select(*self.by).distinct()
        [bounds] = origins.agg(
            F.count("*").alias("origins"),
            *(F.min(column).alias(f"first_{column}") for column in self.by),
            *(F.max(column).alias(f"last_{column}") for column in self.by),
        ).collect()
        if not bounds["origins"]:
            return None
        rows = session.table(source)
        columns = rows.columns
        for column in self.by:
            # Spark opens no files outside of the bounds.
            rows = rows.where(
                F.col(column).between(bounds[f"first_{column}"], bounds[f"last_{column}"])
            )
        found = rows.join(origins, list(self.by), "left_semi").select(*columns)
        gone = bounds["origins"] - found.select(*self.by).distinct().count()
        if gone:
            raise DbtRuntimeError(
                f"{gone} of the {bounds['origins']} rows of {source}, from which {model} would make"
                f" rows anew ({self.rows}), are gone. Nothing was replaced: the rows made from them"
                f" would be lost. Bring these rows back into {source}, or leave the model's rows as"
                " they are."
            )
        return found


def start_replacement(session: SparkSession, table: str, rows: str) -> str:
    """Return the name to append to: a branch of the table's head without the `rows`.

    A branch that a killed run left is replaced.
    """
    session.sql(f"alter table {table} create or replace branch {BRANCH}")
    branch = f"{table}.branch_{BRANCH}"
    session.sql(f"delete from {branch} where {rows}")
    return branch


def finish_replacement(session: SparkSession, table: str) -> None:
    """Move the head of the table to its branch, and drop the branch, in one commit."""
    references = iceberg_table(session, table).manageSnapshots()
    references.fastForwardBranch(MAIN, BRANCH).removeBranch(BRANCH).commit()


def drop_replacement(session: SparkSession, table: str) -> None:
    """Drop the branch that a failed run has left, if there is one."""
    session.sql(f"alter table {table} drop branch if exists {BRANCH}")
