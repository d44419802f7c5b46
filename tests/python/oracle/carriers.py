"""How each carrier may deliver what a history tells: in which order, how often, in which run."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.python.encoders.by_format import ENCODE
from tests.python.encoders.changes import (
    SNAPSHOT,
    Change,
    Message,
    Place,
    RowChange,
    Statement,
    instant,
    one_by_one,
)
from tests.python.end_to_end.project import Landed
from tests.python.oracle.histories import History
from tests.python.oracle.traits import BY_ADDRESS, BY_ITSELF, BY_SETTING, REDELIVERY
from tests.python.samples import broken

#: Share of a history's messages that come more than once.
_REPEATED = 0.1
_MOST_PARTITIONS = 3


@dataclass(frozen=True)
class Told:
    """A message, and what it tells; nothing where it can't be read."""

    message: Message
    change: Change | None = None


@dataclass
class Delivered:
    """What landed of a history."""

    history: History
    #: Run -> what it lands.
    runs: list[list[Landed]]
    #: Where it landed -> what it tells.
    told: dict[tuple[str, int, int], Told]
    #: Values of the project's var `swapped_canal_topics`.
    swapped_topics: dict[str, str | None] = field(default_factory=dict)

    @property
    def messages(self) -> int:
        return len(self.told)

    @property
    def bad_messages(self) -> int:
        return sum(told.change is None for told in self.told.values())


@dataclass(frozen=True)
class _Sent:
    topic: str
    partition: int
    told: Told
    #: The same message under an earlier offset.
    repeats: _Sent | None = None


def deliver(history: History, runs: int) -> Delivered:
    """The messages of a history in at most so many runs."""
    if history.traits.is_ordered_by_landing:
        return _in_order_of_offsets(history, runs)
    return _in_any_order(history, runs)


# -- formats with a log position: any order, anywhere ------------------------------------------


def _in_any_order(history: History, runs: int) -> Delivered:
    random = history.random
    told = _with_bad_messages(history, _told(history))
    sent = [_sent_anywhere(history, message) for message in told]
    for original in random.sample(sent, int(len(sent) * _REPEATED)):
        if _is_redeliverable(history, original.told):
            copy = _sent_anywhere(history, original.told)
            sent.insert(random.randint(sent.index(original), len(sent)), copy)
    # A producer that sends in order is as good as one that does not.
    if random.random() < 0.7:
        random.shuffle(sent)
    run_of = _runs_at_random if random.random() < 0.7 else _runs_in_order
    return _landed(history, sent, run_of(history, sent, runs), runs)


def _sent_anywhere(history: History, told: Told) -> _Sent:
    return _Sent(_topic(history, told), history.random.randrange(_MOST_PARTITIONS), told)


# -- formats ordered by landing: offsets keep the truth ----------------------------------------


def _in_order_of_offsets(history: History, runs: int) -> Delivered:
    random = history.random
    if history.source_format == "canal_json":
        sent, swapped_topics = _sent_by_canal(history)
    else:
        swapped_topics = {}
        told = _with_bad_messages(history, _told(history))
        sent = [_Sent(_topic(history, message), 0, message) for message in told]
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
        end = random.randint(1, len(sent))
        start = max(0, end - random.randint(1, 12))
        again = [
            replace(original, repeats=original.repeats or original)
            for original in sent[start:end]
            if _is_redeliverable(history, original.told)
        ]
        sent = [*sent[:end], *again, *sent[end:]]
    return sent


def _sent_by_canal(history: History) -> tuple[list[_Sent], dict[str, str | None]]:
    """One topic or, from some time on, another; its partitions by hash, maybe from some time on."""
    random = history.random
    is_swapped = history.set_up["swapped"]
    moments = [_place(change).made_at for change in history.log] or [0]
    usual_from = random.choice((None, random.choice(moments))) if is_swapped else 0
    second_topic_from = random.choice((None, None, random.choice(moments)))
    spread_from = random.choice((None, 0, random.choice(moments)))
    if history.is_coarse:
        # Between partitions only the time orders.
        second_topic_from = spread_from = None
    sent = []
    for change in history.log:
        at = _place(change).made_at
        topic = _topic(history, None)
        if second_topic_from is not None and at >= second_topic_from:
            topic += "_moved"
        count = 1 if spread_from is None or at < spread_from else _MOST_PARTITIONS
        swapped = is_swapped and (usual_from is None or at < usual_from)
        for partition, part in _by_partition(history, change, count):
            sent += [
                _Sent(topic, partition, told) for told in _tell(history, part, {"swapped": swapped})
            ]
    for bad in _bad_messages(history):
        sent.insert(random.randint(0, len(sent)), _Sent(_topic(history, None), 0, bad))
    until = None
    if usual_from is not None:
        # What ends the swapping is when a message was written.
        until = instant(Place(0, usual_from).published_at).isoformat() + "Z"
    topics = {member.topic for member in sent} if is_swapped else set()
    return sent, dict.fromkeys(sorted(topics), until)


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


