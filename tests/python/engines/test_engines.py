"""Real engines to the end: databases that are written to, Canal and Debezium, Kafka, the marts.

MariaDB has two readers, a Canal server and a Debezium connector; PostgreSQL has a Debezium
connector.  A random workload runs on both databases while rounds of landing and `dbt run` go on.
In the end every table of the marts is the table of its database.

What no message has is left out of the workload, or named here; see `workload.py` for rows
that are written anew behind ADD COLUMN … DEFAULT and RENAME COLUMN, and for a TRUNCATE before
DROP TABLE, of which Debezium publishes nothing.
"""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from cdc_marts.scaffold import DESCRIPTIONS, TableName, scaffold, seen_tables
from tests.python.cluster.services import wait_until
from tests.python.end_to_end.conftest import command_line, project
from tests.python.end_to_end.database_values import (
    canal_value,
    debezium_value,
    mariadb_value,
    postgres_value,
)
from tests.python.end_to_end.table_comparison import (
    state_differences,
    typed_differences,
    unexplained,
)
from tests.python.engines import mariadb, postgres
from tests.python.engines.canal import canal
from tests.python.engines.database_rows import (
    Rows,
    as_typed_marts_show,
    mariadb_as_debezium,
    mariadb_rows,
    postgres_rows,
)
from tests.python.engines.debezium import debezium, mariadb_connector, postgres_connector
from tests.python.engines.tables import LATE, MARIADB, MARKER, POSTGRES, shapes
from tests.python.engines.workload import Workload, running
from tests.python.harness.commands import run_command
from tests.python.harness.copied_project import copy_without_tables
from tests.python.harness.project import Project
from tests.python.landing.kafka_server import Kafka, kafka

__all__ = ["command_line", "project"]  # fixtures

pytestmark = pytest.mark.long

CANAL, DEBEZIUM = "canal_json", "cdl_debezium_json"
CANAL_TOPIC, MARIADB_TOPICS, POSTGRES_TOPICS = "canal", "maria", "pg"
TABLES = sorted([LATE.name, *(shape.name for shape in shapes(MARIADB))])
#: Rounds while the workload runs; one more is behind it.
ROUNDS = 3
TRANSACTIONS = int(os.environ.get("ENGINES_TRANSACTIONS", "300"))
#: Before the first statement about a table, which no snapshot of Debezium would stand.
TRANSACTIONS_OF_SNAPSHOT = 25
#: Seconds until a producer has published what it is waited for.
PATIENCE = 300


@dataclass
class Topic:
    """A topic as it is read for one text after the other."""

    kafka: Kafka
    name: str
    read: int = 0
    texts: bytearray = field(default_factory=bytearray)

    def has(self, text: str) -> bool:
        values = self.kafka.values(self.name, self.read)
        self.read += len(values)
        for value in values:
            self.texts += value or b""
        return text.encode() in self.texts


@dataclass
class Outcome:
    """What the databases and the marts ended with."""

    project: Project
    #: mart -> its source table
    marts: Mapping[str, TableName]
    mariadb: dict[str, Rows]
    postgres: dict[str, Rows]
    #: topic -> offset -> column -> its Connect schema
    fields: dict[str, dict[int, dict[str, Any]]]
    #: database -> how often its workload did what
    done: dict[str, Counter[str]]

    def mart_of(self, source_format: str, table_id: str) -> str:
        table = TableName(source_format, table_id)
        return next(name for name, found in self.marts.items() if found == table)


@pytest.fixture(scope="module")
def outcome(
    project: Project,
    command_line: None,
    spark: SparkSession,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Outcome]:
    missing = mariadb.missing_program() or postgres.missing_program()
    if missing:
        pytest.skip(f"`{missing}` is not here: apt-get install mariadb-server postgresql")
    seed = int(os.environ.get("ENGINES_SEED") or random.randrange(10**6))
    print(f"engines: ENGINES_SEED={seed} repeats the statements")
    folder = tmp_path_factory.mktemp("engines")
    copy = copy_without_tables(tmp_path_factory.mktemp("engines-project"))
    # It describes no model yet; `scaffold` writes it anew.
    (copy / DESCRIPTIONS).unlink()
    with ExitStack() as stack:
        broker = stack.enter_context(kafka(spark))
        maria = stack.enter_context(mariadb.mariadb())
        pg = stack.enter_context(postgres.postgres_server(folder))
        rounds = Rounds(Project(spark, copy), broker, folder)
        yield _run(seed, stack, broker, maria, pg, rounds, folder)


