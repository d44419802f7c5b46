"""What a database held against what the marts hold, and words for the difference."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from tests.python.encoders.changes import (
    SNAPSHOT,
    Change,
    Ddl,
    Row,
    RowChange,
    instant,
    one_by_one,
    without,
)
from tests.python.oracle.carriers import Delivered
from tests.python.oracle.database import (
    HIDDEN_COLUMNS,
    SourceTable,
    Stored,
    identifying_columns,
    row_id,
)
from tests.python.oracle.histories import History
from tests.python.oracle.traits import BY_ADDRESS
from tests.python.oracle.values import of_spark, parsed_row, reader

MartRow = dict[str, Any]
#: (format, table_id) -> rows of a mart.
ByTable = Mapping[tuple[str, str], list[MartRow]]

#: Marts that a rebuild must give again.
REBUILT = (
    "change_events",
    "latest_state",
    "row_history",
    "ddl_events",
    "message_ledger",
    "quarantined_messages",
)

#: In place of a value that no message had.
_UNAVAILABLE = "(unavailable)"


@dataclass(frozen=True)
class Difference:
    """Where a mart is not as the database."""

    history: History
    table_id: str
    #: The row's, as the mart spells it where it knows it.
    key: str
    what: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        return "\n    ".join(
            [
                f"{self.history.name}, table {self.table_id}, key {self.key}: {self.what}",
                f"expected {self.expected!r}",
                f"found    {self.found!r}",
            ]
        )


def by_table(rows: Iterable[MartRow]) -> ByTable:
    grouped: dict[tuple[str, str], list[MartRow]] = defaultdict(list)
    for row in rows:
        grouped[row["source_format"], row["table_id"]].append(row)
    return grouped


# -- state ---------------------------------------------------------------------------------------


def state_differences(history: History, latest_state: ByTable) -> list[Difference]:
    """`select * from t` of each table against the rows of `latest_state`."""
    differences = []
    for table in history.tables.values():
        table_id = history.table_id(table)
        found = latest_state.get((history.source_format, table_id), [])
        differences += _Rows(history, table, table_id).of_state(found)
    return differences


def typed_differences(
    history: History, marts: Mapping[tuple[str, str], list[MartRow]]
) -> list[Difference]:
    """`select * from t` of each table against the typed mart that it has.

    A mart's row: `row_key`, `row`, a dict of Spark's values, and `errors`, column -> the text of
    a value that Spark can't hold in its type.
    """
    differences = []
    for table in history.tables.values():
        table_id = history.table_id(table)
        found = marts[history.source_format, table_id]
        differences += _TypedRows(history, table, table_id, found).of_state(found)
    return differences


# -- history -------------------------------------------------------------------------------------


@dataclass
class _Version:
    """A row from one change to the next."""

    change: RowChange
    valid_from: dt.datetime | None
    #: The columns of the row that a message had.
    available: Set[str]
    valid_to: dt.datetime | None = None
    is_current: bool = True

    def end(self, at: dt.datetime | None) -> None:
        if self.is_current:
            self.valid_to, self.is_current = at or self.valid_from, False


def history_differences(history: History, row_history: ByTable) -> list[Difference]:
    """Each version that a row has had, with its times, against `row_history`, in its order.

    Only the rows that are open of a keyless table, which has no versions of a row, of one whose key
    has changed, and of records that a producer repeated as other ones.
    """
    versions = _versions(history)
    differences = []
    for name, table in history.tables.items():
        table_id = history.table_id(table)
        found = row_history.get((history.source_format, table_id), [])
        rows = _Rows(history, table, table_id)
        open_versions = [v for v in found if v["is_current"]]
        if table.unique_columns:
            differences += rows.by_key(open_versions, _rows_by_key(history.log, name))
        elif table.is_keyless or history.repeated:
            differences += rows.of_state(open_versions)
        else:
            differences += rows.versions(versions[name], found)
    return differences


def _versions(history: History) -> dict[str, dict[Any, list[_Version]]]:
    """Table -> identity of a row -> its versions, in the order of the log.

    None of a table whose key changes.
    """
    tables: dict[str, dict[Any, list[_Version]]] = {name: {} for name in history.tables}
    available = _AvailableColumns()
    #: (table, address) -> the row's last version, under whatever key.
    last: dict[tuple[str, str | None], _Version] = {}
    for change in one_by_one(history.log):
        at = _event_at(history, change)
        available.follow(change)
        if isinstance(change, Ddl) and change.is_truncation:
            for table in change.tables:
                for versions in tables[table.name].values():
                    versions[-1].end(at)
        if not isinstance(change, RowChange) or history.tables[change.table.name].unique_columns:
            continue
        row = (change.table.name, change.row_id)
        identity_of = history.tables[change.table.name].identity
        if change.before is not None:
            last[row].end(at)
        if change.after is not None:
            identity = identity_of(change.after, change.row_id)
            versions = tables[change.table.name].setdefault(identity, [])
            stays = change.before is not None and identity == identity_of(
                change.before, change.row_id
            )
            if stays and versions[-1] is not last[row]:
                # In a swap another row has taken the key.
                continue
            if versions:
                # In a swap another row still holds the key.
                versions[-1].end(at)
            last[row] = _Version(change, at, available.of(*row))
            versions.append(last[row])
    return tables


class _AvailableColumns:
    """The columns of each row that messages have had: others have values that no mart can know."""

    def __init__(self) -> None:
        #: Table -> address of a row -> its columns.
        self._columns: dict[str, dict[str | None, frozenset[str]]] = defaultdict(dict)

    def follow(self, change: Change) -> None:
        if isinstance(change, Ddl) and change.column is not None:
            rows = self._columns[change.table.name]
            for address, names in rows.items():
                rows[address] = names - {change.column}
        if isinstance(change, RowChange) and change.logged_after is not None:
            names = frozenset(change.logged_after)
            if change.before is not None:
                names |= self.of(change.table.name, change.row_id)
            self._columns[change.table.name][change.row_id] = names

    def of(self, table: str, address: str | None) -> frozenset[str]:
        return self._columns[table][address]


def _available_columns(history: History, table: SourceTable) -> dict[Any, frozenset[str]]:
    """Identity of a row in the end -> the columns of it that messages have had."""
    available = _AvailableColumns()
    for change in one_by_one(history.log):
        available.follow(change)
    return {
        table.identity(table.published_row(stored), row_id(stored[0])): available.of(
            table.name, row_id(stored[0])
        )
        for stored in history.stored[table.name]
    }


@dataclass(frozen=True)
class _KeyedRows:
    """The rows of a table whose key changes, each with the columns that it is known by."""

    rows: list[tuple[tuple[str, ...], Row]]
    #: Those whose key another row took.  They come back where that row leaves the key again
    #: within one transaction, as nothing shows that they were gone before.
    displaced: list[tuple[tuple[str, ...], Row]]


def _rows_by_key(log: Iterable[Change], name: str) -> _KeyedRows:
    """The rows of a table whose key changes, as far as messages show: a known limit.

    A row stays under a key until a message with that key, or a statement, takes it away.  Where
    the key is lost, it is so, too, and rows of the keyless table are counted beside it.  The same
    columns in another order are another key.
    """
    #: Key columns -> key -> row.
    keyed: dict[tuple[str, ...], dict[Any, Row]] = defaultdict(dict)
    keyless: Counter[Any] = Counter()
    displaced: list[tuple[tuple[str, ...], Row]] = []
    for change in one_by_one(list(log)):
        if (
            isinstance(change, Ddl)
            and change.is_truncation
            and name in [t.name for t in change.tables]
        ):
            keyed.clear()
            keyless.clear()
        if not isinstance(change, RowChange) or change.table.name != name:
            continue
        key = identifying_columns(change.table)
        rows = keyed[key]
        if change.before is not None:
            if key:
                rows.pop(_values_of(change.before, key), None)
            elif not _pop_known_by_all_columns(keyed, change.before):
                keyless[_items(change.before)] -= 1
        if change.after is not None:
            if key:
                values = _values_of(change.after, key)
                if values in rows:
                    displaced.append((key, rows[values]))
                rows[values] = change.after
            else:
                keyless[_items(change.after)] += 1
        for image in (change.before, change.after):
            if image is not None and set(key) == set(image):
                # It is known by its whole image, as it was without a key.
                del keyless[_items(image)]
    return _KeyedRows(
        [
            *((key, row) for key, rows in keyed.items() for row in rows.values()),
            *(((*dict(items),), dict(items)) for items in keyless.elements()),
        ],
        displaced,
    )


def _pop_known_by_all_columns(keyed: dict[tuple[str, ...], dict[Any, Row]], row: Row) -> bool:
    """Whether a row was known by a key of all its columns: without a key it is the same row."""
    popped = [
        rows.pop(_values_of(row, key), None) for key, rows in keyed.items() if set(key) == set(row)
    ]
    return any(one is not None for one in popped)


def _values_of(row: Row, names: Iterable[str]) -> tuple[Any, ...]:
    return tuple(row[name] for name in names)


def _items(row: Row) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(row.items()))


def _event_at(history: History, change: Change) -> dt.datetime | None:
    """The time of a change by the clock of its log."""
    traits = history.traits
    is_loaded = isinstance(change, RowChange) and change.kind == SNAPSHOT
    if is_loaded and traits.is_full_load_timeless:
        return None
    made_at = history.logged_times.get(change.place.position, change.place.made_at)
    return instant(made_at // traits.clock * traits.clock)


# -- known limits --------------------------------------------------------------------------------


def known_limits(history: History) -> set[tuple[str, str]]:
    """(data test, table_id) of the tables whose rows messages do not contain whole.

    Of a column that no row has nobody knows.
    """
    limits = set()
    for table in history.tables.values():
        if table.unique_columns:
            test = _key_limit(history, table)
        elif table.is_keyless or history.traits.leaves_out_nulls:
            test = None
        else:
            available = _available_columns(history, table)
            versions = {columns.intersection(table.columns) for columns in available.values()}
            test = "rows_have_all_columns" if len(versions) > 1 else None
        if test is not None:
            limits.add((test, history.table_id(table)))
    return limits


def warned_statements(history: History) -> set[str]:
    """Texts of the statements that a data test names: those of tables that the marts know."""
    known = {c.table.name for c in one_by_one(history.log) if isinstance(c, RowChange)}
    return {
        change.statement
        for change in history.log
        if isinstance(change, Ddl)
        and change.warns_of is not None
        and (not change.warns_of or known.intersection(t.name for t in change.warns_of))
    }


def quiet_statements(history: History) -> set[str]:
    """Texts of the statements that never change a row, whatever stands in them."""
    return {
        change.statement
        for change in history.log
        if isinstance(change, Ddl) and change.kind == "query" and change.warns_of is None
    }


def _key_limit(history: History, table: SourceTable) -> str | None:
    """The data test that names a table some of whose rows are known by an older key."""
    rows = [row for _, row in _rows_by_key(history.log, table.name).rows]
    stored = [row for _, row in history.stored[table.name]]
    published, held = (
        Counter(_items({name: row[name] for name in table.columns}) for row in rows)
        for rows in (rows, stored)
    )
    if published == held:
        return None
    are_keyless: set[bool] = set()
    for change in one_by_one(history.log):
        if isinstance(change, RowChange) and change.table.name == table.name:
            are_keyless.add(history.is_keyless(change))
        is_truncation = isinstance(change, Ddl) and change.is_truncation
        if is_truncation and table.name in [emptied.name for emptied in change.tables]:
            are_keyless.clear()
    return "rows_have_one_key" if len(are_keyless) == 1 else "tables_are_keyed_or_keyless"


# -- rows ----------------------------------------------------------------------------------------


class _Rows:
    """The comparison of one table's rows."""

    #: What may stand in a mart for a value that no message had.
    _for_unavailable: tuple[Any, ...] = (_UNAVAILABLE,)

    def __init__(self, history: History, table: SourceTable, table_id: str) -> None:
        self._history = history
        self._table = table
        self._table_id = table_id
        self._types = table.published().columns
        self._readers = reader(history.source_format)
        #: The columns of all keys that the table has had.
        self._key_columns = {
            name
            for change in one_by_one(history.log)
            if isinstance(change, RowChange) and change.table.name == table.name
            for name in change.table.identity
        }

    def of_state(self, found: list[MartRow]) -> list[Difference]:
        """The table in the end against rows of a mart."""
        stored = self._history.stored[self._table.name]
        if self._table.unique_columns:
            return self.by_key(found, _rows_by_key(self._history.log, self._table.name))
        if self._table.is_keyless:
            return self.as_multiset(stored, found)
        return self.by_identity(stored, found)

    def by_key(self, found: list[MartRow], keyed: _KeyedRows) -> list[Difference]:
        """Each row with the columns that it is known by: a table whose key changes has several."""
        hidden = set(HIDDEN_COLUMNS.values())
        types = without(self._types, frozenset(hidden))

        def counted(key: Iterable[str], row: Mapping[str, Any]) -> Any:
            # The hidden column of rows from before is gone, or not there yet.
            return frozenset(key), self._comparable(without(row, frozenset(hidden)))

        expected, displaced = (
            Counter(counted(key, self._as_expected(row)) for key, row in rows)
            for rows in (keyed.rows, keyed.displaced)
        )
        states: Counter[Any] = Counter()
        for state in found:
            key = parsed_row(state["row_key"])
            states[counted(key, self._values(state, types))] += state["row_count"]
        missing, added = expected - states, states - expected
        if not missing and added <= displaced:
            return []
        return [self._difference("*", "rows by key", missing, added)]

    def by_identity(self, stored: list[Stored], found: list[MartRow]) -> list[Difference]:
        expected = {
            self._table.identity(self._table.published_row(row), row_id(row[0])): self._expected(
                row
            )
            for row in stored
        }
        available = _available_columns(self._history, self._table)
        differences = []
        states: dict[Any, MartRow] = {}
        for state in found:
            identity = self._identity(state)
            if identity in states:
                differences.append(self._difference(state["row_key"], "rows", 1, 2))
            states[identity] = state
        for identity in expected.keys() | states.keys():
            if identity not in states:
                row = expected[identity]
                differences.append(self._difference(identity, "row", row, None))
            elif identity not in expected:
                state = states[identity]
                differences.append(self._difference(state["row_key"], "row", None, state["row"]))
            else:
                differences += self._in_columns(
                    states[identity],
                    expected[identity],
                    self._types,
                    self._table.added,
                    available[identity],
                )
        return differences

    def as_multiset(self, stored: list[Stored], found: list[MartRow]) -> list[Difference]:
        expected = Counter(self._comparable(self._expected(row)) for row in stored)
        states: Counter[Any] = Counter()
        for state in found:
            row = self._values(state, self._types)
            states[self._comparable(row)] += state["row_count"]
        if expected == states:
            return []
        return [self._difference("*", "equal rows", expected - states, states - expected)]

    def versions(
        self, expected: Mapping[Any, list[_Version]], found: list[MartRow]
    ) -> list[Difference]:
        states: dict[Any, list[MartRow]] = defaultdict(list)
        for state in found:
            states[self._identity(state)].append(state)
        differences = []
        for identity in expected.keys() | states.keys():
            ours, theirs = states.get(identity, []), expected.get(identity, [])
            found_times = [(v["valid_from"], v["valid_to"], v["is_current"]) for v in ours]
            times = [(v.valid_from, v.valid_to, v.is_current) for v in theirs]
            if found_times != times:
                key = ours[0]["row_key"] if ours else identity
                differences.append(self._difference(key, "versions", times, found_times))
                continue
            for version, state in zip(theirs, ours, strict=True):
                if not version.is_current:
                    change = version.change
                    differences += self._in_columns(
                        state,
                        change.after,
                        change.table.columns,
                        self._table.added | self._table.added_before,
                        version.available,
                    )
        return differences

    def _in_columns(
        self,
        state: MartRow,
        expected: Mapping[str, Any],
        types: Mapping[str, str],
        added: Set[str],
        available: Set[str],
    ) -> list[Difference]:
        """`added`: columns that came later: rows from before have no message with them.

        `available`: the columns of which a message had the row's value; the others are not there.
        """
        found = self._values(state, types)
        differences = []
        if state["row_count"] != 1:
            differences.append(
                self._difference(state["row_key"], "row_count", 1, state["row_count"])
            )
        for name in expected.keys() | found.keys():
            ours = found.get(name, _UNAVAILABLE)
            theirs = expected.get(name, "(no such column)")
            if name in expected and name not in available:
                if ours in self._for_unavailable:
                    continue
                theirs = _UNAVAILABLE
            may_be_unavailable = self._history.traits.leaves_out_nulls or name in added
            if ours == _UNAVAILABLE and theirs is None and may_be_unavailable:
                continue
            if ours != theirs:
                differences.append(
                    self._difference(state["row_key"], f"column {name}", theirs, ours)
                )
        return differences

    def _identity(self, state: MartRow) -> Any:
        key = parsed_row(state["row_key"])
        if self._table.known_by == BY_ADDRESS:
            return (key["rowid"],)
        return tuple(self._read(key, self._types).values())

    def _expected(self, stored: Stored) -> Mapping[str, Any]:
        return self._as_expected(self._table.published_row(stored))

    def _as_expected(self, row: Row) -> Row:
        return row

    def _values(self, state: MartRow, types: Mapping[str, str]) -> dict[str, Any]:
        row = parsed_row(state["row"])
        # A row has its values as published: a number in a key may be a text.
        numbers = {name for name in self._key_columns if types.get(name) == "long"}
        texts = {name: int(row[name]) for name in numbers if isinstance(row.get(name), str)}
        return self._read(row | texts, types)

    def _read(self, row: Mapping[str, Any], types: Mapping[str, str]) -> dict[str, Any]:
        """The values of a row as the database has them; a column that it lacks stays as it is."""
        return {
            name: value if value is None or name not in types else self._readers[types[name]](value)
            for name, value in row.items()
        }

    def _comparable(self, row: Mapping[str, Any]) -> Any:
        if self._history.traits.leaves_out_nulls:
            row = {name: value for name, value in row.items() if value is not None}
        return frozenset(row.items())

    def _difference(self, key: Any, what: str, expected: Any, found: Any) -> Difference:
        return Difference(self._history, self._table_id, str(key), what, expected, found)