def _partition(history: History, change: Change, count: int) -> int:
    if not isinstance(change, RowChange):
        return 0
    table = history.tables[change.table.name]
    key = [change.table.name, *table.key]
    row = change.after or change.before or {}
    return zlib.crc32(repr([row.get(name, name) for name in key]).encode()) % count


# -- messages ----------------------------------------------------------------------------------


def _told(history: History) -> list[Told]:
    changes = history.log if history.traits.knows_statements else one_by_one(history.log)
    return [told for change in changes for told in _tell(history, change, {})]


def _tell(history: History, change: Change, options: dict[str, Any]) -> list[Told]:
    """A change in one of the variants in which the producer of this history may tell it."""
    random, traits = history.random, history.traits
    chosen = {name: random.choice(values) for name, values in traits.per_message.items()}
    chosen |= {
        name: value for name, value in history.set_up.items() if name not in _NOT_OF_THE_ENCODER
    }
    rows = change.rows if isinstance(change, Statement) else (change,)
    if isinstance(rows[0], RowChange):
        chosen |= _necessary(history, rows[0])
    messages = ENCODE[history.source_format](change, **chosen, **options)
    return [Told(message, change) for message in messages]


#: What `deliver` decides by itself.
_NOT_OF_THE_ENCODER = ("swapped",)


def _necessary(history: History, change: RowChange) -> dict[str, Any]:
    """Options that what has to be told leaves no choice of."""
    table = history.tables[change.table.name]
    necessary: dict[str, Any] = {}
    if "with_before" in history.traits.per_message and table.is_keyless:
        necessary["with_before"] = True
    if "full_before" in history.set_up and table.is_keyless:
        necessary["full_before"] = True
    if "with_schema" in history.traits.per_message and (
        change.place.position in history.shape_tellers
    ):
        necessary["with_schema"] = True
    if history.source_format == "shareplex_json":
        necessary["with_rowid"] = table.known_by == BY_ADDRESS or (
            table.known_by == BY_SETTING and history.random.random() < 0.5
        )
    return necessary


def _bad_messages(history: History) -> list[Told]:
    cases = broken.broken(history.source_format)
    chosen = history.random.sample(cases, history.random.choice((0, 0, 1, 2)))
    return [Told(Message(case.value)) for case in chosen]


def _with_bad_messages(history: History, told: list[Told]) -> list[Told]:
    for bad in _bad_messages(history):
        told.insert(history.random.randint(0, len(told)), bad)
    return told


def _is_redeliverable(history: History, told: Told) -> bool:
    """Whether it is known again: a row of a keyless full load may have its equals."""
    change = told.change
    if change is None:
        return False
    if not isinstance(change, RowChange) or change.kind != SNAPSHOT:
        return True
    return history.tables[change.table.name].known_by != BY_ITSELF


def _topic(history: History, told: Told | None) -> str:
    topic = f"oracle.{history.source_format}_{history.number}"
    if history.traits.has_topic_per_table and told is not None and told.change is not None:
        topic += f"_{told.change.table.name}"
    return topic


def _place(change: Change) -> Any:
    return (change.rows[0] if isinstance(change, Statement) else change).place


# -- runs --------------------------------------------------------------------------------------


def _some_runs(history: History, runs: int) -> list[int]:
    return sorted(history.random.sample(range(runs), history.random.randint(1, runs)))


def _runs_in_order(history: History, sent: Sequence[_Sent], runs: int) -> list[int]:
    chosen = _some_runs(history, runs)
    ends = sorted(history.random.randint(0, len(sent)) for _ in chosen[1:])
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
        message = member.told.message
        landed = Landed(member.topic, offset, message.value, message.key, member.partition)
        delivered.told[(*partition, offset)] = member.told
        delivered.runs[run].append(landed)
        if random.random() < _REPEATED / 2:
            delivered.runs[random.randrange(run, runs)].append(landed)
    for messages in delivered.runs:
        random.shuffle(messages)
    return delivered
