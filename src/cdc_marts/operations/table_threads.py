"""Threads for work on several tables at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import activate

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: Most tables only need a look at their metadata, which leaves processors idle.
_TABLES_AT_A_TIME = 4


def threads(session: SparkSession) -> ThreadPoolExecutor:
    """Return threads on which the session is the active one, for one table each at a time."""
    return ThreadPoolExecutor(_TABLES_AT_A_TIME, initializer=activate, initargs=(session,))
