"""DataHub BLOB topics by hand."""

from __future__ import annotations

from pyspark.sql import DataFrame

from benchmarks.baselines import streamx


def events(messages: DataFrame) -> DataFrame:
    return streamx.events(messages, "datahub_blob")
