"""The order of the effects on a key at one position of the log, by their images.

The before image of a change is the image that the change in front of it wrote. So the images of
several partitions form a chain, although the sequences there say nothing of their order.
"""

from __future__ import annotations

from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from cdc_marts.expressions import let
from cdc_marts.parsing.records import SEQUENCE

#: Where an effect stands if images show another order than the sequences do: in front of the effect
#: with this sequence, behind `index` others at its position.
STANDS_BEFORE = f"struct<sequence: {SEQUENCE}, index: int>"


def chain(steps: Column, rows: Column) -> Column:
    """Return the steps of one position in the order in which their images chain.

    Steps of one partition keep their order. Null if no such order has all steps, if all steps are
    of one partition, or if two rows were there before. `steps`: effects with their images, in
    sequence; `rows`: the rows that the first step finds.
    """
    none = F.slice(steps, 1, 0)
    image = F.try_element_at(rows, F.lit(-1))["image"]
    start = F.struct(none.alias("done"), steps.alias("left"), image.alias("image"))

    def after_next(walk: Column, _: Column) -> Column:
        return let(
            _next_in_chain(walk),
            lambda step: F.when(step.isNull(), walk).otherwise(
                F.struct(
                    F.array_append(walk["done"], step).alias("done"),
                    F.filter(walk["left"], lambda left: left["sequence"] != step["sequence"]).alias(
                        "left"
                    ),
                    _image_after(step).alias("image"),
                )
            ),
        )

    walked = F.aggregate(steps, start, after_next)
    has_one_source = F.size(F.array_distinct(F.transform(steps, lambda step: step["source"]))) == 1
    return F.when(
        ~has_one_source & (F.size(rows) <= 1),
        let(walked, lambda walk: F.when(F.size(walk["left"]) == 0, walk["done"])),
    )


def _next_in_chain(walk: Column) -> Column:
    """Return the step that comes next in the chain of images; null if no step fits.

    The chain begins with a step whose before image no other step wrote, if there is one. After
    that, a step must change the row that is there. A step that another one can follow is preferred.
    Steps of one partition keep their order.
    """
    left = walk["left"]

    def has_other(step: Column, that: Callable[[Column], Column]) -> Column:
        return F.exists(left, lambda other: (other["sequence"] != step["sequence"]) & that(other))

    def is_head(step: Column) -> Column:
        return ~has_other(
            step,
            lambda other: (
                (other["source"] == step["source"]) & (other["sequence"] < step["sequence"])
            ),
        )

    def is_start(step: Column) -> Column:
        is_written = has_other(step, lambda other: _follows(step, _image_after(other)))
        return (F.size(walk["done"]) == 0) & ~_comes(step) & ~is_written

    def is_followed(step: Column) -> Column:
        return has_other(step, lambda other: _follows(other, _image_after(step)))

    def choose(heads: Column) -> Column:
        following = F.filter(heads, lambda step: _follows(step, walk["image"]))
        preferred = (F.filter(heads, is_start), F.filter(following, is_followed), following)
        return F.coalesce(*(F.get(steps, F.lit(0)) for steps in preferred))

    return let(F.filter(left, is_head), choose)


def _follows(step: Column, image: Column) -> Column:
    """Return whether a step changes the row that has an image.

    A null image means that no row is there.
    """
    changes_it = step["before_image"].isNotNull() & images_agree(step["before_image"], image)
    return F.when(_comes(step), image.isNull()).otherwise(changes_it)


def _comes(step: Column) -> Column:
    """Return whether a step brings a row to the key."""
    comes = step["is_insert"] | step["is_key_change"] | step["is_snapshot"]
    return (step["effect"] == "upsert") & comes


def _image_after(step: Column) -> Column:
    return F.when(step["effect"] == "upsert", step["after_image"])


def superseded_by_last(chained: Column) -> Column:
    """Return the superseded effects of a chain: all but the last, in front of which they stand."""
    last = F.element_at(chained, -1)
    return F.transform(
        F.slice(chained, F.lit(1), F.size(chained) - 1),
        lambda step, index: F.struct(
            step["event_id"].alias("event_id"),
            step["effect"].alias("effect"),
            F.lit(None).cast("string").alias("last_write_id"),
            ((step["effect"] == "delete") & (last["effect"] == "upsert")).alias("is_of_older_row"),
            F.lit(False).alias("row_left"),
            F.struct(last["sequence"].alias("sequence"), index.alias("index")).alias(
                "stands_before"
            ),
        ),
    )


def images_agree(one: Column, other: Column) -> Column:
    """Return whether two images have the same values in the columns that both have.

    An image that is null agrees with none.
    """
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
