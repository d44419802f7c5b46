"""Replacement of rows: they are removed and made again by one change of a table's head.

The new state is written to a branch made from the head: first without the rows to replace, then
with the rows made again. `main` does not change until it moves to the branch, and a kill leaves it
as it was. Each run has a branch of its own, so a run that another one took for dead can't add rows
to the other's. Readers of the table's increments see a delete, which they skip, and an append.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dbt.adapters.spark_session.catalog import has_rows, iceberg_table
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

MAIN = "main"
_BRANCH = re.compile("replacement(_[0-9a-f]{32})?")


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


def new_branch() -> str:
    """Return the name of a branch that no other run uses."""
    return f"replacement_{uuid.uuid4().hex}"


def branches_of_replacements(table: Any) -> list[str]:
    """Return the branches on which runs replace rows of an Iceberg table, or were killed."""
    return [name for name in map(str, table.refs().keySet()) if _BRANCH.fullmatch(name)]


def start_replacement(session: SparkSession, table: str, branch: str, rows: str) -> str:
    """Return the name to append to: a branch of the table's head without the `rows`.

    Branches that other runs left are dropped: only one run may replace rows.
    """
    for left in branches_of_replacements(iceberg_table(session, table)):
        drop_replacement(session, table, left)
    session.sql(f"alter table {table} create branch {branch}")
    name = f"{table}.branch_{branch}"
    session.sql(f"delete from {name} where {rows}")
    return name


def finish_replacement(session: SparkSession, table: str, branch: str) -> None:
    """Move the head of the table to a branch, and drop the branch, in one commit.

    Raise DbtRuntimeError if another run has dropped the branch.
    """
    found = iceberg_table(session, table)
    if branch not in branches_of_replacements(found):
        raise DbtRuntimeError(
            f"Another run began to replace rows of {table}, in place of this one. This run replaced"
            " nothing; run again."
        )
    found.manageSnapshots().fastForwardBranch(MAIN, branch).removeBranch(branch).commit()


def drop_replacement(session: SparkSession, table: str, branch: str) -> None:
    """Drop the branch that a failed run has left, if there is one."""
    session.sql(f"alter table {table} drop branch if exists {branch}")
