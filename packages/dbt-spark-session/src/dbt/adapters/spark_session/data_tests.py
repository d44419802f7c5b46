"""Results of data tests, which are used again while the tables that a test reads are unchanged.

Checking that is faster than analyzing the query.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyspark
from dbt.adapters.spark_session.__version__ import version
from dbt.adapters.spark_session.catalog import Metadata
from dbt.adapters.spark_session.queries import is_volatile, read_by
from dbt_common.clients.system import write_file
from pyspark.sql import SparkSession


def question_checksum(session: SparkSession, query: str) -> str | None:
    """Return a text that differs if the query may have another answer.

    None if the query reads something that is not known to be an Iceberg table or view, or if it
    depends on more than it reads, such as the time.
    """
    contents: dict[str, str] = {}
    if not _add_contents(Metadata(session), query, contents):
        return None
    settings = {
        name: value for name, value in session.conf.getAll.items() if name.startswith("spark.sql.")
    }
    described = [version, pyspark.__version__, query, contents, settings]
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def _add_contents(metadata: Metadata, query: str, contents: dict[str, str]) -> bool:
    """Add the tables and views that a query reads, also through views.

    Return whether all are known.
    """
    names = read_by(query)
    if names is None or is_volatile(query):
        return False
    for name in names - contents.keys():
        query_of_view = metadata.view_query(name)
        id_of = metadata.rows_id if query_of_view is None else metadata.columns_id
        found = id_of(name)
        if found is None:
            return False
        contents[name] = found
        if query_of_view is not None and not _add_contents(metadata, query_of_view, contents):
            return False
    return True


class ResultFiles:
    """One file per data test, with its last result and the checksum of its query."""

    def __init__(self, folder: Path) -> None:
        """Keep the results in `folder`, which need not exist."""
        self._folder = folder

    def result(self, test_id: str, checksum: str) -> dict[str, Any] | None:
        """Return the result that a test gave to a query; None if its last query was another one."""
        try:
            found = json.loads(self._file(test_id).read_text("utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):  # cut off by a kill
            return None
        return found["result"] if found["checksum"] == checksum else None

    def keep(self, test_id: str, checksum: str, result: dict[str, Any]) -> None:
        """Keep a result: `failures`, `should_warn`, `should_error`."""
        write_file(str(self._file(test_id)), json.dumps({"checksum": checksum, "result": result}))

    def _file(self, test_id: str) -> Path:
        return self._folder / f"{hashlib.sha256(test_id.encode()).hexdigest()[:32]}.json"
