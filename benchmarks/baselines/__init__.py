"""The baseline: for each format, the shortest job that an expert would write by hand.

It reads each message once, and writes the change events, and from these the latest state, as
Iceberg tables. It leaves out what the project promises for bad messages, redeliveries, late halves,
schema changes and increments. It knows its tables: their key is `id`, no key ever changes, messages
are well-formed.

Each format has a module with a function `events(messages) -> DataFrame`.
"""

from __future__ import annotations

from importlib import import_module

from pyspark.sql import DataFrame


def events(source_format: str, messages: DataFrame) -> DataFrame:
    """Return the change events of landed messages."""
    return import_module(f"benchmarks.baselines.{source_format}").events(messages)
