"""What became of keys that two rows held at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from cdc_marts.fold.key_collisions import superseded_effects, superseded_effects_of_run
from tests.python.fold.frames import case_and_value, frame, rows_of_cases

EFFECTS = (
    "source_format table_id row_key topic event_id effect op transaction_id event_at is_key_change"
    " sequence before after"
)
EVENTS = "source_format event_id row_key previous_row_key before after"
#: A format whose before images have the old values, and one in which they may have others.
EXACT, MISLEADING = "shareplex_json", "cdl_debezium_json"
PAIRS = "source_format table_id delete_id insert_id old_key new_key"

#: event_id, effect, key -> whether it belongs to an older row than one that stayed
Superseded = dict[tuple[str, str, str], bool]


def effect(
    position: int, event_id: str, kind: str, row_key: str, op: str, **other: Any
) -> dict[str, Any]:
    return {
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


@dataclass(frozen=True)
class Case:
    """Effects on the keys of a table, and which of them say something else than they did."""

    effects: Sequence[dict[str, Any]]
    superseded: Superseded
    #: event_id -> before, after and the key before the change
    images: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    #: delete, insert, old key, new key
    pairs: Sequence[tuple[str, str, str, str]] = ()
    truncated_at: int | None = None


def guest(seat: int, name: str | None) -> dict[str, Any]:
    """A row of the table."""
    return {"seat": seat, "guest": name}


SWAP = [
    effect(1, "first guest", "upsert", "1", "insert", transaction_id="t1"),
    effect(2, "second guest", "upsert", "2", "insert", transaction_id="t1"),
    effect(3, "first leaves", "delete", "1", "delete"),
    effect(3, "first comes", "upsert", "2", "insert"),
    effect(4, "second leaves", "delete", "2", "delete"),
    effect(4, "second comes", "upsert", "1", "insert"),
]
SWAPPED = [
    ("first leaves", "first comes", "1", "2"),
    ("second leaves", "second comes", "2", "1"),
]


def of_the_full_load(loaded: str, next_key: str, superseded: Superseded) -> Case:
    """A row comes to the key of one that the full load read there, and one of both leaves it."""
    return Case(
        [
            effect(1, "is loaded", "upsert", "2", "snapshot", transaction_id=None),
            effect(3, "comes", "upsert", "2", "insert"),
            effect(4, "leaves", "delete", "2", "delete"),
        ],
        superseded,
        images={
            "is loaded": {"after": guest(2, loaded)},
            "comes": {"after": guest(2, "a")},
            "leaves": {"before": guest(2, None)},
        },
        pairs=[("left", "comes", "1", "2"), ("leaves", "comes elsewhere", "2", next_key)],
    )


def came_and_goes(deleted: str, superseded: Superseded) -> Case:
    """A row is inserted on the key of another one, and a delete carries this image."""
    return Case(
        [
            effect(1, "older", "upsert", "1", "insert", transaction_id="t1"),
            effect(3, "newer", "upsert", "1", "insert"),
            effect(4, "goes", "delete", "1", "delete"),
        ],
        superseded,
        images={
            "older": {"after": guest(1, "a")},
            "newer": {"after": guest(1, "b")},
            "goes": {"before": guest(1, deleted)},
        },
    )


def truncated_at(position: int | None, superseded: Superseded) -> Case:
    return Case(
        [
            effect(1, "sat there", "upsert", "4", "insert"),
            effect(5, "comes by", "upsert", "4", "update", is_key_change=True),
            effect(6, "left", "delete", "4", "update", is_key_change=True),
        ],
        superseded,
        truncated_at=position,
    )


def inserted_before_the_older_leaves(old: str, new: str, before: str | None) -> Case:
    return Case(
        [
            effect(1, "old", "upsert", "2", "insert", transaction_id="a"),
            effect(2, "new", "upsert", "2", "insert"),
            effect(3, "leaves", "delete", "2", "update", is_key_change=True),
        ],
        {("leaves", "delete", "2"): True},
        images={
            "old": {"after": guest(2, old)},
            "new": {"after": guest(2, new)},
            "leaves": {"before": guest(2, before), "after": guest(3, "a")},
        },
    )


def deleted_behind_a_key_change(there: str, deleted: str | None, superseded: Superseded) -> Case:
    """Row `a` comes to the key of another one, and a delete carries an image."""
    return Case(
        [
            effect(1, "is there", "upsert", "2", "insert", transaction_id="a"),
            effect(2, "comes", "upsert", "2", "update", is_key_change=True),
            effect(3, "is deleted", "delete", "2", "delete"),
        ],
        superseded,
        images={
            "is there": {"after": guest(2, there)},
            "comes": {"after": guest(2, "a"), "previous_row_key": "1"},
            "is deleted": {"before": guest(2, deleted)},
        },
    )


def changed_beside_a_newer_one(left: str, superseded: Superseded) -> Case:
    """Row `a` comes to the key of row `b`, which becomes `c`, and then one of the two leaves."""
    return Case(
        [
            effect(1, "is there", "upsert", "2", "insert", transaction_id="a"),
            effect(3, "comes", "upsert", "2", "update", is_key_change=True),
            effect(4, "changes", "upsert", "2", "update"),
            effect(5, "leaves", "delete", "2", "update", is_key_change=True),
        ],
        superseded,
        images={
            "is there": {"after": guest(2, "b")},
            "comes": COMES_FROM_ONE,
            "changes": {"before": guest(2, "b"), "after": guest(2, "c")},
            "leaves": {"before": guest(2, left), "after": guest(3, left)},
        },
    )


def moved_up(is_loaded: bool, before: dict[str, Any] | None, superseded: Superseded) -> Case:
    """Row `a` comes to key 2 before row `b` leaves it; the load read key 2 after that, or never."""
    loaded = effect(1, "is loaded", "upsert", "2", "snapshot", transaction_id=None)
    return Case(
        [
            *([loaded] if is_loaded else []),
            effect(3, "comes", "upsert", "2", "update", is_key_change=True),
            effect(4, "leaves", "delete", "2", "update", is_key_change=True),
        ],
        superseded,
        images={
            "is loaded": {"after": guest(2, "a")},
            "comes": COMES_FROM_ONE,
            "leaves": {"before": before, "after": guest(3, "b")},
        },
    )


def reported_twice(comes: str, leaves: str) -> Case:
    """Row `a` comes to the key of row `b`, which leaves it, and both are reported twice.

    `comes`, `leaves`: what does it; if it is an update, it changes the key.
    """
    came: dict[str, Any] = {"op": comes, "is_key_change": comes == "update"}
    left: dict[str, Any] = {"op": leaves, "is_key_change": leaves == "update"}
    image = {"after": guest(2, "a"), "previous_row_key": "1" if comes == "update" else None}
    return Case(
        [
            effect(1, "is there", "upsert", "2", "insert", transaction_id="a"),
            effect(3, "comes", "upsert", "2", **came),
            effect(4, "leaves", "delete", "2", **left),
            effect(5, "comes again", "upsert", "2", **came),
            effect(6, "leaves again", "delete", "2", **left),
        ],
        {("leaves", "delete", "2"): True, ("leaves again", "delete", "2"): True},
        images={
            "is there": {"after": guest(2, "b")},
            "comes": image,
            "comes again": image,
            "leaves": CHANGES_SEAT,
            "leaves again": CHANGES_SEAT,
        },
    )


#: A row comes to a key, changes and leaves it, at one position in three partitions.
COMES_AND_LEAVES = {
    "comes": {"after": guest(1, "a")},
    "changes": {"before": guest(1, "a"), "after": guest(1, "b")},
    "leaves": {"before": guest(1, "b"), "after": guest(2, "b")},
}
CAME_AND_LEFT = {("comes", "upsert", "1"): False, ("changes", "upsert", "1"): False}


def comes_and_leaves(comes: int, changes: int, leaves: int) -> list[dict[str, Any]]:
    """Each effect in its partition."""
    return [
        effect(5, "comes", "upsert", "1", "insert", sequence=(5, comes, 0)),
        effect(5, "changes", "upsert", "1", "update", sequence=(5, changes, 1)),
        effect(5, "leaves", "delete", "1", "update", sequence=(5, leaves, 2), is_key_change=True),
    ]


def in_topics(topics: str) -> list[dict[str, Any]]:
    """The same effects, each in its topic, whose sequences are in the order of their names."""
    return [
        {**step, "topic": topic, "sequence": (5, 0, "abc".index(topic))}
        for step, topic in zip(comes_and_leaves(0, 0, 0), topics, strict=True)
    ]


CHANGES_SEAT = {"before": guest(2, "b"), "after": guest(3, "b")}
COMES_FROM_ONE = {"after": guest(2, "a"), "previous_row_key": "1"}
CHANGES_GUEST = {"before": guest(2, "a"), "after": guest(2, "b")}

CASES = {
    # Without images the older row leaves: it had to make room.
    "two rows swap their keys": Case(SWAP, {("second leaves", "delete", "2"): True}, pairs=SWAPPED),
    "a delete that is no key change ends its key": Case(SWAP, {}),
    # Here the newer one: what was written of it says nothing any more.
    "a delete takes the row whose image it carries": Case(
        [
            effect(1, "stays", "upsert", "1", "insert"),
            effect(2, "passes", "upsert", "1", "update", is_key_change=True),
            effect(3, "leaves", "delete", "1", "update", is_key_change=True),
        ],
        {("leaves", "delete", "1"): False, ("passes", "upsert", "1"): False},
        images={
            "stays": {"after": guest(1, "a")},
            "passes": {"after": guest(1, "b"), "previous_row_key": "9"},
            "leaves": {"before": guest(1, "b"), "after": guest(3, "b")},
        },
    ),
    "the full load read the row that came, under its key": of_the_full_load("a", "3", {}),
    "the full load read another row": of_the_full_load("b", "3", {("leaves", "delete", "2"): True}),
    "the full load read an equal row: they swap": of_the_full_load(
        "a", "1", {("leaves", "delete", "2"): True}
    ),
    "a loaded row that came on its way leaves with its later image": Case(
        [
            effect(1, "is loaded", "upsert", "2", "snapshot", transaction_id=None),
            effect(3, "comes", "upsert", "2", "update", is_key_change=True),
            effect(4, "changes", "upsert", "2", "update"),
            effect(5, "leaves", "delete", "2", "update", is_key_change=True),
        ],
        {},
        images={
            "is loaded": {"after": guest(2, "a")},
            "comes": COMES_FROM_ONE,
            "changes": CHANGES_GUEST,
            "leaves": CHANGES_SEAT,
        },
    ),
    "the full load read the row that came, and the row that left is another one": moved_up(
        True, guest(2, "b"), {("leaves", "delete", "2"): True}
    ),
    "the row that left before the one that came has never landed": moved_up(
        False, guest(2, "b"), {("leaves", "delete", "2"): True}
    ),
    # What an image leaves out, or has as null, does not make it the image of another row.
    "a row that came leaves with its key alone": moved_up(False, {"seat": 2}, {}),
    "a row that came leaves with nulls in place of values": moved_up(
        False, {"seat": 2, "guest": None, "table": "x"}, {}
    ),
    "a loaded row that came leaves with its key alone": moved_up(True, {"seat": 2}, {}),
    "a row that came in an earlier transaction leaves, whatever its image": Case(
        [
            effect(1, "comes", "upsert", "2", "update", transaction_id="a", is_key_change=True),
            effect(2, "changes", "upsert", "2", "update"),
            effect(3, "leaves", "delete", "2", "update", is_key_change=True),
        ],
        {},
        images={"comes": COMES_FROM_ONE, "changes": {"after": guest(2, "c")}}
        | {"leaves": CHANGES_SEAT},
    ),
    "a row that did not come to its key leaves, whatever its image": Case(
        [
            effect(1, "changes", "upsert", "2", "update"),
            effect(3, "leaves", "delete", "2", "update", is_key_change=True),
        ],
        {},
        images={"changes": {"after": guest(2, "c")}, "leaves": CHANGES_SEAT},
    ),
    **{
        f"the row that came stays, although both are reported twice: {comes}, {leaves}": (
            reported_twice(comes, leaves)
        )
        for comes, leaves in [("update", "update"), ("update", "delete"), ("insert", "update")]
    },
    "a row that came and went without a key change leaves no older one": came_and_goes("b", {}),
    "the row that came changes before the older one leaves": Case(
        [
            effect(1, "is there", "upsert", "2", "insert", transaction_id="a"),
            effect(2, "changes first", "upsert", "2", "update", transaction_id="b"),
            effect(3, "comes", "upsert", "2", "update", is_key_change=True),
            effect(4, "changes", "upsert", "2", "update"),
            effect(5, "leaves", "delete", "2", "update", is_key_change=True),
        ],
        {("leaves", "delete", "2"): True},
    ),
    "the older row changes beside the newer one, and leaves": changed_beside_a_newer_one(
        "c", {("changes", "upsert", "2"): True, ("leaves", "delete", "2"): True}
    ),
    "the older row changes beside the newer one, which leaves": changed_beside_a_newer_one(
        "a", {("comes", "upsert", "2"): False, ("leaves", "delete", "2"): False}
    ),
    # Where the database checks keys at the end of a transaction.
    "the older row goes behind the newer one": came_and_goes("a", {("goes", "delete", "1"): True}),
    # A server that restarts sends the change of a key and the one behind it again.
    "changes that are sent again bring no second row": Case(
        [
            effect(1, "comes", "upsert", "2", "update", is_key_change=True),
            effect(2, "changes", "upsert", "2", "update"),
            effect(3, "comes again", "upsert", "2", "update", is_key_change=True),
            effect(4, "changes again", "upsert", "2", "update"),
            effect(5, "leaves", "delete", "2", "update", is_key_change=True),
        ],
        {},
        images={
            "comes": COMES_FROM_ONE,
            "comes again": COMES_FROM_ONE,
            "changes": CHANGES_GUEST,
            "changes again": CHANGES_GUEST,
            "leaves": CHANGES_SEAT,
        },
    ),
    "a row is there without a truncation": truncated_at(None, {("left", "delete", "4"): True}),
    "a truncation takes the rows before it": truncated_at(2, {}),
    "of another transaction one row is left": Case(
        [
            effect(1, "one", "upsert", "1", "insert", transaction_id="a"),
            effect(2, "two", "upsert", "1", "update", is_key_change=True, transaction_id="a"),
            effect(3, "leaves", "delete", "1", "update", is_key_change=True, transaction_id="b"),
        ],
        {},
    ),
    "a row is inserted before the older one leaves": inserted_before_the_older_leaves(
        "a", "b", "a"
    ),
    "an equal row is inserted before the older one leaves": inserted_before_the_older_leaves(
        "a", "a", "a"
    ),
    "a row is inserted before an older one leaves without an image": (
        inserted_before_the_older_leaves("a", "b", None)
    ),
    # Also where its insert is reported twice.
    "a row that is inserted and moved leaves nothing": Case(
        [
            effect(1, "comes", "upsert", "2", "insert"),
            effect(2, "comes again", "upsert", "2", "insert"),
            effect(3, "leaves", "delete", "2", "update", is_key_change=True),
        ],
        {},
        images={
            "comes": {"after": guest(2, "a")},
            "comes again": {"after": guest(2, "a")},
            "leaves": {"before": guest(2, "a"), "after": guest(3, "a")},
        },
    ),
    "behind a key change the older row is deleted": deleted_behind_a_key_change(
        "b", "b", {("is deleted", "delete", "2"): True}
    ),
    "behind a key change the row that came is deleted": deleted_behind_a_key_change(
        "b", "a", {("is deleted", "delete", "2"): False, ("comes", "upsert", "2"): False}
    ),
    "behind a key change a row is deleted of which no image says anything": (
        deleted_behind_a_key_change("b", None, {})
    ),
    "behind a key change a row is deleted of which the newest image is missing": (
        deleted_behind_a_key_change("b", "c", {("is deleted", "delete", "2"): True})
    ),
    "of equal rows one is deleted": deleted_behind_a_key_change(
        "a", "a", {("is deleted", "delete", "2"): True}
    ),
    **{
        f"of one position the last in the order of images counts: partitions {partitions}": Case(
            comes_and_leaves(*partitions), CAME_AND_LEFT, images=COMES_AND_LEAVES
        )
        for partitions in [(2, 1, 0), (1, 2, 0), (1, 0, 1), (2, 0, 2)]
    },
    "topics at one position are in the order of images too": Case(
        in_topics("cba"), CAME_AND_LEFT, images=COMES_AND_LEAVES
    ),
    "where partitions have the order of images, all effects count": Case(
        comes_and_leaves(0, 1, 2), {}, images=COMES_AND_LEAVES
    ),
    "partitions decide where images do not chain": Case(
        comes_and_leaves(2, 1, 0),
        {},
        images={**COMES_AND_LEAVES, "changes": {"after": guest(1, "c")}},
    ),
    # Images of an update that have the key alone would fit in front of all.
    "changes that are numbered keep the order of their numbers": Case(
        [
            effect(1, "is there", "upsert", "1", "insert", sequence=(1, 0, 0, 1)),
            effect(5, "leaves", "delete", "1", "update", sequence=(5, 2, 0, 1), is_key_change=True),
            effect(5, "comes", "upsert", "1", "update", sequence=(5, 1, 0, 2), is_key_change=True),
            effect(5, "changes", "upsert", "1", "update", sequence=(5, 0, 0, 3)),
        ],
        {},
        images={
            "is there": {"after": guest(1, "a")},
            "leaves": {"before": guest(1, "a")},
            "comes": {"after": guest(1, "b")},
            "changes": {"before": {"seat": 1}, "after": {"seat": 1}},
        },
    ),
    "a row leaves before another comes at its position": Case(
        [
            effect(1, "is there", "upsert", "1", "insert"),
            effect(5, "comes", "upsert", "1", "insert", sequence=(5, 0, 0)),
            effect(5, "leaves", "delete", "1", "update", sequence=(5, 1, 0), is_key_change=True),
        ],
        {("leaves", "delete", "1"): True},
        images={
            "is there": {"after": guest(1, "a")},
            "comes": {"after": guest(1, "b")},
            "leaves": {"before": guest(1, "a"), "after": guest(2, "a")},
        },
    ),
}


@pytest.fixture(scope="module")
def found(spark: SparkSession) -> dict[str, list[Row]]:
    """Case -> the effects that are superseded."""
    return _superseded(spark, CASES)


def _superseded(
    spark: SparkSession, cases: Mapping[str, Case], source_format: str = EXACT
) -> dict[str, list[Row]]:
    """Case -> the effects that are superseded; each case has a table and events of its own."""
    events = {
        name: [
            {"event_id": event_id, "row_key": '{"seat":0}', **case.images.get(event_id, {})}
            for event_id in {e["event_id"] for e in case.effects}
        ]
        for name, case in cases.items()
    }
    pairs = {
        name: [dict(zip(PAIRS.split()[2:], pair, strict=True)) for pair in case.pairs]
        for name, case in cases.items()
    }
    truncations = {
        name: [{"sequence": (at, 0, at)}]
        for name, case in cases.items()
        if (at := case.truncated_at) is not None
    }
    frame_of = partial(_frame, spark, source_format)
    rows = superseded_effects(
        frame_of(EFFECTS, {name: case.effects for name, case in cases.items()}),
        frame_of(EVENTS, events),
        frame_of(PAIRS, pairs),
        frame_of("source_format table_id sequence event_at", truncations),
    )
    by_case: dict[str, list[Row]] = {name: [] for name in cases}
    for row in rows.collect():
        by_case[row.table_id].append(row)
    return by_case


def _frame(
    spark: SparkSession,
    source_format: str,
    columns: str,
    rows: Mapping[str, Sequence[dict[str, Any]]],
) -> DataFrame:
    named = {
        name: [{"source_format": source_format, "table_id": name, **row} for row in of_case]
        for name, of_case in rows.items()
    }
    return frame(spark, columns, rows_of_cases(named, {"event_id", "delete_id", "insert_id"}))


@pytest.mark.parametrize("name", CASES)
def test_what_became_of_the_effects(found: dict[str, list[Row]], name: str) -> None:
    superseded = {
        (case_and_value(row.event_id)[1], row.effect, row.row_key): row.is_of_older_row
        for row in found[name]
    }
    assert superseded == CASES[name].superseded


def test_effects_in_front_of_a_lower_sequence_say_where_they_stand(
    found: dict[str, list[Row]],
) -> None:
    name = "of one position the last in the order of images counts: partitions (1, 2, 0)"
    places = {case_and_value(row.event_id)[1]: row.stands_before for row in found[name]}
    assert {event: place["index"] for event, place in places.items()} == {"comes": 0, "changes": 1}
    assert {place.sequence.partition for place in places.values()} == {0}
    assert not any(row.row_left for row in found[name])


def test_a_change_of_an_older_row_stands_before_the_arrival_of_the_newer_one(
    found: dict[str, list[Row]],
) -> None:
    rows = found["the older row changes beside the newer one, and leaves"]
    places = {case_and_value(row.event_id)[1]: row.stands_before for row in rows}
    assert (places["changes"].sequence.offset, places["changes"]["index"]) == (3, 0)
    assert places["leaves"] is None
    assert all(row.row_left for row in rows)


def test_effects_of_a_row_that_left_beside_another_say_so(found: dict[str, list[Row]]) -> None:
    assert [row.row_left for row in found["two rows swap their keys"]] == [True]


@pytest.mark.parametrize(
    ("name", "last_writes"),
    [
        ("the row that came changes before the older one leaves", {"leaves": "changes first"}),
        (
            "the older row changes beside the newer one, and leaves",
            {"changes": None, "leaves": "changes"},
        ),
        (
            "the row that came stays, although both are reported twice: update, update",
            {"leaves": "is there", "leaves again": "is there"},
        ),
        (
            "the row that left before the one that came has never landed",
            {"leaves": None},
        ),
        (
            "a delete takes the row whose image it carries",
            {"leaves": None, "passes": None},
        ),
    ],
)
def test_the_delete_of_an_older_row_names_the_event_that_last_wrote_it(
    found: dict[str, list[Row]], name: str, last_writes: dict[str, str | None]
) -> None:
    assert {
        case_and_value(row.event_id)[1]: row.last_write_id and case_and_value(row.last_write_id)[1]
        for row in found[name]
    } == last_writes


def test_a_misleading_before_image_shows_no_other_row(spark: SparkSession) -> None:
    """It may have the default of a column, as in Debezium, or its new value, as in Canal.

    Beside a row that came from another key, a delete still removes the older row.
    """
    other_image = guest(2, "b")
    older_row_goes = {("is deleted", "delete", "2"): True}
    cases = {
        "it left": moved_up(False, other_image, {}),
        "load": moved_up(True, other_image, {}),
        "beside": deleted_behind_a_key_change("b", "c", older_row_goes),
    }
    found = _superseded(spark, cases, MISLEADING)
    assert found["it left"] == found["load"] == []
    assert [case_and_value(row.event_id)[1] for row in found["beside"]] == ["is deleted"]


def test_without_new_colliding_keys_nothing_is_read(spark: SparkSession) -> None:
    read = _frame(spark, EXACT, "source_format", {"unreadable": [{}]})
    read = read.where("cast(raise_error('it was read') as boolean)")
    found = superseded_effects_of_run(
        _frame(spark, EXACT, "source_format table_id row_key", {}),
        effects=read,
        exceptional_records=read,
        events=read,
        split_key_changes=read,
        truncations=read,
        earlier=read,
    )
    assert found.collect() == []
