"""What became of keys that two rows held at once: their effects, played back in sequence.

Where rows collide on a key, the newest effect need not say what is under it.  A delete takes the
row whose image it carries; where that is not one row, the older one, which had to make room.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

_KEY = ("source_format", "table_id", "row_key")
_EVENT = ("source_format", "event_id")

_IMAGE = "map<string,string>"
#: A row under a key: with which image it came there, and from which key.
_ROW = (
    f"struct<event_ids: array<string>, image: {_IMAGE}, is_snapshot: boolean,"
    f" arrival_image: {_IMAGE}, previous_key: string>"
)
_SUPERSEDED = "struct<event_id: string, effect: string, took_older_row: boolean>"
#: A key between two effects.  rows: what is under it, the oldest first, each with the events that
#: wrote it there.  last_delete: with the image of the row that it took, whether a row under the
#: key had that image, and how many rows it left there.
_HELD = (
    f"struct<rows: array<{_ROW}>, generation: int, transaction: string,"
    f" last_delete: struct<position: decimal(38,0), partition: int, image: {_IMAGE},"
    f" found_its_row: boolean, rows_left: int>, superseded: array<{_SUPERSEDED}>>"
)


def superseded_effects(
    effects: DataFrame, events: DataFrame, split_key_changes: DataFrame, truncations: DataFrame
) -> DataFrame:
    """The effects on colliding keys which say nothing of what became of their key.

    They are the delete that took an older row from under a newer one, what was written of a row
    that left while an older one stayed, and a change that comes before the delete in front of it.

    `effects`: all those on the keys, as `int_row_effects` without images.  `events`: with their
    images, as `change_events`.  `split_key_changes`, `truncations`: as the models so named.

    Returns source_format, table_id, row_key, event_id, effect, took_older_row (of a delete:
    whether a newer row stayed).
    """
    steps = _steps(effects, _images(events), split_key_changes, truncations)
    in_sequence = F.array_sort(
        F.collect_list(F.struct(*(name for name in steps.columns if name not in _KEY))),
        lambda one, other: F.when(one["sequence"] < other["sequence"], -1).otherwise(1),
    )
    superseded = F.aggregate(
        in_sequence, _key_without_rows(), _key_after_step, lambda held: held["superseded"]
    )
    return (
        steps.groupBy(*_KEY)
        .agg(superseded.alias("superseded"))
        .select(*_KEY, F.inline("superseded"))
    )


def no_superseded_effects(keys: DataFrame) -> DataFrame:
    """What `superseded_effects` returns where no keys collide; `keys` has none."""
    return keys.selectExpr(
        *_KEY,
        "cast(null as string) as event_id",
        "cast(null as string) as effect",
        "cast(null as boolean) as took_older_row",
    )


def _images(events: DataFrame) -> DataFrame:
    """The images of events as texts by column; a before image that says only its key as null."""
    before = F.expr(f"try_cast(before as {_IMAGE})")
    says_more = F.exists(
        F.map_entries(before),
        lambda column: (
            column["value"].isNotNull() & ~F.array_contains("key_columns", column["key"])
        ),
    )
    return events.select(
        *_EVENT,
        F.col("row_key").alias("event_key"),
        "previous_row_key",
        F.expr(f"try_cast(after as {_IMAGE})").alias("after_image"),
        F.when(says_more, before).alias("before_image"),
    )


def _steps(
    effects: DataFrame, images: DataFrame, split_key_changes: DataFrame, truncations: DataFrame
) -> DataFrame:
    """One row per key and effect, with what the playback asks of it."""
    inserts = split_key_changes.select(
        "source_format", F.col("insert_id").alias("event_id"), F.col("old_key").alias("deleted_key")
    )
    deletes = split_key_changes.select(
        "source_format",
        F.col("delete_id").alias("event_id"),
        F.col("new_key").alias("inserted_key"),
    )
    of_tables = (
        truncations.where("sequence is not null")
        .groupBy("source_format", "table_id")
        .agg(F.collect_list("sequence").alias("truncations"))
    )
    transaction = F.coalesce("transaction_id", F.col("event_at").cast("string"))
    is_snapshot = F.col("op") == "snapshot"
    generation = F.size(
        F.filter(
            F.coalesce("truncations", F.array().cast(of_tables.schema["truncations"].dataType)),
            lambda truncation: ~(F.col("sequence") < truncation),
        )
    )
    return (
        effects.join(images, [*_EVENT])
        .join(of_tables, ["source_format", "table_id"], "left")
        .join(inserts, [*_EVENT], "left")
        .join(deletes, [*_EVENT], "left")
        .withColumn("generation", generation)
        .groupBy(*_KEY, "event_id", "effect")
        .agg(
            F.max("sequence").alias("sequence"),
            F.max_by("generation", "sequence").alias("generation"),
            F.max(F.when(~is_snapshot, transaction)).alias("transaction"),
            F.bool_or(is_snapshot).alias("is_snapshot"),
            F.bool_or(F.col("op") == "insert").alias("is_insert"),
            F.bool_or(
                F.col("is_key_change")
                | F.col("deleted_key").isNotNull()
                | F.col("inserted_key").isNotNull()
            ).alias("is_key_change"),
            F.any_value(F.coalesce("previous_row_key", "deleted_key")).alias("previous_key"),
            F.any_value(F.coalesce("inserted_key", "event_key")).alias("next_key"),
            F.any_value("after_image").alias("after_image"),
            F.any_value("before_image").alias("before_image"),
        )
    )


def _key_without_rows() -> Column:
    return F.expr(
        "cast(named_struct('rows', array(), 'generation', 0, 'transaction', null,"
        f" 'last_delete', null, 'superseded', array()) as {_HELD})"
    )


def _key_after_step(held: Column, step: Column) -> Column:
    # Arrays of one element stand for variables: Spark copies an expression wherever it is named.
    def with_rows(rows: Column) -> Column:
        return F.get(
            F.transform(
                F.array(_leaving_row(step, rows)), lambda leaving: with_leaving(rows, leaving)
            ),
            F.lit(0),
        )

    def with_leaving(rows: Column, leaving: Column) -> Column:
        found_its_row = F.exists(rows, lambda row: _has_image(row, step))
        rows_left = F.when(leaving == 0, 0).otherwise(F.size(rows) - 1)
        last_delete = F.struct(
            step["sequence"]["position"].alias("position"),
            step["sequence"]["partition"].alias("partition"),
            step["before_image"].alias("image"),
            found_its_row.alias("found_its_row"),
            rows_left.alias("rows_left"),
        )
        return F.struct(
            _rows_after_step(held, step, rows, leaving).alias("rows"),
            step["generation"].alias("generation"),
            step["transaction"].alias("transaction"),
            F.when(step["effect"] == "delete", last_delete)
            .otherwise(held["last_delete"])
            .alias("last_delete"),
            F.concat(held["superseded"], _superseded_by_step(held, step, rows, leaving)).alias(
                "superseded"
            ),
        )

    rows_met = _rows_met(held, step)
    return F.get(F.transform(F.array(rows_met), with_rows), F.lit(0)).cast(_HELD)


def _rows_met(held: Column, step: Column) -> Column:
    """Of what another transaction left there is one row, of what was truncated none."""
    return (
        F.when(held["generation"] != step["generation"], F.slice(held["rows"], 1, 0))
        .when(held["transaction"].eqNullSafe(step["transaction"]), held["rows"])
        .otherwise(F.slice(held["rows"], -1, 1))
    )


def _leaving_row(step: Column, rows: Column) -> Column:
    """Which row a delete takes, counted from 1; 0: all that are there.

    The one whose image the delete carries; where that is not one row, a key change takes the
    oldest, and so does a delete where equal rows are there because one of them came from another
    key.  A row that was inserted and deleted beside an older one, without a key change, leaves
    none: the older one had made room, and its delete is not known.
    """
    fits = F.transform(rows, lambda row: _has_image(row, step))
    has_come = F.try_element_at(rows, F.lit(-1))["previous_key"].isNotNull()
    fits_newest = F.coalesce(F.try_element_at(fits, F.lit(-1)), F.lit(False))
    takes_one = step["is_key_change"] | (F.exists(fits, lambda fit: fit) & has_come)
    return (
        F.when(step["effect"] != "delete", 0)
        .when(F.size(rows) <= 1, 0)
        .when(
            (F.size(F.filter(fits, lambda fit: fit)) == 1)
            & (takes_one | ~fits_newest)
            & ~(fits_newest & _was_loaded_on_its_way(step, rows)),
            F.array_position(fits, True).cast("int"),
        )
        .when(~takes_one | _was_loaded_on_its_way(step, rows), 0)
        .otherwise(1)
    )


def _was_loaded_on_its_way(step: Column, rows: Column) -> Column:
    """Whether the oldest row is the one that came last, which a full load read under the key.

    Then they were equal when it came.  So are two rows that swap their keys: one leaves to where
    the other came from.
    """
    oldest, newest = F.get(rows, F.lit(0)), F.try_element_at(rows, F.lit(-1))
    is_swap = F.coalesce(newest["previous_key"] == step["next_key"], F.lit(False))
    were_equal = _images_agree(oldest["image"], newest["arrival_image"])
    return oldest["is_snapshot"] & were_equal & ~is_swap


def _has_image(row: Column, step: Column) -> Column:
    return step["before_image"].isNotNull() & _images_agree(step["before_image"], row["image"])


def _images_agree(one: Column, other: Column) -> Column:
    """Whether two images say the same of the columns that both have."""
    return F.coalesce(
        F.forall(
            F.map_entries(one),
            lambda column: (
                ~F.map_contains_key(other, column["key"])
                | column["value"].eqNullSafe(F.element_at(other, column["key"]))
            ),
        ),
        F.lit(False),
    )


def _rows_after_step(held: Column, step: Column, rows: Column, leaving: Column) -> Column:
    newest = F.try_element_at(rows, F.lit(-1))
    older_rows = F.slice(rows, F.lit(1), F.greatest(F.size(rows) - 1, F.lit(0)))
    in_its_place = F.concat(older_rows, F.array(_row_of_step(step, newest)))
    is_delete = step["effect"] == "delete"
    return (
        F.when(is_delete & (leaving == 0), F.slice(rows, 1, 0))
        .when(is_delete, F.filter(rows, lambda _, index: index != leaving - 1))
        .when(
            _was_deleted_since(held, step),
            F.when(_changes_deleted_row(held, step, rows), older_rows).otherwise(rows),
        )
        .when(
            (step["is_key_change"] | step["is_insert"]) & ~_is_same_arrival(held, newest, step),
            F.array_append(rows, _row_of_step(step, F.lit(None).cast(_ROW))),
        )
        .otherwise(in_its_place)
    )


def _row_of_step(step: Column, row: Column) -> Column:
    """The row that a step writes in the place of another one; null: beside all that are there."""
    event_ids = F.coalesce(row["event_ids"], F.array().cast("array<string>"))
    has_come_before = ~step["is_key_change"] & row["arrival_image"].isNotNull()
    return F.struct(
        F.array_append(event_ids, step["event_id"]).alias("event_ids"),
        step["after_image"].alias("image"),
        step["is_snapshot"].alias("is_snapshot"),
        F.when(has_come_before, row["arrival_image"])
        .otherwise(step["after_image"])
        .alias("arrival_image"),
        F.when(has_come_before, row["previous_key"])
        .otherwise(step["previous_key"])
        .alias("previous_key"),
    )


def _is_same_arrival(held: Column, newest: Column, step: Column) -> Column:
    """Whether the row that came last is the same one, reported once more.

    An insert is reported once more within its transaction: in another one it is another row.
    """
    is_same = newest["previous_key"].eqNullSafe(step["previous_key"]) & (
        F.to_json(newest["arrival_image"]) == F.to_json(step["after_image"])
    )
    is_near = step["is_key_change"] | held["transaction"].eqNullSafe(step["transaction"])
    return F.coalesce(is_same & is_near, F.lit(False))


def _was_deleted_since(held: Column, step: Column) -> Column:
    """Whether a change comes before the delete that stands before it.

    Both have one position in two partitions, and the delete took the row that the change wrote:
    the delete found no row with this image, or nothing is left for an update to change.
    """
    last = held["last_delete"]
    updates_nothing = _is_update(step) & (F.size(held["rows"]) == 0)
    return F.coalesce(
        (step["effect"] == "upsert")
        & (last["position"] == step["sequence"]["position"])
        & (last["partition"] != step["sequence"]["partition"])
        & (~last["found_its_row"] | updates_nothing)
        & last["image"].isNotNull()
        & _images_agree(last["image"], step["after_image"]),
        F.lit(False),
    )


def _changes_deleted_row(held: Column, step: Column, rows: Column) -> Column:
    """Of a change that comes before the delete: whether an earlier one of them wrote its row."""
    return _is_update(step) & (F.size(rows) > held["last_delete"]["rows_left"])


def _is_update(step: Column) -> Column:
    return ~step["is_insert"] & ~step["is_key_change"] & ~step["is_snapshot"]


def _superseded_by_step(held: Column, step: Column, rows: Column, leaving: Column) -> Column:
    def superseded(event_id: Column, effect: Column, took_older_row: Column) -> Column:
        return F.struct(
            event_id.alias("event_id"),
            effect.alias("effect"),
            took_older_row.alias("took_older_row"),
        )

    def writes_of(row: Column) -> Column:
        return F.transform(
            row["event_ids"],
            lambda event_id: superseded(event_id, F.lit("upsert"), F.lit(False)),
        )

    delete = superseded(step["event_id"], step["effect"], leaving < F.size(rows))
    none = F.array().cast(f"array<{_SUPERSEDED}>")
    return (
        F.when(
            leaving > 0,
            F.concat(
                F.array(delete),
                F.when(
                    leaving == F.size(rows), writes_of(F.try_element_at(rows, leaving))
                ).otherwise(none),
            ),
        )
        .when(
            _was_deleted_since(held, step),
            F.concat(
                F.when(
                    _changes_deleted_row(held, step, rows),
                    writes_of(F.try_element_at(rows, F.lit(-1))),
                ).otherwise(none),
                F.array(superseded(step["event_id"], step["effect"], F.lit(False))),
            ),
        )
        .otherwise(none)
    )
