"""Debezium connectors in Kafka Connect, whose messages get the fields of CDL.

Plain Debezium JSON is none of the nine formats: CDL's has a version, a type, `LOB_COLUMNS` and
`unique` beside it, and a position in `source.lsn`.  The class `CdlMessage` adds them to each
message before it is written.  All else is as Debezium writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.python.cluster.services import HOST, answer_of, free_port, wait_until
from tests.python.engines import mariadb, postgres
from tests.python.engines.java_programs import compiled, java_program
from tests.python.harness.jars import jar_folder

_PACKAGES = (
    "org.apache.kafka:connect-runtime:4.1.1",
    "io.debezium:debezium-connector-mariadb:3.5.0.Final",
    "io.debezium:debezium-connector-postgres:3.5.0.Final",
    "org.slf4j:slf4j-simple:1.7.36",
)
_WORKER = {
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    # A NULL in a column with a default would be written as the default. A connector may say so
    # only beside a `value.converter` of its own.
    "value.converter.replace.null.with.default": "false",
    "offset.flush.interval.ms": "1000",
}
#: What every connector here has.
_CONNECTOR = {
    "tasks.max": "1",
    # Truncations are left out by default.
    "skipped.operations": "none",
    "transforms": "cdl",
    "transforms.cdl.type": "cdc_marts.engines.CdlMessage",
}


@dataclass(frozen=True)
class Connector:
    """A connector by its name, with its settings."""

    name: str
    settings: Mapping[str, str]


def mariadb_connector(name: str, server: mariadb.MariaDb, kafka: str, **settings: str) -> Connector:
    """Changes of the database, in topics that begin with the connector's name."""
    return _connector(
        name,
        {
            "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
            **_login(server.port, mariadb.USER, mariadb.PASSWORD),
            "database.server.id": "4321",
            "database.include.list": mariadb.DATABASE,
            "schema.history.internal.kafka.bootstrap.servers": kafka,
            "schema.history.internal.kafka.topic": f"{name}_tables",
            # Above 2^63 - 1 the default writes a negative number.
            "bigint.unsigned.handling.mode": "precise",
            **settings,
        },
    )


def postgres_connector(name: str, server: postgres.Postgres, **settings: str) -> Connector:
    """Changes of the schema `public`, in topics that begin with the connector's name."""
    return _connector(
        name,
        {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            **_login(server.port, postgres.USER, postgres.PASSWORD),
            "database.dbname": postgres.DATABASE,
            "schema.include.list": "public",
            "plugin.name": "pgoutput",
            "slot.name": name,
            "publication.name": name,
            **settings,
        },
    )


@contextmanager
def debezium(
    connectors: Sequence[Connector], kafka: str, folder: Path
) -> Iterator[Callable[[], None]]:
    """Connectors that run, as long as the block does; what fails where one has ended.

    `kafka`: its address.  `folder`: for the files of this worker.
    """
    port = free_port()
    worker = {
        "bootstrap.servers": kafka,
        "listeners": f"http://{HOST}:{port}",
        "offset.storage.file.filename": str(folder / "offsets"),
        **_WORKER,
    }
    files = [_write(folder / "worker.properties", worker)]
    for connector in connectors:
        settings = {"name": connector.name, **connector.settings}
        files.append(_write(folder / f"{connector.name}.properties", settings))
    jars = sorted(jar_folder("debezium", _PACKAGES).glob("*.jar"))
    classes = compiled("cdc_marts/engines/CdlMessage.java", jars, folder)
    main = "org.apache.kafka.connect.cli.ConnectStandalone"
    log = folder / "connect.log"
    with java_program([classes, *jars], main, *files, heap="512m", log=log) as process:

        def states() -> list[str]:
            assert process.poll() is None, "Kafka Connect has ended"
            found = []
            for connector in connectors:
                status = answer_of(f"http://{HOST}:{port}/connectors/{connector.name}/status")
                tasks = status["tasks"] if status else []
                failures = [task["trace"] for task in tasks if task["state"] == "FAILED"]
                assert not failures, failures
                found += [task["state"] for task in tasks]
            return found

        all_run = ["RUNNING"] * len(connectors)
        wait_until(lambda: states() == all_run, "the connectors run", patience=300)

        def check() -> None:
            assert states() == all_run

        yield check
        check()


def _connector(name: str, settings: Mapping[str, str]) -> Connector:
    return Connector(name, {"topic.prefix": name, **_CONNECTOR, **settings})


def _login(port: int, user: str, password: str) -> dict[str, str]:
    return {
        "database.hostname": HOST,
        "database.port": str(port),
        "database.user": user,
        "database.password": password,
    }


def _write(path: Path, settings: Mapping[str, str]) -> Path:
    path.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
    return path
