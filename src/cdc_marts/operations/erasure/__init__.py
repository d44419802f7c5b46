"""Erasure of rows from the landed messages, and by a rebuild from everything made from these.

Nothing is deleted from a table that a model builds. The landed messages lose the row, the tables
that follow from them are built anew, and older snapshots are deleted with their files. So the
tables are as after a rebuild, because a rebuild has made them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dbt.adapters.spark_session.api import forget_past, unread_rows

from cdc_marts.operations.erasure import progress, traces
from cdc_marts.operations.erasure.erased_table import ErasedTable, ErasureError
from cdc_marts.operations.erasure.keys import compact_key
from cdc_marts.operations.erasure.progress import Note
from cdc_marts.operations.erasure.redaction import (
    redact,
    redact_irreplaceable_rows,
    replacements_of,
)
from cdc_marts.operations.erasure.traces import Found
from cdc_marts.operations.maintenance import ORPHANS_OLDER_THAN
from cdc_marts.operations.needed_snapshots import needed_snapshots
from cdc_marts.operations.other_readers import other_readers
from cdc_marts.operations.stored_tables import split_tables
from cdc_marts.project.dbt_commands import run_dbt
from cdc_marts.project.inventory import built_tables
from cdc_marts.project.locks import only_run
from cdc_marts.project.profile import is_embedded

if TYPE_CHECKING:
    from cdc_marts.project.inventory import Descendants
    from cdc_marts.project.target import Target

__all__ = ["Erasure", "ErasureError", "Found", "Interrupted", "Leftovers"]

_NOT_COMPLETE = (
    "The erasure is not complete: older snapshots still have the rows. Repeat this command."
)


@dataclass(frozen=True)
class Leftovers:
    """What may still have the rows after an erasure."""

    #: tags and branches that keep older snapshots; with any of them, the erasure is not complete
    references: Sequence[str]
    #: tables that no run builds anew
    tables: Sequence[str]
    #: tables of other targets that read the landing table
    of_other_targets: Sequence[str]
    #: whether a message with the rows has landed in the meantime
    are_back: bool


@dataclass(frozen=True)
class Interrupted:
    """The erasures of rows of a format that were interrupted, or that still work."""

    #: those that an erasure completes, because it erases their rows, or may do so
    completed: Sequence[Note]
    #: those of other rows, or on other targets
    others: Sequence[Note]


@dataclass(frozen=True)
class Erasure(ErasedTable):
    """The erasure of rows of a source table on a target."""

    def interrupted(self, keys: Iterable[str]) -> Interrupted:
        """Return the erasures that were interrupted after they had changed messages of the format.

        `keys`: the keys of the rows to erase now.
        """
        asked = _compact(keys)
        notes = progress.unfinished(self.session, self.landing)
        completed = [note for note in notes if note.is_completed_by(self, asked)]
        return Interrupted(completed, [note for note in notes if note not in completed])

    def count_waiting(self, keys: Iterable[str]) -> int:
        """Return how many messages of the format a run has to read before rows are found in them.

        If an erasure of rows with these keys was interrupted, there are none, because its rebuild
        reads them.
        """
        self.check_is_built()
        if self.interrupted(keys).completed:
            return 0
        return unread_rows(self.session, self.landing, self.staging)[1]

    def read_waiting(self, keys: Iterable[str], made: Descendants, target: Target) -> None:
        """Let a run read the messages that wait for one: they may contain rows with these keys.

        `made`: what the project on `target` makes from the messages of the format.
        """
        if self.count_waiting(keys):
            run_dbt(["run", "--select", *made.selectors], target)

    def find(self, keys: Iterable[str]) -> Found:
        """Return what exists of the rows with these keys (`row_key`), and change nothing.

        Raise ErasureError if no message names one of them, unless an erasure of these rows was
        interrupted.
        """
        self.check_is_built()
        asked = _compact(keys)
        return traces.find(self, asked, self.interrupted(asked).completed)

    def erase_everywhere(
        self,
        found: Found,
        with_mentions: bool,
        made: Descendants,
        target: Target,
        on_notice: Callable[[str], None],
    ) -> Leftovers:
        """Erase what was found from all tables of a target; return what may still have the rows.

        `with_mentions`: erase `found.mentions` too. `made`: as in `read_waiting`. `on_notice` is
        called with the reason if other processes must end first.

        If it raises ErasureError, nothing was changed.
        """
        rebuild = ["run", "--full-refresh", "--select", *made.selectors]
        self.erase(found, with_mentions, lambda: run_dbt(rebuild, target, _NOT_COMPLETE))
        # The rebuild is a run of dbt, which takes this lock itself.
        with only_run(self.session, target, on_notice) as check_turn:
            references = self.forget(found, made.tables, is_embedded(target), check_turn)
            built = built_tables(target)
            _, unknown = split_tables(self.session, built, self.relations.schemas)
            readers = other_readers(
                self.session, self.relations.landing, built, [*made.tables, *made.kept]
            )
        return Leftovers(
            references,
            [*made.kept, *unknown],
            readers.get(self.landing, ()),
            # The last step: messages may land during the others.
            self.are_back(found, with_mentions),
        )

    def erase(self, found: Found, with_mentions: bool, rebuild: Callable[[], None]) -> None:
        """Delete what was found from the landing table, and rebuild what follows from it.

        If messages were removed from landing, their rows in staging become tombstones, because a
        rebuild of staging keeps these rows. Copies that no run reads get the content of the copy
        that counts, because the order of copies that landed together depends on their content.

        `with_mentions`: erase `found.mentions` too. `rebuild`: it builds the staging table and
        everything that is made from it. If the process is interrupted, another erasure of the same
        rows completes it.

        If it raises ErasureError, nothing was changed.
        """
        whole = [*found.whole, *(found.mentions if with_mentions else ())]
        replacements = replacements_of(self, whole, found.shared, found.copied, found.row_keys)
        note = progress.note_begin(self, found.asked, found.row_keys)
        redact(self, replacements, note.id)
        # From now on, landing has lost the rows, and staging may lose them.
        progress.note_change(self, note)
        redact_irreplaceable_rows(self, [*whole, *found.shared])
        rebuild()

    def forget(
        self,
        found: Found,
        made: Iterable[str],
        is_alone: bool,
        check_turn: Callable[[], None] = lambda: None,
    ) -> list[str]:
        """Delete the content of older snapshots, which completes the erasure of what was found.

        `made`: all tables that were built anew from the landing table; those that do not exist are
        left out. `is_alone`: no other process can write to the landing table meanwhile.
        `check_turn` is called before each table is changed, and raises if a run may have begun.
        Return the tags and branches of tables, made by somebody else, that keep older snapshots.
        Then the erasure is not complete.
        """
        tables = list(filter(self.session.catalog.tableExists, (self.landing, *made)))
        now = int(time.time() * 1000) + 1
        young = now if is_alone else now - int(ORPHANS_OLDER_THAN.total_seconds() * 1000)
        needed = needed_snapshots(self.session, tables)
        references = []
        for table in tables:
            check_turn()
            orphans_before = young if table == self.landing else now
            names = forget_past(self.session, table, needed[table].oldest, orphans_before)
            references += [f"{table}: {name}" for name in names]
        if not references:
            progress.note_end(self, found.asked)
        return references

    def are_back(self, found: Found, with_mentions: bool) -> bool:
        """Return whether a message that landed meanwhile names one of these rows.

        `with_mentions`: or whether one mentions such a row.
        """
        return traces.are_back(self, found, with_mentions)


def _compact(keys: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(map(compact_key, keys)))
