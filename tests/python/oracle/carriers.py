"""How each carrier may deliver a history's messages: in which order, how often, in which run."""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, TypeAlias

from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import (
    DELETE,
    INSERT,
    SNAPSHOT,
    UPDATE,
    Change,
    Ddl,
    Message,
    Place,
    Row,
    RowChange,
    Statement,
    instant,
    key_of,
    one_by_one,
)
from tests.python.harness.project import Landed
from tests.python.oracle.histories import History
from tests.python.oracle.traits import BY_ADDRESS, BY_SETTING, REDELIVERY
from tests.python.samples import broken

#: Share of a history's messages that come more than once.
_REPEATED = 0.1
_MOST_PARTITIONS = 3
#: The ids of the second run of a task are higher by so much.
_SECOND_RUN = 2**40

#: Topic and number.
_Partition: TypeAlias = tuple[str, int]
#: What orders partitions against another; the empty one is earlier than all.
_Time: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Published:
    """A message, and the change that it carries; none where it can't be read."""

    message: Message
    change: Change | None = None


@dataclass
class Delivered:
    """What landed of a history."""

    history: History
    #: Run -> what it lands.
    runs: list[list[Landed]]
    #: Where it landed -> the message and its change.
    published: dict[tuple[str, int, int], Published]
    #: Values of the project's var `swapped_canal_topics`.
    swapped_topics: dict[str, str | None] = field(default_factory=dict)

    @property
    def messages(self) -> int:
        return len(self.published)

    @property
    def bad_messages(self) -> int:
        return sum(published.change is None for published in self.published.values())


@dataclass(frozen=True)
class _Sent:
    topic: str
    partition: int
    published: Published
    #: The same message under an earlier offset.
    repeats: _Sent | None = None

    @property
    def change(self) -> Change:
        assert self.published.change is not None
        return self.published.change


def deliver(history: History, runs: int) -> Delivered:
    """The messages of a history in at most so many runs."""
    # Changes of one log position have no order but that of their offsets.
    if history.traits.is_ordered_by_landing or history.set_up.get("one_lsn"):
        return _in_order_of_offsets(history, runs)
    return _in_any_order(history, runs)


# -- formats with a log position: any order, anywhere ------------------------------------------


def _in_any_order(history: History, runs: int) -> Delivered:
    random = history.random
    made = _by_a_restarted_task(history) if history.traits.renumbers_records else None
    published = _with_bad_messages(history, made or _published(history))
    sent = [_sent_anywhere(history, message) for message in published]
    for original in random.sample(sent, int(len(sent) * _REPEATED)):
        if _is_redeliverable(history, original.published):
            copy = _sent_anywhere(history, original.published)
            sent.insert(random.randint(sent.index(original), len(sent)), copy)
    loads = [member for member in sent if _is_loaded_again(history, member.published)]
    # A producer that sends in order is as good as one that does not.
    if random.random() < 0.7:
        random.shuffle(sent)
    # The newest load has no mark but its place in the topic.
    in_order = iter(loads)
    sent = [
        next(in_order) if _is_loaded_again(history, member.published) else member for member in sent
    ]
    run_of = _runs_at_random if random.random() < 0.7 else _runs_in_order
    return _landed(history, sent, run_of(history, sent, runs), runs)


def _by_a_restarted_task(history: History) -> list[Published]:
    """Each run of a task numbers its records anew, and may repeat the last ones of the run before.

    With other ids records are other ones, of which rows of a keyless table would be more.
    """
    random = history.random
    changes = one_by_one(history.log)
    end = random.choice((0, random.randint(0, len(changes))))
    again = [
        change
        for change in changes[max(0, end - random.randint(0, 8)) : end]
        if not (isinstance(change, RowChange) and change.kind == SNAPSHOT)
    ]
    if any(table.is_keyless or table.unique_columns for table in history.tables.values()):
        again = []
    history.repeated.extend(again)
    first = [member for change in changes[:end] for member in _encoded(history, change, {})]
    second = [
        member
        for change in [*again, *changes[end:]]
        for member in _encoded(history, change, {}, _of_the_second_run(change))
    ]
    return first + second


def _of_the_second_run(change: Change) -> Change:
    place = _place(change)
    return replace(change, place=replace(place, position=place.position + _SECOND_RUN))


