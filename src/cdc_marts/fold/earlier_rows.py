"""The rows that earlier runs of a Python model returned."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession


def earlier_rows(dbt: Any, session: SparkSession) -> DataFrame | None:
    """Return what earlier runs of a model returned; None in the first run and in a full refresh.

    `dbt`, `session`: the arguments of the model.
    """
    return session.table(str(dbt.this)) if dbt.is_incremental else None
