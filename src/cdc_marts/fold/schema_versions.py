"""The schema versions of source tables: the sets of columns that messages or their images list."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.checkpoints import checkpointed
from cdc_marts.fold.ranges import is_one_of
from cdc_marts.fold.rules import is_of_format_that
from cdc_marts.identifying_columns import MESSAGE, VERSION
from cdc_marts.parsing.ops import ROW_RECORDS

#: The first and the last place in the log of events of a schema version. `whole`: only events that
#: list all columns.
SEQUENCES = ("first_sequence", "last_sequence", "first_whole_sequence", "last_whole_sequence")
_PUBLISHED = ("source_type", "column_types", "column_parameters")
_DESCRIPTION = (*_PUBLISHED, "column_names")
_COLUMNS = (*VERSION, *_DESCRIPTION, *SEQUENCES)


def schema_versions(
    new_effects: DataFrame,
    *,
    effects: DataFrame,
    new_exceptions: DataFrame,
    new_records: DataFrame,
    records: DataFrame,
    earlier: DataFrame | None,
) -> DataFrame:
    """Return the versions with new events: their columns, and their first and last event.

    `first_whole_sequence` and `last_whole_sequence` belong to the first and the last event that
    list all columns of their table. If earlier effects of a version have changed, all its events
    are read again.

    The `update_before` of a split update shows columns too. It counts as seen before all events at
    its position, so that the `update_after`, and redeliveries of the `update_before`, may stand
    anywhere in their partition. A change that a full load has overtaken counts at its own position:
    its transaction listed the columns that the table had there.

    `new_effects`, `new_records`: rows that no run has read; `effects`, `records`: all rows,
    including the new ones. They have the columns of `int_row_effects` and `int_records`.
    `new_exceptions`: new rows of the model `int_exceptional_records`. `earlier`: what earlier runs
    returned; None in the first run.
    """
    if earlier is None:
        spans = _spans(_seen(new_effects, new_records))
        described = _descriptions(new_records, _first_messages(spans))
        return spans.join(described, [*VERSION]).select(*_COLUMNS)
    revisions = new_exceptions.where("is_revision and schema_id is not null")
    revised = revisions.select(*VERSION).distinct()
    new = _seen(new_effects, new_records)
    describing = new_records
    if revised.isEmpty():
        spans = _spans(new)
    else:
        # All events of a new version may be old, and have been redeliveries until now.
        describing = records
        of_revised = _seen(effects, records).join(revised, [*VERSION], "left_semi")
        spans = _spans(new.join(revised, [*VERSION], "left_anti")).unionByName(_spans(of_revised))
    new_versions = spans.join(earlier, [*VERSION], "left_anti")
    seen_before = earlier.join(spans, [*VERSION], "left_semi")
    seen = (
        spans.select(*VERSION, *SEQUENCES)
        .unionByName(
            seen_before.join(revised, [*VERSION], "left_anti").select(*VERSION, *SEQUENCES)
        )
        .groupBy(*VERSION)
        .agg(
            F.min("first_sequence").alias("first_sequence"),
            F.max("last_sequence").alias("last_sequence"),
            F.min("first_whole_sequence").alias("first_whole_sequence"),
            F.max("last_whole_sequence").alias("last_whole_sequence"),
        )
    )
    described = _descriptions(describing, _first_messages(new_versions)).unionByName(
        seen_before.select(*VERSION, *_DESCRIPTION)
    )
    return seen.join(described, [*VERSION]).select(*_COLUMNS)


def _seen(effects: DataFrame, records: DataFrame) -> DataFrame:
    """Return the effects and `update_before` records that show versions, with their places."""
    message = F.struct("topic", "sequence.partition", "sequence.offset").alias("message")
    before_all = F.col("sequence")
    for name, type_ in (("partition", "int"), ("offset", "bigint"), ("row_index", "int")):
        before_all = before_all.withField(name, F.lit(None).cast(type_))
    is_never_overtaken = (F.col("op") == "snapshot") | ~is_of_format_that("follows_loads")
    at_own_position = F.when(is_never_overtaken, F.col("sequence")).otherwise(
        F.col("sequence").withField("position", F.col("message_position"))
    )
    shown = (*VERSION, "lists_all_columns", message)
    return effects.select(*shown, at_own_position.alias("sequence")).unionByName(
        records.where("record_type = 'update_before'").select(*shown, before_all.alias("sequence"))
    )


def _spans(seen: DataFrame) -> DataFrame:
    """Return the first and last places of versions: `VERSION`, `first_message` and `SEQUENCES`."""
    whole = F.when(F.col("lists_all_columns"), F.col("sequence"))
    spans = (
        seen.where("schema_id is not null")
        .groupBy(*VERSION)
        .agg(
            F.min(F.struct("sequence", "message")).alias("first"),
            F.max("sequence").alias("last_sequence"),
            F.min(whole).alias("first_whole_sequence"),
            F.max(whole).alias("last_whole_sequence"),
        )
        .select(
            *VERSION,
            F.col("first.sequence").alias("first_sequence"),
            F.col("first.message").alias("first_message"),
            *SEQUENCES[1:],
        )
    )
    # The spans are few, and used several times: with a checkpoint, the events are read once.
    return checkpointed(spans)


def _first_messages(spans: DataFrame) -> DataFrame:
    return spans.select(
        "source_format", "first_message.topic", "first_message.partition", "first_message.offset"
    )


def _descriptions(records: DataFrame, messages: DataFrame) -> DataFrame:
    """Return the columns that versions list, as `VERSION` and `_DESCRIPTION`.

    All messages of a version list the same columns, so one message is read. Versions are few, and
    so are `messages`.
    """
    of_versions = (
        records.where(F.col("record_type").isin(*ROW_RECORDS))
        .where("schema_id is not null")
        .where(is_one_of(messages))
        .join(F.broadcast(messages.distinct()), [*MESSAGE], "left_semi")
    )
    # Images are as large as everything else together, and few formats need them here.
    of_types = checkpointed(_any_of_each(of_versions, *_PUBLISHED))
    listed = of_types.withColumn("column_names", F.map_keys("column_types"))
    unlisted = of_types.where("coalesce(size(column_types), 0) < 1")
    if unlisted.isEmpty():
        return listed
    in_images = F.array_union(
        F.array_union(_names("after"), _names("before")), "unavailable_columns"
    )
    names = _any_of_each(of_versions.withColumn("column_names", in_images), "column_names")
    return listed.join(unlisted, [*VERSION], "left_anti").unionByName(
        unlisted.join(names, [*VERSION])
    )


def _any_of_each(records: DataFrame, *columns: str) -> DataFrame:
    """Return any value of these columns for each version."""
    return records.groupBy(*VERSION).agg(*(F.any_value(name).alias(name) for name in columns))


def _names(image: str) -> Column:
    columns = F.col(image).cast("map<string,variant>")
    return F.coalesce(F.map_keys(columns), F.array().cast("array<string>"))
