"""The baseline of DataHub BLOB topics."""

from __future__ import annotations

from pyspark.sql import DataFrame

from benchmarks.baselines import streamx


def events(messages: DataFrame) -> DataFrame:
    return streamx.events(messages, "datahub_blob")
