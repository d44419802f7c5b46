"""A private MariaDB server whose binlog has whole rows."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.python.cluster.services import HOST, free_port, wait_until
from tests.python.engines.sql_client import SqlClient

DATABASE = "shop"
USER, PASSWORD = "cdc", "not-a-secret"
#: All that the server needs beside its folder and its port.
_OPTIONS = (
    *("--server-id=1", "--log-bin=binlog", "--binlog-format=ROW", "--binlog-row-image=FULL"),
    # Of transactions that are open at once, none waits for rows that it doesn't write.
    "--transaction-isolation=READ-COMMITTED",
    "--sql-mode=STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION",
    *("--character-set-server=utf8mb4", "--default-time-zone=+00:00"),
    *("--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M", "--skip-name-resolve"),
)


def missing_program() -> str | None:
    """The program of MariaDB that this machine lacks, None where it has all of them."""
    return next((name for name in _PROGRAMS if _program(name) is None), None)


@dataclass(frozen=True)
class MariaDb:
    """A server that runs, with an empty database."""

    port: int
    folder: Path

    def client(self, name: str) -> SqlClient:
        """One more connection; its errors go to a log of this name."""
        program = _program("mariadb")
        login = (f"--user={USER}", f"--host={HOST}", f"--port={self.port}", "--protocol=tcp")
        # A result goes out as soon as it is there, and as it is.
        shown = ("--unbuffered", "--raw", "--batch", "--skip-column-names")
        return SqlClient(
            [
                str(program),
                "--no-defaults",
                *login,
                *shown,
                "--default-character-set=utf8mb4",
                DATABASE,
            ],
            self.folder / f"{name}.log",
            {**os.environ, "MYSQL_PWD": PASSWORD},
        )


@contextmanager
def mariadb() -> Iterator[MariaDb]:
    """A server, as long as the block runs."""
    folder = Path(tempfile.mkdtemp(prefix="mariadb-"))
    data, port = folder / "data", free_port()
    # Root may not run it.
    account: dict[str, Any] = {"user": "mysql"} if os.geteuid() == 0 else {}
    if account:
        shutil.chown(folder, account["user"])
    # Its account may not write to the folder for files of this one.
    started: dict[str, Any] = {"env": {**os.environ, "TMPDIR": str(folder)}, **account}
    log_path = folder / "server.log"
    server = None
    try:
        with log_path.open("wb") as log:
            started |= {"stdout": log, "stderr": subprocess.STDOUT}
            install = [_program("mariadb-install-db"), "--no-defaults", f"--datadir={data}"]
            no_login = ("--auth-root-authentication-method=normal", "--skip-test-db")
            subprocess.run([*install, *no_login], check=True, **started)
            places = (f"--datadir={data}", f"--socket={folder / 'socket'}", f"--port={port}")
            command = [_program("mariadbd"), "--no-defaults", *places, f"--bind-address={HOST}"]
            server = subprocess.Popen([*command, *_OPTIONS], **started)
        as_root = [
            *(_program("mariadb"), "--no-defaults", "--user=root"),
            f"--socket={folder / 'socket'}",
        ]
        wait_until(
            lambda: subprocess.call([*as_root, "-e", "select 1"], **_SILENT) == 0,
            "MariaDB answers",
        )
        set_up = (
            f"create database {DATABASE};"
            f" create user {USER}@'%' identified by '{PASSWORD}';"
            f" grant all on *.* to {USER}@'%'"
        )
        subprocess.run([*as_root, "-e", set_up], check=True)
        yield MariaDb(port, folder)
    except (AssertionError, subprocess.CalledProcessError):
        print(log_path.read_text(errors="replace"))
        raise
    finally:
        if server is not None:
            server.kill()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


_PROGRAMS = ("mariadbd", "mariadb", "mariadb-install-db")
_SILENT: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def _program(name: str) -> str | None:
    return shutil.which(name, path=os.pathsep.join([os.environ["PATH"], "/usr/sbin"]))
