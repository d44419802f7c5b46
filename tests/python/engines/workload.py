"""A random workload over one database: transactions of rows, and statements about tables.

It knows which keys there are, so that none of its statements fails: an error is one of the test.
All that it does follows from its seed.
"""

from __future__ import annotations

import copy
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.python.engines.sql_client import SqlClient
from tests.python.engines.tables import LATE, MARIADB, MARKER, Dialect, TableShape, shapes

Key = tuple[int, ...]

#: Keys of the connection whose transactions are open beside the others.
_BESIDE = 10**12
#: Where a key goes for a moment, while two rows exchange theirs.
_ASIDE = -1


@dataclass
class _Table:
    """A table as it is now."""

    name: str
    columns: dict[str, str]
    key: tuple[str, ...]
    keys: set[Key] = field(default_factory=set)

    @classmethod
    def of(cls, shape: TableShape) -> _Table:
        return cls(shape.name, dict(shape.columns), shape.key)

    @property
    def others(self) -> list[str]:
        """The columns outside of the key."""
        return [name for name in self.columns if name not in self.key]

    def where(self, *keys: Key) -> str:
        """A condition that these rows fulfil."""
        return " or ".join(
            "(" + " and ".join(f"{c} = {v}" for c, v in zip(self.key, key, strict=True)) + ")"
            for key in keys
        )


