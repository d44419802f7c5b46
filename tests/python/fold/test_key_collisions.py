"""What became of keys that two rows held at once."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from cdc_marts.fold.key_collisions import superseded_effects
from tests.python.fold.frames import frame

EFFECTS = (
    "source_format table_id row_key topic event_id effect op transaction_id event_at is_key_change"
    " sequence before after"
)
EVENTS = "source_format event_id row_key previous_row_key before after"
PAIRS = "source_format table_id delete_id insert_id old_key new_key"

#: event_id, effect, key -> whether a delete took an older row
Superseded = dict[tuple[str, str, str], bool]


def effect(
    position: int, event_id: str, kind: str, row_key: str, op: str, **other: Any
) -> dict[str, Any]:
    return {
        "source_format": "cdl_debezium_json",
        "table_id": "shop.seats",
        "row_key": row_key,
        "topic": "seats",
        "event_id": event_id,
        "effect": kind,
        "op": op,
        "transaction_id": "t",
        "is_key_change": False,
        "sequence": (position, 0, position),
        **other,
    }


def superseded(spark: SparkSession, effects: list[dict[str, Any]], **others: Any) -> Superseded:
    """`others`: as `found` takes them."""
    rows = found(spark, effects, **others)
    return {(r.event_id, r.effect, r.row_key): r.took_older_row for r in rows}


def found(
    spark: SparkSession,
    effects: list[dict[str, Any]],
    *,
    images: dict[str, dict[str, Any]] | None = None,
    pairs: list[tuple[str, str, str, str]] = (),
    truncated_at: int | None = None,
) -> list[Row]:
    """`images`: event_id -> before, after; `pairs`: delete, insert, old key, new key."""
    names = {"source_format": "cdl_debezium_json", "table_id": "shop.seats"}
    events = [
        {
            **names,
            "event_id": event_id,
            "row_key": '{"seat":0}',
            **(images or {}).get(event_id, {}),
        }
        for event_id in {e["event_id"] for e in effects}
    ]
    return superseded_effects(
        frame(spark, EFFECTS, effects),
        frame(spark, EVENTS, events),
        frame(
            spark,
            PAIRS,
            [{**names, **dict(zip(PAIRS.split()[2:], pair, strict=True))} for pair in pairs],
        ),
        frame(
            spark,
            "source_format table_id sequence",
            []
            if truncated_at is None
            else [{**names, "sequence": (truncated_at, 0, truncated_at)}],
        ),
    ).collect()


SWAP = [
    effect(1, "first guest", "upsert", "1", "insert", transaction_id="t1"),
    effect(2, "second guest", "upsert", "2", "insert", transaction_id="t1"),
    effect(3, "first leaves", "delete", "1", "delete"),
    effect(3, "first comes", "upsert", "2", "insert"),
    effect(4, "second leaves", "delete", "2", "delete"),
    effect(4, "second comes", "upsert", "1", "insert"),
]
PAIRS_OF_SWAP = [
    ("first leaves", "first comes", "1", "2"),
    ("second leaves", "second comes", "2", "1"),
]


def test_two_rows_may_swap_their_keys(spark: SparkSession) -> None:
    """Without images the older row leaves: it had to make room."""
    found = superseded(spark, SWAP, pairs=PAIRS_OF_SWAP)
    assert found == {("second leaves", "delete", "2"): True}


def test_a_delete_that_is_no_key_change_ends_its_key(spark: SparkSession) -> None:
    assert superseded(spark, SWAP) == {}


def test_a_delete_takes_the_row_whose_image_it_carries(spark: SparkSession) -> None:
    """Here the newer one: what was written of it says nothing any more."""
    steps = [
        effect(1, "stays", "upsert", "1", "insert"),
        effect(2, "passes", "upsert", "1", "update", is_key_change=True),
        effect(3, "leaves", "delete", "1", "update", is_key_change=True),
    ]
    images = {
        "stays": {"after": {"seat": 1, "guest": "a"}},
        "passes": {"after": {"seat": 1, "guest": "b"}, "previous_row_key": "9"},
        "leaves": {"before": {"seat": 1, "guest": "b"}, "after": {"seat": 3, "guest": "b"}},
    }
    assert superseded(spark, steps, images=images) == {
        ("leaves", "delete", "1"): False,
        ("passes", "upsert", "1"): False,
    }


@pytest.mark.parametrize(
    ("loaded", "next_key", "found"),
    [
        pytest.param("a", "3", {}, id="the row that came, read under its key"),
        pytest.param("b", "3", {("leaves", "delete", "2"): True}, id="another row"),
        pytest.param("a", "1", {("leaves", "delete", "2"): True}, id="an equal one: they swap"),
    ],
)
def test_a_row_of_the_full_load_may_be_the_one_that_came(
    spark: SparkSession, loaded: str, next_key: str, found: Superseded
) -> None:
    steps = [
        effect(1, "is loaded", "upsert", "2", "snapshot", transaction_id=None),
        effect(3, "comes", "upsert", "2", "insert"),
        effect(4, "leaves", "delete", "2", "delete"),
    ]
    images = {
        "is loaded": {"after": {"seat": 2, "guest": loaded}},
        "comes": {"after": {"seat": 2, "guest": "a"}},
        "leaves": {"before": {"seat": 2, "guest": None}},
    }
    pairs = [("left", "comes", "1", "2"), ("leaves", "comes elsewhere", "2", next_key)]
    assert superseded(spark, steps, images=images, pairs=pairs) == found


def test_a_loaded_row_that_came_on_its_way_leaves_with_its_later_image(
    spark: SparkSession,
) -> None:
    steps = [
        effect(1, "is loaded", "upsert", "2", "snapshot", transaction_id=None),
        effect(3, "comes", "upsert", "2", "update", is_key_change=True),
        effect(4, "changes", "upsert", "2", "update"),
        effect(5, "leaves", "delete", "2", "update", is_key_change=True),
    ]
    images = {
        "is loaded": {"after": {"seat": 2, "guest": "a"}},
        "comes": {"after": {"seat": 2, "guest": "a"}, "previous_row_key": "1"},
        "changes": {"before": {"seat": 2, "guest": "a"}, "after": {"seat": 2, "guest": "b"}},
        "leaves": {"before": {"seat": 2, "guest": "b"}, "after": {"seat": 3, "guest": "b"}},
    }
    assert superseded(spark, steps, images=images) == {}


def test_a_row_that_came_and_went_without_a_key_change_leaves_no_older_one(
    spark: SparkSession,
) -> None:
    steps = [
        effect(1, "older", "upsert", "1", "insert", transaction_id="t1"),
        effect(3, "newer", "upsert", "1", "insert"),
        effect(4, "goes", "delete", "1", "delete"),
    ]
    images = {
        "older": {"after": {"seat": 1, "guest": "a"}},
        "newer": {"after": {"seat": 1, "guest": "b"}},
        "goes": {"before": {"seat": 1, "guest": "b"}},
    }
    assert superseded(spark, steps, images=images) == {}
    # The older one goes behind the newer one, where keys are checked at the end.
    images["goes"] = {"before": {"seat": 1, "guest": "a"}}
    assert superseded(spark, steps, images=images) == {("goes", "delete", "1"): True}


def test_changes_that_are_sent_again_bring_no_second_row(spark: SparkSession) -> None:
    """A server that restarts sends the change of a key and the one behind it again."""
    steps = [
        effect(1, "comes", "upsert", "2", "update", is_key_change=True),
        effect(2, "changes", "upsert", "2", "update"),
        effect(3, "comes again", "upsert", "2", "update", is_key_change=True),
        effect(4, "changes again", "upsert", "2", "update"),
        effect(5, "leaves", "delete", "2", "update", is_key_change=True),
    ]
    came = {"after": {"seat": 2, "guest": "a"}, "previous_row_key": "1"}
    changed = {"before": {"seat": 2, "guest": "a"}, "after": {"seat": 2, "guest": "b"}}
    images = {
        "comes": came,
        "comes again": came,
        "changes": changed,
        "changes again": changed,
        "leaves": {"before": {"seat": 2, "guest": "b"}, "after": {"seat": 3, "guest": "b"}},
    }
    assert superseded(spark, steps, images=images) == {}


def test_a_truncation_takes_the_rows_before_it(spark: SparkSession) -> None:
    steps = [
        effect(1, "sat there", "upsert", "4", "insert"),
        effect(5, "comes by", "upsert", "4", "update", is_key_change=True),
        effect(6, "left", "delete", "4", "update", is_key_change=True),
    ]
    assert superseded(spark, steps) == {("left", "delete", "4"): True}
    assert superseded(spark, steps, truncated_at=2) == {}


def test_of_another_transaction_one_row_is_left(spark: SparkSession) -> None:
    steps = [
        effect(1, "one", "upsert", "1", "insert", transaction_id="a"),
        effect(2, "two", "upsert", "1", "update", is_key_change=True, transaction_id="a"),
        effect(3, "leaves", "delete", "1", "update", is_key_change=True, transaction_id="b"),
    ]
    assert superseded(spark, steps) == {}


def test_a_row_is_inserted_before_the_older_one_leaves(spark: SparkSession) -> None:
    steps = [
        effect(1, "old", "upsert", "2", "insert", transaction_id="a"),
        effect(2, "new", "upsert", "2", "insert"),
        effect(3, "leaves", "delete", "2", "update", is_key_change=True),
    ]
    leaves = {"after": {"seat": 3, "guest": "a"}}
    for old, new, before in (("a", "b", "a"), ("a", "a", "a"), ("a", "b", None)):
        images = {
            "old": {"after": {"seat": 2, "guest": old}},
            "new": {"after": {"seat": 2, "guest": new}},
            "leaves": {**leaves, "before": {"seat": 2, "guest": before}},
        }
        found = superseded(spark, steps, images=images)
        assert found == {("leaves", "delete", "2"): True}, (old, new, before)


def test_a_row_that_is_inserted_and_moved_leaves_nothing(spark: SparkSession) -> None:
    """Also where its insert is reported twice."""
    steps = [
        effect(1, "comes", "upsert", "2", "insert"),
        effect(2, "comes again", "upsert", "2", "insert"),
        effect(3, "leaves", "delete", "2", "update", is_key_change=True),
    ]
    came = {"after": {"seat": 2, "guest": "a"}}
    images = {
        "comes": came,
        "comes again": came,
        "leaves": {"before": {"seat": 2, "guest": "a"}, "after": {"seat": 3, "guest": "a"}},
    }
    assert superseded(spark, steps, images=images) == {}


@pytest.mark.parametrize(
    ("deleted", "found"),
    [
        pytest.param("b", {("is deleted", "delete", "2"): True}, id="the older one"),
        pytest.param(
            "a",
            {("is deleted", "delete", "2"): False, ("comes", "upsert", "2"): False},
            id="the one that came",
        ),
        pytest.param(None, {}, id="any, where no image says which"),
    ],
)
def test_a_delete_behind_a_key_change_takes_the_row_whose_image_it_carries(
    spark: SparkSession, deleted: str | None, found: Superseded
) -> None:
    steps = [
        effect(1, "is there", "upsert", "2", "insert", transaction_id="a"),
        effect(2, "comes", "upsert", "2", "update", is_key_change=True),
        effect(3, "is deleted", "delete", "2", "delete"),
    ]
    images = {
        "is there": {"after": {"seat": 2, "guest": "b"}},
        "comes": {"after": {"seat": 2, "guest": "a"}, "previous_row_key": "1"},
        "is deleted": {"before": {"seat": 2, "guest": deleted}},
    }
    assert superseded(spark, steps, images=images) == found


def test_of_equal_rows_one_is_deleted(spark: SparkSession) -> None:
    steps = [
        effect(1, "is there", "upsert", "2", "insert", transaction_id="a"),
        effect(2, "comes", "upsert", "2", "update", is_key_change=True),
        effect(3, "is deleted", "delete", "2", "delete"),
    ]
    row = {"seat": 2, "guest": "a"}
    images = {
        "is there": {"after": row},
        "comes": {"after": row, "previous_row_key": "1"},
        "is deleted": {"before": row},
    }
    assert superseded(spark, steps, images=images) == {("is deleted", "delete", "2"): True}


#: A row comes to a key, changes and leaves it, at one position in three partitions.
COMES_AND_LEAVES = {
    "comes": {"after": {"seat": 1, "guest": "a"}},
    "changes": {"before": {"seat": 1, "guest": "a"}, "after": {"seat": 1, "guest": "b"}},
    "leaves": {"before": {"seat": 1, "guest": "b"}, "after": {"seat": 2, "guest": "b"}},
}


def comes_and_leaves(comes: int, changes: int, leaves: int) -> list[dict[str, Any]]:
    """Each effect in its partition."""
    return [
        effect(5, "comes", "upsert", "1", "insert", sequence=(5, comes, 0)),
        effect(5, "changes", "upsert", "1", "update", sequence=(5, changes, 1)),
        effect(5, "leaves", "delete", "1", "update", sequence=(5, leaves, 2), is_key_change=True),
    ]


@pytest.mark.parametrize("partitions", [(2, 1, 0), (1, 2, 0), (1, 0, 1), (2, 0, 2)])
def test_of_one_position_the_last_in_the_order_of_images_counts(
    spark: SparkSession, partitions: tuple[int, int, int]
) -> None:
    steps = comes_and_leaves(*partitions)
    assert superseded(spark, steps, images=COMES_AND_LEAVES) == {
        ("comes", "upsert", "1"): False,
        ("changes", "upsert", "1"): False,
    }


def test_effects_in_front_of_a_lower_sequence_say_where_they_stand(spark: SparkSession) -> None:
    rows = found(spark, comes_and_leaves(1, 2, 0), images=COMES_AND_LEAVES)
    places = {row.event_id: row.stands_before for row in rows}
    assert {name: place["index"] for name, place in places.items()} == {"comes": 0, "changes": 1}
    assert {place.sequence.partition for place in places.values()} == {0}
    assert not any(row.row_left for row in rows)


def test_effects_of_a_row_that_left_beside_another_say_so(spark: SparkSession) -> None:
    assert all(row.row_left for row in found(spark, SWAP, pairs=PAIRS_OF_SWAP))


def test_changes_that_are_numbered_keep_the_order_of_their_numbers(spark: SparkSession) -> None:
    """Images of an update that have the key alone would fit in front of all."""
    steps = [
        effect(1, "is there", "upsert", "1", "insert", sequence=(1, 0, 0, 1)),
        effect(5, "leaves", "delete", "1", "update", sequence=(5, 2, 0, 1), is_key_change=True),
        effect(5, "comes", "upsert", "1", "update", sequence=(5, 1, 0, 2), is_key_change=True),
        effect(5, "changes", "upsert", "1", "update", sequence=(5, 0, 0, 3)),
    ]
    images = {
        "is there": {"after": {"seat": 1, "guest": "a"}},
        "leaves": {"before": {"seat": 1, "guest": "a"}},
        "comes": {"after": {"seat": 1, "guest": "b"}},
        "changes": {"before": {"seat": 1}, "after": {"seat": 1}},
    }
    assert superseded(spark, steps, images=images) == {}


def test_topics_at_one_position_are_in_the_order_of_images_too(spark: SparkSession) -> None:
    steps = comes_and_leaves(0, 0, 0)
    for step, topic, index in zip(steps, ("c", "b", "a"), (2, 1, 0), strict=True):
        step.update(topic=topic, sequence=(5, 0, index))
    assert superseded(spark, steps, images=COMES_AND_LEAVES) == {
        ("comes", "upsert", "1"): False,
        ("changes", "upsert", "1"): False,
    }


def test_where_partitions_have_the_order_of_images_all_count(spark: SparkSession) -> None:
    steps = comes_and_leaves(0, 1, 2)
    assert superseded(spark, steps, images=COMES_AND_LEAVES) == {}


def test_a_row_leaves_before_another_comes_at_its_position(spark: SparkSession) -> None:
    steps = [
        effect(1, "is there", "upsert", "1", "insert"),
        effect(5, "comes", "upsert", "1", "insert", sequence=(5, 0, 0)),
        effect(5, "leaves", "delete", "1", "update", sequence=(5, 1, 0), is_key_change=True),
    ]
    images = {
        "is there": {"after": {"seat": 1, "guest": "a"}},
        "comes": {"after": {"seat": 1, "guest": "b"}},
        "leaves": {"before": {"seat": 1, "guest": "a"}, "after": {"seat": 2, "guest": "a"}},
    }
    assert superseded(spark, steps, images=images) == {("leaves", "delete", "1"): True}


def test_partitions_decide_where_images_do_not_chain(spark: SparkSession) -> None:
    steps = comes_and_leaves(2, 1, 0)
    images = {**COMES_AND_LEAVES, "changes": {"after": {"seat": 1, "guest": "c"}}}
    assert superseded(spark, steps, images=images) == {}
