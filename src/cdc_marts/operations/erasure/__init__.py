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

__all__ = ["Erasure", "ErasureError", "Found", "Leftovers"]

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
class Erasure(ErasedTable):
    """The erasure of rows of a source table on a target."""

    @property
    def is_unfinished(self) -> bool:
        """Whether an erasure was interrupted after it had changed messages of the format."""
        return progress.is_unfinished(self.session, self.landing)

    def count_waiting(self) -> int:
        """Return how many messages of the format a run has to read before rows are found in them.

        If an erasure is unfinished, there are none, because its rebuild reads them.
        """
        self.check_is_built()
        if self.is_unfinished:
            return 0
        return unread_rows(self.session, self.landing, self.staging)[1]

    def read_waiting(self, made: Descendants, target: Target) -> None:
        """Let a run read the messages that wait for one: they may contain the rows.

        `made`: what the project on `target` makes from the messages of the format.
        """
        if self.count_waiting():
            run_dbt(["run", "--select", *made.selectors], target)

    def find(self, keys: Iterable[str]) -> Found:
        """Return what exists of the rows with these keys (`row_key`), and change nothing.

        Raise ErasureError if no message names one of them, unless an erasure is unfinished.
        """
        self.check_is_built()
        return traces.find(self, keys, self.is_unfinished)

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
        with only_run(self.session, target, on_notice):
            references = self.forget(made.tables, is_embedded(target))
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
        if not self.is_unfinished:
            progress.note_begin(self.session, self.landing)
        redact(self, replacements)
        # From now on, landing has lost the rows, and staging may lose them.
        progress.note_change(self.session, self.landing)
        redact_irreplaceable_rows(self, [*whole, *found.shared])
        rebuild()

    def forget(self, made: Iterable[str], is_alone: bool) -> list[str]:
        """Delete the content of older snapshots, which completes the erasure.

        `made`: all tables that were built anew from the landing table; those that do not exist are
        left out. `is_alone`: no other process can write to the landing table meanwhile. Return the
        tags and branches of tables, made by somebody else, that keep older snapshots. Then the
        erasure is not complete.
        """
        tables = list(filter(self.session.catalog.tableExists, (self.landing, *made)))
        now = int(time.time() * 1000) + 1
        young = now if is_alone else now - int(ORPHANS_OLDER_THAN.total_seconds() * 1000)
        needed = needed_snapshots(self.session, tables)
        references = []
        for table in tables:
            orphans_before = young if table == self.landing else now
            names = forget_past(self.session, table, needed[table], orphans_before)
            references += [f"{table}: {name}" for name in names]
        if not references:
            progress.note_end(self.session, self.landing)
        return references

    def are_back(self, found: Found, with_mentions: bool) -> bool:
        """Return whether a message that landed meanwhile names one of these rows.

        `with_mentions`: or whether one mentions such a row.
        """
        return traces.are_back(self, found, with_mentions)
