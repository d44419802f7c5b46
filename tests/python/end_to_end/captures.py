"""Messages captured from real engines, with the rows their databases ended with.

`canal_mariadb`: an Alibaba Canal 1.1.7 server on MariaDB 10.11.
`cdl_debezium_postgres`: Debezium 3.5 on PostgreSQL 15, in the shape of CDL.
State values are the databases' own texts; binaries are base64.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.python.end_to_end.database_values import canal_text
from tests.python.harness.project import Landed

CAPTURES = Path(__file__).parent / "captures"


def final_rows(capture: str, table: str) -> list[dict[str, str | None]]:
    """The rows the database had after the capture."""
    return _rows(CAPTURES / capture / "state" / f"{table}.jsonl")


def tables_of(capture: str) -> list[str]:
    return sorted(path.stem for path in (CAPTURES / capture / "state").glob("*.jsonl"))


def canal_messages() -> Iterator[Landed]:
    """The full load of the rows there were before, as Canal's INIT, then the capture."""
    lines = list(_lines(CAPTURES / "canal_mariadb" / "messages.jsonl.gz"))
    for offset, value in enumerate([*_canal_full_load(lines), *lines]):
        yield Landed("canal_mariadb", offset, value.encode())


def debezium_messages() -> Iterator[Landed]:
    """The capture, each message in the topic of its table."""
    capture = CAPTURES / "cdl_debezium_postgres"
    offsets: dict[str, int] = defaultdict(int)
    topics = _lines(capture / "topics.txt.gz")
    for topic, line in zip(topics, _lines(capture / "messages.jsonl.gz"), strict=True):
        message = json.loads(line)
        yield Landed(topic, offsets[topic], _encoded(message["value"]), _encoded(message["key"]))
        offsets[topic] += 1


def _canal_full_load(lines: list[str]) -> Iterator[str]:
    """INIT messages in Canal's own spelling of the values, as far as before images show it."""
    described: dict[str, dict[str, Any]] = {}
    for line in lines:
        message = json.loads(line)
        if message["data"]:
            described.setdefault(message["table"], message)
    for table, message in sorted(described.items()):
        path = CAPTURES / "canal_mariadb" / "state_before" / f"{table}.jsonl"
        rows = _rows(path) if path.exists() else []
        if rows:
            types = message["mysqlType"]
            data = [{c: canal_text(v, types.get(c, "")) for c, v in row.items()} for row in rows]
            yield json.dumps({**message, "type": "INIT", "data": data, "old": None})


def _rows(path: Path) -> list[dict[str, str | None]]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [json.loads(line) for line in lines]


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield line.rstrip("\n")


def _encoded(value: Any) -> bytes | None:
    return None if value is None else json.dumps(value, ensure_ascii=False).encode()
