"""Which row remains under a colliding key: the effects on the key are applied again, in sequence.

On a colliding key, the newest effect alone does not always say which row remains. An update changes
the row that has its before image, and a delete removes it. If no row or several rows have the image
of an update, it changes the newer row. If no row or several rows have that of a delete, it removes
the older row, which had to make room. If all rows came to the key in the transaction of the delete
and none of them has its image, it removes none: its row is gone already, or never landed. If
several partitions have effects at one position, and the changes there have no numbers, their images
give the order: the before image of a change is the image that the change in front of it wrote.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from cdc_marts.checkpoints import checkpointed
from cdc_marts.expressions import let
from cdc_marts.fold.image_order import STANDS_BEFORE, chain, images_agree, superseded_by_last
from cdc_marts.fold.ranges import effects_on, has_key_of, in_tables_of
from cdc_marts.fold.rules import (
    count_truncations_before,
    is_of_format_that,
    transaction_of_effect,
    truncations_of_tables,
)
from cdc_marts.identifying_columns import KEY, TABLE
from cdc_marts.parsing.records import SEQUENCE

_EVENT = ("source_format", "event_id")

_IMAGE = "map<string,string>"
_WRITE = f"struct<event_id: string, sequence: {SEQUENCE}>"
#: A row under a key, with the events that wrote it, the first of which brought it to the key; with
#: the image with which it came, its previous key, and the transaction in which it came, by a key
#: change or an insert.
_ROW = (
    f"struct<writes: array<{_WRITE}>, image: {_IMAGE}, is_snapshot: boolean,"
    f" arrival_image: {_IMAGE}, previous_key: string, arrival_transaction: string>"
)
#: What `_leaving_row` returns besides the number of a row.
_ALL_ROWS, _NO_ROW = 0, -1
_SUPERSEDED = (
    "struct<event_id: string, effect: string, last_write_id: string, is_of_older_row: boolean,"
    f" row_left: boolean, stands_before: {STANDS_BEFORE}>"
)
#: A row that left for another key in a transaction, with the event that last wrote it before.
_LEFT_ROW = "struct<next_key: string, transaction: string, last_write_id: string>"
#: The state of a key between two effects. `rows`: the rows under the key, the oldest first.
_KEY_STATE = (
    f"struct<rows: array<{_ROW}>, left_rows: array<{_LEFT_ROW}>, generation: int,"
    f" transaction: string, superseded: array<{_SUPERSEDED}>>"
)


def superseded_effects_of_run(
    new_keys: DataFrame,
    *,
    effects: DataFrame,
    exceptional_records: DataFrame,
    events: DataFrame,
    split_key_changes: DataFrame,
    truncations: DataFrame,
    earlier: DataFrame | None,
) -> DataFrame:
    """Return the superseded effects on new colliding keys, as `with_earlier` does.

    `new_keys`: new rows of the model `int_colliding_keys`. `effects`: all rows of
    `int_row_effects`. The other DataFrames are the models `int_…` of their names. `earlier`: what
    earlier runs returned; None in the first run. Without new keys, nothing else is read.
    """
    keys = new_keys.distinct()
    if keys.isEmpty():
        return no_superseded_effects(keys)
    # DataFrames that are used several times get a checkpoint, so that Spark plans them once.
    keys = checkpointed(keys)
    on_keys = checkpointed(effects_on(keys, effects, exceptional_records).drop("before", "after"))
    events_on_keys = (
        events.where(in_tables_of(keys))
        .where(has_key_of(keys, "row_key", "previous_row_key"))
        .join(on_keys, [*_EVENT], "left_semi")
    )
    found = superseded_effects(on_keys, events_on_keys, split_key_changes, truncations)
    return with_earlier(found, keys, earlier)


def superseded_effects(
    effects: DataFrame,
    events: DataFrame,
    split_key_changes: DataFrame,
    truncations: DataFrame,
) -> DataFrame:
    """Return the superseded effects: on colliding keys, they don't count for the row that remains.

    There are four kinds: a delete that removed an older row, or none, while a newer row stayed; the
    upserts of a row that left while an older row stayed; effects that stand behind another change
    at their position, although their images show that they happened before it; and, of an older row
    that left while a newer row stayed, the updates behind the arrival of the newer row.
    `row_history` keeps the third kind, and leaves out the others.

    `effects`: all effects on the keys, with the columns of `int_row_effects` except the images.
    `events`: the events with their images, as in `int_events`. `split_key_changes`, `truncations`:
    the models `int_split_key_changes` and `int_truncations`.

    The result has source_format, table_id, row_key, event_id, effect; last_write_id: for a delete
    of the first kind, the event that last wrote the removed row, or null if none is known;
    is_of_older_row: whether the row that left is older than one that stayed; row_left: whether the
    effect belongs to a row that left the key while another row stayed, as in all kinds but the
    third; stands_before: for the last two kinds struct<sequence, index>: the sequence
    of the effect in front of which the effect stands, which is the last one of the position in the
    order of images or the arrival of the newer row, and the number of effects that stand there in
    front of this one; for the others null.
    """
    steps = _steps(effects, _images(events), split_key_changes, truncations)
    step = F.struct(*(name for name in steps.columns if name not in KEY))
    of_one_position = F.array_sort(
        F.collect_list(step),
        lambda one, other: F.when(one["sequence"] < other["sequence"], -1).otherwise(1),
    )
    in_sequence = F.array_sort(
        F.collect_list("steps"),
        lambda one, other: F.when(one[0]["sequence"] < other[0]["sequence"], -1).otherwise(1),
    )
    superseded = F.aggregate(
        in_sequence, _key_without_rows(), _key_after_position, lambda state: state["superseded"]
    )
    return (
        # One shuffle serves both groupings.
        steps.repartition(*KEY)
        .groupBy(*KEY, "generation", "sequence.position")
        .agg(of_one_position.alias("steps"))
        .groupBy(*KEY)
        .agg(superseded.alias("superseded"))
        .select(*KEY, F.inline("superseded"))
        .transform(_merged)
    )


def _merged(superseded: DataFrame) -> DataFrame:
    """Merge the rows of each superseded effect, which may be listed for two reasons, into one."""
    return superseded.groupBy(*KEY, "event_id", "effect").agg(
        F.max("last_write_id").alias("last_write_id"),
        F.bool_or("is_of_older_row").alias("is_of_older_row"),
        F.bool_or("row_left").alias("row_left"),
        F.max("stands_before").alias("stands_before"),
    )


def with_earlier(superseded: DataFrame, keys: DataFrame, earlier: DataFrame | None) -> DataFrame:
    """Return the superseded effects on some keys, and earlier ones that are no longer superseded.

    The latter have no `is_of_older_row`, so that they are deleted. `earlier`: what earlier runs
    returned; None in the first run.
    """
    if earlier is None:
        return superseded
    on_keys = earlier.join(keys, [*KEY], "left_semi").select(*KEY, "event_id", "effect")
    return _merged(superseded.unionByName(on_keys, allowMissingColumns=True))


def no_superseded_effects(keys: DataFrame) -> DataFrame:
    """Return the result of `superseded_effects` if no keys collide. `keys` is empty."""
    return keys.selectExpr(
        *KEY,
        "cast(null as string) as event_id",
        "cast(null as string) as effect",
        "cast(null as string) as last_write_id",
        "cast(null as boolean) as is_of_older_row",
        "cast(null as boolean) as row_left",
        f"cast(null as {STANDS_BEFORE}) as stands_before",
    )


def _images(events: DataFrame) -> DataFrame:
    """Return the images of events, as texts by column. A before image with only the key is null."""
    before = F.expr(f"try_cast(before as {_IMAGE})")
    # Not the column `key_columns`: Iceberg reads a text in batches, but an array row by row.
    key_columns = F.json_object_keys("row_key")
    says_more = F.exists(
        F.map_entries(before),
        lambda column: column["value"].isNotNull() & ~F.array_contains(key_columns, column["key"]),
    )
    return events.select(
        *_EVENT,
        F.col("row_key").alias("event_key"),
        "previous_row_key",
        F.expr(f"try_cast(after as {_IMAGE})").alias("after_image"),
        F.when(says_more, before).alias("before_image"),
        (~is_of_format_that("before_images_mislead")).alias("has_old_values"),
    )


def _steps(
    effects: DataFrame, images: DataFrame, split_key_changes: DataFrame, truncations: DataFrame
) -> DataFrame:
    """Return one row per key and effect, with the columns that are needed to apply it again."""
    inserts = split_key_changes.select(
        "source_format", F.col("insert_id").alias("event_id"), F.col("old_key").alias("deleted_key")
    )
    deletes = split_key_changes.select(
        "source_format",
        F.col("delete_id").alias("event_id"),
        F.col("new_key").alias("inserted_key"),
    )
    is_snapshot = F.col("op") == "snapshot"
    return (
        effects.alias("effects")
        .join(images, [*_EVENT])
        .join(truncations_of_tables(truncations), [*TABLE], "left")
        .join(inserts, [*_EVENT], "left")
        .join(deletes, [*_EVENT], "left")
        .withColumn("generation", count_truncations_before("effects", "truncations"))
        .groupBy(*KEY, "event_id", "effect")
        .agg(
            F.max("sequence").alias("sequence"),
            F.max_by(_source(), "sequence").alias("source"),
            F.max_by("generation", "sequence").alias("generation"),
            F.max(F.when(~is_snapshot, transaction_of_effect())).alias("transaction"),
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
            F.bool_and("has_old_values").alias("has_old_values"),
        )
    )


def _source() -> Column:
    """Return the partition in whose order a change stands; null if its transaction numbers it.

    Such a number orders all changes of its position, whatever their partitions.
    """
    is_numbered = F.col("sequence.transaction_index") != F.xxhash64("topic")
    return F.when(~F.coalesce(is_numbered, F.lit(False)), F.struct("topic", "sequence.partition"))


def _key_without_rows() -> Column:
    return F.expr(
        "cast(named_struct('rows', array(), 'left_rows', array(), 'generation', 0,"
        f" 'transaction', null, 'superseded', array()) as {_KEY_STATE})"
    )


def _key_after_position(state: Column, steps: Column) -> Column:
    """Return the state of a key after the effects at one position.

    If images show another order than the sequences do, only the last step counts.
    """

    def with_chain(chained: Column) -> Column:
        is_reordered = F.coalesce(
            F.transform(chained, _sequence) != F.transform(steps, _sequence), F.lit(False)
        )
        return let(
            F.aggregate(F.coalesce(chained, steps), state, _key_after_step),
            lambda after: after.withField(
                "superseded",
                F.when(
                    is_reordered, F.concat(state["superseded"], superseded_by_last(chained))
                ).otherwise(after["superseded"]),
            ),
        )

    return let(chain(steps, _rows_met(state, steps[0])), with_chain)


def _sequence(step: Column) -> Column:
    return step["sequence"]


def _key_after_step(state: Column, step: Column) -> Column:
    def with_rows(rows: Column) -> Column:
        return let(_leaving_row(step, rows), lambda leaving: with_leaving(rows, leaving))

    def with_leaving(rows: Column, leaving: Column) -> Column:
        return let(
            _last_write(state, step, rows, leaving),
            lambda last_write_id: with_last_write(rows, leaving, last_write_id),
        )

    def with_last_write(rows: Column, leaving: Column, last_write_id: Column) -> Column:
        superseded = _superseded_by_step(step, rows, leaving, last_write_id)
        return F.struct(
            _rows_after_step(state, step, rows, leaving).alias("rows"),
            _left_rows(state, step, last_write_id).alias("left_rows"),
            step["generation"].alias("generation"),
            step["transaction"].alias("transaction"),
            F.concat(state["superseded"], superseded).alias("superseded"),
        )

    return let(_rows_met(state, step), with_rows).cast(_KEY_STATE)


def _rows_met(state: Column, step: Column) -> Column:
    """Return the rows that a step finds: none after a truncation.

    In a new transaction, it finds only the newest row.
    """
    return (
        F.when(state["generation"] != step["generation"], F.slice(state["rows"], 1, 0))
        .when(state["transaction"].eqNullSafe(step["transaction"]), state["rows"])
        .otherwise(F.slice(state["rows"], -1, 1))
    )


def _leaving_row(step: Column, rows: Column) -> Column:
    """Return which row a delete removes, counted from 1; or all rows under the key, or no row.

    A delete removes the row that has its before image. If no row or several rows have it, a key
    change removes the oldest row. So does a delete beside a row that came from another key, if it
    has the image of several rows, or of a row that is not there. If a row was inserted and deleted
    beside an older row, without a key change, no row remains: the older row had made room, but its
    delete is not known.
    """
    fits = F.transform(rows, lambda row: _has_image(row, step))
    has_come = F.try_element_at(rows, F.lit(-1))["previous_key"].isNotNull()
    fits_newest = F.coalesce(F.try_element_at(fits, F.lit(-1)), F.lit(False))
    contradicts = _contradicts_all(step, rows)
    # It may also contradict its own row, if the format's before images mislead.
    is_of_other_row = step["has_old_values"] & contradicts
    says_row = F.exists(fits, lambda fit: fit) | contradicts
    takes_one = step["is_key_change"] | (says_row & has_come)
    return (
        F.when(step["effect"] != "delete", _ALL_ROWS)
        .when(is_of_other_row & _came_beside(step, F.get(rows, F.lit(0))), _NO_ROW)
        .when(F.size(rows) <= 1, _ALL_ROWS)
        .when(
            (F.size(F.filter(fits, lambda fit: fit)) == 1)
            & (takes_one | ~fits_newest)
            & ~(fits_newest & _was_loaded_on_its_way(step, rows)),
            F.array_position(fits, True).cast("int"),
        )
        .when(~takes_one | (_was_loaded_on_its_way(step, rows) & ~is_of_other_row), _ALL_ROWS)
        .otherwise(1)
    )


def _last_write(state: Column, step: Column, rows: Column, leaving: Column) -> Column:
    """Return the event that last wrote the row that a delete removes; null if none is known.

    A row that is gone already has left for the same key by an earlier report of this delete.
    """
    left_before = F.filter(
        state["left_rows"],
        lambda row: (
            (row["next_key"] == step["next_key"]) & (row["transaction"] == step["transaction"])
        ),
    )
    row = F.try_element_at(rows, F.when(leaving == _ALL_ROWS, F.lit(-1)).otherwise(leaving))
    return F.when(
        leaving == _NO_ROW, F.try_element_at(left_before, F.lit(-1))["last_write_id"]
    ).otherwise(F.try_element_at(row["writes"], F.lit(-1))["event_id"])


def _left_rows(state: Column, step: Column, last_write_id: Column) -> Column:
    """Return the rows that have left the key for another one, up to a step."""
    row = F.struct(
        step["next_key"].alias("next_key"),
        step["transaction"].alias("transaction"),
        last_write_id.alias("last_write_id"),
    )
    leaves = (step["effect"] == "delete") & step["is_key_change"]
    return F.when(leaves, F.array_append(state["left_rows"], row)).otherwise(state["left_rows"])


def _contradicts_all(step: Column, rows: Column) -> Column:
    """Return whether the before image of a delete contradicts the images of all rows of the key.

    A null in it contradicts no value: some logs have nulls in place of values that they leave out.
    """
    said = F.map_filter(step["before_image"], lambda _, value: value.isNotNull())
    are_contradicted = F.forall(
        rows, lambda row: row["image"].isNotNull() & ~images_agree(said, row["image"])
    )
    return said.isNotNull() & are_contradicted


def _came_beside(step: Column, row: Column) -> Column:
    """Return whether a row came to the key in the transaction of a delete, perhaps of another row.

    Two rows may have had the key then, because one of the two changed its key. The other row may
    have left by an earlier report of this delete, or it never landed.
    """
    came_now = row["arrival_transaction"] == step["transaction"]
    changed_key = step["is_key_change"] | row["previous_key"].isNotNull()
    return F.coalesce(came_now & changed_key, F.lit(False))


def _was_loaded_on_its_way(step: Column, rows: Column) -> Column:
    """Return whether the oldest and the newest row are one row that a full load read under its key.

    Then the two were equal when the newest came. Two different rows that swap their keys may be
    equal too; they are recognized because one leaves to the key from which the other came.
    """
    oldest, newest = F.get(rows, F.lit(0)), F.try_element_at(rows, F.lit(-1))
    is_swap = F.coalesce(newest["previous_key"] == step["next_key"], F.lit(False))
    were_equal = images_agree(oldest["image"], newest["arrival_image"])
    return oldest["is_snapshot"] & were_equal & ~is_swap


def _has_image(row: Column, step: Column) -> Column:
    return step["before_image"].isNotNull() & images_agree(step["before_image"], row["image"])


def _rows_after_step(state: Column, step: Column, rows: Column, leaving: Column) -> Column:
    newest = F.try_element_at(rows, F.lit(-1))
    in_its_place = let(
        _written_row(step, rows),
        lambda number: F.concat(
            F.slice(rows, F.lit(1), number - 1),
            F.array(_row_of_step(step, F.try_element_at(rows, number))),
            F.slice(rows, number + 1, F.size(rows)),
        ),
    )
    is_delete = step["effect"] == "delete"
    return (
        F.when(is_delete & (leaving == _ALL_ROWS), F.slice(rows, 1, 0))
        .when(is_delete, F.filter(rows, lambda _, index: index != leaving - 1))
        .when(
            (step["is_key_change"] | step["is_insert"]) & ~_is_same_arrival(state, newest, step),
            F.array_append(rows, _row_of_step(step, F.lit(None).cast(_ROW))),
        )
        .otherwise(in_its_place)
    )


def _written_row(step: Column, rows: Column) -> Column:
    """Return which row an upsert writes, counted from 1, if it brings no row to the key.

    An update writes the row that has its before image. If no row or several rows have it, it writes
    the newest row.
    """
    fits = F.transform(rows, lambda row: _has_image(row, step))
    has_one = F.size(F.filter(fits, lambda fit: fit)) == 1
    is_update = ~step["is_key_change"] & ~step["is_insert"]
    return F.when(
        is_update & step["has_old_values"] & has_one, F.array_position(fits, True).cast("int")
    ).otherwise(F.greatest(F.size(rows), F.lit(1)))


def _row_of_step(step: Column, row: Column) -> Column:
    """Return the row that a step writes in place of `row`; a null `row` means beside all others."""
    write = F.struct(step["event_id"].alias("event_id"), step["sequence"].alias("sequence"))
    earlier_writes = F.coalesce(row["writes"], F.array().cast(f"array<{_WRITE}>"))
    has_come_before = ~step["is_key_change"] & row["arrival_image"].isNotNull()
    return F.struct(
        F.concat(earlier_writes, F.array(write)).alias("writes"),
        step["after_image"].alias("image"),
        step["is_snapshot"].alias("is_snapshot"),
        F.when(has_come_before, row["arrival_image"])
        .otherwise(step["after_image"])
        .alias("arrival_image"),
        F.when(has_come_before, row["previous_key"])
        .otherwise(step["previous_key"])
        .alias("previous_key"),
        F.when(has_come_before, row["arrival_transaction"])
        .when(step["is_key_change"] | step["is_insert"], step["transaction"])
        .alias("arrival_transaction"),
    )


def _is_same_arrival(state: Column, newest: Column, step: Column) -> Column:
    """Return whether a step reports the arrival of the newest row a second time.

    An insert is a second report only in the same transaction; in another one, it is another row.
    """
    is_same = newest["previous_key"].eqNullSafe(step["previous_key"]) & (
        F.to_json(newest["arrival_image"]) == F.to_json(step["after_image"])
    )
    is_near = step["is_key_change"] | state["transaction"].eqNullSafe(step["transaction"])
    return F.coalesce(is_same & is_near, F.lit(False))


def _superseded_by_step(
    step: Column, rows: Column, leaving: Column, last_write_id: Column
) -> Column:
    """Return the effects that are superseded because a delete removes one of several rows."""
    is_of_older_row = leaving < F.size(rows)

    def superseded(
        event_id: Column, effect: Column, last_write_id: Column, stands_before: Column
    ) -> Column:
        return F.struct(
            event_id.alias("event_id"),
            effect.alias("effect"),
            last_write_id.alias("last_write_id"),
            is_of_older_row.alias("is_of_older_row"),
            F.lit(True).alias("row_left"),
            stands_before.cast(STANDS_BEFORE).alias("stands_before"),
        )

    def superseded_write(event_id: Column, stands_before: Column) -> Column:
        return superseded(event_id, F.lit("upsert"), F.lit(None).cast("string"), stands_before)

    delete = superseded(
        *(step["event_id"], step["effect"]),
        F.when(is_of_older_row, last_write_id),
        F.lit(None),
    )
    writes = F.try_element_at(rows, leaving)["writes"]
    arrival = F.get(F.get(rows, leaving)["writes"], F.lit(0))["sequence"]
    behind_newer = F.transform(
        F.filter(writes, lambda write: write["sequence"] > arrival),
        lambda write, index: superseded_write(
            write["event_id"], F.struct(arrival.alias("sequence"), index.alias("index"))
        ),
    )
    of_newest = F.transform(writes, lambda write: superseded_write(write["event_id"], F.lit(None)))
    return F.when(
        leaving != _ALL_ROWS,
        F.concat(F.array(delete), F.when(is_of_older_row, behind_newer).otherwise(of_newest)),
    ).otherwise(F.array().cast(f"array<{_SUPERSEDED}>"))
