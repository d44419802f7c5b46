"""Classes of Spark's Java process."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession


def java_class(session: SparkSession, name: str) -> Any:
    """The Java class of a full name.

    The name goes to Java whole.  An attribute of `jvm` for each of its parts would
    look for a class in all jars at each part: that took half the time of a run.
    """
    return getattr(session._jvm, name)