class _TypedRows(_Rows):
    """The comparison with a typed mart."""

    #: A typed mart has a column for all rows as soon as one has it.
    _for_unavailable = (_UNAVAILABLE, None)

    def __init__(
        self, history: History, table: SourceTable, table_id: str, found: list[MartRow]
    ) -> None:
        super().__init__(history, table, table_id)
        self._doubles = {
            name
            for state in found
            for name, value in state["row"].items()
            if isinstance(value, float)
        }

    def _as_expected(self, row: Row) -> Row:
        """A decimal whose message calls it a DOUBLE is one."""
        return {
            name: Decimal(repr(float(value)))
            if name in self._doubles and value is not None
            else value
            for name, value in row.items()
        }

    def _values(self, state: MartRow, types: Mapping[str, str]) -> dict[str, Any]:
        """A column that the database has no more is empty until a message shows that it is gone."""
        values = state["row"] | state["errors"]
        return {
            name: of_spark(value, types[name], self._readers[types[name]])
            if name in types
            else value
            for name, value in values.items()
            if name in types or value is not None
        }


# -- events --------------------------------------------------------------------------------------


def event_differences(
    history: History, change_events: Mapping[tuple[str, str], int]
) -> list[Difference]:
    """How many changes of rows a table has had, however often they were delivered."""
    expected: Counter[str] = Counter()
    for change in [*one_by_one(history.log), *history.repeated]:
        if isinstance(change, RowChange):
            is_split = history.traits.splits_key_changes and change.is_key_change
            expected[change.table.name] += 2 if is_split else 1
    differences = []
    for name, table in history.tables.items():
        table_id = history.table_id(table)
        found = change_events.get((history.source_format, table_id), 0)
        if found != expected[name]:
            differences.append(
                Difference(history, table_id, "*", "number of events", expected[name], found)
            )
    return differences


def ledger_differences(delivered: Delivered, ledger: Iterable[MartRow]) -> list[Difference]:
    """Every message that landed is accounted for, the bad ones as rejected, none is waiting."""
    topics = {topic for topic, _, _ in delivered.published}
    found: Counter[str] = Counter()
    for entry in ledger:
        if entry["topic"] in topics:
            found.update({name: entry[name] for name in _COUNTS})
    read = sum(found[name] for name in _KINDS)
    checks = (
        ("messages landed", delivered.messages, found["landed"]),
        ("messages accounted for", delivered.messages, read),
        ("messages rejected", delivered.bad_messages, found["rejected"]),
        ("halves of updates that wait for the other", 0, found["pending_update_before"]),
    )
    return [
        Difference(delivered.history, "*", "*", what, expected, count)
        for what, expected, count in checks
        if expected != count
    ]


_KINDS = ("change", "update_before", "ddl", "transaction", "heartbeat", "tombstone", "rejected")
_COUNTS = ("landed", *_KINDS, "pending_update_before")
