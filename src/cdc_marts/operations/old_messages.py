"""The old messages of the landing tables: which of them leave landing, and which stay."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from cdc_marts.operations.other_readers import other_readers
from cdc_marts.operations.retention import Removal, removals, remove
from cdc_marts.operations.stored_tables import TableCounts

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_marts.operations.maintenance_plan import MaintenancePlan


@dataclass(frozen=True)
class Decision:
    """What becomes of the old messages of a landing table."""

    removal: Removal
    #: tables besides staging that read the landing table; if there are any, the messages stay
    readers: Sequence[str]
    #: whether the removal needs an answer that nobody has given; then the messages stay too
    is_unconfirmed: bool

    @property
    def is_to_remove(self) -> bool:
        return not self.readers and not self.is_unconfirmed


@dataclass(frozen=True)
class OldMessages:
    """The messages that are older than the setting `retention` allows.

    A landing table keeps them if other targets, or models that are not of this package, read it: it
    is not known what they have read.
    """

    session: SparkSession
    plan: MaintenancePlan
    now: dt.datetime

    def other_readers(self) -> Mapping[str, Sequence[str]]:
        """Return landing table -> the tables of other targets that read it."""
        return other_readers(
            self.session,
            self.plan.relations.landing,
            self.plan.tables,
            chain.from_iterable(self.plan.direct_readers.values()),
        )

    def to_confirm(self) -> list[Removal]:
        """Return the removals that somebody has to confirm.

        These are the first ones of messages of this age from their landing tables.
        """
        readers = self.other_readers()
        return [
            removal
            for removal in self._removals(only_first=True)
            if not self._readers_besides_staging(removal, readers)
        ]

    def remove(
        self,
        other_readers: Mapping[str, Sequence[str]],
        confirmed: Collection[str] | None,
        on_decision: Callable[[Decision], None],
        check_turn: Callable[[], None] = lambda: None,
    ) -> dict[str, TableCounts]:
        """Remove the messages; return the earlier counts of the landing tables that lose some.

        `confirmed`: the landing tables from which messages of this age may be removed for the first
        time; None for all. `on_decision` is called for each landing table with old messages, before
        messages are removed from it. No run may begin meanwhile: `check_turn` is called before
        each removal, and raises if one may have begun.

        Raise RetentionError if messages can't be removed.
        """
        before = {}
        for removal in self._removals():
            decision = Decision(
                removal,
                self._readers_besides_staging(removal, other_readers),
                confirmed is not None and removal.is_first and removal.landing not in confirmed,
            )
            on_decision(decision)
            if decision.is_to_remove:
                before[removal.landing] = TableCounts.of(self.session, removal.landing)
                check_turn()
                remove(self.session, removal, self.plan.relations)
        return before

    def _readers_besides_staging(
        self, removal: Removal, other_readers: Mapping[str, Sequence[str]]
    ) -> list[str]:
        of_other_targets = other_readers.get(removal.landing, ())
        return [*of_other_targets, *self.plan.direct_readers[removal.source_format]]

    def _removals(self, *, only_first: bool = False) -> Iterator[Removal]:
        days = self.plan.landing_days
        if days is None:
            return iter(())
        relations = self.plan.relations
        return removals(self.session, days, self.now, relations, only_first=only_first)
