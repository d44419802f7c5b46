"""The baseline: for each format the shortest job that an expert would write by hand.

It reads each message once, writes the change events, and from these the latest
state, as Iceberg tables.  It leaves out what makes the project's promises: bad
messages, redeliveries, late halves, schema changes, increments.  It knows its
tables: their key is `id`, no key ever changes, messages are well-formed.

A module a format, alike in one function: `events(messages) -> DataFrame`.
"""

from __future__ import annotations

from importlib import import_module

from pyspark.sql import DataFrame


def events(source_format: str, messages: DataFrame) -> DataFrame:
    """Landed messages -> change events."""
    return import_module(f"benchmarks.baselines.{source_format}").events(messages)
