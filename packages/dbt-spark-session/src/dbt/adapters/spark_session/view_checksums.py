"""Whether a view that is there is the one that a run would create.

Spark analyzes the query of a view each time the view is created, which takes longer than to see
that neither the query nor the columns of what it reads have changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pyspark
from dbt.adapters.spark_session.__version__ import version
from dbt.adapters.spark_session.catalog import columns_id, view_query_and_property
from dbt.adapters.spark_session.queries import read_by
from pyspark.sql import SparkSession

#: The property of a view that holds its checksum.
CHECKSUM = "dbt_spark_session.checksum"


def view_checksum(session: SparkSession, query: str, model: Mapping[str, Any]) -> str | None:
    """A text that differs where the view of a query may have other columns, rows or comments.

    `model`: as dbt's contexts have it.  None where not everything that the query reads is known
    to be an Iceberg table or view.
    """
    names = read_by(query)
    if names is None:
        return None
    ids = {name: columns_id(session, name) for name in names}
    if None in ids.values():
        return None
    described = [version, pyspark.__version__, query, ids, _comments(model)]
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def is_same_view(session: SparkSession, name: str, query: str, checksum: str) -> bool:
    """Whether the view `schema.view` is the one that was created with this query and checksum.

    A view that somebody replaced keeps the property, and has another query.  Spark keeps of a
    query what stands from its first word to its last one.
    """
    found, created_with = view_query_and_property(session, name, CHECKSUM)
    return found is not None and found in query and created_with == checksum


def _comments(model: Mapping[str, Any]) -> list[Any]:
    """What dbt writes to a view besides its query."""
    settings = [model["config"].get(name) for name in ("persist_docs", "contract")]
    return [*settings, model.get("description"), model["columns"]]
