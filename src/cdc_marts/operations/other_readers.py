"""Tables of other targets that read the landing tables of this one.

Targets may share a landing schema. Then a command that changes landing concerns the tables of all
these targets, but dbt knows only the tables of its own target.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import all_snapshots, iceberg_table, tables_of, watermarks_in

from cdc_marts.relations import staging_model
from cdc_marts.source_formats import SOURCE_FORMATS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_STAGING_TABLES = set(map(staging_model, SOURCE_FORMATS))


def other_readers(
    session: SparkSession, landing: str, own_tables: Collection[str]
) -> dict[str, list[str]]:
    """Return landing table -> the staging tables in the catalog that read it, without `own_tables`.

    They are found by their names (`stg_<format>`) and by the watermarks that they have committed.

    `landing`: the schema of the landing tables.
    """
    own = {name.lower() for name in own_tables}
    schemas = [row[0] for row in session.sql("show namespaces").collect()]
    readers: dict[str, list[str]] = {}
    for name in tables_of(session, schemas):
        if name.lower() in own or name.partition(".")[2] not in _STAGING_TABLES:
            continue
        snapshots = all_snapshots(session, iceberg_table(session, name)).ancestors
        watermarks = next(filter(None, map(watermarks_in, snapshots)), {})
        for source in watermarks:
            if source.partition(".")[0] == landing:
                readers.setdefault(source, []).append(name)
    return readers