class Rounds:
    """Rounds of landing and building, timed."""

    def __init__(self, project: Project, broker: Kafka, folder: Path) -> None:
        self.project = project
        self.marts: dict[str, TableName] = {}
        self._broker = broker
        self._map = folder / "topics.yml"
        self._map.write_text(
            f"topics:\n  {CANAL_TOPIC}: {CANAL}\n"
            f"  {MARIADB_TOPICS}.{mariadb.DATABASE}.*: {DEBEZIUM}\n"
            f"  {POSTGRES_TOPICS}.public.*: {DEBEZIUM}\n"
        )

    def run(self) -> None:
        """One round; tables that are new get their typed marts in the next one."""
        began = time.monotonic()
        before = self._landed()
        servers = ("--bootstrap-servers", self._broker.address)
        landed = run_command("land", "kafka", "--map", self._map, *servers)
        assert landed.exit_code == 0, landed.output
        messages = self._landed() - before
        self.project.dbt("run")
        print(f"engines: a round of {messages} messages took {time.monotonic() - began:.0f} s")
        assert messages > 0
        self._declare()

    def build_new_marts(self) -> None:
        """The marts of tables that the last round was the first to see."""
        marts = [name for name in self.marts if not self._is_built(name)]
        if marts:
            self.project.dbt("run", "--select", *marts)

    def _declare(self) -> None:
        seen = seen_tables(self.project.spark, "local")
        tables = [table for table in seen if table.table_id.rsplit(".", 1)[-1] in TABLES]
        written = scaffold(self.project.root, tables)
        self.marts |= written.declared

    def _is_built(self, mart: str) -> bool:
        return self.project.spark.catalog.tableExists(f"marts.{mart}")

    def _landed(self) -> int:
        tables = " union all ".join(f"select offset from landing.{f}" for f in (CANAL, DEBEZIUM))
        return self.project.spark.sql(tables).count()


