"""Models that read landed messages directly are rebuilt, and keep messages from being removed."""

from __future__ import annotations

import json

import pytest

from cdc_marts.operations.maintenance_plan import maintenance_plan
from cdc_marts.project.dbt_commands import invoke_dbt
from cdc_marts.project.inventory import descendants
from cdc_marts.project.target import Target
from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.harness.copied_project import copy_with_typed_marts

#: Models of a user: a view, a table that reads it, and two others.
TABLE = "{{ config(materialized='table') }} select * from"
MODELS = {
    "raw_view": "select * from {{ ref('base_canal_json') }}",
    "raw_audit": f"{TABLE} {{{{ ref('raw_view') }}}}",
    "raw_copy": f"{TABLE} {{{{ source('landing', 'canal_json') }}}}",
    "raw_report": f"{TABLE} {{{{ ref('raw_copy') }}}}",
}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Target:
    folder = copy_with_typed_marts(tmp_path_factory.mktemp("readers"))
    for name, query in MODELS.items():
        (folder / "models" / f"{name}.sql").write_text(query, "utf-8")
    return Target.find("local", folder, folder / "profiles")


def own_models(tables: list[str]) -> set[str]:
    return {name for name in (table.partition(".")[2] for table in tables) if name in MODELS}


def test_what_is_made_from_messages_includes_what_reads_them_directly(target: Target) -> None:
    made = descendants(target, "canal_json")

    assert own_models(made.tables) == {"raw_audit", "raw_copy", "raw_report"}
    assert {"staging.stg_canal_json", "intermediate.int_row_state"} <= set(made.tables)
    assert not own_models(descendants(target, "cdl_json").tables)
    listed = invoke_dbt(
        [
            *("ls", "--quiet", "--select", *made.selectors, "--resource-type", "model"),
            *("--output", "json", "--output-keys", "schema", "alias", "config"),
        ],
        target,
    )
    models = map(json.loads, listed.result)
    assert sorted(made.tables) == sorted(
        f"{model['schema']}.{model['alias']}"
        for model in models
        if model["config"]["materialized"] not in ("view", "ephemeral")
    )


def test_tables_that_read_messages_directly_are_known(target: Target) -> None:
    readers = maintenance_plan(target).direct_readers

    assert tuple(readers) == SOURCE_FORMATS
    assert own_models(readers.pop("canal_json")) == {"raw_audit", "raw_copy"}
    assert not any(readers.values())
