"""The tables that typed marts read, filled by tests, and dbt runs over them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import Row, SparkSession

from cdc_marts.parsing.records import SEQUENCE
from tests.python.harness.dbt import folders, run_dbt
from tests.python.harness.manifest import ROOT
from tests.python.harness.project import drop_tables_and_views
from tests.python.harness.written_project import project_settings, write_project

#: Schemas of their own: the session is shared with tests of the project itself.
SCHEMA, STUBS, MARTS, SEEDS = "typed_input", "typed_stubs", "typed_marts", "typed_seeds"

#: Table that stands for a model -> its columns.
INPUTS = {
    "latest_state": """
        source_format string, table_id string, row_key string, `row` variant, row_count bigint,
        last_op string, last_event_at timestamp, schema_id bigint, last_sequence bigint
    """,
    "int_table_schemas": """
        source_format string, table_id string, schema_id bigint, source_type string,
        listed_columns array<struct<name: string, type: string>>,
        column_parameters map<string, string>, last_sequence bigint
    """,
    "int_lost_columns": """
        source_format string, table_id string, column_name string,
        sequence struct<position: bigint>
    """,
    "int_resolved_changes": "source_format string, table_id string",
    "int_keyless_rows": "source_format string, table_id string, row_key string",
    "int_row_effects": "source_format string, table_id string, row_key string",
    "int_colliding_keys": "source_format string, table_id string, row_key string",
    "int_filled_rows": "source_format string, table_id string, row_key string",
    "int_truncations": "source_format string, table_id string",
}

#: The place of a row or version in the log, by the number of versions that its table had.
_SEQUENCE = f"from_json(concat('{{\"position\":', last_sequence, '}}'), '{SEQUENCE}')"

#: Model -> its query, where that is not what its table holds.
STUBS_OF = {
    "latest_state": f"""
        select * except (last_sequence), {_SEQUENCE} as last_sequence from {SCHEMA}.latest_state
    """,
    # The changed rows of an input are those of a table, not of a view.
    "int_filled_rows": f"""
        {{{{ config(materialized='incremental', incremental_strategy='append') }}}}
        {{%- set input = api.Relation.create(schema='{SCHEMA}', identifier='int_filled_rows') %}}
        select * from {{{{ new_rows(input) }}}}
    """,
    "int_touched_keys": f"select source_format, table_id, row_key from {SCHEMA}.int_row_effects",
    # The columns of a map of Python's would not keep their order.
    "int_table_schemas": f"""
        select
            * except (listed_columns),
            map_from_entries(listed_columns) as column_types,
            listed_columns.name as column_names,
            {_SEQUENCE} as first_sequence,
            last_sequence as last_whole_sequence
        from {SCHEMA}.int_table_schemas
    """,
    "int_table_columns": f"""
        select
            source_format,
            table_id,
            column_name,
            if(max(last_sequence) = max(newest), null, 1) as lost_sequence
        from (
            select
                *,
                explode(listed_columns.name) as column_name,
                max(last_sequence) over (partition by source_format, table_id) as newest
            from {SCHEMA}.int_table_schemas
        )
        group by source_format, table_id, column_name
    """,
}


@dataclass
class SourceTable:
    """A source table as the fold sees it; rows are by key, as JSON texts."""

    folded: Folded
    source_format: str
    table_id: str
    #: the kind of database
    source_type: str | None = None
    rows: dict[str, tuple[str, int | None, int, int]] = field(default_factory=dict)
    versions: int = 0

    def has_version(self, schema_id: int, /, **columns: str | tuple[str, Any] | None) -> None:
        self.has_columns(schema_id, columns)

    def has_columns(
        self, schema_id: int, columns: Mapping[str, str | tuple[str, Any] | None]
    ) -> None:
        """A schema version: name -> type, or (type, its parameters), or None."""
        types = {c: t[0] if isinstance(t, tuple) else t for c, t in columns.items()}
        parameters = {c: json.dumps(t[1]) for c, t in columns.items() if isinstance(t, tuple)}
        self.versions += 1
        self.folded.append(
            "int_table_schemas",
            (
                *(self.source_format, self.table_id, schema_id, self.source_type),
                *(list(types.items()), parameters, self.versions),
            ),
        )

    def holds(
        self, row: Any, schema_id: int | None = None, key: str = "id", copies: int = 1
    ) -> None:
        """A row is inserted or updated; `row`: as a dict, or as JSON text."""
        text = row if isinstance(row, str) else json.dumps(row)
        row_key = json.dumps({key: json.loads(text)[key]}) if key else text
        self.rows[row_key] = (text, schema_id, copies, self.versions)
        self.touch(row_key)

    def changes_without_effect(self, row: dict[str, Any], schema_id: int, fold_model: str) -> None:
        """A row changes although its key has no new effect; a model of the fold has the key."""
        row_key = json.dumps({"id": row["id"]})
        self.rows[row_key] = (json.dumps(row), schema_id, 1, self.versions)
        self.folded.append(fold_model, (self.source_format, self.table_id, row_key))

    def loses(self, row_key: str) -> None:
        del self.rows[row_key]
        self.touch(row_key)

    def loses_column(self, name: str, sequence: int, by_statement: bool) -> None:
        names = (self.source_format, self.table_id)
        self.folded.append("int_lost_columns", (*names, name, (sequence,)))
        if by_statement:
            self.folded.append("int_resolved_changes", names)

    def loses_no_column_by_a_statement(self) -> None:
        """A statement that dropped a column turns out to mean another table."""
        self.folded.append("int_resolved_changes", (self.source_format, self.table_id))

    def is_emptied(self) -> None:
        self.rows.clear()
        self.folded.append("int_truncations", (self.source_format, self.table_id))

    def touch(self, row_key: str) -> None:
        self.folded.append("int_row_effects", (self.source_format, self.table_id, row_key))


class Folded:
    """The fold's tables, and a dbt project with the project's macros and code tables over them."""

    def __init__(self, spark: SparkSession, folder: Path, target: dict[str, Any]) -> None:
        self.spark = spark
        self.folder = folder
        self.tables: list[SourceTable] = []
        for schema in (SCHEMA, STUBS, MARTS, SEEDS):
            spark.sql(f"create schema if not exists {schema}")
        for name, columns in INPUTS.items():
            spark.sql(f"create or replace table {SCHEMA}.{name} ({columns}) using iceberg")
        self._write_project(target)
        self._is_built = False

    def table(
        self, table_id: str, source_format: str = "cdl_json", source_type: str | None = None
    ) -> SourceTable:
        table = SourceTable(self, source_format, table_id, source_type)
        self.tables.append(table)
        return table

    def append(self, name: str, row: tuple[Any, ...]) -> None:
        table = f"{SCHEMA}.{name}"
        self.spark.createDataFrame([row], self.spark.table(table).schema).writeTo(table).append()

    def run(
        self, tables: Mapping[str, Mapping[str, Any]], *arguments: str, command: str = "run"
    ) -> list[str]:
        """Build the marts that are declared; returns what dbt warns of."""
        self._write_state()
        if not self._is_built:
            self._is_built = True
            self.run({}, command="build")
        typed = self.folder / "models" / "marts" / "typed"
        shutil.rmtree(typed, ignore_errors=True)
        typed.mkdir(parents=True)
        for name in tables:
            (typed / f"{name}.sql").write_text("{{ typed_mart() }}\n", "utf-8")
        warnings: list[str] = []

        def listen(event: Any) -> None:
            if event.info.level == "warn":
                warnings.append(event.info.msg)

        declarations = ("--vars", json.dumps({"tables": tables}))
        run_dbt(command, *declarations, *arguments, *folders(self.folder), on_event=listen)
        return warnings

    def rows(
        self, mart: str, columns: str = "*", order_by: str = "_row_key, _row_copy"
    ) -> list[Row]:
        return self.spark.sql(f"select {columns} from {MARTS}.{mart} order by {order_by}").collect()

    def types(self, mart: str) -> dict[str, str]:
        return dict(self.spark.table(f"{MARTS}.{mart}").dtypes)

    def drop(self) -> None:
        for schema in (SCHEMA, STUBS, MARTS, SEEDS):
            drop_tables_and_views(self.spark, schema, purge=False)
            self.spark.sql(f"drop schema {schema}")

    def _write_state(self) -> None:
        rows = [
            (t.source_format, t.table_id, key, text, copies, "update", None, schema_id, sequence)
            for t in self.tables
            for key, (text, schema_id, copies, sequence) in t.rows.items()
        ]
        columns = INPUTS["latest_state"].replace("variant", "string")
        self.spark.createDataFrame(rows, columns).createOrReplaceTempView("state_texts")
        self.spark.sql(
            f"insert overwrite {SCHEMA}.latest_state"
            " select source_format, table_id, row_key, parse_json(`row`), row_count, last_op,"
            " last_event_at, schema_id, last_sequence from state_texts"
        )

    def _write_project(self, target: dict[str, Any]) -> None:
        project = project_settings()
        settings = {
            **{key: project[key] for key in ("name", "profile", "flags", "vars")},
            "models": {
                "+file_format": "iceberg",
                project["name"]: {
                    "marts": {**project["models"][project["name"]]["marts"], "+schema": MARTS},
                    "stubs": {"+materialized": "view", "+schema": STUBS},
                },
            },
            "seeds": {"+file_format": "iceberg", "+schema": SEEDS},
        }
        queries = {name: f"select * from {SCHEMA}.{name}" for name in INPUTS} | STUBS_OF
        files = {f"models/stubs/{name}.sql": query for name, query in queries.items()}
        write_project(self.folder, settings, {"local": target}, files)
        shutil.copytree(ROOT / "macros", self.folder / "macros")
        (self.folder / "seeds").mkdir()
        shutil.copy(ROOT / "seeds" / "code_tables" / "source_types.csv", self.folder / "seeds")


def declared(tables: Sequence[SourceTable]) -> dict[str, dict[str, Any]]:
    """A mart for each, named like its table."""
    return {t.table_id: {"source_format": t.source_format, "table_id": t.table_id} for t in tables}
