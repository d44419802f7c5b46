"""Notes on a landing table: the erasures of rows that are not complete."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import uuid
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any

from dbt.adapters.spark_session.api import iceberg_table, snapshots
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from cdc_marts.operations.erasure.erased_table import ErasedTable
from cdc_marts.printing import printable

#: Property of a landing table during an erasure. Each erasure has one of its own, with its id
#: behind a dot. An older version had one for all of them: the id of a snapshot, or `true`.
_UNFINISHED = "cdc_marts.unfinished-erasure"
_OLDER_NOTE_OF_CHANGE = "true"
#: Property of a commit that changed messages: the id of the erasure.
REDACTED = "cdc_marts.redacted"


@dataclass(frozen=True)
class NotedRows:
    """The rows of an erasure. Their keys are noted as digests, because nothing may keep them."""

    #: the staging table of the target, which is rebuilt without the rows
    staging: str
    table_id: str
    #: when the erasure began, as a text
    began_at: str
    salt: str
    #: digests of the keys that were given
    asked: frozenset[str]
    #: digests of all keys of the rows, also before and after changes of their keys
    keys: frozenset[str]

    def has_key(self, key: Column) -> Column:
        """Return whether a key is one of these rows."""
        return F.sha2(F.concat(F.lit(self.salt), key), 256).isin(sorted(self.keys))

    def are_among(self, table: ErasedTable, asked: Iterable[str]) -> bool:
        """Return whether the rows with these keys, on the target of `table`, include these rows."""
        is_same_table = (self.staging, self.table_id) == (table.staging, table.table_id)
        return is_same_table and self.asked <= _digests(self.salt, asked)


@dataclass(frozen=True)
class Note:
    """What a landing table says of an erasure that has begun."""

    #: the property
    name: str
    #: the newest snapshot of landing when the erasure began; None once it changed messages
    before: int | None
    #: None if an older version began the erasure: it did not note them
    rows: NotedRows | None

    @property
    def id(self) -> str:
        return self.name.removeprefix(f"{_UNFINISHED}.")

    def is_completed_by(self, table: ErasedTable, asked: Iterable[str]) -> bool:
        """Return whether an erasure of the rows with these keys completes this one.

        Also true if it is not known which rows this one is of.
        """
        return self.rows is None or self.rows.are_among(table, asked)

    def subject(self, landing: str, staging: str) -> str:
        """Return the erasure as the subject of a sentence. `staging`: that of this target."""
        subject = f"An erasure of rows in {landing}"
        if self.rows is None:
            return subject
        facts = [printable(self.rows.table_id), f"begun at {self.rows.began_at}"]
        if self.rows.staging != staging:
            facts.append(f"on the target of {self.rows.staging}")
        return f"{subject} ({', '.join(facts)})"


def unfinished(session: SparkSession, landing: str) -> list[Note]:
    """Return the notes of erasures that changed landed messages and are not complete."""
    table = iceberg_table(session, landing)
    return [note for note in _notes(table) if _has_changed_messages(session, table, note)]


def note_begin(table: ErasedTable, asked: Collection[str], row_keys: Collection[str]) -> Note:
    """Note that an erasure is about to change messages, and return the note.

    `asked`: the keys that were given. `row_keys`: all keys of the rows.
    """
    landing = iceberg_table(table.session, table.landing)
    newest = next(snapshots(table.session, landing), None)
    salt = uuid.uuid4().hex
    rows = NotedRows(
        table.staging,
        table.table_id,
        f"{dt.datetime.now(dt.timezone.utc):%Y-%m-%d %H:%M} UTC",
        salt,
        _digests(salt, asked),
        _digests(salt, row_keys),
    )
    # A landing table without snapshots has no message to change.
    note = Note(f"{_UNFINISHED}.{salt}", None if newest is None else newest.id, rows)
    _write(landing, note)
    return note


def note_change(table: ErasedTable, note: Note) -> None:
    """Note that messages were changed."""
    landing = iceberg_table(table.session, table.landing)
    _write(landing, replace(note, before=None))


def note_end(table: ErasedTable, asked: Collection[str]) -> None:
    """Note that the erasure of the rows with these keys is complete.

    Also delete the notes of the erasures that it has completed.
    """
    landing = iceberg_table(table.session, table.landing)
    update = landing.updateProperties()
    for note in _notes(landing):
        if note.is_completed_by(table, asked):
            update.remove(note.name)
    update.commit()


def _notes(landing: Any) -> list[Note]:
    """Return all notes on an Iceberg table."""
    return [
        _read(name, value)
        for name, value in dict(landing.properties()).items()
        if name == _UNFINISHED or name.startswith(f"{_UNFINISHED}.")
    ]


def _read(name: str, value: str) -> Note:
    if name == _UNFINISHED:
        return Note(name, None if value == _OLDER_NOTE_OF_CHANGE else int(value), None)
    noted: dict[str, Any] = json.loads(value)
    noted |= {member: frozenset(noted[member]) for member in ("asked", "keys")}
    return Note(name, noted.pop("before"), NotedRows(**noted))


def _write(landing: Any, note: Note) -> None:
    assert note.rows is not None  # an older version wrote other notes
    noted = {**vars(note.rows), "before": note.before}
    # By Iceberg, because a literal of SQL would change backslashes.
    landing.updateProperties().set(note.name, json.dumps(noted, default=sorted)).commit()


def _has_changed_messages(session: SparkSession, landing: Any, note: Note) -> bool:
    if note.before is None:
        return True
    for found in snapshots(session, landing):
        if found.id == note.before:
            return False
        redacted = found.summary.get(REDACTED)
        if redacted == note.id or (note.rows is None and redacted is not None):
            return True
    # The snapshots since the erasure began have expired.
    return True


def _digests(salt: str, keys: Iterable[str]) -> frozenset[str]:
    return frozenset(hashlib.sha256(f"{salt}{key}".encode()).hexdigest() for key in keys)
