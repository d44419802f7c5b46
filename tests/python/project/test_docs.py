"""Everything a reader of the docs site meets has a description, and says what is there."""

from __future__ import annotations

import re

import pytest

from cdc_marts.parsing.records import STAGING_COLUMNS
from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.harness.manifest import PROJECT, Node, columns_of, macro_text, nodes_of


def undescribed(items: dict[str, Node]) -> list[str]:
    return [name for name, item in items.items() if not (item["description"] or "").strip()]


@pytest.mark.parametrize("kind", ["model", "source", "seed", "exposure", "macro"])
def test_every_node_has_a_description(manifest: Node, kind: str) -> None:
    nodes = {node["unique_id"]: node for node in nodes_of(manifest, kind)}
    assert nodes
    assert undescribed(nodes) == []


@pytest.mark.parametrize("kind", ["model", "source", "seed"])
def test_every_node_declares_columns_with_descriptions(manifest: Node, kind: str) -> None:
    columns = {
        f"{node['unique_id']}.{name}": column
        for node in nodes_of(manifest, kind)
        # A node without columns stands here by itself, and is reported.
        for name, column in (node["columns"] or {"*": {"description": None}}).items()
    }
    assert undescribed(columns) == []


def test_all_landing_tables_are_described(manifest: Node) -> None:
    sources = list(nodes_of(manifest, "source"))
    names = {*SOURCE_FORMATS, "resyncs", "removed_messages", "run_results"}
    assert {source["name"] for source in sources} == names
    assert all(source["source_description"] for source in sources)


def test_every_macro_argument_has_a_type_and_a_description(manifest: Node) -> None:
    arguments = {
        f"{macro['name']}({argument['name']})": argument
        for macro in nodes_of(manifest, "macro")
        for argument in macro["arguments"]
    }
    assert undescribed(arguments) == []
    assert [name for name, argument in arguments.items() if not argument["type"]] == []


def test_the_documented_arguments_of_a_macro_are_those_it_takes(manifest: Node) -> None:
    for macro in nodes_of(manifest, "macro"):
        documented = [argument["name"] for argument in macro["arguments"]]
        signature = re.search(r"{%-?\s*\w+\s+\w+\s*\((.*?)\)\s*-?%}", macro["macro_sql"], re.DOTALL)
        assert signature, macro["name"]
        arguments = re.sub(r"\[.*?\]", "[]", signature[1])  # a default may hold commas
        taken = [a.split("=")[0].strip() for a in arguments.split(",") if a.strip()]
        assert documented == taken, macro["name"]


def test_every_doc_block_describes_a_column_and_bears_its_name(manifest: Node) -> None:
    columns = {
        name
        for kind in ("model", "source", "seed")
        for node in nodes_of(manifest, kind)
        for name in node["columns"]
    }
    blocks = {
        doc["name"]
        for doc in manifest["docs"].values()
        if doc["package_name"] == PROJECT and doc["name"] != "__overview__"
    }
    assert blocks - columns == set()


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_staging_documents_the_columns_that_parsers_return(
    manifest: Node, source_format: str
) -> None:
    assert columns_of(manifest, "model", f"stg_{source_format}") == list(STAGING_COLUMNS)


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_landing_documents_the_columns_of_its_tables(manifest: Node, source_format: str) -> None:
    landed = re.findall(
        r"^ {4}`?(\w+)`? (?:string|int|bigint|timestamp|binary)",
        macro_text(manifest, "landing_table_sql"),
        re.MULTILINE,
    )
    assert columns_of(manifest, "source", source_format) == landed
    assert columns_of(manifest, "model", f"base_{source_format}") == [*landed, "landing_commit"]


def test_change_events_documents_its_columns_in_order(manifest: Node) -> None:
    listed = re.findall(
        r"^(?:.* as )?`?(\w+)`?,?$", macro_text(manifest, "change_event_columns"), re.MULTILINE
    )
    assert columns_of(manifest, "model", "change_events") == listed