def _sent_anywhere(history: History, published: Published) -> _Sent:
    is_free = not _is_loaded_again(history, published)
    partition = history.random.randrange(_MOST_PARTITIONS) if is_free else 0
    return _Sent(_topic(history, published.change), partition, published)


def _is_loaded_again(history: History, published: Published) -> bool:
    change = published.change
    return (
        isinstance(change, RowChange)
        and change.kind == SNAPSHOT
        and change.table.name in history.reloaded
    )


# -- formats ordered by landing: offsets keep the truth ----------------------------------------


def _in_order_of_offsets(history: History, runs: int) -> Delivered:
    random = history.random
    swapped_topics: dict[str, str | None] = {}
    if history.source_format == "canal_json":
        sent, swapped_topics = _sent_by_canal(history)
    elif history.source_format == "dts_avro":
        sent = _sent_by_dts(history)
    else:
        published = _published(history)
        for bad in _bad_messages(history):
            published.insert(random.choice(_between_changes(published)), bad)
        sent = [_Sent(_topic(history, message.change), 0, message) for message in published]
    if history.traits.has(REDELIVERY):
        sent = _with_a_restart(history, sent)
    run_of = _runs_at_random if random.random() < 0.5 else _runs_in_order
    delivered = _landed(history, sent, run_of(history, sent, runs), runs)
    delivered.swapped_topics = swapped_topics
    return delivered


def _with_a_restart(history: History, sent: list[_Sent]) -> list[_Sent]:
    """A producer that restarts sends its last messages again, in their order."""
    random = history.random
    for _ in range(random.choice((0, 1, 1, 2))):
        between = _between_changes([member.published for member in sent])
        within = _within_key_changes(sent)
        is_within = history.traits.splits_key_changes and within and random.random() < 0.5
        end = random.choice(within if is_within else between[1:])
        start = max(index for index in between if index <= max(0, end - random.randint(1, 12)))
        again = [_again(original) for original in sent[start:end] if _may_repeat(history, original)]
        sent = [*sent[:end], *again, *sent[end:]]
    return sent


def _within_key_changes(sent: Sequence[_Sent]) -> list[int]:
    """Where only the delete of a key change is through, of which all comes again.

    Not where others have its log position: `test_key_collisions.py` has such a restart.
    """
    return [
        index
        for index in range(1, len(sent))
        for change in [sent[index].published.change]
        if isinstance(change, RowChange)
        and change.is_key_change
        and change.place.size == 1
        and change is sent[index - 1].published.change
    ]


def _between_changes(published: Sequence[Published]) -> list[int]:
    """Where something else may stand: not among messages of one change, which come together."""
    return [
        index
        for index in range(len(published) + 1)
        if index in (0, len(published))
        or published[index].change is not published[index - 1].change
    ]


def _may_repeat(history: History, sent: _Sent) -> bool:
    return _is_redeliverable(history, sent.published)


def _again(original: _Sent) -> _Sent:
    return replace(original, repeats=original.repeats or original)


