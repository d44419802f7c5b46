"""The tables that are stored in the schemas of a project, and their numbers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import all_snapshots, iceberg_table, tables_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class TableCounts:
    """The numbers of a table: data and delete files, snapshots, bytes of these files, rows."""

    files: int
    snapshots: int
    size: int
    rows: int

    @classmethod
    def of(cls, session: SparkSession, name: str) -> TableCounts:
        """Return the counts in the metadata of a table, without a query."""
        found = all_snapshots(session, iceberg_table(session, name))
        totals = found.ancestors[0].summary if found.ancestors else {}
        files = sum(int(totals.get(f"total-{kind}-files", 0)) for kind in ("data", "delete"))
        size = int(totals.get("total-files-size", 0))
        rows = int(totals.get("total-records", 0))
        return cls(files, len(found.by_id), size, rows)

    @classmethod
    def sum_of(cls, tables: Iterable[TableCounts]) -> TableCounts:
        """Return the counts of several tables together."""
        return cls(*map(sum, zip(*map(astuple, tables), strict=True)))


def split_tables(
    session: SparkSession, built: Iterable[str], schemas: Iterable[str]
) -> tuple[list[str], list[str]]:
    """Return the tables that exist and that the project builds, and all others, without views.

    `built`: names of what the project builds. `schemas`: the schemas of the project. The other
    tables are in these schemas or in the schemas of `built`. They are somebody else's, or of models
    that no longer exist.
    """
    built = list(built)
    ours = {name.lower() for name in built}
    own: list[str] = []
    others: list[str] = []
    searched = dict.fromkeys([*(name.partition(".")[0] for name in built), *schemas])
    for name in tables_of(session, searched):
        (own if name.lower() in ours else others).append(name)
    return own, others