def _run(
    seed: int,
    stack: ExitStack,
    broker: Kafka,
    maria: mariadb.MariaDb,
    pg: postgres.Postgres,
    rounds: Rounds,
    folder: Path,
) -> Outcome:
    broker.create_topic(CANAL_TOPIC)
    canal_topic = Topic(broker, CANAL_TOPIC)
    stack.enter_context(canal(maria, broker.address, CANAL_TOPIC, folder))
    client = stack.enter_context(maria.client("reader"))
    client.execute("create table hello (n int)")

    def is_heard() -> bool:
        client.execute("insert into hello values (1)")
        return canal_topic.has('"table":"hello"')

    wait_until(is_heard, "Canal publishes", PATIENCE)
    client.execute("drop table hello")

    marks = iter(range(1_000_000))

    def wait_for_canal() -> None:
        """Canal asks the database how a table is when it sees it first, or has seen an ALTER."""
        text = f"mark {next(marks)} of canal"
        on_mariadb.mark(text)
        wait_until(lambda: canal_topic.has(f'"v":"{text}"'), "Canal has caught up", PATIENCE)

    def wait_for_stream(workload: Workload, topic: Topic) -> None:
        """Debezium has read the rows that were there, and reads the log."""

        def is_streaming() -> bool:
            check_connectors()
            workload.mark(f"mark {next(marks)} of debezium")
            return topic.name in broker.topic_names() and topic.has('"op":"u"')

        wait_until(is_streaming, f"{topic.name} is streamed", PATIENCE)

    on_mariadb = Workload(MARIADB, maria.client, seed, wait_for_canal)
    on_postgres = Workload(POSTGRES, pg.client, seed)
    for workload in (on_mariadb, on_postgres):
        stack.callback(workload.close)
        workload.create()
    marker_topics = [
        Topic(broker, f"{MARIADB_TOPICS}.{mariadb.DATABASE}.{MARKER.name}"),
        Topic(broker, f"{POSTGRES_TOPICS}.public.{MARKER.name}"),
    ]
    connectors = [
        mariadb_connector(MARIADB_TOPICS, maria, broker.address),
        postgres_connector(POSTGRES_TOPICS, pg),
    ]
    with (
        running(on_mariadb, TRANSACTIONS, TRANSACTIONS_OF_SNAPSHOT) as permit_mariadb,
        running(on_postgres, TRANSACTIONS, TRANSACTIONS_OF_SNAPSHOT) as permit_postgres,
    ):

        def permit(transactions: int) -> None:
            permit_mariadb(transactions)
            permit_postgres(transactions)

        permit(TRANSACTIONS_OF_SNAPSHOT)
        check_connectors = stack.enter_context(debezium(connectors, broker.address, folder))
        for workload, topic in zip((on_mariadb, on_postgres), marker_topics, strict=True):
            wait_for_stream(workload, topic)
        for _ in range(ROUNDS):
            permit((TRANSACTIONS - TRANSACTIONS_OF_SNAPSHOT) // ROUNDS)
            rounds.run()
    for workload in (on_mariadb, on_postgres):
        workload.mark("the end")
    for topic in (canal_topic, *marker_topics):
        wait_until(lambda t=topic: t.has("the end"), f"{topic.name} has caught up", PATIENCE)
    rounds.run()
    rounds.build_new_marts()
    for workload in (on_mariadb, on_postgres):
        print(f"engines: {workload.dialect.name}: {dict(sorted(workload.done.items()))}")

    reader = stack.enter_context(pg.client("reader"))
    topics = sorted(name for name in broker.topic_names() if name.count(".") == 2)
    published = {topic: broker.values(topic) for topic in (CANAL_TOPIC, *topics)}
    found = Outcome(
        rounds.project,
        rounds.marts,
        {table: mariadb_rows(client, table) for table in TABLES},
        {table: postgres_rows(reader, table) for table in TABLES},
        {topic: _connect_fields(published[topic]) for topic in topics},
        {workload.dialect.name: workload.done for workload in (on_mariadb, on_postgres)},
    )
    _keep(found, published, folder)
    return found


def _keep(outcome: Outcome, published: Mapping[str, list[bytes | None]], folder: Path) -> None:
    """The messages and the rows, for who looks into a difference."""
    for topic, values in published.items():
        lines = b"".join((value or b"null") + b"\n" for value in values)
        (folder / f"{topic}.jsonl").write_bytes(lines)
    rows = {"mariadb": outcome.mariadb, "postgres": outcome.postgres}
    (folder / "rows.json").write_text(json.dumps(rows, ensure_ascii=False), "utf-8")
    compared = sum(len(found) for tables in rows.values() for found in tables.values())
    print(f"engines: {compared} rows of two databases, kept with the messages in {folder}")


def _connect_fields(values: list[bytes | None]) -> dict[int, dict[str, Any]]:
    fields = {}
    for offset, value in enumerate(values):
        if value is not None:
            schema = json.loads(value)["schema"]
            images = next(f for f in schema["fields"] if f["field"] == "after")
            fields[offset] = {f["field"]: f for f in images["fields"]}
    return fields


@pytest.mark.parametrize("database", [MARIADB.name, POSTGRES.name])
def test_tables_were_truncated_and_changed_and_keys_too(outcome: Outcome, database: str) -> None:
    done = outcome.done[database]
    assert done["truncates"] > 0
    assert done["statements about tables"] > 0
    assert done["key change"] > 0


@pytest.mark.parametrize("source_format", [CANAL, DEBEZIUM])
def test_every_message_is_read(outcome: Outcome, source_format: str) -> None:
    assert not outcome.project.rows(
        "select reject_code, reject_reason, value_text from marts.quarantined_messages"
        f" where source_format = '{source_format}' limit 3"
    )
    [ledger] = outcome.project.rows(
        "select sum(landed) as landed, sum(`change`) as changes, sum(rejected) as rejected"
        f" from marts.message_ledger where source_format = '{source_format}'"
    )
    print(f"engines: {source_format}: {ledger}")
    assert ledger["landed"] >= ledger["changes"] > TRANSACTIONS
    assert ledger["rejected"] == 0


@pytest.mark.parametrize("table", TABLES)
def test_canal_ends_with_the_rows_of_mariadb(outcome: Outcome, table: str) -> None:
    table_id, rows = f"{mariadb.DATABASE}.{table}", outcome.mariadb[table]
    [described] = outcome.project.rows(
        "select column_types from marts.source_tables"
        f" where source_format = '{CANAL}' and table_id = '{table_id}'"
    )
    types = described["column_types"]

    def mart_value(state: dict[str, Any], column: str) -> Any:
        return canal_value(state["row"][column], types[column])

    def known(text: str | None, column: str) -> Any:
        return mariadb_value(text, types[column])

    differences = state_differences(outcome.project, CANAL, table_id, rows, mart_value, known)
    assert unexplained(table, differences, {}, is_absent_null=True)[:5] == []
    mart = outcome.mart_of(CANAL, table_id)
    assert typed_differences(outcome.project, mart, table, rows, {})[:5] == []


@pytest.mark.parametrize("table", TABLES)
def test_debezium_ends_with_the_rows_of_mariadb(outcome: Outcome, table: str) -> None:
    table_id = f"{mariadb.DATABASE}.{table}"
    fields = outcome.fields[f"{MARIADB_TOPICS}.{table_id}"]
    rows = as_typed_marts_show(outcome.mariadb[table], fields[max(fields)])
    _compare_with_debezium(outcome, table, table_id, rows, fields, mariadb_as_debezium)


@pytest.mark.parametrize("table", TABLES)
def test_debezium_ends_with_the_rows_of_postgresql(outcome: Outcome, table: str) -> None:
    table_id = f"{postgres.DATABASE}.public.{table}"
    fields = outcome.fields[f"{POSTGRES_TOPICS}.public.{table}"]
    rows = outcome.postgres[table]
    _compare_with_debezium(outcome, table, table_id, rows, fields, postgres_value)


def _compare_with_debezium(
    outcome: Outcome,
    table: str,
    table_id: str,
    rows: Rows,
    fields: dict[int, dict[str, Any]],
    value_of: Any,
) -> None:
    newest = fields[max(fields)]

    def mart_value(state: dict[str, Any], column: str) -> Any:
        described = fields[state["last_sequence"]["offset"]]
        return debezium_value(state["row"][column], described.get(column, newest.get(column)))

    def known(text: str | None, column: str) -> Any:
        return value_of(text, newest[column])

    differences = state_differences(outcome.project, DEBEZIUM, table_id, rows, mart_value, known)
    assert unexplained(table, differences, {}, is_absent_null=True)[:5] == []
    mart = outcome.mart_of(DEBEZIUM, table_id)
    assert typed_differences(outcome.project, mart, table, rows, {})[:5] == []
