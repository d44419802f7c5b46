"""DataFrames as temporary views, which dbt writes like the query of any SQL model.

A SQL model gets the rows of a Python function by the macro `dataframe`:
`select * from {{ dataframe('package.module:function', …) }}`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from dbt.adapters.spark_session.catalog import table_property
from dbt.adapters.spark_session.incremental_read import Changes, IncrementalRead
from dbt.adapters.spark_session.jvm import java_class
from dbt_common.exceptions import DbtRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame


class ModelRun:
    """A run of a model, for the function that returns its rows.

    `is_incremental`: the rows are merged into the model's table, which exists. `has_inputs`:
    whether all inputs exist. If they don't, because a model is compiled or a unit test has fixtures
    instead, the function returns no rows, but the columns. `warn`: makes dbt warn of something.
    """

    def __init__(
        self,
        session: SparkSession,
        read: IncrementalRead | None,
        inputs: Mapping[str, str] | None,
        new_inputs: Mapping[str, str],
        changed_inputs: Mapping[str, Changes],
        warn: Callable[[str], Any],
    ) -> None:
        self.has_inputs = inputs is not None
        self.is_incremental = self.has_inputs and read is not None and read.is_incremental
        self.warn = warn
        self._session = session
        self._model_read = read
        self._inputs = inputs or {}
        self._new_inputs = new_inputs
        self._changed_inputs = changed_inputs

    @property
    def read(self) -> IncrementalRead:
        """What the run reads and commits; a unit test has none."""
        if self._model_read is None:
            raise DbtRuntimeError("A unit test has no table: look at `has_inputs` first.")
        return self._model_read

    @property
    def relation(self) -> str:
        """The name of the model's table; a unit test has none."""
        return self.read.table

    def rows(self, name: str) -> DataFrame:
        """Return the rows of an input."""
        return self._read(self._inputs[name])

    def new_rows(self, name: str) -> DataFrame:
        """Return the rows of an input that the model has not read; all rows for a rebuild."""
        return self._read(self._new_inputs[name])

    def rows_before(self, name: str) -> DataFrame:
        """Return the rows of a changed input when the model last read it; none before that."""
        return self._read(self._changed_inputs[name].rows_before)

    def changed_rows(self, name: str) -> DataFrame:
        """Return rows of a changed input that were added or updated since the last read."""
        return self._read(self._changed_inputs[name].changed_rows)

    @property
    def has_something_to_write(self) -> bool:
        """Whether an input has new rows or changes, or the run replaces rows. This needs no query.

        Also true if no input is read for new rows or changes.
        """
        return not self.read.has_nothing_new

    def table_property(self, name: str) -> str | None:
        """Return a property of the model's table, which exists."""
        return table_property(self._session, self.relation, name)

    def keep_property(self, name: str, value: str) -> None:
        """Make the table keep a property, if this run creates it."""
        self.read.keep_property(name, value)

    def partition_by(self, partitions: Iterable[str]) -> None:
        """Partition the table by these instead of its config, if this run creates it."""
        self.read.partition_by(partitions)

    def rebuild(self) -> None:
        """Rebuild the table from the rows that the function returns."""
        self.read.rebuild()

    def replace(self, rows: str) -> None:
        """Replace the rows that fulfil a condition by the rows of the function.

        `rows`: SQL over the columns of the model's table. For its readers, this is one commit.
        """
        self.read.replace(rows)

    def _read(self, table_expression: str) -> DataFrame:
        return self._session.sql(f"select * from {table_expression}")


def function_of(name: str) -> Callable[..., Any]:
    """Return a function by its name, `package.module:function`."""
    module, _, function = name.partition(":")
    try:
        return getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise DbtRuntimeError(
            f"There is no function `{name}` (package.module:function): {error}."
        ) from error


def create_view(session: SparkSession, result: Any, name: str) -> None:
    """Register a Spark or pandas DataFrame as a temporary view of the session."""
    if not isinstance(result, DataFrame):
        if hasattr(result, "to_spark"):
            result = result.to_spark()
        elif type(result).__module__.split(".")[0] == "pandas":
            result = session.createDataFrame(result)
        else:
            raise TypeError(
                f"a model returns a Spark or pandas DataFrame, not {type(result).__name__}"
            )
    if result.sparkSession is not session:
        # A view belongs to the session of its rows, and pandas-on-Spark uses a session of its own.
        dataset = java_class(session, "org.apache.spark.sql.classic.Dataset")
        plan = result._jdf.queryExecution().analyzed()
        result = ClassicDataFrame(dataset.ofRows(session._jsparkSession, plan), session)
    result.createOrReplaceTempView(name)


def drop_temporary_views(session: SparkSession) -> None:
    """Drop all temporary views of the session.

    A session outlives models and commands, and each view holds the analyzed plan of its rows.
    """
    session._jsparkSession.sessionState().catalog().clearTempTables()
