"""The schema versions of source tables, as far as messages or their images list the columns."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.fold.ranges import is_one_of

VERSION = ("source_format", "table_id", "schema_id")
_MESSAGE = ("source_format", "topic", "partition", "offset")
_SEQUENCES = ("first_sequence", "last_sequence", "first_whole_sequence", "last_whole_sequence")
_DESCRIPTION = ("source_type", "column_types", "column_parameters", "column_names")


def schema_versions(
    new_effects: DataFrame,
    effects: DataFrame,
    revised: DataFrame,
    new_records: DataFrame,
    known: DataFrame | None,
) -> DataFrame:
    """From which event to which the versions with new events are seen, and what they list.

    `first_whole_sequence` and `last_whole_sequence` are those of the events that list all columns
    of their table.  Versions of which earlier effects have changed are looked at whole.

    `new_effects`, `effects`: those that no run has read, and all, as `int_row_effects`.
    `revised`: the `VERSION`s of changed effects.  `new_records`: as `int_records`.
    `known`: what earlier runs returned, None in the first one.
    """
    revised = revised.where("schema_id is not null").distinct()
    if known is None:
        sightings = _sightings(new_effects)
        return sightings.join(_descriptions(new_records, _first_messages(sightings)), [*VERSION])
    sightings = _sightings(new_effects.join(revised, [*VERSION], "left_anti")).unionByName(
        _sightings(effects.join(revised, [*VERSION], "left_semi"))
    )
    unknown = sightings.join(known, [*VERSION], "left_anti")
    held = known.join(sightings, [*VERSION], "left_semi")
    seen = (
        sightings.select(*VERSION, *_SEQUENCES)
        .unionByName(held.join(revised, [*VERSION], "left_anti").select(*VERSION, *_SEQUENCES))
        .groupBy(*VERSION)
        .agg(
            F.min("first_sequence").alias("first_sequence"),
            F.max("last_sequence").alias("last_sequence"),
            F.min("first_whole_sequence").alias("first_whole_sequence"),
            F.max("last_whole_sequence").alias("last_whole_sequence"),
        )
    )
    described = _descriptions(new_records, _first_messages(unknown)).unionByName(
        held.select(*VERSION, *_DESCRIPTION)
    )
    return seen.join(described, [*VERSION])


def _sightings(effects: DataFrame) -> DataFrame:
    whole = F.when(F.col("lists_all_columns"), F.col("sequence"))
    sightings = (
        effects.where("schema_id is not null")
        .groupBy(*VERSION)
        .agg(
            F.min("sequence").alias("first_sequence"),
            F.min_by("topic", "sequence").alias("first_topic"),
            F.max("sequence").alias("last_sequence"),
            F.min(whole).alias("first_whole_sequence"),
            F.max(whole).alias("last_whole_sequence"),
        )
    )
    # Few, and asked several times: the events are read once.
    return effects.sparkSession.createDataFrame(sightings.collect(), sightings.schema)


def _first_messages(sightings: DataFrame) -> DataFrame:
    return sightings.select(
        "source_format",
        F.col("first_topic").alias("topic"),
        F.col("first_sequence.partition").alias("partition"),
        F.col("first_sequence.offset").alias("offset"),
    )


def _descriptions(records: DataFrame, messages: DataFrame) -> DataFrame:
    """What versions list: alike in all their messages, so that one of them is read.

    Returns `VERSION` and `_DESCRIPTION`.
    """
    in_images = F.array_union(
        F.array_union(_names("after"), _names("before")), "unavailable_columns"
    )
    names = F.when(F.size("column_types") > 0, F.map_keys("column_types")).otherwise(in_images)
    return (
        records.where((F.col("record_type") == "change") & F.col("schema_id").isNotNull())
        .where(is_one_of(messages))
        .join(messages.distinct(), [*_MESSAGE], "left_semi")
        .withColumn("column_names", names)
        .groupBy(*VERSION)
        .agg(*(F.any_value(name).alias(name) for name in _DESCRIPTION))
    )


def _names(image: str) -> Column:
    columns = F.col(image).cast("map<string,variant>")
    return F.coalesce(F.map_keys(columns), F.array().cast("array<string>"))
