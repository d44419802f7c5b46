"""Runs a Python model in the thread's own Spark session."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from functools import partial
from typing import Any

from dbt.adapters.base import PythonJobHelper
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession

from dbt.adapters.spark_session.dataframes import create_view
from dbt.adapters.spark_session.errors import message_of
from dbt.adapters.spark_session.increments import NothingNew, Reading, read_new_rows
from dbt.adapters.spark_session.replacements import Replacement


class SessionPythonJob(PythonJobHelper):
    """Executes the compiled model: its DataFrame becomes a temporary view.

    dbt writes the view like the query of a SQL model, so that both kinds of
    model share partitioning, table properties and incremental strategies.
    """

    def __init__(self, parsed_model: dict[str, Any], credential: Any) -> None:
        self.home = credential.home
        self.path = parsed_model["original_file_path"]
        self.line_count = len(parsed_model["raw_code"].splitlines())
        self.input_count = len(parsed_model["refs"]) + len(parsed_model["sources"])
        self.inputs_read: set[str] = set()

    def run(self, compiled_code: str, session: SparkSession, readings: dict[str, Reading]) -> None:
        """`readings`: consumer -> what it reads, added to by a model that reads new rows."""
        self.session = session
        self.readings = readings
        names = {
            "__name__": "__dbt_model__",
            "spark": session,
            "load_table": self._load_table,
            "load_new_rows": self._load_new_rows,
            "create_view": partial(create_view, session),
        }
        try:
            # The model's own code comes first: its line numbers are those of its file.
            exec(compile(compiled_code, self.path, "exec"), names)
        except NothingNew:
            pass
        except DbtRuntimeError:  # says what to do, wherever it is raised
            raise
        except Exception as error:
            raise DbtRuntimeError(self._explain(error)) from error

    def _load_table(self, name: str) -> DataFrame:
        return self.session.table(name)

    def _load_new_rows(
        self,
        name: str,
        consumer: str,
        is_incremental: bool,
        inputs: list[str],
        replaces: Mapping[str, Any] | None = None,
    ) -> DataFrame:
        reading = self.readings.setdefault(consumer, Reading())
        reading.inputs = inputs
        rows = read_new_rows(self.session, name, consumer if is_incremental else None, reading)
        if is_incremental and replaces is not None:
            replacement = Replacement(**replaces)
            inputs = replacement.inputs(self.session, name, consumer)
            if inputs is not None:
                reading.replaced_rows = replacement.rows
                rows = rows.unionByName(inputs)
        self.inputs_read.add(name)
        if is_incremental and not reading.has_rows and len(self.inputs_read) == self.input_count:
            raise NothingNew(consumer)
        return rows

    def _explain(self, error: Exception) -> str:
        """The error and the innermost line of the model file it came from."""
        place = next(
            (
                f"{self.path}, line {frame.lineno}: {frame.line or ''}".rstrip(": ")
                for frame in reversed(traceback.extract_tb(error.__traceback__))
                if frame.filename == self.path and (frame.lineno or 0) <= self.line_count
            ),
            self.path,
        )
        return f"{type(error).__name__}: {message_of(error, self.home)}\n  in {place}"
