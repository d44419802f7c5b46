"""Tables of other targets that read the landing tables of this one.

Targets may share a landing schema. Then a command that changes landing concerns the tables of all
these targets, but dbt knows only the tables of its own target.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import tables_of

from cdc_marts.operations.last_read import newest_watermarks
from cdc_marts.relations import staging_model
from cdc_marts.source_formats import SOURCE_FORMATS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The models of the package that read the new rows of landing tables.
_MODELS = frozenset({*map(staging_model, SOURCE_FORMATS), "int_resyncs"})


def other_readers(
    session: SparkSession,
    landing: str,
    own_tables: Collection[str],
    own_readers: Iterable[str] = (),
) -> dict[str, list[str]]:
    """Return landing table -> the tables in the catalog that read it, without `own_tables`.

    They are found by their names and by the watermarks that they have committed. The names are
    those of the package's models, and of `own_readers`: another target builds the same models.

    `landing`: the schema of the landing tables. `own_readers`: tables of this target that read
    landed messages, besides those of the package.
    """
    own = {name.lower() for name in own_tables}
    models = _MODELS.union(name.partition(".")[2].lower() for name in own_readers)
    schemas = [row[0] for row in session.sql("show namespaces").collect()]
    readers: dict[str, list[str]] = {}
    for name in tables_of(session, schemas):
        if name.lower() in own or name.partition(".")[2].lower() not in models:
            continue
        for source in newest_watermarks(session, name):
            if source.partition(".")[0] == landing:
                readers.setdefault(source, []).append(name)
    return readers


def other_staging_tables(session: SparkSession, landing_table: str, staging: str) -> list[str]:
    """Return the staging tables of other targets that read a landing table.

    `staging`: the staging table of this target, whether it exists or not.
    """
    landing = landing_table.partition(".")[0]
    return other_readers(session, landing, [staging]).get(landing_table, [])
