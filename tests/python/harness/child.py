"""Commands of tests on a target, in their own process.

`land PATH…`, `content PATH TABLE…`, `rows PATH TABLE…`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from cdc_marts.landing.file_messages import read_files
from cdc_marts.landing.files import land_files
from cdc_marts.landing.spool import SpooledMessages
from cdc_marts.landing.topic_map import TopicMap
from cdc_marts.project import spark_session
from tests.python.harness.project import content


def main(target: str, command: str, *arguments: str) -> None:
    with spark_session(target) as session:
        if command == "land":
            _land(session, *arguments)
        elif command == "rows":
            _write_rows(session, *arguments)
        else:
            _write_content(session, *arguments)


def _land(session: SparkSession, *paths: str) -> None:
    with SpooledMessages() as messages:
        for path in map(Path, paths):
            read_files(messages, [path], TopicMap.of(path.stem))
        for _ in land_files(session, messages):
            pass


def _write_content(session: SparkSession, path: str, *relations: str) -> None:
    rows = {relation: content(session, relation) for relation in relations}
    Path(path).write_text(json.dumps(rows), "utf-8")


def _write_rows(session: SparkSession, path: str, *relations: str) -> None:
    # Imports DuckDB, which takes a second, and which no other command needs.
    from tests.python.end_to_end.readers import of_spark

    read = of_spark(session)
    Path(path).write_text(json.dumps({name: read(name) for name in relations}), "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
