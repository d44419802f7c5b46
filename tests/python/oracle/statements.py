"""Statements as people spell them, in the SQL of their database."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from tests.python.encoders.changes import Table

_MYSQL = "MySQL"
_COMMENTS = ("/* drop table {0} */ ", "-- truncate {0};\n", "/* it's\nlate */ ", "/**/")
_MYSQL_COMMENTS = ("# truncate {0}\n", "/*!40101 */ ")


class Spelling:
    """Writes statements of one database in one of the ways in which they are read alike."""

    def __init__(self, random: Random, system: str, has_schemas: bool) -> None:
        """`system`: MySQL, Oracle or PostgreSQL."""
        self._random = random
        self._system = system
        self._is_mysql = system == _MYSQL
        self._has_schemas = has_schemas

    def truncate(self, tables: Sequence[Table], is_qualified: bool) -> str:
        verb = self._random.choice(("truncate table", "truncate"))
        return self._spelled(verb, tables[0], self._names(tables, is_qualified))

    def drop(self, tables: Sequence[Table], is_qualified: bool) -> str:
        verb = self._random.choice(("drop table", "drop table if exists"))
        return self._spelled(verb, tables[0], self._names(tables, is_qualified))

    def drop_temporary(self, table: Table) -> str:
        marks = ("temporary", "/*!40005 TEMPORARY */") if self._is_mysql else ("temporary",)
        verb = f"drop {self._random.choice(marks)} table if exists"
        return self._spelled(verb, table, self._names([table], False))

    def replace(self, table: Table, is_qualified: bool) -> str:
        names = self._names([table], is_qualified)
        return self._spelled("create or replace table", table, f"{names} (id int)")

    def drop_database(self, table: Table) -> str:
        """All of the database's, or in a database with schemas of the schema's."""
        is_database = self._is_mysql or not self._has_schemas
        name = table.database if is_database else table.schema or ""
        cascade = "" if is_database else " cascade"
        of_schema = "drop user" if self._system == "Oracle" else "drop schema"
        verb = "drop database" if is_database else of_schema
        return self._spelled(verb, table, self._quoted(name, False) + cascade)

    def add_column(self, table: Table, column: str, type_: str) -> str:
        return self._alter(table, f"add column {self._quoted(column, True)} {type_}")

    def drop_column(self, table: Table, column: str) -> str:
        verb = self._random.choice(("drop column", "drop")) if self._is_mysql else "drop column"
        action = f"{verb} {self._quoted(column, True)}"
        index = "add index by_note (note(7), id)"
        if self._is_mysql and self._random.random() < 0.3:
            action = self._random.choice((f"{index}, {action}", f"{action}, {index}"))
        return self._alter(table, action)

    def rename_column(self, table: Table, column: str, to: str, type_: str) -> str:
        old, new = self._quoted(column, True), self._quoted(to, True)
        spellings = [f"rename column {old} to {new}"]
        if self._is_mysql:
            spellings += [f"change column {old} {new} {type_}", f"change {old} {new} {type_} null"]
        return self._alter(table, self._random.choice(spellings))

    def rename_and_back(self, table: Table) -> list[str]:
        """The table has its name and its rows again after these."""
        other = replace(table, name=f"{table.name}_old")
        return [self._rename(table, other), self._rename(other, table)]

    def _rename(self, table: Table, to: Table) -> str:
        name, new = self._names([table], False), self._quoted(to.name, False)
        spellings = [("alter table", f"{name} rename to {new}")]
        if self._is_mysql:
            spellings += [
                ("rename table", f"{name} to {new}"),
                ("alter table", f"{name} rename {new}"),
                ("alter table", f"{name} rename as {new}"),
            ]
        verb, rest = self._random.choice(spellings)
        return self._spelled(verb, table, rest)

    def change_empty_partition(self, table: Table) -> str:
        """Of a partition without rows, in which no row comes to be."""
        actions = ["truncate partition p_9", "drop partition p_9"]
        if self._system == "PostgreSQL":
            actions = ["detach partition p_9", "attach partition p_9 default"]
        elif self._is_mysql:
            actions += [
                "exchange partition p_9 with table p_9_rows",
                "discard partition p_9 tablespace",
            ]
        else:
            actions += ["exchange partition p_9 with table p_9_rows without validation"]
        return self._alter(table, self._random.choice(actions))

    def xa(self, ends: bool) -> str:
        """`ends`: it takes back what was prepared, which here is nothing; else it takes nothing."""
        verbs = ("xa rollback",) if ends else ("xa start", "xa end", "xa prepare", "xa commit")
        number = self._random.choice(("'x1'", "X'7831',X'',1"))
        return f"{self._random.choice(verbs)} {number}"

    def routine(self, table: Table) -> str:
        """A statement that holds others, which run another time or never."""
        names = self._names([table], False)
        inner = self._random.choice(
            (
                f"drop table {names}",
                f"truncate table {names}",
                f"alter table {names} drop column id",
            )
        )
        return self._random.choice(self._routines(names, f"begin {inner}; {inner}; end"))

    def _routines(self, names: str, body: str) -> Sequence[str]:
        if self._system == "PostgreSQL":
            return (
                f"create or replace procedure p() as $$ {body} $$ language plpgsql",
                f"CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $f$ {body} $f$",
            )
        if self._system == "Oracle":
            return (
                f"create or replace procedure p as {body};",
                f"create or replace trigger g after logon on database {body};",
            )
        definer = self._random.choice(("", "definer=`root`@`%` ", "DEFINER = 'a b'@localhost "))
        return (
            f"create {definer}procedure p() {body}",
            f"/* nightly */ CREATE {definer}EVENT e ON SCHEDULE EVERY 1 DAY DO {body}",
            f"create {definer}trigger g before insert on {names} for each row {body}",
            f"create {definer}function f() returns int {body}",
        )

    def change_key(self, table: Table, key: Sequence[str]) -> str:
        """`table`: with the key that it has so far."""
        constraint = "primary key" if self._is_mysql else "constraint pk"
        actions = [f"drop {constraint}"] if table.key else []
        if key:
            named = "" if self._is_mysql else f"{constraint} "
            columns = ", ".join(self._quoted(name, True) for name in key)
            actions.append(f"add {named}primary key ({columns})")
        return self._alter(table, ", ".join(actions))

    def _alter(self, table: Table, action: str) -> str:
        return self._spelled("alter table", table, f"{self._names([table], False)} {action}")

    def _names(self, tables: Sequence[Table], is_qualified: bool) -> str:
        is_mixed = self._random.random() < 0.3
        names = []
        for table in tables:
            name = self._quoted(table.name, False)
            if is_qualified or (is_mixed and self.can_qualify):
                name = f"{self._quoted(self.qualifier(table), False)}.{name}"
            names.append(name)
        return self._random.choice((",", ", ", " , ")).join(names)

    @property
    def can_qualify(self) -> bool:
        """Without schemas in messages nobody knows which one a statement means."""
        return self._is_mysql or self._has_schemas

    def qualifier(self, table: Table) -> str:
        return table.database if self._is_mysql else table.schema or ""

    def elsewhere(self, table: Table) -> Table:
        """What an envelope names whose session was in another database, or schema."""
        if self._is_mysql:
            return replace(table, database="elsewhere")
        return replace(table, schema="elsewhere")

    def _quoted(self, name: str, is_odd: bool) -> str:
        """`is_odd`: it can't stand without quotes, which keep its letters as they are."""
        mark = "`" if self._is_mysql else '"'
        if is_odd or self._random.random() < 0.4:
            return mark + name.replace(mark, mark * 2) + mark
        return name.upper() if self._random.random() < 0.3 else name

    def _spelled(self, verb: str, table: Table, rest: str) -> str:
        if self._random.random() < 0.4:
            verb = verb.upper()
        comments = (*_COMMENTS, *(_MYSQL_COMMENTS if self._is_mysql else ()))
        start, middle = (
            self._random.choice(comments).format(table.name) if self._random.random() < 0.2 else ""
            for _ in range(2)
        )
        end = self._random.choice(("", "", ";", " -- done", "\n"))
        return f"{start}{verb} {middle}{rest}{end}"
