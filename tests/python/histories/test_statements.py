"""Statements end the rows, and the columns, of the tables that they mean, and of no others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest

from tests.python.encoders import dts_avro as dts
from tests.python.formats.streamx import row_message, statement_message
from tests.python.harness.project import Landed, Project
from tests.python.histories.marts import DDL_EVENTS, LATEST_STATE, Marts, Stages

pytestmark = pytest.mark.thorough

SECOND = 1_709_280_000
OLD, NEW = {"id": 1, "note": "old"}, {"id": 2, "note": "new"}
Rows: TypeAlias = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Case:
    """Rows of tables, a statement, and what is left of the rows.

    `{db}` in names is a database that no other case has.  `tables` have the row `OLD` before the
    statement, those in `again` `NEW` after it.  A table is `table`, `schema.table` or, of another
    database, `database.table` or `database.schema.table`, as `table_id` has it.
    """

    source_format: str
    sql: str | None
    left: Rows
    again: Sequence[str] = ()
    type: str = "DDL"
    #: Of a Canal QUERY.
    is_ddl: bool = False
    names: Sequence[str | None] = ("{db}", None, "t")
    source_type: str = "MySQL"

    def database(self, number: int) -> str:
        return f"db{number}"

    def messages(self, number: int) -> list[bytes]:
        """The rows before, the statement, the rows after it."""
        database = self.database(number)

        def filled(text: str | None) -> str | None:
            return None if text is None else text.replace("{db}", database)

        tables = [(*table.split("."),) for table in map(filled, self.left) if table]
        again = [(*table.split("."),) for table in map(filled, self.again) if table]
        return [
            *(self.row(table, OLD, 1) for table in tables),
            self.statement([filled(name) for name in self.names], filled(self.sql), 2),
            *(self.row(table, NEW, 3) for table in again),
        ]

    def row(self, table: tuple[str, ...], row: dict[str, Any], second: int) -> bytes:
        database, schema, name = table if len(table) == 3 else (table[0], None, table[1])
        if self.source_format == "dts_avro":
            return dts.encode(
                dts.row("INSERT", ".".join(table), after=row, key=["id"], **self.times(second))
            )
        if self.source_format == "canal_json":
            texts = {column: str(value) for column, value in row.items()}
            types = {"id": "bigint", "note": "varchar(9)"}
            return canal(database, name, second, type="INSERT", data=[texts], mysqlType=types)
        columns = {"id": "LONG", "note": "STRING"}
        source = self.source(database, schema, name)
        return written(
            row_message(
                "INSERT", after=row, columns=columns, source=source, sequence_id=str(second)
            )
        )

    def statement(self, names: Sequence[str | None], sql: str | None, second: int) -> bytes:
        database, schema, name = names
        if self.source_format == "dts_avro":
            object_name = ".".join(part for part in names if part is not None)
            return dts.encode(dts.ddl(object_name, sql, **self.times(second)))
        if self.source_format == "canal_json":
            is_ddl = self.is_ddl or self.type != "QUERY"
            return canal(database, name, second, type=self.type, sql=sql, isDdl=is_ddl)
        source = self.source(database, schema, name)
        return written(statement_message(self.type, sql, source=source, sequence_id=str(second)))

    def source(self, database: str | None, schema: str | None, table: str | None) -> dict[str, Any]:
        names = {"dbName": database, "schemaName": schema, "tableName": table}
        return {"dbType": self.source_type.lower(), **names}

    def times(self, second: int) -> dict[str, Any]:
        return {
            "sourceType": self.source_type,
            "id": second,
            "sourceTimestamp": SECOND + second,
            "sourcePosition": f"4@{second}",
        }


def canal(database: str | None, table: str | None, second: int, **members: Any) -> bytes:
    millis = (SECOND + second) * 1000
    return written(
        {
            "database": database or "",
            "table": table or "",
            "es": millis,
            "ts": millis + 500,
            "pkNames": ["id"],
            "isDdl": False,
            "data": None,
            "old": None,
            **members,
        }
    )


def written(message: Any) -> bytes:
    return json.dumps(message, ensure_ascii=False).encode()


GONE: list[dict[str, Any]] = []
KEPT, ANEW, BOTH = [OLD], [NEW], [OLD, NEW]
ID_ONLY = [{"id": 1}]

CASES = {
    "several tables are dropped by one statement": Case(
        "canal_json",
        "drop table if exists `a`, b",
        {"{db}.a": GONE, "{db}.b": ANEW, "{db}.c": KEPT},
        again=["{db}.b"],
        type="ERASE",
        names=("{db}", None, "a"),
    ),
    "several tables are truncated by one statement": Case(
        "dts_avro",
        "truncate a, b",
        {"{db}.a": GONE, "{db}.b": GONE, "{db}.c": KEPT},
        names=("{db}", None, "a"),
    ),
    "names match in any letter case": Case(
        "canal_json",
        "DROP TABLE ORDERS",
        {"{db}.orders": GONE, "{db}.orders2": KEPT},
        type="ERASE",
        names=("{db}", None, "ORDERS"),
    ),
    "a name that fits several tables in letter case is dropped by neither": Case(
        "dts_avro",
        "drop table ORDERS",
        {"{db}.orders": KEPT, "{db}.Orders": KEPT},
        names=("{db}", None, "ORDERS"),
    ),
    "a name that is one table's exactly is that table's": Case(
        "dts_avro",
        "drop table orders",
        {"{db}.orders": GONE, "{db}.Orders": KEPT},
        names=("{db}", None, "orders"),
    ),
    "a database is dropped with all its tables": Case(
        "canal_json",
        "drop database `{db}`",
        {"{db}.a": GONE, "{db}.b": GONE, "{db}x.a": KEPT},
        type="QUERY",
        names=("{db}", None, None),
    ),
    "a schema is dropped with its tables, and no other schema": Case(
        "dts_avro",
        "drop schema archive cascade",
        {"{db}.archive.a": GONE, "{db}.public.a": KEPT},
        names=("{db}", None, None),
        source_type="PostgreSQL",
    ),
    "a table of another database is dropped there": Case(
        "dts_avro",
        "drop table {db}_archive.orders",
        {"{db}.orders": KEPT, "{db}_archive.orders": GONE},
        names=("{db}", None, None),
    ),
    "a schema before the table's name is of the envelope's database": Case(
        "dts_avro",
        "truncate table public.orders",
        {"{db}.public.orders": GONE, "{db}.archive.orders": KEPT},
        names=("{db}", None, None),
        source_type="PostgreSQL",
    ),
    "a statement without a schema means any schema": Case(
        "dataworks_json",
        "truncate table orders",
        {"{db}.public.orders": GONE, "{db}.public.items": KEPT},
        type="TRUNCATE",
        names=("{db}", None, "orders"),
        source_type="PostgreSQL",
    ),
    "a statement without a schema means neither of two": Case(
        "dataworks_json",
        "truncate table orders",
        {"{db}.public.orders": KEPT, "{db}.archive.orders": KEPT},
        type="TRUNCATE",
        names=("{db}", None, "orders"),
        source_type="PostgreSQL",
    ),
    "what a Canal server cannot parse is read": Case(
        "canal_json",
        "/* by me */ truncate table orders",
        {"{db}.orders": ANEW},
        again=["{db}.orders"],
        type="QUERY",
        names=("{db}", None, None),
    ),
    "a query that a Canal server knows for DDL may truncate": Case(
        "canal_json",
        "truncate table orders",
        {"{db}.orders": ANEW, "{db}.items": KEPT},
        again=["{db}.orders"],
        type="QUERY",
        is_ddl=True,
        names=("{db}", None, "orders"),
    ),
    "a query of StreamX may truncate": Case(
        "dataworks_json",
        "-- at night\ntruncate table orders",
        {"{db}.orders": GONE},
        type="QUERY",
        names=("{db}", None, None),
    ),
    "a table that is created or replaced begins empty": Case(
        "canal_json",
        "create or replace table orders (id int primary key, note text)",
        {"{db}.orders": ANEW},
        again=["{db}.orders"],
        type="CREATE",
        names=("{db}", None, "orders"),
    ),
    "a temporary table is dropped without the real one": Case(
        "canal_json",
        "DROP TEMPORARY TABLE IF EXISTS `orders`",
        {"{db}.orders": KEPT},
        type="ERASE",
        names=("{db}", None, "orders"),
    ),
    "nor does an executed comment drop the real one": Case(
        "dts_avro",
        "DROP /*!40005 TEMPORARY */ TABLE IF EXISTS `orders`",
        {"{db}.orders": KEPT},
        names=("{db}", None, "orders"),
    ),
    "statements of rows end nothing": Case(
        "canal_json",
        "insert into log values ('; drop table orders'); drop table orders",
        {"{db}.orders": KEPT},
        type="QUERY",
        names=("{db}", None, None),
    ),
    "the text wins over the kind and the envelope": Case(
        "dataworks_json",
        "truncate table items",
        {"{db}.orders": KEPT, "{db}.items": GONE},
        type="TRUNCATE",
        names=("{db}", None, "orders"),
    ),
    "without a text the kind counts": Case(
        "canal_json",
        None,
        {"{db}.orders": GONE, "{db}.items": KEPT},
        type="TRUNCATE",
        names=("{db}", None, "orders"),
    ),
    "what no message can replay changes nothing": Case(
        "canal_json",
        "alter table orders truncate partition p0",
        {"{db}.orders": KEPT},
        type="ALTER",
        names=("{db}", None, "orders"),
    ),
    "a renamed table keeps its rows until it is loaded again": Case(
        "dts_avro",
        "rename table orders to orders_old",
        {"{db}.orders": KEPT},
        names=("{db}", None, "orders"),
    ),
    "a dropped column goes, also by an index's kind": Case(
        "canal_json",
        "alter table orders add index i (id), drop column NOTE",
        {"{db}.orders": ID_ONLY, "{db}.items": KEPT},
        type="CINDEX",
        names=("{db}", None, "orders"),
    ),
    "a column that comes back has no value from before": Case(
        "dataworks_json",
        "alter table orders drop note; alter table orders add note text",
        {"{db}.orders": [{"id": 1}, NEW]},
        again=["{db}.orders"],
        type="ALTER",
        names=("{db}", None, "orders"),
    ),
    "a renamed column loses its old name's value": Case(
        "canal_json",
        "alter table orders change `note` remark varchar(20)",
        {"{db}.orders": ID_ONLY},
        type="ALTER",
        names=("{db}", None, "orders"),
    ),
    "a dropped column goes also if a Canal server cannot parse the statement": Case(
        "canal_json",
        "alter table parcels drop column note, drop check x",
        {"{db}.parcels": ID_ONLY},
        type="QUERY",
        is_ddl=True,
        names=(None, None, None),
    ),
    "a table may leave any database that a Canal server does not name": Case(
        "canal_json",
        "rename table leaving to archive.leaving",
        {"{db}.leaving": KEPT},
        type="RENAME",
        names=("archive", None, "leaving"),
    ),
    "a schema in Canal's statements is read as a database": Case(
        "canal_json",
        "truncate table archive.invoices",
        {"{db}.invoices": KEPT},
        type="TRUNCATE",
        names=("{db}", None, "invoices"),
    ),
}

#: Their tables, and no others, are named as those of statements that were not applied.
NOT_APPLIED = (
    "a name that fits several tables in letter case is dropped by neither",
    "a statement without a schema means neither of two",
    "what no message can replay changes nothing",
    "a renamed table keeps its rows until it is loaded again",
    "a dropped column goes also if a Canal server cannot parse the statement",
    "a table may leave any database that a Canal server does not name",
    "a schema in Canal's statements is read as a database",
)

#: Seen after their statement: a table in front of it, and one that makes a name ambiguous.
LATE = Case(
    "dataworks_json",
    "drop table CARTS, late",
    {"{db}.carts": KEPT, "{db}.Carts": KEPT, "{db}.late": ANEW},
    again=["{db}.late"],
    type="ERASE",
    names=("{db}", None, "late"),
)

#: A second table, seen later, makes the only name of the statement ambiguous.
LATER_AMBIGUOUS = Case(
    "dataworks_json",
    "drop table BOXES",
    {"{db}.boxes": KEPT, "{db}.Boxes": KEPT},
    type="ERASE",
    names=("{db}", None, "BOXES"),
)


def database_of(name: str) -> str:
    return CASES[name].database([*CASES].index(name))


DATABASES = {*map(database_of, CASES), "db99"}


def land(project: Project, run: int) -> None:
    """Tables of the last cases are seen in the second run."""
    carts, late_carts, late, statement, again = LATE.messages(99)
    boxes, late_boxes, ambiguous = LATER_AMBIGUOUS.messages(98)
    if run == 1:
        project.land("dataworks_json", landed([late_carts, late, again, late_boxes], first=1000))
    if run != 0:
        return
    messages: dict[str, list[bytes]] = {}
    for number, case in enumerate(CASES.values()):
        messages.setdefault(case.source_format, []).extend(case.messages(number))
    messages["dataworks_json"] += [carts, statement, boxes, ambiguous]
    for source_format, values in messages.items():
        project.land(source_format, landed(values))


def landed(values: Sequence[bytes], first: int = 0) -> list[Landed]:
    return [Landed("statements", offset, value) for offset, value in enumerate(values, first)]


def rows_of(marts: Marts, table_id: str) -> list[dict[str, Any]]:
    """The rows of a table; no two formats have one of this name."""
    images = [held["row"] for held in marts.rows[LATEST_STATE] if held["table_id"] == table_id]
    return [{**image, "id": int(image["id"])} for image in images]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("run", ["first run", "rebuild"])
def test_a_statement_ends_what_it_means(stages: Stages, name: str, run: str) -> None:
    marts = stages.after_runs[0] if run == "first run" else stages.rebuilt
    database, left = database_of(name), CASES[name].left
    expected = {table.replace("{db}", database): rows for table, rows in left.items()}
    assert {table: rows_of(marts, table) for table in expected} == expected


def test_a_table_seen_later_is_meant_too(stages: Stages) -> None:
    first, second, _ = stages.after_runs
    assert rows_of(first, "db99.late") == []
    assert rows_of(second, "db99.late") == [NEW]


def test_a_table_seen_later_may_make_a_name_ambiguous(stages: Stages) -> None:
    first, second, _ = stages.after_runs
    assert rows_of(first, "db99.carts") == []
    for table in ("db99.carts", "db99.Carts"):
        assert rows_of(second, table) == [OLD]


def test_a_statement_that_no_longer_means_any_table_shows_nothing_that_it_did(
    stages: Stages,
) -> None:
    assert rows_of(stages.after_runs[0], "db98.boxes") == []
    for marts in (stages.last, stages.rebuilt):
        ddl_events = marts.rows[DDL_EVENTS]
        [event] = [row for row in ddl_events if row.get("ddl_text") == LATER_AMBIGUOUS.sql]
        assert "applied_changes" not in event


def test_schema_changes_show_what_they_did(stages: Stages) -> None:
    database = database_of("several tables are dropped by one statement")
    ddl_events = stages.last.rows[DDL_EVENTS]
    [row] = [event for event in ddl_events if event.get("table_id") == f"{database}.a"]
    assert [(change["change"], change["table_id"]) for change in row["applied_changes"]] == [
        ("table_drop", f"{database}.a"),
        ("table_drop", f"{database}.b"),
    ]


def test_what_was_not_applied_is_warned_of_with_its_tables(stages: Stages) -> None:
    [found] = stages.project.found_by(["statements_are_applied"]).values()
    named = [
        {table for table in statement["tables"] if table.split(".")[0] in DATABASES}
        for statement in found
    ]
    expected = [
        {table.replace("{db}", database_of(name)) for table in CASES[name].left}
        for name in NOT_APPLIED
    ]
    late = {"db99.carts", "db99.Carts"}
    assert sorted(map(sorted, filter(None, named))) == sorted(map(sorted, [*expected, late]))


def test_what_was_not_applied_fails_no_build(stages: Stages) -> None:
    stages.project.dbt("test", "--select", "test_name:statements_are_applied")
