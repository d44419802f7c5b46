"""The stand-ins for dbt in `.sqlfluff` suit the files that are linted."""

from __future__ import annotations

import json
import re

from tests.python.harness.manifest import ROOT


def linted_folders() -> list[str]:
    """Return the folders whose SQL the hook of sqlfluff checks."""
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    [folders] = re.findall(r"files: \^\((.+)\)/\.\*\\\.sql\$", hooks)
    return folders.split("|")


def test_the_stand_ins_have_each_trait_that_a_file_asks_for() -> None:
    """Without a format that has it, a condition is `in ()`, and a union has no query."""
    settings = (ROOT / ".sqlfluff").read_text("utf-8")
    [formats] = re.findall(r'"source_formats": (\{.*?\}\})', settings)
    traits = {trait for of_format in json.loads(formats).values() for trait in of_format}
    asked_for = {
        trait
        for folder in linted_folders()
        for file in (ROOT / folder).rglob("*.sql")
        for trait in re.findall(
            r"\b(?:is_of_format_that|formats_that)\('(\w+)'\)", file.read_text()
        )
    }
    assert asked_for
    assert asked_for == traits
