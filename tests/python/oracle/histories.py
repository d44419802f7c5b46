"""Random histories of a database: what happens in it, as far as a format has words for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, HypothesisProvider

from tests.python.encoders import datahub_tuple
from tests.python.encoders.changes import (
    DELETE,
    TYPES,
    UPDATE,
    Change,
    RowChange,
    Table,
    one_by_one,
)
from tests.python.oracle.database import (
    HIDDEN_COLUMNS,
    Row,
    SourceDatabase,
    SourceTable,
    Stored,
    Unlogged,
    identifying_columns,
)
from tests.python.oracle.statements import Spelling
from tests.python.oracle.traits import (
    ADD_COLUMN,
    BY_HIDDEN_COLUMN,
    BY_ITSELF,
    BY_MESSAGE,
    DROP_COLUMN,
    DROP_TABLE,
    EMPTY_ROW,
    EQUAL_TIMES,
    KEY_CHANGE,
    KEY_SWAP,
    KEYLESS_LACKS,
    OTHER_KEY,
    REKEYED_LACKS,
    RENAME_COLUMN,
    TRAITS,
    TRUNCATE,
    UNAVAILABLE,
    Traits,
)
from tests.python.oracle.values import STRATEGIES

_COLUMN_NAMES = ("note", "amount", "Größe", 'say "hi"', "a.b", "日本", "it's", "back\\slash")
#: Few keys, so that they come back.
_KEY_POOLS: dict[str, tuple[Any, ...]] = {
    "long": (1, 2, 3, 4, 2**53, 2**53 + 1, 2**63 - 1, -1),
    "text": ("a", "A", "1", 'q"uote', "ключ", "one\u2028two", "🎁", "back\\slash"),
}
_LARGE_OBJECTS = ("text", "bytes")


@dataclass(frozen=True)
class History:
    """What happened in one database, and what it held in the end."""

    source_format: str
    number: int
    seed: int
    log: list[Change]
    tables: dict[str, SourceTable]
    #: Table -> (address, row) of its rows in the end.
    stored: dict[str, list[Stored]]
    #: Positions of the changes that are the first to show that a column is gone.
    version_positions: set[int]
    #: Changes of one transaction have one time.
    is_coarse: bool
    #: The producer's options.
    set_up: dict[str, Any]
    #: For what comes after: how it is published and carried.
    random: Random
    #: Tables that were loaded twice.
    reloaded: set[str]
    #: Full loads have a topic of their own.
    is_loaded_apart: bool
    #: Position of a change -> its time as the log of another server has it, in milliseconds.
    logged_times: dict[int, int] = field(default_factory=dict)

    #: Records that a task which counts anew repeats under other ids: other events.
    repeated: list[Change] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.source_format}:{self.number}"

    @property
    def traits(self) -> Traits:
        return TRAITS[self.source_format]

    def is_keyless(self, change: RowChange) -> bool:
        """At the time of a change."""
        table = self.tables[change.table.name]
        if table.unique_columns:
            return not identifying_columns(change.table)
        return table.is_keyless

    def table_id(self, table: SourceTable) -> str:
        """As the marts name it."""
        names = (
            table.database if self._names_database else None,
            table.schema if self.traits.has_schemas else None,
            table.name,
        )
        return ".".join(filter(None, names))

    @property
    def _names_database(self) -> bool:
        if self.source_format == "datahub_tuple":
            return self.set_up["dialect"] != datahub_tuple.DATAWORKS
        return self.traits.names_database


#: How many scenes a history has, at least and at most.
_SCENES = (8, 25)

#: More than anybody draws: what hypothesis draws for a seed depends on it.
_MOST = 10_000


class _Enough(Exception):
    """Ends the drawing."""


class OfSeedAlone(HypothesisProvider):
    """Draws what the seed says, not the constants that stand in whatever modules are loaded."""

    def _maybe_draw_constant(self, *_arguments: Any, **_options: Any) -> None:
        return None


AVAILABLE_PROVIDERS["of seed alone"] = OfSeedAlone


def draw_histories(
    source_format: str, seed_: int, count: int, scenes: tuple[int, int] = _SCENES
) -> list[History]:
    """The same ones for a seed, whatever the count; `scenes`: how many a history has."""
    drawn: list[History] = []

    @seed(seed_)
    @settings(
        backend="of seed alone",
        max_examples=_MOST,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        pools=st.fixed_dictionaries(
            {
                type_: st.lists(strategy, min_size=3, max_size=8)
                for type_, strategy in STRATEGIES.items()
            }
        )
    )
    def draw(pools: dict[str, list[Any]]) -> None:
        if len(drawn) == count:
            raise _Enough
        number = len(drawn) + 1
        random = Random(f"{seed_}:{source_format}:{number}")
        drawn.append(_Script(source_format, number, seed_, pools, random).play(scenes))

    with suppress(_Enough):
        draw()
    return drawn


class _Script:
    """One history in the making."""

    def __init__(
        self,
        source_format: str,
        number: int,
        seed_: int,
        pools: dict[str, list[Any]],
        random: Random,
    ) -> None:
        self._source_format = source_format
        self._traits = traits = TRAITS[source_format]
        self._number = number
        self._seed = seed_
        self._pools = pools
        self._random = random
        self._set_up = {name: random.choice(values) for name, values in traits.set_up.items()}
        self._is_coarse = traits.has(EQUAL_TIMES) and random.random() < 0.3
        self._images = random.choice(("whole", "large objects", "minimal"))
        self._name = f"{source_format}_db_{number}"
        self._database = SourceDatabase(random, self._is_coarse, self._name)
        self._tables: dict[str, SourceTable] = {}
        self._kind_of_source = self._set_up.get("db_type") or self._set_up.get("source_type")
        self._spelling = Spelling(random, self._kind_of_source or "MySQL", traits.has_schemas)
        self._reloaded: set[str] = set()

    def play(self, scenes: tuple[int, int]) -> History:
        for letter in "abc"[: self._random.randint(1, 3)]:
            table = self._new_table(letter)
            self._tables[table.name] = table
            rows: list[Row] = []
            for _ in range(self._random.randint(0, 4)):
                rows += self._new_rows(table, rows, 1)
            self._database.create(table, rows)
        for table in self._tables.values():
            self._database.full_load(table)
        for table in self._tables.values():
            if self._random.random() < 0.3:
                self._load_anew(table)
        for _ in range(self._random.randint(*scenes)):
            self._random.choices(*zip(*self._scenes(), strict=True))[0]()
        for table in self._database.tables.values():
            if table.is_version_unpublished:
                with self._database.transaction():
                    self._insert(table)
            # All keys are taken: there is a row to update.
            if table.is_version_unpublished:
                with self._database.transaction():
                    self._update(table)
        return History(
            self._source_format,
            self._number,
            self._seed,
            self._database.log,
            self._tables,
            {name: self._database.stored(t) for name, t in self._database.tables.items()}
            | {name: [] for name in self._tables.keys() - self._database.tables.keys()},
            self._database.version_positions,
            self._is_coarse,
            self._set_up,
            self._random,
            self._reloaded,
            not self._traits.has_topic_per_table and self._random.random() < 0.3,
        )

    def _load_anew(self, table: SourceTable) -> None:
        """Rows changed before anybody listened, and are loaded once more, each with news."""
        others = [name for name in table.columns if name not in table.fixed_columns]
        stored = self._database.stored(table)
        news = {}
        for address, row in stored:
            changes = [(n, v) for n in others for v in self._pools[table.columns[n]] if v != row[n]]
            if changes:
                news[address] = dict([self._random.choice(changes)])
        if table.key and stored and len(news) == len(stored):
            for address, values in news.items():
                self._database.update_unheard(table, address, values)
            self._database.full_load(table)
            self._reloaded.add(table.name)

    def _scenes(self) -> list[tuple[Callable[[], None], float]]:
        """What may come next, with its weight."""
        return [
            (self._transaction, 20),
            (self._database.heartbeat, 1),
            (self._rolled_back, 1),
            (self._on_table(TRUNCATE, self._truncate), 0.7),
            (self._on_table(DROP_TABLE, self._drop), 0.5),
            (self._recreate, 2),
            *(self._scenes_of_statements() if self._traits.reads_statements else ()),
            *([(self._load_within_the_log, 0.5)] if self._traits.is_ordered_by_landing else ()),
            (self._on_table(ADD_COLUMN, self._add_column), 1),
            (self._on_table(DROP_COLUMN, self._drop_column), 1),
            (self._on_table(RENAME_COLUMN, self._rename_column), 1),
            (self._on_table(OTHER_KEY, self._change_key_columns), 4),
        ]

    def _scenes_of_statements(self) -> list[tuple[Callable[[], None], float]]:
        return [
            (self._on_table(DROP_TABLE, self._replace), 0.5),
            (self._on_table(DROP_TABLE, self._drop_temporary), 0.5),
            (self._drop_database, 0.2),
            (self._on_table(TRUNCATE, self._rename_and_back), 0.3),
            (self._on_table(TRUNCATE, self._change_empty_partition), 0.3),
            (self._on_table(TRUNCATE, self._make_routine), 0.3),
            *([(self._on_table(TRUNCATE, self._xa), 0.3)] if self._is_mysql else ()),
        ]

    # -- transactions ------------------------------------------------------------------------

    def _transaction(self) -> None:
        with self._database.transaction():
            self._statements()

    def _rolled_back(self) -> None:
        with self._database.transaction(commits=False):
            self._statements()

    def _statements(self) -> None:
        if not self._database.tables:
            return
        for _ in range(self._random.choice((1, 1, 1, 2, 3, 5))):
            table = self._random.choice(list(self._database.tables.values()))
            statements = [(self._insert, 3.0), (self._update, 5.0), (self._delete, 2.0)]
            if table.key:
                statements.append((self._change_key, 2.0))
                if self._traits.may_tie_partitions:
                    statements.append((self._update_and_move, 2.5))
            if self._has(KEY_SWAP, table):
                statements.append((self._swap_keys, 0.5))
            self._random.choices(*zip(*statements, strict=True))[0](table)

    def _insert(self, table: SourceTable) -> None:
        rows = self._new_rows(table, self._rows(table), self._random.choice((1, 1, 1, 3)))
        if rows:
            left_out = self._left_out(table)
            table.added |= left_out
            defaults = {name: self._value(table, name) for name in sorted(left_out)}
            rows = [row | defaults for row in rows]
            self._database.insert(table, rows, lambda *_: left_out)

    def _left_out(self, table: SourceTable) -> frozenset[str]:
        """Columns that an insert leaves out, so that its image in the log lacks them, too.

        That none of them is gone is known where the message lists them; else only where inserts may
        be partial too, of a table that has had other partial images.
        """
        if not self._traits.inserts_leave_out_columns or self._logs_whole_rows(table):
            return frozenset()
        is_partial = not self._traits.inserts_list_tables and any(
            isinstance(change, RowChange)
            and change.table.name == table.name
            and change.kind in (UPDATE, DELETE)
            and change.unavailable
            for change in one_by_one(self._database.log)
        )
        may_leave_out = is_partial or not self._set_up["lists_image_only"]
        if not may_leave_out or self._random.random() < 0.4:
            return frozenset()
        names = [name for name in table.columns if name not in table.needed_columns]
        return frozenset(self._random.sample(names, self._random.randint(0, len(names))))

    def _update(self, table: SourceTable) -> None:
        addresses = self._some_addresses(table)
        columns = [name for name in table.columns if name not in table.fixed_columns]
        if not addresses or not columns:
            return
        changed = self._random.sample(columns, self._random.randint(1, min(2, len(columns))))
        row = dict(self._database.stored(table))[addresses[0]]
        values = {
            # now and then a column is set to what it is
            name: row[name] if self._random.random() < 0.2 else self._value(table, name)
            for name in changed
        }
        self._database.update(table, addresses, values, self._unlogged(table))

    def _delete(self, table: SourceTable) -> None:
        addresses = self._some_addresses(table)
        if addresses:
            self._database.delete(table, addresses, self._unlogged(table))

    def _change_key(self, table: SourceTable) -> None:
        stored = self._database.stored(table)
        key = self._free_key(table, [row for _, row in stored])
        if not stored or key is None:
            return
        address, row = self._random.choice(stored)
        other = [name for name in table.columns if name not in table.fixed_columns]
        if other and self._random.random() < 0.3:
            name = self._random.choice(other)
            key[name] = self._value(table, name)
        if self._has(KEY_CHANGE, table):
            self._database.update(table, [address], key, self._unlogged(table))
        else:
            self._database.delete(table, [address])
            self._database.insert(table, [row | key])

    def _update_and_move(self, table: SourceTable) -> None:
        """A row is written, and then gets another key."""
        key = self._free_key(table, self._rows(table))
        others = [name for name in table.columns if name not in table.fixed_columns]
        addresses = self._some_addresses(table)[:1]
        if key is None or not others or not addresses:
            return
        name = self._random.choice(others)
        self._database.update(table, addresses, {name: self._value(table, name)})
        self._database.update(table, addresses, key)

    def _swap_keys(self, table: SourceTable) -> None:
        """The keys of two or three rows go round.

        A row may change beside the one that has taken its key.
        """
        stored = self._database.stored(table)
        if len(stored) < 2:
            return
        moving = self._random.sample(stored, self._random.randint(2, min(3, len(stored))))
        if len(moving) > 2 and self._has_equal_rows(table, moving):
            del moving[2:]
        others = [name for name in table.columns if name not in table.fixed_columns]
        may_change = self._traits.has_old_rows and not self._has_equal_rows(table, moving)
        following = [*moving[1:], moving[0]]
        for (address, _), (_, row) in zip(moving, following, strict=True):
            if may_change and others and self._random.random() < 0.3:
                name = self._random.choice(others)
                self._database.update(table, [address], {name: self._value(table, name)})
            self._database.update(table, [address], {name: row[name] for name in table.key})

    def _has_equal_rows(self, table: SourceTable, stored: list[tuple[int, Row]]) -> bool:
        """Whether rows differ in their keys alone: of three, nobody knows which came last."""
        values = [
            tuple(row[name] for name in table.columns if name not in table.key) for _, row in stored
        ]
        return len(set(values)) < len(values)

    # -- tables ------------------------------------------------------------------------------

    def _recreate(self) -> None:
        dropped = [t for t in self._tables.values() if t.name not in self._database.tables]
        if dropped:
            self._database.recreate(self._anew(self._random.choice(dropped)))

    def _anew(self, old: SourceTable) -> SourceTable:
        """A table of the same name and key."""
        others = self._random_columns(old)
        table = replace(
            old,
            columns={name: old.columns[name] for name in old.fixed_columns} | others,
            added=set(),
            added_before=old.added | old.added_before,
            is_version_unpublished=False,
        )
        self._tables[table.name] = table
        return table

    def _truncate(self, table: SourceTable) -> None:
        tables, named_as = self._with_others(table, TRUNCATE)
        published = [table.published() for table in tables]
        statement = self._spelling.truncate(published, is_qualified=named_as is not None)
        self._database.truncate(tables, statement, named_as)

    def _drop(self, table: SourceTable) -> None:
        tables, named_as = self._with_others(table, DROP_TABLE)
        published = [table.published() for table in tables]
        statement = self._spelling.drop(published, is_qualified=named_as is not None)
        self._database.drop(tables, statement, named_as)

    def _replace(self, table: SourceTable) -> None:
        named_as = self._elsewhere(table)
        statement = self._spelling.replace(table.published(), is_qualified=named_as is not None)
        self._database.replace(self._anew(table), statement, named_as)

    def _drop_temporary(self, table: SourceTable) -> None:
        self._database.drop_temporary(table, self._spelling.drop_temporary(table.published()))

    def _rename_and_back(self, table: SourceTable) -> None:
        for statement in self._spelling.rename_and_back(table.published()):
            self._database.pass_over("rename", table, statement, [table])

    def _change_empty_partition(self, table: SourceTable) -> None:
        statement = self._spelling.change_empty_partition(table.published())
        self._database.pass_over("alter", table, statement, [table])

    def _make_routine(self, table: SourceTable) -> None:
        self._database.pass_over("query", table, self._spelling.routine(table.published()), None)

    def _xa(self, table: SourceTable) -> None:
        ends = self._random.random() < 0.5
        # It names no table.
        warns_of: Sequence[SourceTable] | None = [] if ends else None
        self._database.pass_over("query", table, self._spelling.xa(ends), warns_of)

    def _drop_database(self) -> None:
        tables = list(self._database.tables.values())
        if tables:
            published = tables[0].published()
            named_as = replace(published, name="", columns={}, key=())
            statement = self._spelling.drop_database(published)
            self._database.drop(tables, statement, named_as, "drop_database")

    def _load_within_the_log(self) -> None:
        """Where a full load stands where it landed, it may come at any time."""
        tables = [table for table in self._database.tables.values() if not table.is_keyless]
        if tables:
            self._database.full_load(self._random.choice(tables))

    def _with_others(
        self, table: SourceTable, feature: str
    ) -> tuple[list[SourceTable], Table | None]:
        """Tables of one statement, and what its envelope names instead of the first."""
        if not self._traits.reads_statements:
            return [table], None
        others = [
            other
            for other in self._database.tables.values()
            if other.name != table.name and self._has(feature, other)
        ]
        count = self._random.choice((0, 0, 1, 2))
        others = self._random.sample(others, min(count, len(others)))
        return [table, *others], self._elsewhere(table)

    def _elsewhere(self, table: SourceTable) -> Table | None:
        if self._random.random() < 0.8 or not self._spelling.can_qualify:
            return None
        return self._spelling.elsewhere(table.published())

    def _add_column(self, table: SourceTable) -> None:
        names = list(map(self._traits.spelled, _COLUMN_NAMES))
        free = [name for name in names if name not in table.columns]
        # A column that comes back before a message shows that it was gone was never gone.
        if free and not table.is_version_unpublished:
            name, type_ = self._random.choice(free), self._random.choice(TYPES)
            statement = self._spelling.add_column(table.published(), name, type_)
            self._database.add_column(table, name, type_, statement)

    def _drop_column(self, table: SourceTable) -> None:
        names = [name for name in table.columns if name not in table.key]
        if len(names) > 1:
            name = self._random.choice(names)
            statement = self._spelling.drop_column(table.published(), name)
            is_published = self._traits.reads_statements
            self._database.drop_column(table, name, statement, is_published)

    def _rename_column(self, table: SourceTable) -> None:
        names = [name for name in table.columns if name not in table.key]
        free = [n for n in map(self._traits.spelled, _COLUMN_NAMES) if n not in table.columns]
        if names and free:
            name, to = self._random.choice(names), self._random.choice(free)
            statement = self._spelling.rename_column(
                table.published(), name, to, table.columns[name]
            )
            self._database.rename_column(table, name, to, statement)

    def _change_key_columns(self, table: SourceTable) -> None:
        """To some of the unique columns, in any order, or to none."""
        count = self._random.randint(0, len(table.unique_columns))
        key = tuple(self._random.sample(table.unique_columns, count))
        if len(key) == len(table.columns):
            # In another order it is no key of a keyless row: `test_changed_keys.py`.
            key = tuple(sorted(key))
        if key != table.key:
            hidden_column = None if key else self._hidden_column
            without_key = BY_HIDDEN_COLUMN if hidden_column else BY_ITSELF
            known_by = BY_MESSAGE if key else without_key
            statement = self._spelling.change_key(table.published(), key)
            self._database.change_key(table, key, known_by, hidden_column, statement)

    def _on_table(self, feature: str, happen: Callable[[SourceTable], None]) -> Callable[[], None]:
        def scene() -> None:
            tables = [t for t in self._database.tables.values() if self._has(feature, t)]
            if tables:
                happen(self._random.choice(tables))

        return scene

    def _new_table(self, letter: str) -> SourceTable:
        spelled = self._traits.spelled
        # the last of them, a keyless table, is the rarest
        known_by = self._random.choice([*self._traits.known_by, *self._traits.known_by[:-1]])
        hidden_column = None
        if known_by == BY_HIDDEN_COLUMN:
            hidden_column = self._hidden_column
            known_by = BY_HIDDEN_COLUMN if hidden_column else BY_ITSELF
        key_types = {spelled("id"): "long", spelled("code"): "text"}
        key, unique_columns = (), ()
        if known_by == BY_MESSAGE and self._traits.has(OTHER_KEY) and self._random.random() < 0.4:
            unique_columns = (*key_types,)
        if known_by not in (BY_HIDDEN_COLUMN, BY_ITSELF):
            key = tuple(self._random.sample([*key_types], self._random.choice((1, 1, 2))))
        table = SourceTable(
            name=spelled(f"{self._source_format}_{self._number}_{letter}"),
            columns={name: key_types[name] for name in unique_columns or key},
            key=key,
            known_by=known_by,
            database=self._name,
            schema=f"S_{self._number}" if self._traits.has_schemas else None,
            hidden_column=hidden_column,
            is_key_unordered=self._traits.has_unordered_keys,
            unique_columns=unique_columns,
        )
        if unique_columns and self._random.random() < 0.3:
            # A key may have all columns.
            return table
        return replace(table, columns=table.columns | self._random_columns(table))

    def _random_columns(self, table: SourceTable) -> dict[str, str]:
        names = [self._traits.spelled(name) for name in _COLUMN_NAMES]
        chosen = self._random.sample(names, self._random.randint(1, 5))
        return {name: self._random.choice(TYPES) for name in chosen if name not in table.key}

    @property
    def _is_mysql(self) -> bool:
        return self._kind_of_source in (None, "MySQL")

    @property
    def _hidden_column(self) -> str | None:
        """The one that a table without a key gets."""
        knows = BY_HIDDEN_COLUMN in self._traits.known_by
        return HIDDEN_COLUMNS.get(self._kind_of_source) if knows else None

    def _has(self, feature: str, table: SourceTable) -> bool:
        if feature == KEY_SWAP and not self._may_swap_keys(table):
            return False
        if feature == OTHER_KEY and not table.unique_columns:
            return False
        lacks = KEYLESS_LACKS if table.is_keyless else {}
        lacks = REKEYED_LACKS if table.unique_columns else lacks
        return self._traits.has(feature) and feature not in lacks

    def _may_swap_keys(self, table: SourceTable) -> bool:
        """A swap is one as long as something shows that its changes are of one transaction."""
        is_shown = self._traits.names_transactions or self._is_coarse
        return bool(table.key) and is_shown and self._kind_of_source != "MySQL"

    # -- rows --------------------------------------------------------------------------------

    def _rows(self, table: SourceTable) -> list[Row]:
        return [row for _, row in self._database.stored(table)]

    def _some_addresses(self, table: SourceTable) -> list[int]:
        addresses = [address for address, _ in self._database.stored(table)]
        count = min(len(addresses), self._random.choice((1, 1, 1, 2, 3)))
        return self._random.sample(addresses, count)

    def _new_rows(self, table: SourceTable, rows: list[Row], count: int) -> list[Row]:
        """Rows with keys that are free; in a keyless table often equal to one that is there."""
        new: list[Row] = []
        for _ in range(count):
            if not table.fixed_columns and rows and self._random.random() < 0.5:
                new.append(self._random.choice(rows))
                continue
            key = self._free_key(table, rows + new)
            if key is None:
                break
            others = [name for name in table.columns if name not in table.fixed_columns]
            new.append(key | {name: self._value(table, name) for name in others})
        return [{name: row[name] for name in table.columns} for row in new]

    def _free_key(self, table: SourceTable, rows: list[Row]) -> Row | None:
        """Values of the key columns that no row has; null if all are taken."""
        names = table.fixed_columns
        unique = [(name,) for name in table.unique_columns] or [names]
        for _ in range(20):
            key = {name: self._random.choice(_KEY_POOLS[table.columns[name]]) for name in names}
            if not names or not any(
                all(key[name] == row[name] for name in together)
                for row in rows
                for together in unique
            ):
                return key
        return None

    def _value(self, table: SourceTable, name: str) -> Any:
        is_null = self._random.random() < 0.2
        if is_null and (self._traits.has(EMPTY_ROW) or table.key):
            return None
        return self._random.choice(self._pools[table.columns[name]])

    def _logs_whole_rows(self, table: SourceTable) -> bool:
        is_whole = self._images == "whole" or self._set_up.get("swapped")
        return is_whole or not self._has(UNAVAILABLE, table)

    def _unlogged(self, table: SourceTable) -> Unlogged | None:
        """What the log leaves out of the images of a statement."""
        if self._logs_whole_rows(table):
            return None
        is_minimal = self._images == "minimal"
        share = 1.0 if is_minimal else self._random.choice((0.5, 1.0))

        def unlogged(kind: str, before: Row | None, after: Row | None) -> frozenset[str]:
            row = before or after or {}
            if kind == DELETE:
                return frozenset(row if is_minimal else ()) - table.needed_columns
            if kind != UPDATE or after is None:
                return frozenset()
            return frozenset(
                name
                for name, type_ in table.columns.items()
                if name not in table.needed_columns
                and row[name] == after[name]
                and (is_minimal or type_ in _LARGE_OBJECTS)
                and self._random.random() <= share
            )

        return unlogged
