"""Python models, which run in the Spark session of their thread."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any
from weakref import WeakKeyDictionary

from dbt.adapters.base import PythonJobHelper
from dbt.adapters.spark_session.dataframes import create_view
from dbt.adapters.spark_session.errors import message_of
from dbt.adapters.spark_session.incremental_read import IncrementalRead, NothingNew
from dbt.adapters.spark_session.replacements import Replacement
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame


class LazyFrame(ClassicDataFrame):
    """The rows of a table, a view or a table expression. Spark analyzes it when they are used."""

    def __new__(cls, session: SparkSession, source: str) -> LazyFrame:
        return object.__new__(cls)

    def __init__(self, session: SparkSession, source: str) -> None:
        super().__init__(None, session)
        del self._jdf
        self._source = source

    @cached_property
    def _jdf(self) -> Any:
        return self._session.sql(f"select * from {self._source}")._jdf


def _no_rows_of(*frames: DataFrame) -> DataFrame | tuple[DataFrame, ...]:
    """Return the result of `dbt.new_rows` and `dbt.rows_so_far` with --empty."""
    return _one_or_all([frame.limit(0) for frame in frames])


def _one_or_all(frames: Sequence[DataFrame]) -> DataFrame | tuple[DataFrame, ...]:
    return frames[0] if len(frames) == 1 else tuple(frames)


class SessionPythonJob(PythonJobHelper):
    """A job that executes a compiled model: the model's DataFrame becomes a temporary view.

    dbt writes the view like the query of a SQL model, so that both kinds of model share
    partitioning, table properties and incremental strategies.

    The model's `dbt` has two more functions, for increments (see `IncrementalRead`). They take the
    results of `dbt.ref` and `dbt.source`. And it has a condition:

    - `dbt.new_rows(frame, ...)`: the rows of each that the model has not read, as one
      DataFrame, or several. A model calls it once, with all inputs that it reads in this way. If
      none has rows, the model is not written.
    - `dbt.rows_so_far(frame)`: these rows, and the rows that earlier runs have read.
    - `dbt.replaceable_rows`: the condition on the model's rows that a run makes anew, from the
      setting `replaces`; None without this setting.

    With `--empty`, the functions return no rows, and the run commits no watermark.
    """

    def __init__(self, parsed_model: dict[str, Any], credential: Any) -> None:
        self.home = credential.home
        self.path = parsed_model["original_file_path"]
        self.line_count = len(parsed_model["raw_code"].splitlines())
        #: result of `dbt.ref` or `dbt.source` -> the table's name
        self.names: WeakKeyDictionary[DataFrame, str] = WeakKeyDictionary()

    def run(
        self, compiled_code: str, session: SparkSession, reads: Mapping[str, IncrementalRead]
    ) -> None:
        """Run the model. `reads`: by the names of tables; the code names the model's own."""
        self.session = session
        self.reads = reads
        names = {
            "__name__": "__dbt_model__",
            "spark": session,
            "load_table": self._load_table,
            "load_given": self._rows,
            "no_rows_of": _no_rows_of,
            "new_rows_of": self._new_rows_of,
            "rows_so_far_of": self._rows_so_far_of,
            "create_view": partial(create_view, session),
        }
        try:
            # The model's own code comes first, so its line numbers are the same as in its file.
            exec(compile(compiled_code, self.path, "exec"), names)
        except NothingNew:
            pass
        except DbtRuntimeError:  # its message says what to do
            raise
        except Exception as error:
            raise DbtRuntimeError(self._explain(error)) from error

    def _load_table(self, name: str) -> DataFrame:
        frame = self._rows(name)
        self.names[frame] = name
        return frame

    def _new_rows_of(
        self, table: str, replaces: Mapping[str, Any] | None
    ) -> Callable[..., DataFrame | tuple[DataFrame, ...]]:
        read = self.reads[table]

        def new_rows(*frames: DataFrame) -> DataFrame | tuple[DataFrame, ...]:
            names = [self.names[frame] for frame in frames]
            new = [read.new_rows(name) for name in names]
            again: list[DataFrame | None] = [None] * len(names)
            if read.is_incremental and replaces is not None:
                replacement = Replacement(**replaces)
                again = [replacement.inputs(self.session, name, table) for name in names]
                if any(rows is not None for rows in again):
                    read.replace(replacement.rows)
            if read.is_incremental and read.has_nothing_new:
                raise NothingNew(table)
            found = [
                self._rows(rows) if replaced is None else self._rows(rows).unionByName(replaced)
                for rows, replaced in zip(new, again, strict=True)
            ]
            return _one_or_all(found)

        return new_rows

    def _rows_so_far_of(self, table: str) -> Callable[[DataFrame], DataFrame]:
        read = self.reads[table]

        def rows_so_far(frame: DataFrame) -> DataFrame:
            return self._rows(read.rows_so_far(self.names[frame]))

        return rows_so_far

    def _rows(self, table_expression: str) -> DataFrame:
        return LazyFrame(self.session, table_expression)

    def _explain(self, error: Exception) -> str:
        """Return the error and the innermost line of the model file that it came from."""
        place = next(
            (
                f"{self.path}, line {frame.lineno}: {frame.line or ''}".rstrip(": ")
                for frame in reversed(traceback.extract_tb(error.__traceback__))
                if frame.filename == self.path and (frame.lineno or 0) <= self.line_count
            ),
            self.path,
        )
        return f"{type(error).__name__}: {message_of(error, self.home)}\n  in {place}"
