"""Whether an existing view is the one that a run would create.

Spark analyzes the query of a view each time the view is created. It is faster to check that neither
the query nor the columns of its inputs have changed.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import pyspark
from dbt.adapters.spark_session.__version__ import version
from dbt.adapters.spark_session.catalog import Metadata
from dbt.adapters.spark_session.queries import read_by
from pyspark.sql import SparkSession

#: The property of a view that holds its checksum.
CHECKSUM = "dbt_spark_session.checksum"

#: Settings that decide the types of columns begin with these. A view keeps the types that its
#: columns had when it was created, and Spark may refuse to convert others to them.
_SETTINGS_OF_TYPES = (
    "spark.sql.ansi.",
    "spark.sql.decimalOperations.",
    "spark.sql.legacy.",
    "spark.sql.timestampType",
)

#: Texts around a query that are no part of it.
_AROUND_QUERY = re.compile(r"(?:\s|;|--[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)


def view_checksum(session: SparkSession, query: str, model: Mapping[str, Any]) -> str | None:
    """Return a text that differs if the view of a query may have other columns, rows or comments.

    `model`: from dbt's contexts. None if the query reads something that is not known to be an
    Iceberg table or view.
    """
    names = read_by(query)
    if names is None:
        return None
    metadata = Metadata(session)
    ids = {name: metadata.columns_id(name) for name in names}
    if None in ids.values():
        return None
    # A view stores the catalog in which its names are looked up.
    catalog = session.catalog.currentCatalog()
    settings = {
        name: value
        for name, value in session.conf.getAll.items()
        if name.startswith(_SETTINGS_OF_TYPES)
    }
    described = [version, pyspark.__version__, catalog, settings, query, ids, _comments(model)]
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def is_same_view(session: SparkSession, name: str, query: str, model: Mapping[str, Any]) -> bool:
    """Return whether the view `schema.view` is the one that a model would create of a query.

    A view that somebody replaced keeps the property, but has another query. Of a query, Spark keeps
    the text from its first word to its last one.
    """
    checksum = view_checksum(session, query, model)
    view = None if checksum is None else Metadata(session).view(name)
    if view is None or not _is_query_of(view.query(), query):
        return False
    return bool(view.properties().get(CHECKSUM) == checksum)


def _is_query_of(kept: str, query: str) -> bool:
    """Return whether a query is the one that Spark has kept, with comments around it."""
    before, found, after = query.partition(kept)
    return bool(found) and all(map(_AROUND_QUERY.fullmatch, (before, after)))


def _comments(model: Mapping[str, Any]) -> list[Any]:
    """Return what dbt writes to a view besides its query."""
    settings = [model["config"].get(name) for name in ("persist_docs", "contract")]
    return [*settings, model.get("description"), model["columns"]]
