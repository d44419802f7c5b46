"""dbt adapter `spark_session`: dbt-spark on a Spark session, with Python models."""

from dbt.adapters.base import AdapterPlugin
from dbt.adapters.spark_session.connections import (
    SparkSessionConnectionManager,
    SparkSessionCredentials,
)
from dbt.adapters.spark_session.impl import SparkSessionAdapter
from dbt.include import spark_session

__all__ = [
    "Plugin",
    "SparkSessionAdapter",
    "SparkSessionConnectionManager",
    "SparkSessionCredentials",
]

Plugin = AdapterPlugin(
    adapter=SparkSessionAdapter,  # type: ignore[arg-type]
    credentials=SparkSessionCredentials,
    include_path=spark_session.PACKAGE_PATH,
    dependencies=["spark"],
)
