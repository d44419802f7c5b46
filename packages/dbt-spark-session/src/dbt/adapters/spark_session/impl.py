"""The adapter: dbt-spark on a Spark session that it starts or finds."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import agate
from dbt.adapters.__about__ import version as dbt_adapters_version
from dbt.adapters.base import PythonJobHelper, available
from dbt.adapters.base.impl import AdapterTrackingRelationInfo
from dbt.adapters.base.relation import BaseRelation
from dbt.adapters.contracts.connection import AdapterResponse
from dbt.adapters.contracts.relation import RelationConfig, RelationType
from dbt.adapters.spark.column import SparkColumn
from dbt.adapters.spark.impl import SparkAdapter, SparkConfig
from dbt.adapters.spark_session.__version__ import version
from dbt.adapters.spark_session.catalog import (
    has_iceberg_catalog,
    has_row_lineage,
    has_rows,
    iceberg_table,
    snapshots,
    table_property,
)
from dbt.adapters.spark_session.connections import SparkSessionConnectionManager
from dbt.adapters.spark_session.data_tests import ResultFiles, question_checksum
from dbt.adapters.spark_session.dataframes import (
    ModelRun,
    create_view,
    drop_temporary_views,
    function_of,
)
from dbt.adapters.spark_session.errors import message_of
from dbt.adapters.spark_session.incremental_read import (
    Changes,
    IncrementalRead,
    Input,
)
from dbt.adapters.spark_session.increments import incremental_inputs, views_of
from dbt.adapters.spark_session.merge_filter import possible_matches
from dbt.adapters.spark_session.python_models import SessionPythonJob
from dbt.adapters.spark_session.replacements import (
    drop_replacement,
    finish_replacement,
    start_replacement,
)
from dbt.adapters.spark_session.view_checksums import CHECKSUM, is_same_view, view_checksum
from dbt_common.clients import agate_helper
from dbt_common.exceptions import DbtRuntimeError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession


class SessionColumn(SparkColumn):
    @property
    def quoted(self) -> str:
        """The name in backticks. It may contain backticks."""
        return "`{}`".format(self.column.replace("`", "``"))


@dataclass
class SparkSessionConfig(SparkConfig):
    """Settings of a model, besides the settings of dbt and dbt-spark.

    `tblproperties`: properties of the table.
    `delete_when`: with the strategy `merge`, a condition on DBT_INTERNAL_SOURCE. Rows of the query
    that fulfil it delete the rows that they match.
    `repeatable`: with the strategy `merge`, whether the query gives the same rows if it runs twice,
    because nobody else writes to its inputs.
    `replaces`: for a Python model that reads new rows. `rows`: a condition on rows of the model
    that this run makes again. `by`: the columns that identify what a row was made from.
    """

    tblproperties: dict[str, str] | None = None
    delete_when: str | None = None
    repeatable: bool | None = None
    replaces: dict[str, Any] | None = None


class SparkSessionAdapter(SparkAdapter):
    AdapterSpecificConfigs = SparkSessionConfig
    ConnectionManager = SparkSessionConnectionManager
    connections: SparkSessionConnectionManager

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        #: name of a table -> what the run of its model reads, from compiling to writing: these have
        #: two contexts in dbt, which share only the adapter
        self._reads: dict[str, IncrementalRead] = {}

    @classmethod
    def type(cls) -> str:
        return "spark_session"

    @classmethod
    def get_adapter_run_info(cls, config: RelationConfig) -> AdapterTrackingRelationInfo:
        # dbt derives the module to import from the class's name, which has no underscore.
        # For mypy, a dataclass that can't be hashed has an abstract `__hash__`.
        return AdapterTrackingRelationInfo(  # type: ignore[abstract]
            adapter_name=cls.type(),
            base_adapter_version=dbt_adapters_version,
            adapter_version=version,
            model_adapter_details=cls._get_adapter_specific_run_info(config),
        )

    @available
    def valid_incremental_strategies(self) -> list[str]:
        """Return the strategies that need no macro of a project."""
        return ["append", "merge", "insert_overwrite", "microbatch"]

    @property
    def session(self) -> SparkSession:
        """The Spark session of this thread."""
        return self.connections.get_thread_connection().handle.session

    # Python models

    @property
    def default_python_submission_method(self) -> str:
        return "session"

    @property
    def python_submission_helpers(self) -> dict[str, builtins.type[PythonJobHelper]]:
        return {"session": SessionPythonJob}

    def submit_python_job(
        self, parsed_model: dict[str, Any], compiled_code: str
    ) -> AdapterResponse:
        job = SessionPythonJob(parsed_model, self.connections.credentials)
        job.run(compiled_code, self.session, self._reads)
        return AdapterResponse(_message="OK")

    # Python functions in SQL models

    @available
    def call_function(self, name: str, *arguments: Any, **named: Any) -> Any:
        """Return what a Python function returns. `name`: `package.module:function`."""
        return function_of(name)(*arguments, **named)

    @available.parse(lambda *_, **__: None)
    def call_with_session(self, name: str, *arguments: Any) -> Any:
        """Call a Python function as `call_function` does, with the session as first parameter."""
        return function_of(name)(self.session, *arguments)

    @available.parse(lambda *_, **__: None)
    def attempt(self, name: str, *arguments: Any) -> str | None:
        """Call a Python function with the session as its first parameter.

        Return why it failed; None if it succeeded. The run goes on in either case.
        """
        try:
            self.call_with_session(name, *arguments)
        except Exception as error:
            return message_of(error, self.connections.credentials.home)
        return None

    @available.parse(lambda *_, **__: "")
    def dataframe(
        self,
        function: str,
        view: str,
        read: IncrementalRead | None,
        inputs: Mapping[str, str] | None,
        new_inputs: Mapping[str, str],
        changed_inputs: Mapping[str, Changes],
        arguments: Mapping[str, Any],
        warn: Callable[[str], Any],
    ) -> str:
        """Create a temporary view of the rows that a function returns, and return its name.

        See `dataframe.sql`. `read`: what the model reads; None in a unit test. `inputs`,
        `new_inputs`: name -> table expression; `inputs` is None if the inputs don't exist.
        """
        run = ModelRun(self.session, read, inputs, new_inputs, changed_inputs, warn)
        try:
            rows = function_of(function)(self.session, run, **arguments)
            create_view(self.session, rows, view)
        except DbtRuntimeError:  # its message says what to do
            raise
        except Exception as error:
            message = message_of(error, self.connections.credentials.home)
            raise DbtRuntimeError(f"{type(error).__name__}: {message}\n  in {function}") from error
        return view

    @available
    def create_temporary_view(self, relation: BaseRelation, query: str) -> None:
        """Create a temporary view that keeps the plan of its query.

        For a view made by SQL, Spark keeps the text, and analyzes it at each use.
        """
        self.connections.execute(query)
        frame = self.connections.get_thread_connection().handle.frame
        create_view(self.session, frame, relation.render())

    # Exact increments

    @available.parse_none
    def incremental_read(
        self,
        relation: BaseRelation,
        model: Mapping[str, Any],
        graph: Mapping[str, Any],
        is_incremental: bool,
    ) -> IncrementalRead:
        """Return what this run of a model reads and commits: one object from compiling to writing.

        `model`, `graph`: from dbt's contexts.
        """
        table = relation.render()
        if table not in self._reads:
            self._reads[table] = IncrementalRead(
                self.session,
                table,
                is_incremental,
                lambda: self._incremental_inputs(model, graph),
            )
        return self._reads[table]

    def _incremental_inputs(
        self, model: Mapping[str, Any], graph: Mapping[str, Any]
    ) -> list[Input]:
        """Return the existing incremental models that a model reads, also through views."""
        nodes = graph["nodes"]
        return [
            Input(
                name,
                {
                    view_name: frozenset(self._names(tables))
                    for view, tables in views_of(node, nodes)
                    for view_name in self._names([view])
                },
            )
            for node in incremental_inputs(model, nodes)
            for name in self._names([node])
        ]

    def _names(self, nodes: Iterable[Mapping[str, Any]]) -> list[str]:
        """Return the names of those tables and views of some models that exist."""
        relations = map(self._relation_of, nodes)
        return [relation.render() for relation in relations if relation is not None]

    def _relation_of(self, node: Mapping[str, Any]) -> BaseRelation | None:
        """Return the table or view of a model; with `--defer`, that of the state if it has none."""
        found = self.get_relation(node["database"], node["schema"], node["alias"])
        deferred = node.get("defer_relation")
        if found is None and deferred is not None:
            return self.get_relation(deferred["database"], deferred["schema"], deferred["alias"])
        return found

    @available
    def unknown_changes(self, relation: BaseRelation) -> Changes:
        """Return the changes of an input of which dbt gives a part (--empty, --sample)."""
        return Changes.unknown(relation.render())

    @available
    def begin_commit(self, read: IncrementalRead) -> None:
        """Make the next write of this thread commit the watermarks of `read` with its rows."""
        self.connections.check_turn()
        read.begin_commit()

    @available
    def end_commit(self, read: IncrementalRead) -> None:
        """End a model's run: later writes of its thread commit no watermarks."""
        read.end_commit()
        self._reads.pop(read.table, None)

    def pre_model_hook(self, config: Any) -> Any:
        # dbt-spark's macros read the format from the config.
        if not config.get("file_format"):
            config.model.config["file_format"] = self.default_file_format()
        return super().pre_model_hook(config)

    def post_model_hook(self, config: Mapping[str, Any], context: Any) -> None:
        # A model that failed has not ended its commit.
        for read in list(self._reads.values()):
            if read.session is self.session:
                self.end_commit(read)
                self._drop_replacement(read)
        with self.connections.exception_handler("drop temporary views"):
            drop_temporary_views(self.session)
        super().post_model_hook(config, context)

    @available
    def start_replacement(self, read: IncrementalRead) -> str:
        """Return the name of a branch of the table without the replaced rows, to append to."""
        self.connections.check_turn()
        rows = str(read.replaced_rows)
        return start_replacement(self.session, read.table, read.branch, rows)

    @available
    def finish_replacement(self, read: IncrementalRead) -> None:
        """Move the head of the table to its branch of a replacement."""
        self.connections.check_turn()
        finish_replacement(self.session, read.table, read.branch)

    def _drop_replacement(self, read: IncrementalRead) -> None:
        if read.replaced_rows is not None:
            with self.connections.exception_handler(f"drop branch of {read.table}"):
                drop_replacement(self.session, read.table, read.branch)

    @available
    def read_seed(self, seed: dict[str, Any]) -> agate.Table:
        """Return the rows of a seed's file, for a seed that another node loads."""
        config = seed["config"]
        path = Path(seed["root_path"], seed["original_file_path"])
        return agate_helper.from_csv(
            str(path),
            text_columns=config.get("column_types") or {},
            delimiter=config.get("delimiter") or ",",
        )

    @available
    def possible_matches(
        self,
        target: BaseRelation,
        source: BaseRelation,
        unique_key: str | list[str] | None,
        alias: str,
    ) -> str | None:
        """Return a condition on the rows of `target` that a merge can match; None if useless.

        `source`: the rows of the run, whose keys are queried. The merge must find no other keys in
        it. `alias`: the name of the target in the merge.
        """
        if unique_key is None or not has_iceberg_catalog(self.session):
            return None
        keys = [unique_key] if isinstance(unique_key, str) else unique_key
        return possible_matches(self.session, target.render(), source.render(), keys, alias)

    # Metadata of the catalog

    @available.parse(lambda *_, **__: True)
    def has_rows(self, relation: BaseRelation) -> bool:
        """Return whether a table exists and has rows. For Iceberg, the metadata is enough."""
        name = relation.render()
        if not self.session.catalog.tableExists(name):
            return False
        if not has_iceberg_catalog(self.session):
            return not self.session.table(name).isEmpty()
        return has_rows(self.session, name)

    @available.parse(lambda *_, **__: None)
    def written_rows(self, relation: BaseRelation) -> int | None:
        """Return how many rows the newest commit of a table wrote; None if that is not known."""
        if not has_iceberg_catalog(self.session):
            return None
        newest = next(snapshots(self.session, iceberg_table(self.session, relation.render())), None)
        added = newest.summary.get("added-records", "0") if newest is not None else None
        return None if added is None else int(added)

    @available.parse(lambda *_, **__: True)
    def has_row_lineage(self, relation: BaseRelation) -> bool:
        """Return whether a table or view that exists has `_last_updated_sequence_number`."""
        return has_iceberg_catalog(self.session) and has_row_lineage(
            self.session, relation.render()
        )

    @available.parse(lambda *_, **__: "iceberg")
    def default_file_format(self) -> str:
        """Return the format of tables whose model names none."""
        if has_iceberg_catalog(self.session):
            return "iceberg"
        return str(self.session.conf.get("spark.sql.sources.default"))

    @available
    def is_replaceable(self, file_format: str | None) -> bool:
        """Return whether a table of this format gets new content in one commit."""
        return file_format in ("delta", "iceberg")

    def list_relations_without_caching(self, schema_relation: BaseRelation) -> list[BaseRelation]:
        schema = schema_relation.without_identifier().render()
        if not self.session.catalog.databaseExists(schema):
            return []
        views = {row.viewName for row in self.session.sql(f"show views in {schema}").collect()}
        tables = self.session.sql(f"show tables in {schema}").collect()
        names = {row.tableName for row in tables if not row.isTemporary} | views
        has_iceberg_tables = has_iceberg_catalog(self.session)
        return [
            self.Relation.create(
                schema=schema_relation.schema,
                identifier=name,
                type=RelationType.View if name in views else RelationType.Table,
                is_iceberg=has_iceberg_tables and name not in views,
            )
            for name in sorted(names)
        ]

    def drop_schema(self, relation: BaseRelation) -> None:
        # An Iceberg catalog drops only empty schemas, even with `cascade`.
        for held in self.list_relations_without_caching(relation):
            self.drop_relation(held)
        super().drop_schema(relation)

    def get_columns_in_relation(self, relation: BaseRelation) -> list[SparkColumn]:
        try:
            fields = self.session.table(relation.render()).schema.fields
        except PySparkException as error:
            if error.getCondition() == "TABLE_OR_VIEW_NOT_FOUND":
                return []
            raise
        return [
            SessionColumn(
                table_database=None,
                table_schema=relation.schema,
                table_name=relation.name,
                table_type=relation.type,
                column=column.name,
                column_index=index,
                dtype=column.dataType.simpleString(),
            )
            for index, column in enumerate(fields)
        ]

    def _get_columns_for_catalog(self, relation: BaseRelation) -> Iterable[dict[str, Any]]:
        for column in self.get_columns_in_relation(relation):
            described = column.to_column_dict()
            described["column_name"] = described.pop("column", None)
            described["column_type"] = described.pop("dtype")
            described["table_database"] = None
            yield described

    @available
    def table_property(self, relation: BaseRelation, name: str) -> str | None:
        """Return a property of a table that exists; None if the table does not have it."""
        return table_property(self.session, relation.render(), name)

    @available.parse_none
    def view_checksum(self, query: str, model: Mapping[str, Any]) -> str | None:
        """Return the checksum of the view that a model would create: see `view_checksums`."""
        if not has_iceberg_catalog(self.session):
            return None
        return view_checksum(self.session, query, model)

    @available.parse_none
    def is_same_view(self, relation: BaseRelation, query: str, model: Mapping[str, Any]) -> bool:
        """Return whether a view is the one that a model would create: see `view_checksums`."""
        return has_iceberg_catalog(self.session) and is_same_view(
            self.session, relation.render(), query, model
        )

    @available
    def checksum_property(self) -> str:
        """Return the name of the property with the checksum."""
        return CHECKSUM

    # Data tests

    @available.parse_none
    def question_checksum(self, query: str) -> str | None:
        """Return the checksum of the query of a data test: see `data_tests`."""
        if not has_iceberg_catalog(self.session):
            return None
        return question_checksum(self.session, query)

    @available.parse_none
    def kept_result(self, test_id: str, checksum: str | None) -> agate.Table | None:
        """Return the result that a data test gave to the same query; None if it must run."""
        found = None if checksum is None else self._result_files.result(test_id, checksum)
        if found is None:
            return None
        types = [
            agate.Boolean() if isinstance(value, bool) else agate.Number()
            for value in found.values()
        ]
        return agate.Table([list(found.values())], list(found), types)

    @available.parse_none
    def keep_result(self, test_id: str, checksum: str | None, result: agate.Table) -> None:
        """Keep the result of a data test, for runs with the same query."""
        if checksum is not None:
            [row] = result.rows
            named = zip(result.column_names, row.values(), strict=True)
            answer = {
                name: value if isinstance(value, bool) else int(value) for name, value in named
            }
            self._result_files.keep(test_id, checksum, answer)

    @property
    def _result_files(self) -> ResultFiles:
        return ResultFiles(Path(self.config.project_target_path, "data_tests"))

    @classmethod
    def convert_number_type(cls, agate_table: Any, col_idx: int) -> str:
        inferred = super().convert_number_type(agate_table, col_idx)
        values = agate_table.columns[col_idx].values_without_nulls()
        if inferred == "bigint" and not all(-(2**63) <= value < 2**63 for value in values):
            return "decimal(38,0)"
        return inferred

    @available
    def string_literal(self, value: Any) -> str:
        """Return a value as Spark SQL text that reads back as the same characters."""
        if value is None:
            return "null"
        escaped = str(value).replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
