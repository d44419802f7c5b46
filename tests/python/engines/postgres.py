"""A private PostgreSQL server whose changes can be decoded from its log."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.python.cluster.services import HOST, postgres, postgres_programs
from tests.python.engines.sql_client import SqlClient

DATABASE = "postgres"
USER, PASSWORD = "cdc", "not-a-secret"


def missing_program() -> str | None:
    """The program of PostgreSQL that this machine lacks, None where it has all of them."""
    programs = postgres_programs()
    if programs is None:
        return "initdb"
    return next((n for n in ("postgres", "psql") if not (_folder() / n).exists()), None)


@dataclass(frozen=True)
class Postgres:
    """A server that runs."""

    port: int
    folder: Path

    def client(self, name: str) -> SqlClient:
        """One more connection; its errors go to a log of this name."""
        shown = ("--no-psqlrc", "--quiet", "--tuples-only", "--no-align")
        settings = ("--set", "ON_ERROR_STOP=1")
        address = f"postgresql://{USER}@{HOST}:{self.port}/{DATABASE}"
        environment = {"PGPASSWORD": PASSWORD, "PGTZ": "UTC", "PGCLIENTENCODING": "UTF8"}
        return SqlClient(
            [_folder() / "psql", *shown, *settings, address],
            self.folder / f"{name}.log",
            {**os.environ, **environment},
        )


@contextmanager
def postgres_server(folder: Path) -> Iterator[Postgres]:
    """A server, as long as the block runs; the logs of its clients go to a folder."""
    settings = {
        "wal_level": "logical",
        "shared_buffers": "32MB",
        "timezone": "UTC",
        "log_min_messages": "error",
    }
    with postgres(_folder(), USER, PASSWORD, **settings) as jdbc_address:
        yield Postgres(int(jdbc_address.rsplit(":", 1)[1].split("/")[0]), folder)


def _folder() -> Path:
    """Where PostgreSQL's programs are: `psql` is not always beside a link to `initdb`."""
    programs = postgres_programs()
    assert programs is not None, "PostgreSQL is not installed"
    return programs
