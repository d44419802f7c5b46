"""Queries that Spark compiles, as on a user's machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

#: As by default, which the tests' session turns off; and what cannot be compiled is an error.
_COMPILED = {
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "CODEGEN_ONLY",
    # Spark would run the projections of a refused loop one by one, with a warning in a log.
    "spark.sql.codegen.fallback": "false",
}


@contextmanager
def compiled_queries(spark: SparkSession) -> Iterator[None]:
    """Queries that are planned meanwhile are compiled."""
    usual = {name: spark.conf.get(name) for name in _COMPILED}
    for name, value in _COMPILED.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in usual.items():
            spark.conf.set(name, value)
