"""The pages that draw and list the models of the fold, compared with the models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.python.harness.manifest import Node, nodes_of
from tests.python.project.test_pages import DOCS, blocks, name_of

PAGES = pytest.mark.parametrize(
    "page", [DOCS / "how-it-works.md", DOCS / "zh/how-it-works.md"], ids=name_of
)

#: What the pages call the kinds of models.
KINDS = {"视图": "view", "表": "table", "表\uff0cPython": "table, Python"}

Arrow = tuple[str, str]


class Diagram:
    """The diagram of the fold on a page.

    `arrows`: between its nodes. `labels`: node -> its text, which may name several models.
    """

    def __init__(self, page: Path) -> None:
        [chart] = [text for text in blocks(page, "mermaid") if text.startswith("flowchart")]
        node = r'(\w+)(?:\["(.+?)"\])?'
        lines = re.findall(rf"^ +{node} --> {node}$", chart, re.MULTILINE)
        assert len(lines) == chart.count("-->")
        self.arrows: set[Arrow] = {(start, end) for start, _, end, _ in lines}
        self.labels = {name: name for arrow in self.arrows for name in arrow}
        for start, start_label, end, end_label in lines:
            named = {start: start_label, end: end_label}
            self.labels.update({name: label for name, label in named.items() if label})

    def node_of(self, name: str) -> str | None:
        """The node that draws a model or a landing table."""
        by_format = re.sub(r"^(stg_|landing\.)\w+$", r"\1(format)", name)
        drawn = [
            node
            for node, label in self.labels.items()
            if by_format in re.findall(r"[\w.]+(?:\(format\))?", label)
        ]
        assert len(drawn) <= 1, (name, drawn)
        return drawn[0] if drawn else None

    def is_path(self, start: str, end: str) -> bool:
        """Whether arrows lead from one node to another one."""
        reached, added = {start}, {start}
        while added:
            added = {b for a, b in self.arrows if a in added} - reached
            reached |= added
        return end in reached


def refs_between_nodes(manifest: Node, diagram: Diagram) -> set[Arrow]:
    """What the nodes of the diagram read of each other, also through models that it leaves out."""
    models = {model["unique_id"]: model for model in nodes_of(manifest, "model")}

    def nodes_read(model: Node) -> Iterator[str]:
        for read in model["depends_on"]["nodes"]:
            name = read.split(".", 2)[2]
            if node := diagram.node_of(name):
                yield node
            elif read in models:
                yield from nodes_read(models[read])

    return {
        (read, node)
        for model in models.values()
        if (node := diagram.node_of(model["name"]))
        for read in nodes_read(model)
        if read != node
    }


def kinds_of(manifest: Node) -> Mapping[str, str]:
    """The kind of each model of the fold, and of those that help to count messages."""
    kinds = {"view": "view", "incremental": "table"}
    return {
        model["name"]: kinds[model["config"]["materialized"]]
        + (", Python" if model["language"] == "python" else "")
        for model in nodes_of(manifest, "model")
        if model["name"].startswith("int_")
    }


@PAGES
def test_the_diagram_has_a_path_for_each_ref_and_a_ref_for_each_arrow(
    manifest: Node, page: Path
) -> None:
    diagram = Diagram(page)
    refs = refs_between_nodes(manifest, diagram)
    assert sorted(ref for ref in refs if not diagram.is_path(*ref)) == []
    assert sorted(diagram.arrows - refs) == []


@PAGES
def test_the_diagram_draws_every_model_of_the_fold(manifest: Node, page: Path) -> None:
    diagram = Diagram(page)
    assert sorted(name for name in kinds_of(manifest) if diagram.node_of(name) is None) == []


@PAGES
def test_the_lists_say_of_which_kind_a_model_of_the_fold_is(manifest: Node, page: Path) -> None:
    rows = re.findall(r"^\| `(int_\w+)` \| (.+?) \|", page.read_text("utf-8"), re.MULTILINE)
    listed = {name: KINDS.get(kind, kind) for name, kind in rows}
    counting = {"int_message_counts", "int_landed_messages"}
    kinds = {name: kind for name, kind in kinds_of(manifest).items() if name not in counting}
    assert listed == kinds