class _Order:
    """The order of changes in several partitions, each as late as the latest before it in its own.

    Between partitions only times say which came first, so no clock may be drawn that turns round
    two changes of one row, or of a row and its table.  At one time it is images that do: that
    before a key change is the one that the change in front of it wrote.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._latest: dict[_Partition, _Time] = {}
        #: What changed -> partition -> when it did so last.
        self._changed: dict[Hashable, dict[_Partition, _Time]] = defaultdict(dict)
        #: Key of a table -> what was written under it, and the change that did it.
        self._written: dict[Hashable, list[RowChange]] = defaultdict(list)

    def keeps(self, partition: _Partition, change: Change, time: _Time | None) -> bool:
        """Whether a change still stands behind those that it follows; null: it has no time."""
        at = self._raised(partition, time)
        return all(
            place == partition or before < at or (before == at and self._chains(change, subject))
            for subject in self._subjects(change)[0]
            for place, before in self._changed[subject].items()
        )

    def time_of_write(self, change: Change) -> _Time | None:
        """When the row was written that a change moves to another key; null: it moves none.

        Their images say which of the two came first.
        """
        times = [
            max(self._changed[key].values())
            for key in self._subjects(change)[1]
            if self._chains(change, key)
        ]
        return times[0] if times else None

    def _chains(self, change: Change, key: Hashable) -> bool:
        """Whether a row that leaves its key has the image with which it was written there.

        An image may lack columns; it must say more than its key.
        """
        rows = change.rows if isinstance(change, Statement) else (change,)
        written = self._written[key]
        if len(rows) > 1 or not isinstance(rows[0], RowChange) or not written:
            return False
        leaving, images = rows[0], [row.logged_after or {} for row in written]
        before = leaving.logged_before or {}
        known = before.keys() - set(leaving.table.identity)
        return (
            _moves_from(leaving, key)
            and any(before[column] is not None for column in known)
            and _agree(before, images[-1])
            and not any(_agree(before, image) for image in images[:-1])
        )

    def add(self, partition: _Partition, change: Change, time: _Time | None) -> None:
        at = self._latest[partition] = self._raised(partition, time)
        for subject in self._subjects(change)[1]:
            self._changed[subject][partition] = at
        for row in change.rows if isinstance(change, Statement) else (change,):
            if isinstance(row, RowChange) and row.after is not None:
                self._written[_key_subject(row, row.after)].append(row)

    def _raised(self, partition: _Partition, time: _Time | None) -> _Time:
        return max(self._latest.get(partition, ()), time or ())

    def _subjects(self, change: Change) -> tuple[set[Hashable], set[Hashable]]:
        """What a change follows the changes of, and what it changes."""
        if isinstance(change, Ddl):
            names = {table.name for table in change.tables}
            tables = {("table", name) for name in names}
            return tables | {("rows", name) for name in names}, tables
        rows = change.rows if isinstance(change, Statement) else (change,)
        follows: set[Hashable] = set()
        changes: set[Hashable] = set()
        for row in rows:
            if isinstance(row, RowChange):
                name = row.table.name
                images = [image for image in (row.before, row.after) if image is not None]
                keys = {_key_subject(row, image) for image in images}
                follows |= {*keys, ("table", name)}
                changes |= {*keys, ("rows", name)}
        return follows, changes


def _key_subject(change: RowChange, image: Row) -> Hashable:
    return (change.table.name, *(repr(image[column]) for column in change.table.identity))


def _agree(one: Row, other: Row) -> bool:
    return all(one[column] == other[column] for column in one.keys() & other.keys())


def _moves_from(change: RowChange, key: Hashable) -> bool:
    if change.before is None or change.after is None:
        return False
    before, after = (_key_subject(change, image) for image in (change.before, change.after))
    return before == key != after


def _sent_by_canal(history: History) -> tuple[list[_Sent], dict[str, str | None]]:
    """One topic or, from some time on, another; its partitions by hash, maybe from some time on.

    A batch has one time, and after a failover times may be those of a clock that lags.
    """
    random = history.random
    is_swapped = history.set_up["swapped"]
    moments = [_place(change).made_at for change in history.log] or [0]
    usual_from = random.choice((None, random.choice(moments))) if is_swapped else 0
    # What ends the swapping is when a message was written.
    until = None if usual_from is None else Place(0, usual_from).published_at
    second_topic_from = random.choice((None, None, random.choice(moments)))
    spread_from = random.choice((None, 0, random.choice(moments)))
    lags_from, lag = random.choice((None, random.choice(moments))), random.randint(1, 300_000)
    if history.is_coarse:
        # Between partitions only the time orders.
        second_topic_from = spread_from = None
    order, sent = _Order(history), []
    written_at = 0
    for change in history.log:
        at, usual = _place(change).made_at, _place(change).published_at
        topic = _topic(history, change)
        if second_topic_from is not None and at >= second_topic_from:
            topic += "_moved"
        count = 1 if spread_from is None or at < spread_from else _MOST_PARTITIONS
        parts = [((topic, n), part) for n, part in _by_partition(history, change, count)]
        times = [written_at] if written_at and random.random() < 0.4 else []
        if (tied := order.time_of_write(change)) and random.random() < 0.7:
            times.insert(0, *tied)
        if lags_from is not None and at >= lags_from:
            times.append(usual - lag)
        if _is_update(change) and not (is_swapped and until) and random.random() < 0.1:
            times.insert(0, None)
        time = next((t for t in times if _keep(order, parts, t)), usual)
        written_at = time or written_at
        is_late = time == usual - lag and random.random() < 0.5
        for partition, part in parts:
            order.add(partition, part, time and (time,))
            logged_as = _late(history, part, lag) if is_late else part
            options = {
                "swapped": is_swapped and (until is None or (time or 0) < until),
                "written_at": random.choice((None, -1)) if time is None else time,
            }
            sent += [
                _Sent(*partition, published)
                for published in _encoded(history, part, options, logged_as)
            ]
    for bad in _bad_messages(history):
        sent.insert(random.randint(0, len(sent)), _Sent(_topic(history, None), 0, bad))
    topics = {member.topic for member in sent} if is_swapped else set()
    usual_time = None if until is None else instant(until).isoformat() + "Z"
    return sent, dict.fromkeys(sorted(topics), usual_time)


def _keep(order: _Order, parts: Iterable[tuple[_Partition, Change]], millis: int | None) -> bool:
    time = None if millis is None else (millis,)
    return all(order.keeps(partition, part, time) for partition, part in parts)


def _is_update(change: Change) -> bool:
    row = change.rows[0] if isinstance(change, Statement) else change
    return isinstance(row, RowChange) and row.kind == UPDATE


def _sent_by_dts(history: History) -> list[_Sent]:
    """Rows in the partitions of their tables or keys; maybe from some time on in another topic.

    The topic of a task that was made anew begins with some of the last changes.  After a failover
    of the database, times may be those of a clock that lags.
    """
    random = history.random
    changes = one_by_one(history.log)
    count = random.choice((1, _MOST_PARTITIONS))
    is_spread_by_table = random.random() < 0.3
    begins = _begins_of_transactions(changes)
    moves_at = random.choice((None, None, random.choice(begins)))
    # A task that is made anew counts its records anew, and so may one that is restarted.
    anew_at, ids = random.choice((None, moves_at, random.choice(begins))), 0
    lags_from = random.choice((None, random.randrange(len(changes) + 1)))
    lag = 1000 * random.randint(1, 300)
    order, sent = _Order(history), []
    topic = _topic(history, None)
    for index, change in enumerate(changes):
        if index == anew_at:
            ids = random.choice((0, 2**62)) - _place(change).position
        if index == moves_at:
            topic += "_moved"
        if index in (moves_at, anew_at):
            again = sent[len(sent) - random.randint(0, min(8, len(sent))) :]
            for copy in _sent_again_by_dts(history, again, ids if index == anew_at else 0):
                copy = replace(copy, topic=topic)
                time = _dts_time(history, copy.change, ids=ids)
                order.add((topic, copy.partition), copy.change, time)
                sent.append(copy)
        partition = (topic, 0)
        if isinstance(change, RowChange):
            number = _partition(history, change, count, is_spread_by_table)
            is_loaded = history.is_loaded_apart and change.kind == SNAPSHOT
            partition = (_topic(history, change) if is_loaded else topic, number)
        logged_as = change
        may_be_late = lags_from is not None and index >= lags_from
        if may_be_late and order.keeps(partition, change, _dts_time(history, change, lag, ids)):
            logged_as = _late(history, change, lag)
        order.add(partition, change, _dts_time(history, change, ids=ids))
        sent += [
            _Sent(*partition, published)
            for published in _encoded(history, change, _with_id(change, ids), logged_as)
        ]
    for bad in _bad_messages(history):
        sent.insert(random.randint(0, len(sent)), _Sent(_topic(history, None), 0, bad))
    return sent


def _sent_again_by_dts(history: History, sent: Sequence[_Sent], ids: int) -> list[_Sent]:
    """With other ids records are other ones, of which rows of a keyless table would be more."""
    again = [original for original in sent if _may_repeat(history, original)]
    if not ids:
        return [_again(original) for original in again]
    if any(table.is_keyless or table.unique_columns for table in history.tables.values()):
        return []
    history.repeated.extend(original.change for original in again)
    return [
        replace(original, published=published)
        for original in again
        for published in _encoded(
            history,
            original.change,
            _with_id(original.change, ids),
            _at_logged_time(history, original.change),
        )
    ]


def _begins_of_transactions(changes: Sequence[Change]) -> list[int]:
    """Where the log's clock has gone on."""
    seconds = [_place(change).made_at // 1000 for change in changes]
    return [index for index in range(len(changes)) if seconds[index] not in seconds[:index]]


def _with_id(change: Change, ids: int) -> dict[str, int]:
    return {"record_id": _place(change).position + ids} if ids else {}


def _dts_time(history: History, change: Change, lag: int = 0, ids: int = 0) -> _Time:
    made_at = _place(_at_logged_time(history, change)).made_at
    return ((made_at - lag) // 1000, _place(change).position + ids)


def _at_logged_time(history: History, change: Change) -> Change:
    place = _place(change)
    made_at = history.logged_times.get(place.position, place.made_at)
    return replace(change, place=replace(place, made_at=made_at))


def _late(history: History, change: Change, lag: int) -> Change:
    """The change as the log of a server has it whose clock lags."""
    if isinstance(change, Statement):
        return Statement(tuple(_late(history, row, lag) for row in change.rows))
    place = change.place
    made_at = history.logged_times[place.position] = place.made_at - lag
    return replace(change, place=replace(place, made_at=made_at))


def _by_partition(
    history: History, change: Change, count: int
) -> list[tuple[int, RowChange | Change]]:
    """A statement's rows go to the partitions of their keys."""
    if not isinstance(change, Statement):
        return [(_partition(history, change, count), change)]
    parts: dict[int, list[RowChange]] = {}
    for row in change.rows:
        parts.setdefault(_partition(history, row, count), []).append(row)
    return [(partition, Statement(tuple(rows))) for partition, rows in parts.items()]


def _partition(history: History, change: Change, count: int, is_by_table: bool = False) -> int:
    if not isinstance(change, RowChange):
        return 0
    key = () if is_by_table else change.table.identity
    row = change.after or change.before or {}
    return zlib.crc32(repr([change.table.name, *map(row.get, key)]).encode()) % count


# -- messages ----------------------------------------------------------------------------------


def _published(history: History) -> list[Published]:
    changes = history.log if history.traits.knows_statements else one_by_one(history.log)
    shared = _shared_positions(history) if history.set_up.get("one_lsn") else {}
    return [
        published
        for change in changes
        for published in _encoded(history, change, {}, _at_position(change, shared))
    ]


def _at_position(change: Change, positions: Mapping[int, int]) -> Change:
    place = _place(change)
    if place.position not in positions:
        return change
    return replace(change, place=replace(place, position=positions[place.position]))


def _shared_positions(history: History) -> dict[int, int]:
    """Positions of changes -> the one position of their transaction.

    Not of a transaction with changes that are alike: at one position the second one is taken for
    the first, sent again.
    """
    transactions: dict[str, list[RowChange]] = defaultdict(list)
    for change in one_by_one(history.log):
        if isinstance(change, RowChange):
            transactions[change.place.transaction].append(change)
    return {
        change.place.position: change.place.first_position
        for changes in transactions.values()
        if len(set(looks := [look for change in changes for look in _looks(history, change)]))
        == len(looks)
        for change in changes
    }


def _looks(history: History, change: RowChange) -> list[str]:
    """What a change looks like without its position."""
    table = change.table
    keys = [key_of(table, row) or row for row in (change.before, change.after)]
    if change.kind == DELETE:
        return [repr((table.name, DELETE, keys[0]))]
    is_insert = change.is_key_change and history.traits.splits_key_changes
    kind = INSERT if is_insert else change.kind
    looks = [repr((table.name, kind, keys[1], change.logged_after))]
    if change.is_key_change or not table.key:
        looks.append(repr((table.name, DELETE, keys[0])))
    return looks


def _encoded(
    history: History, change: Change, options: dict[str, Any], logged_as: Change | None = None
) -> list[Published]:
    """A change in one of the variants in which the producer of this history may publish it.

    `logged_as`: the change with what the producer makes of its place in the log.
    """
    random, traits = history.random, history.traits
    chosen = {name: random.choice(values) for name, values in traits.per_message.items()}
    chosen |= {
        name: value for name, value in history.set_up.items() if name not in _NOT_OF_THE_ENCODER
    }
    rows = change.rows if isinstance(change, Statement) else (change,)
    if isinstance(rows[0], RowChange):
        chosen |= _of_its_load(history, rows[0]) | _necessary(history, rows[0])
    messages = ENCODE[history.source_format](logged_as or change, **chosen, **options)
    return [Published(message, change) for message in messages]


#: What `deliver` decides by itself.
_NOT_OF_THE_ENCODER = ("swapped", "one_lsn")


def _of_its_load(history: History, change: RowChange) -> dict[str, Any]:
    """Options of the full load that a row belongs to: a load is a transaction."""
    if change.kind != SNAPSHOT:
        return {}
    random = Random(f"{history.seed}:{history.name}:{change.place.transaction}")
    return {name: random.choice(values) for name, values in history.traits.per_load.items()}


def _necessary(history: History, change: RowChange) -> dict[str, Any]:
    """Options of which the change, or its table, leaves no choice."""
    table = history.tables[change.table.name]
    necessary: dict[str, Any] = {}
    is_keyless = history.is_keyless(change)
    if "with_before" in history.traits.per_message and is_keyless:
        necessary["with_before"] = True
    if "full_before" in history.set_up and is_keyless:
        necessary["full_before"] = True
    if "with_schema" in history.traits.per_message and (
        change.place.position in history.version_positions
    ):
        necessary["with_schema"] = True
    if history.source_format == "shareplex_json":
        necessary["with_rowid"] = table.known_by == BY_ADDRESS or (
            table.known_by == BY_SETTING and history.random.random() < 0.5
        )
    return necessary


def _bad_messages(history: History) -> list[Published]:
    cases = broken.broken(history.source_format)
    chosen = history.random.sample(cases, history.random.choice((0, 0, 1, 2)))
    return [Published(Message(case.value)) for case in chosen]


def _with_bad_messages(history: History, published: list[Published]) -> list[Published]:
    for bad in _bad_messages(history):
        published.insert(history.random.randint(0, len(published)), bad)
    return published


def _is_redeliverable(history: History, published: Published) -> bool:
    """Whether it is known again: a row of a keyless full load may have its equals."""
    change = published.change
    if change is None:
        return False
    if not isinstance(change, RowChange) or change.kind != SNAPSHOT:
        return True
    # Rows of two loads are distinguished by which of them came first.
    is_loaded_once = change.table.name not in history.reloaded
    return is_loaded_once and not history.is_keyless(change)


def _topic(history: History, change: Change | None) -> str:
    topic = f"oracle.{history.source_format}_{history.number}"
    if isinstance(change, RowChange) and change.kind == SNAPSHOT and history.is_loaded_apart:
        return f"{topic}_load"
    if not history.set_up.get("names_table", True) and change is not None:
        return f"{topic}.{change.table.name}"
    if history.traits.has_topic_per_table and change is not None:
        topic += f"_{change.table.name}"
    return topic


def _place(change: Change) -> Any:
    return (change.rows[0] if isinstance(change, Statement) else change).place


# -- runs --------------------------------------------------------------------------------------


def _some_runs(history: History, runs: int) -> list[int]:
    return sorted(history.random.sample(range(runs), history.random.randint(1, runs)))


def _runs_in_order(history: History, sent: Sequence[_Sent], runs: int) -> list[int]:
    chosen = _some_runs(history, runs)
    # A producer that restarts was away for a while.
    ends = [
        index
        for index in range(1, len(sent))
        if sent[index].repeats and not sent[index - 1].repeats and history.random.random() < 0.5
    ][: len(chosen) - 1]
    ends += [history.random.randint(0, len(sent)) for _ in chosen[1 + len(ends) :]]
    return [chosen[sum(index >= end for end in ends)] for index in range(len(sent))]


def _runs_at_random(history: History, sent: Sequence[_Sent], runs: int) -> list[int]:
    """Any run; where offsets keep the order, a repetition does not land before its original."""
    chosen = _some_runs(history, runs)
    run_of: dict[int, int] = {}
    for member in sent:
        run = history.random.choice(chosen)
        earliest = run_of.get(id(member.repeats), 0)
        run_of[id(member)] = max(run, earliest)
    return [run_of[id(member)] for member in sent]


def _landed(history: History, sent: Sequence[_Sent], run_of: Sequence[int], runs: int) -> Delivered:
    """Offsets in the order of `sent`; some messages land once more with the same offset."""
    random = history.random
    offsets: Counter[tuple[str, int]] = Counter()
    delivered = Delivered(history, [[] for _ in range(runs)], {})
    for member, run in zip(sent, run_of, strict=True):
        partition = (member.topic, member.partition)
        offset = offsets[partition]
        offsets[partition] += 1
        message = member.published.message
        landed = Landed(member.topic, offset, message.value, message.key, member.partition)
        delivered.published[(*partition, offset)] = member.published
        delivered.runs[run].append(landed)
        if random.random() < _REPEATED / 2:
            delivered.runs[random.randrange(run, runs)].append(landed)
    for messages in delivered.runs:
        random.shuffle(messages)
    return delivered
