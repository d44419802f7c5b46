"""The step from landing to staging: each message that has landed is parsed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, Row, Window
from pyspark.sql import functions as F

from cdc_marts.identifying_columns import COORDINATES
from cdc_marts.offset_blocks import (
    block_number,
    in_blocks,
    offset_bits,
    outside_blocks,
    removed_of,
)
from cdc_marts.offset_ranges import within
from cdc_marts.parsing.records import no_records
from cdc_marts.parsing.settings import declared_keys


class Parser(Protocol):
    """A module of `cdc_marts.formats`, which reads one format."""

    SOURCE_FORMAT: str

    @property
    def parse(self) -> Callable[..., DataFrame]: ...


def staging_rows(
    dbt: Any,
    parser: Parser,
    messages: DataFrame,
    removed: DataFrame,
    tables: Mapping[str, Mapping[str, Any]] | None,
    **settings: Any,
) -> DataFrame:
    """Return the staging rows of the new messages of a run.

    `dbt`: the object of the staging model. `parser`: the module of its format. `messages`,
    `removed`: `base_<format>` and `removed_messages`. `tables`: the var of that name, which sets
    keys. `settings`: further arguments of the parser. The file of the model must take all of these
    from `dbt` itself, because dbt finds inputs and settings only as literals there.
    """
    return parse_arrivals(
        dbt.new_rows(messages),
        dbt,
        parser.parse,
        removed=removed_of(removed, parser.SOURCE_FORMAT),
        key_settings=declared_keys(tables, parser.SOURCE_FORMAT),
        **settings,
    )


def parse_arrivals(
    messages: DataFrame,
    dbt: Any,
    parse: Callable[..., DataFrame],
    removed: DataFrame,
    **settings: Any,
) -> DataFrame:
    """Return the staging rows of the messages that did not land before, in this run or earlier.

    `messages`: messages that landed since the last run, and messages that are read again, in the
    shape of a landing table. `dbt`: the object of the staging model. `parse`, `settings`: the
    parser of a format, and its arguments. `removed`: the blocks of messages that were removed from
    landing (`removed_of`). A model that is built anew keeps its rows of removed messages. Without
    messages, `parse` is not called, because Spark would plan its query all the same.

    Raise DbtRuntimeError if kept rows have other columns than the rows of the parser.
    """
    if dbt.is_incremental or removed.isEmpty():
        return _parsed_arrivals(messages, dbt, parse, settings)
    parsed = _parsed_arrivals(outside_blocks(messages, removed), dbt, parse, settings)
    kept = in_blocks(messages.sparkSession.table(str(dbt.this)), removed)
    if dict(kept.dtypes) != dict(parsed.dtypes):
        raise DbtRuntimeError(
            f"The columns of {dbt.this} have changed, and its rows of messages that were removed"
            " from landing can't be read again. Build it without them, which loses these rows:"
            " dbt run --full-refresh --vars 'without_removed_messages: true'"
        )
    return kept.unionByName(parsed)


def _parsed_arrivals(
    messages: DataFrame, dbt: Any, parse: Callable[..., DataFrame], settings: dict[str, Any]
) -> DataFrame:
    ranges = _offset_ranges(messages)
    if not ranges:
        return no_records(messages.sparkSession)
    return parse(_first_arrivals(messages, ranges, dbt), **settings)


def _first_arrivals(messages: DataFrame, ranges: list[Row], dbt: Any) -> DataFrame:
    """Return `messages` without repetitions, or unchanged if there are none.

    Earlier messages are looked up in the model's table, only in the offset ranges of `messages`.
    """
    if any(range_.messages != range_.offsets for range_ in ranges):
        messages = with_arrival(messages).where("arrival = 1").drop("arrival")
    if dbt.is_incremental:
        staged = messages.sparkSession.table(str(dbt.this))
        if dbt.replaceable_rows is not None:
            staged = staged.where(f"not ({dbt.replaceable_rows})")
        earlier = staged.where(within(ranges)).select(*COORDINATES).distinct()
        if not earlier.isEmpty():
            messages = messages.join(earlier, list(COORDINATES), "left_anti")
    return messages


def with_arrival(messages: DataFrame) -> DataFrame:
    """Number the copies of each message as `arrival`. The first copy counts."""
    by_arrival = Window.partitionBy(*COORDINATES).orderBy("landing_commit", "landed_at", "value")
    return messages.withColumn("arrival", F.row_number().over(by_arrival))


def _offset_ranges(messages: DataFrame) -> list[Row]:
    """Return first and last offset, and counts of messages and offsets, for each partition."""
    # Offsets are dense, so there are far fewer blocks to count than offsets.
    blocks = messages.groupBy("topic", "partition", block_number()).agg(
        F.min("offset").alias("first"),
        F.max("offset").alias("last"),
        F.count("*").alias("messages"),
        offset_bits().alias("offset_bits"),
    )
    return (
        blocks.groupBy("topic", "partition")
        .agg(
            F.min("first").alias("first"),
            F.max("last").alias("last"),
            F.sum("messages").alias("messages"),
            F.sum(F.bit_count("offset_bits")).alias("offsets"),
        )
        .collect()
    )
