"""The compiled SQL of models and of their unit tests, in which names stand for what is read.

A run reads tables, views, and ranges of their rows; a unit test reads fixtures. For each of them
stands the name of the model, or of the source, whose rows they are. Nothing else is changed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tests.python.harness.manifest import Node, nodes_of

#: The rows of a table that a run reads, as the adapter writes them.
_RANGE = re.compile(
    r"\(select \*(?:, _\w+)* from (\w+\.\w+)(?:"
    r" where false"
    r"| version as of \d+"
    r"|\.branch_main with \(`start-snapshot-id` = '\d+', `end-snapshot-id` = '\d+'\)"
    r")\)"
)
_FIXTURE = "__dbt__cte__"
#: Spark keeps the text of a view without the comments before it.
_COMMENTS_BEFORE = re.compile(r"\A(?:\s+|--.*\n)*")


def sql_of_models(results: Iterable[Any], manifest: Node) -> dict[str, str]:
    """Return model -> its SQL, from the results of a run or of `dbt compile`."""
    relations = _names_of_relations(manifest)
    found: dict[str, str] = {}
    views: dict[str, str] = {}
    # A view has its result before the models that read it.
    for model in _sql_nodes(results, "model"):
        sql = _with_names(model.compiled_code, relations, views)
        found[model.name] = sql
        if model.config.materialized == "view":
            text = f"({_COMMENTS_BEFORE.sub('', sql).rstrip()})"
            assert text not in views, f"{model.name} and {views[text]} have the same SQL"
            views[text] = model.name
    return found


def sql_of_unit_tests(results: Iterable[Any]) -> dict[str, dict[str, str]]:
    """Return model -> unit test -> the SQL that it compiles, from the results of dbt's tests."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for test in _sql_nodes(results, "unit_test"):
        model = test.tested_node_unique_id.split(".")[-1]
        # Before dbt puts the fixtures into it.
        found[model][test.name] = _without_fixtures(test._pre_injected_sql, _new_rows(test))
    return found


def _sql_nodes(results: Iterable[Any], resource_type: str) -> list[Any]:
    nodes = [result.node for result in results]
    return [n for n in nodes if n.resource_type == resource_type and n.language == "sql"]


def _names_of_relations(manifest: Node) -> dict[str, str]:
    """Return relation -> its name in a unit test."""
    models = {node["relation_name"]: node["name"] for node in nodes_of(manifest, "model")}
    sources = {
        node["relation_name"]: f"{node['source_name']}__{node['name']}"
        for node in nodes_of(manifest, "source")
    }
    return models | sources


def _with_names(sql: str, relations: Mapping[str, str], views: Mapping[str, str]) -> str:
    """Return the SQL of a run with the names of what it reads.

    `views`: the text of a view in parentheses -> its name. A view stands behind those it reads.
    """
    sql = _RANGE.sub(r"\1", sql)
    sql = re.sub(r"\b\w+\.\w+\b", lambda found: relations.get(found[0], found[0]), sql)
    for text, name in views.items():
        sql = sql.replace(text, name)
    return sql


def _without_fixtures(sql: str, new_rows: Mapping[str, str]) -> str:
    """Return the SQL of a unit test with the names of what it reads.

    `new_rows`: input -> the condition of its new rows.
    """
    for name, condition in new_rows.items():
        sql = sql.replace(f"(select * from {_FIXTURE}{name} where {condition})", name)
    return sql.replace(_FIXTURE, "")


def _new_rows(test: Any) -> dict[str, str]:
    overrides = test.overrides
    return overrides.vars.get("unit_test_new_rows", {}) if overrides else {}