class Workload:
    """Transactions one after the other, some of them beside one that is open."""

    def __init__(
        self,
        dialect: Dialect,
        connect: Callable[[str], SqlClient],
        seed: int,
        before_ddl: Callable[[], None] = lambda: None,
    ) -> None:
        """`before_ddl` is called before each statement about a table, but the TRUNCATEs."""
        self.dialect = dialect
        self._rng = random.Random(seed)
        self._client, self._beside = connect("workload"), connect("workload-beside")
        self._marker = connect("workload-marker")
        self._before_ddl = before_ddl
        self._tables = {shape.name: _Table.of(shape) for shape in shapes(dialect)}
        self._ddl = self._statements_in_order()
        #: how often it did what, without what was taken back
        self.done: Counter[str] = Counter()

    def create(self) -> None:
        """Create the tables, with rows in them."""
        self._client.execute(*MARKER.create(self.dialect))
        self._client.execute(f"insert into {MARKER.name} values (1, 'none')")
        for shape in shapes(self.dialect):
            self._client.execute(*shape.create(self.dialect))
            for _ in range(5):
                self._client.execute(*self._insert(self._tables[shape.name]))

    def mark(self, text: str) -> None:
        """A row whose message is behind those of all that was done; from any thread."""
        self._marker.execute(f"update {MARKER.name} set v = '{text}' where id = 1")

    def run(self, transactions: int, ddl_after: int, permits: threading.Semaphore) -> None:
        """Do so many transactions, and behind the first ones the statements about tables.

        Each transaction takes one of the permits.  Whatever is drawn, one is a TRUNCATE and a key
        change.
        """
        at = sorted(self._rng.sample(range(ddl_after + 1, transactions), len(self._ddl)))
        for number in range(transactions):
            permits.acquire()
            if number == ddl_after:
                self._truncate("docs")
                self._change_key("customers")
            elif at and at[0] == number:
                at.pop(0)
                self._before_ddl()
                self._ddl.pop(0)()
                self._count("statements about tables")
            elif self._rng.random() < 0.06:
                self._transaction_beside()
            elif number > ddl_after and self._rng.random() < 0.04:
                self._truncate(self._rng.choice(["scratch", "docs", "events", "customers"]))
            else:
                self._transaction()
        # An insert shows which columns a table has.
        for table in self._tables.values():
            self._client.execute(*self._insert(table))

    def close(self) -> None:
        self._client.close()
        self._beside.close()
        self._marker.close()

    # Transactions

    def _transaction(self, without: str | None = None) -> None:
        """One that is committed or not, maybe with a part that is taken back."""
        before = copy.deepcopy((self._tables, self.done))
        statements = self._steps(without)
        if self._rng.random() < 0.15:
            at_savepoint = copy.deepcopy((self._tables, self.done))
            taken_back = self._steps(without)
            self._tables, self.done = at_savepoint
            statements += ["savepoint s", *taken_back, "rollback to savepoint s"]
            statements += self._steps(without)
        is_committed = self._rng.random() < 0.9
        if not is_committed:
            self._tables, self.done = before
        self._client.execute(
            "start transaction", *statements, "commit" if is_committed else "rollback"
        )
        self._count("transactions" if is_committed else "rolled back")

    def _transaction_beside(self) -> None:
        """Rows of another connection, which commits after transactions that began later."""
        table = self._tables["customers"]
        keys = {key for key in table.keys if key[0] >= _BESIDE}
        new = (max([_BESIDE, *(key[0] for key in keys)]) + 1,)
        statements = [self._inserted(table, [new])]
        if keys:
            old = self._rng.choice(sorted(keys))
            change = self._rng.choice([self._assignments(table), f"id = {new[0] + 1}"])
            statements.append(f"update customers set {change} where {table.where(old)}")
        self._beside.execute("start transaction", *statements)
        for _ in range(2):
            self._transaction(without="customers")
        self._beside.execute("commit")
        found = self._beside.execute(f"select id from customers where id >= {_BESIDE}")
        table = self._tables["customers"]
        table.keys = {key for key in table.keys if key[0] < _BESIDE} | {(int(n),) for n in found}
        self._count("transactions beside others")

    def _truncate(self, name: str) -> None:
        table = self._tables[name]
        statements = [f"truncate table {name}"]
        table.keys.clear()
        statements += self._insert(table)
        if self._rng.random() < 0.5 and self.dialect is not MARIADB:
            statements = ["start transaction", *self._steps(name), *statements, "commit"]
        self._client.execute(*statements)
        self._count("truncates")

    def _change_key(self, name: str) -> None:
        table = self._tables[name]
        inserted = self._insert(table)
        moved = self._moved(table, min(table.keys), self._free_key(table), is_changed=False)
        self._client.execute(*inserted, moved)
        self._count("key change")

    def _steps(self, without: str | None) -> list[str]:
        names = sorted(name for name in self._tables if name != without)
        statements = []
        for _ in range(self._rng.choice([1, 1, 2, 4])):
            table = self._tables[self._rng.choice(names)]
            statements += self._step(table) if table.key else self._keyless_step(table)
        return statements

    def _step(self, table: _Table) -> list[str]:
        rng = self._rng
        held = sorted(key for key in table.keys if key[0] < _BESIDE)
        if len(held) < 4:
            return self._insert(table)
        a, b = rng.sample(held, 2)
        several = rng.sample(held, rng.randrange(2, min(len(held), 9)))
        one_or_more = rng.choice([[a], [a], several])
        kind = rng.choices(
            [
                *("insert", "update", "no change", "delete", "key change", "onto a deleted key"),
                *("swap of keys", "keys of several rows", "chain of keys", "upsert"),
                "delete and insert",
            ],
            weights=[6, 8, 1, 2, 2, 1, 1, 1, 1, 2, 1],
        )[0]
        self._count(kind)
        where = table.where(*one_or_more)
        match kind:
            case "update":
                return [f"update {table.name} set {self._assignments(table)} where {where}"]
            case "no change":
                column = rng.choice(table.others)
                return [f"update {table.name} set {column} = {column} where {where}"]
            case "delete":
                table.keys -= set(one_or_more)
                return [f"delete from {table.name} where {where}"]
            case "key change":
                return [self._moved(table, a, self._free_key(table), rng.random() < 0.5)]
            case "onto a deleted key":
                table.keys.discard(b)
                return [
                    f"delete from {table.name} where {table.where(b)}",
                    self._moved(table, a, b, rng.random() < 0.5),
                ]
            case "swap of keys":
                aside = (_ASIDE, *a[1:])
                ways = [(a, aside), (b, a), (aside, b)]
                return [self._moved(table, old, new, rng.random() < 0.3) for old, new in ways]
            case "keys of several rows":
                return self._shift(table, several)
            case "chain of keys" if self.dialect is MARIADB and len(table.key) == 1:
                return self._chain(table, a[0])
            case "upsert":
                return [self._upserted(table, a)]
            case "delete and insert":
                return [
                    f"delete from {table.name} where {table.where(a)}",
                    self._inserted(table, [a]),
                ]
        return self._insert(table)

    def _keyless_step(self, table: _Table) -> list[str]:
        k = self._rng.randrange(8)
        kind = self._rng.choice(["insert", "insert", "update", "delete", "delete one"])
        self._count(f"{kind} without a key")
        match kind:
            case "update":
                return [f"update {table.name} set {self._assignments(table)} where k = {k}"]
            case "delete":
                return [f"delete from {table.name} where k = {k}"]
            case "delete one" if self.dialect is MARIADB:
                return [f"delete from {table.name} where k = {k} limit 1"]
            case "delete one":
                one = f"select min(ctid) from {table.name} where k = {k}"
                return [f"delete from {table.name} where ctid = ({one})"]
        return self._insert(table)

    # Statements of rows

    def _insert(self, table: _Table) -> list[str]:
        keys = [self._free_key(table) for _ in range(self._rng.choice([1, 1, 3, 6]))]
        unique = list(dict.fromkeys(keys))
        table.keys |= set(unique) if table.key else set()
        return [self._inserted(table, unique)]

    def _inserted(self, table: _Table, keys: list[Key]) -> str:
        rows = []
        for key in keys:
            values = list(map(str, key)) if table.key else [str(self._rng.randrange(8))]
            columns = table.others if table.key else table.others[1:]
            values += [self.dialect.value(table.columns[c], self._rng) for c in columns]
            # Equal rows, where a table may have them.
            rows += [f"({', '.join(values)})"] * (1 if table.key else self._rng.choice([1, 2]))
        columns = [*table.key, *table.others]
        return f"insert into {table.name} ({', '.join(columns)}) values {', '.join(rows)}"

    def _upserted(self, table: _Table, key: Key) -> str:
        inserted = self._inserted(table, [key])
        if self.dialect is not MARIADB:
            taken = ", ".join(f"{c} = excluded.{c}" for c in table.others)
            return f"{inserted} on conflict ({', '.join(table.key)}) do update set {taken}"
        if self._rng.random() < 0.5:
            return f"replace{inserted.removeprefix('insert')}"
        taken = ", ".join(f"{c} = values({c})" for c in table.others)
        return f"{inserted} on duplicate key update {taken}"

    def _assignments(self, table: _Table) -> str:
        columns = table.others
        chosen = self._rng.sample(columns, self._rng.randrange(1, min(len(columns), 3) + 1))
        return (
            ", ".join(
                f"{c} = {self.dialect.value(table.columns[c], self._rng)}"
                for c in chosen
                if c != "k"
            )
            or f"who = {self.dialect.value('varchar', self._rng)}"
        )

    def _moved(self, table: _Table, old: Key, new: Key, is_changed: bool) -> str:
        """A row gets another key, and maybe other values."""
        table.keys.discard(old)
        table.keys.add(new)
        changes = [f"{c} = {v}" for c, v in zip(table.key, new, strict=True)]
        changes += [self._assignments(table)] if is_changed else []
        return f"update {table.name} set {', '.join(changes)} where {table.where(old)}"

    def _shift(self, table: _Table, keys: list[Key]) -> list[str]:
        step = self._rng.randrange(1000, 2000)
        moved = {(key[0] + step, *key[1:]) for key in keys}
        if moved & table.keys or max(key[0] for key in moved) >= 2**31 - 1:
            return self._insert(table)
        where = table.where(*keys)
        table.keys = table.keys - set(keys) | moved
        first = table.key[0]
        return [f"update {table.name} set {first} = {first} + {step} where {where}"]

    def _chain(self, table: _Table, lowest: int) -> list[str]:
        """Each row gets the key that another one had."""
        highest = lowest + 12
        moved = {key for key in table.keys if lowest <= key[0] <= highest}
        if (highest + 1,) in table.keys:
            return self._insert(table)
        table.keys = table.keys - moved | {(key[0] + 1,) for key in moved}
        [column] = table.key
        return [
            f"update {table.name} set {column} = {column} + 1"
            f" where {column} between {lowest} and {highest} order by {column} desc"
        ]

    def _free_key(self, table: _Table) -> Key:
        """A key that no row has; of few, so that keys come again."""
        most = max(60, 2 * len(table.keys))
        while True:
            key = tuple(self._rng.randrange(most) for _ in table.key)
            if not table.key or key not in table.keys:
                return key

    # Statements of tables

    def _statements_in_order(self) -> list[Callable[[], None]]:
        return [
            lambda: self._add("customers", "nick", "varchar"),
            lambda: self._retype("orders", "qty", "big"),
            lambda: self._create_late(LATE.columns),
            lambda: self._add("customers", "level", "int", default="7"),
            lambda: self._drop("customers", "email"),
            lambda: self._retype("scratch", "n", "varchar"),
            lambda: self._add("orders", "channel", "text"),
            lambda: self._drop("measures", "d"),
            lambda: self._rename("docs", "title", "heading"),
            lambda: self._create_late({"id": "big", "w": "int", "v": "text"}),
            lambda: self._add("measures", "d2", "double"),
            lambda: self._drop("orders", "qty"),
        ]

    def _add(self, name: str, column: str, kind: str, default: str | None = None) -> None:
        table = self._tables[name]
        added = f"alter table {name} add column {column} {self.dialect.types[kind]}"
        if default is None:
            self._client.execute(added)
        else:
            # No message says that the rows that are there have the default.
            self._client.execute(
                f"{added} default {default}", f"update {name} set {column} = {default} + 1"
            )
        table.columns[column] = kind

    def _drop(self, name: str, column: str) -> None:
        self._client.execute(f"alter table {name} drop column {column}")
        del self._tables[name].columns[column]

    def _retype(self, name: str, column: str, kind: str) -> None:
        is_mariadb = self.dialect is MARIADB
        change = f"modify {column}" if is_mariadb else f"alter column {column} type"
        self._client.execute(f"alter table {name} {change} {self.dialect.types[kind]}")
        self._tables[name].columns[column] = kind

    def _rename(self, name: str, column: str, new: str) -> None:
        """With all rows written anew: no message has their values under the new name."""
        self._client.execute(
            f"alter table {name} rename column {column} to {new}",
            f"update {name} set {new} = concat(coalesce({new}, ''), '!')",
        )
        columns = self._tables[name].columns
        columns[new] = columns.pop(column)

    def _create_late(self, columns: dict[str, str]) -> None:
        """Create the table in place of an earlier one, whose end a TRUNCATE marks too."""
        shape = TableShape(LATE.name, columns, LATE.key)
        if LATE.name in self._tables:
            self._client.execute(f"truncate table {LATE.name}", f"drop table {LATE.name}")
        self._client.execute(*shape.create(self.dialect))
        self._tables[LATE.name] = _Table.of(shape)
        self._client.execute(*self._insert(self._tables[LATE.name]))

    def _count(self, what: str) -> None:
        self.done[what] += 1


@contextmanager
def running(
    workload: Workload, transactions: int, ddl_after: int
) -> Iterator[Callable[[int], None]]:
    """A thread that runs the workload as it gets permits; its error is the block's.

    Yields what gives so many permits.  The block ends when all transactions are done.
    """
    permits = threading.Semaphore(0)
    errors: list[BaseException] = []

    def run() -> None:
        try:
            workload.run(transactions, ddl_after, permits)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()

    def give(count: int) -> None:
        assert not errors, errors
        permits.release(count)

    yield give
    permits.release(transactions)
    thread.join(600)
    assert not errors, errors
    assert not thread.is_alive(), "the workload hangs"
