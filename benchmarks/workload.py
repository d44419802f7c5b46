"""The changes in the source database of a benchmark, drawn from a seed.

Every change is an expression of its number alone, so that millions of changes are made in parallel,
the same on every machine. Rows are visited in rounds, each in another order: a row's visit number
determines its image before and after.
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

#: 2024-03-01T00:00:00Z in epoch milliseconds; a change is made every millisecond.
FIRST_MILLIS = 1_709_251_200_000
#: Milliseconds from a change to its message.
PUBLISHING_MILLIS = 731
DATABASE, SCHEMA = "shop", "public"

_STATUSES = ("new", "paid", "packed", "shipped", "delivered", "returned")
_NAMES = ("Ada O'Neill", "李雷", "Zoë Müller", 'Grace "Amazing" Hopper', "Jean-Luc")
#: Coprime to any sensible number of keys: numbers multiplied by it come in another order.
_SHUFFLING_PRIME = 2_654_435_761
#: In a skewed workload, so many of ten changes are of one row.
_SKEWED_TENTHS = 8
#: Characters that one step adds to a note.
_NOTE_STEP = 64
#: A row whose key has changed has an id above this.
MOVED_IDS = 10**12
#: A redelivery comes this many changes behind its message.
_REDELIVERY_LAG = 1000
#: The share of truncations among the rare changes.
_TRUNCATION_SHARE = 0.01

#: Column -> type in every table. Wide tables have attributes too.
_CORE_COLUMNS = {
    "id": "long",
    "customer": "text",
    "status": "text",
    "amount": "decimal",
    "is_paid": "boolean",
    "updated_at": "timestamp",
}
#: The columns that an update changes.
CHANGED_COLUMNS = ("status", "amount", "is_paid", "updated_at")


@dataclass(frozen=True)
class Workload:
    """The amounts and shares by which changes are drawn."""

    #: row-level changes; an update in two halves is two messages
    changes: int
    #: mean size of a message
    message_bytes: int = 1000
    keys: int = 50_000
    tables: int = 1
    #: share of updates among the changes of existing rows; the others are deletes, and inserts
    #: that bring the rows back
    update_share: float = 0.8
    #: whether 80 % of the changes are of one row
    skewed: bool = False
    #: share of changes that change the key of their row, of those whose message lacks a value, and
    #: of those that are delivered twice
    rare_share: float = 0.0
    seed: int = 1

    @property
    def columns(self) -> dict[str, str]:
        """Column -> type in every table: larger messages have more columns."""
        attributes = 0 if self.message_bytes < 500 else 4 if self.message_bytes < 4000 else 16
        named = {f"attribute_{number}": "text" for number in range(1, attributes + 1)}
        return {**_CORE_COLUMNS, **named, "note": "text"}

    @property
    def changes_per_truncation(self) -> int:
        """Changes per truncation, only if there are rare changes."""
        return round(1 / (self.rare_share * _TRUNCATION_SHARE))

    @property
    def table_names(self) -> list[str]:
        return [f"orders_{number:03}" for number in range(self.tables)]


@dataclass(frozen=True)
class Rare:
    """Boolean columns for the rare traits of a change."""

    is_key_change: Column
    #: whether the message lacks the value of the column `note`
    lacks_note: Column
    #: whether `truncated_table` is truncated just before the change
    truncates: Column
    truncated_table: str


@dataclass(frozen=True)
class Change:
    """Columns of a row-level change."""

    #: insert, update, delete
    op: Column
    table: Column
    #: bigint, also the row's `id`; if the key changes, the new one
    key: Column
    #: column -> value before and after: bigint, string, decimal(12,2), boolean, and for
    #: a timestamp a bigint of epoch milliseconds; without meaning if `op` has no such image
    before: dict[str, Column]
    after: dict[str, Column]
    types: dict[str, str]
    #: bigint, rises along the log
    position: Column
    #: bigint, epoch milliseconds
    made_at: Column
    published_at: Column
    #: string
    transaction: Column
    #: whether the message describes its columns, which it does if it is large enough
    is_described: bool
    #: None if no change is rare; then no key ever changes
    rare: Rare | None = None

    @property
    def has_before(self) -> Column:
        return self.op != "insert"

    @property
    def has_after(self) -> Column:
        return self.op != "delete"

    @property
    def row(self) -> dict[str, Column]:
        """The row as it is; for a delete, as it was."""
        return {
            name: F.when(self.has_after, after).otherwise(self.before[name])
            for name, after in self.after.items()
        }


def changes(
    session: SparkSession, workload: Workload, note_length: int, first: int = 0, tasks: int = 1
) -> DataFrame:
    """Return the deliveries of changes from number `first` on, in `tasks` tasks, for `change_of`.

    There is one row per delivery. `delivery` counts the changes up to it; it differs from `number`
    in a redelivery. `note_length`: the length of the rows' notes, which fill the messages up.
    """
    numbers = _delivered(session.range(first, first + workload.changes, 1, tasks), workload)
    visited = _visited(numbers, workload)
    row, visit, seed = F.col("row"), F.col("visit"), F.lit(workload.seed)
    drawn = visited.select(
        "*",
        ((visit > 0) & ~_is_gone(workload, row, visit - 1)).alias("was_there"),
        (~_is_gone(workload, row, visit)).alias("is_there"),
        F.pmod(F.xxhash64(row, seed), F.lit(2**31)).alias("of_row"),
        *(
            F.pmod(F.xxhash64(row, at, seed), F.lit(2**31)).alias(side)
            for side, at in (("before", visit - 1), ("after", visit))
        ),
    )
    return drawn.select(
        "number",
        "delivery",
        "row",
        F.when(~F.col("was_there"), "insert")
        .when(F.col("is_there"), "update")
        .otherwise("delete")
        .alias("op"),
        F.format_string("orders_%03d", row % workload.tables).alias("table"),
        _key(workload, row, visit - 1).alias("key_before"),
        _key(workload, row, visit).alias("key_after"),
        _is_rare(workload, "note", row, visit).alias("lacks_note"),
        *_lasting_values(workload, F.col("of_row"), note_length),
        *_changed_values("before"),
        *_changed_values("after"),
    )


def change_of(workload: Workload) -> Change:
    """Return the change that a row of `changes` stands for."""
    number = F.col("number")
    made_at = number + FIRST_MILLIS
    before, after = (
        {
            "id": F.col(f"key_{side}"),
            **{
                name: F.col(f"{side}_{name}" if name in CHANGED_COLUMNS else name)
                for name in workload.columns
                if name != "id"
            },
        }
        for side in ("before", "after")
    )
    op, key_before, key_after = F.col("op"), F.col("key_before"), F.col("key_after")
    rare = (
        Rare(
            is_key_change=(op == "update") & (key_before != key_after),
            lacks_note=(op == "update") & F.col("lacks_note"),
            truncates=(number % workload.changes_per_truncation == 0)
            & (number == F.col("delivery")),
            truncated_table=workload.table_names[0],
        )
        if workload.rare_share
        else None
    )
    return Change(
        op=op,
        table=F.col("table"),
        key=F.when(op == "delete", key_before).otherwise(key_after),
        before=before,
        after=after,
        types=workload.columns,
        position=number + 10**18,
        made_at=made_at,
        published_at=made_at + PUBLISHING_MILLIS,
        transaction=(F.floor(number / 3) + 1).cast("string"),
        is_described=workload.message_bytes >= 4000,
        rare=rare,
    )


def _delivered(deliveries: DataFrame, workload: Workload) -> DataFrame:
    """Return `delivery`, and the `number` of its change; a redelivery has an earlier number."""
    deliveries = deliveries.toDF("delivery")
    delivery = F.col("delivery")
    earlier = delivery - _REDELIVERY_LAG
    is_redelivered = (earlier >= 0) & _is_rare(workload, "redelivery", earlier)
    numbers = F.array(delivery, F.when(is_redelivered, earlier))
    return deliveries.select("delivery", F.explode(F.array_compact(numbers)).alias("number"))


def _visited(numbers: DataFrame, workload: Workload) -> DataFrame:
    """Return `number`, its `row`, and `visit`: how often the row was visited before."""
    number = F.col("number")
    if not workload.skewed:
        return numbers.select("delivery", "number", *_in_rounds(number, workload.keys))
    tenth, rest = F.floor(number / 10), number % 10
    is_hot = rest < _SKEWED_TENTHS
    row, visit = _in_rounds(
        tenth * (10 - _SKEWED_TENTHS) + rest - _SKEWED_TENTHS, workload.keys - 1
    )
    return numbers.select(
        "delivery",
        "number",
        F.when(is_hot, 0).otherwise(row + 1).cast("bigint").alias("row"),
        F.when(is_hot, tenth * _SKEWED_TENTHS + rest).otherwise(visit).alias("visit"),
    )


def _in_rounds(number: Column, rows: int) -> tuple[Column, Column]:
    """Return row and visit: each of `rows` rows once, then each again, in another order."""
    visit = F.floor(number / rows)
    row = ((number % rows) * _SHUFFLING_PRIME + visit * 7919) % rows
    return row.alias("row"), visit.alias("visit")


def _is_gone(workload: Workload, row: Column, visit: Column) -> Column:
    """Return whether a visit deleted its row: never the first visit, nor two successive ones."""

    def is_drawn(at: Column) -> Column:
        draw = F.pmod(F.xxhash64(F.lit(workload.seed), row, at), F.lit(1_000_000))
        return draw < int((1 - workload.update_share) * 500_000)

    return (visit > 0) & is_drawn(visit) & ~is_drawn(visit - 1)


def _is_rare(workload: Workload, what: str, *of: Column) -> Column:
    """Return whether something rare is drawn."""
    draw = F.pmod(F.xxhash64(F.lit(workload.seed), F.lit(what), *of), F.lit(1_000_000))
    return draw < int(workload.rare_share * 1_000_000)


def _key(workload: Workload, row: Column, visit: Column) -> Column:
    """Return the id of a row after a visit. Half of the rare ids move, so as many come as go."""
    is_moved = _is_rare(workload, "key", row, visit) & (F.xxhash64(visit, row) % 2 == 0)
    return F.when((visit > 0) & is_moved, row + MOVED_IDS).otherwise(row)


def _lasting_values(workload: Workload, of_row: Column, note_length: int) -> list[Column]:
    """Return the columns of a row that no update changes, without the key."""
    values = [
        _one_of(_NAMES, of_row).alias("customer"),
        _note(of_row, note_length).alias("note"),
    ]
    attributes = [name for name in workload.columns if name.startswith("attribute_")]
    for number, name in enumerate(attributes):
        text = F.substring(F.md5(F.concat_ws(":", of_row, F.lit(number))), 1, 16)
        # A tenth of the attributes are NULL.
        values.append(F.when(of_row % 10 != number % 10, text).alias(name))
    return values


def _changed_values(side: str) -> list[Column]:
    drawn = F.col(side)
    amount = (drawn % 1_000_000).cast("decimal(12,0)") / 100
    values = {
        "status": _one_of(_STATUSES, drawn),
        "amount": amount.cast("decimal(12,2)"),
        "is_paid": drawn % 2 == 0,
        "updated_at": (drawn % 10**9) * 1000 + 10**12,
    }
    return [value.alias(f"{side}_{name}") for name, value in values.items()]


def _one_of(texts: tuple[str, ...], number: Column) -> Column:
    return F.element_at(F.array(*map(F.lit, texts)), (number % len(texts) + 1).cast("int"))


def _note(of_row: Column, length: int) -> Column:
    """Return a text that compresses to half, as prose does."""
    steps = length // _NOTE_STEP + 1
    step = F.transform(
        F.sequence(F.lit(1), F.lit(steps)),
        lambda number: F.concat(
            F.md5(F.concat_ws(":", of_row, number)), F.lit(" Grüße, and thank you for it all ")
        ),
    )
    return F.substring(F.array_join(step, ""), 1, length)
