"""The pages for readers: what they link and name is there, and the Chinese ones keep up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from cdc_marts.cli import app
from cdc_marts.parsing.session import REQUIRED_CONF
from cdc_marts.source_formats import SOURCE_FORMATS
from tests.python.harness.manifest import ROOT, Node, nodes_of
from tests.python.harness.scripts import module_of
from tests.python.harness.written_project import project_settings

DOCS = ROOT / "docs"

#: Chinese page -> the English page whose sections it has.
TRANSLATIONS = {
    ROOT / "README.zh-CN.md": ROOT / "README.md",
    DOCS / "zh/how-it-works.md": DOCS / "how-it-works.md",
    DOCS / "zh/formats.md": DOCS / "formats/README.md",
    DOCS / "zh/operations.md": DOCS / "operations.md",
}

#: Folders that a path named in a text may begin with.
_FOLDERS = ("tests", "seeds", "models", "docs", "src", "macros", "python_models", "benchmarks")


EXAMPLES = module_of(DOCS / "examples.py")
COMMAND_OPTIONS = module_of(DOCS / "command_options.py")
PAGES = EXAMPLES.pages()
#: Those of decisions and benchmarks have links too.
LINKED = sorted({*PAGES, *ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("packages/*/*.md")})


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def sections(page: Path) -> Iterator[tuple[int, str]]:
    """Level and anchor of each heading: the one set before it, else GitHub's from its words."""
    heading = re.compile(r'(?:<a id="([^"]+)"></a>\n)?^(#+) (.+)$', re.MULTILINE)
    for anchor, marks, words in heading.findall(without_code(page)):
        from_words = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
        yield len(marks), anchor or from_words


def blocks(page: Path, language: str) -> list[str]:
    pattern = rf"^```{language}\n(.*?)^```$"
    return re.findall(pattern, page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def rows_of_table(page: Path, section: str) -> list[str]:
    """The first cells of the table in a section, without its head."""
    return [line.split("|")[1].strip() for line in lines_of_table(in_section(page, section))[2:]]


def in_section(page: Path, section: str) -> str:
    return without_code(page).split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]


def lines_of_table(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("|")]


@pytest.mark.parametrize("page", LINKED, ids=name_of)
def test_every_link_leads_to_a_file_and_a_section(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.is_file(), target
        if anchor:
            assert anchor in {known for _, known in sections(linked)}, target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    for name in re.findall(rf"`((?:{'|'.join(_FOLDERS)})/[\w./-]+)`", without_code(page)):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_test_that_a_page_names_exists(manifest: Node, page: Path) -> None:
    known = {path.stem for path in (ROOT / "tests/generic").glob("*.sql")}
    known |= {test["name"] for test in manifest["unit_tests"].values()}
    known |= {node["name"] for node in manifest["nodes"].values()}
    text = without_code(page)
    lines = re.findall(r"^(?:Tests?: |测试\uff1a)(.*(?:\n(?!\n).+)*)", text, re.MULTILINE)
    named = [name for line in lines for name in re.findall(r"`(\w+)`", line)]
    named += re.findall(r"data\s+test\s+`(\w+)`", text)
    assert set(named) - known == set()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_query_and_every_message_is_shown(page: Path) -> None:
    text = page.read_text("utf-8")
    shown = re.findall(r"^```sql\n(?:(?!```).*\n)+```\n\n```text\n\+-", text, re.MULTILINE)
    assert len(shown) == len(blocks(page, "sql"))
    assert len(re.findall(r"<!-- message: [^>]+ -->\n```json\n{", text)) == text.count(
        "<!-- message:"
    )


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_a_readme_is_read_in_one_go(page: str) -> None:
    assert len((ROOT / page).read_text("utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", TRANSLATIONS, ids=name_of)
def test_a_chinese_page_has_the_sections_of_the_english_one(page: Path) -> None:
    english, chinese = list(sections(TRANSLATIONS[page])), list(sections(page))
    assert [level for level, _ in chinese] == [level for level, _ in english]
    # The title of a page has no anchor of its own.
    assert [anchor for level, anchor in chinese if level > 1] == [
        anchor for level, anchor in english if level > 1
    ]


@pytest.mark.parametrize("page", TRANSLATIONS, ids=name_of)
def test_a_chinese_page_has_the_queries_commands_and_tables_of_the_english_one(page: Path) -> None:
    english = TRANSLATIONS[page]
    assert blocks(page, "sql") == blocks(english, "sql")

    def commands(of: Path) -> list[str]:
        return [re.sub(r"\s+#.*", "", line) for line in "".join(blocks(of, "sh")).splitlines()]

    def table_lines(of: Path) -> int:
        return len(re.findall(r"^\|", without_code(of), re.MULTILINE))

    assert commands(page) == commands(english)
    assert table_lines(page) == table_lines(english)


def test_every_chinese_page_has_an_english_one() -> None:
    chinese = {page for page in PAGES if "zh" in page.parts or ".zh-CN." in page.name}
    assert chinese == set(TRANSLATIONS)


@pytest.mark.parametrize("source_format", SOURCE_FORMATS)
def test_every_format_has_a_page_with_a_message_and_its_event(source_format: str) -> None:
    text = (DOCS / f"formats/{source_format}.md").read_text("utf-8")
    assert text.startswith(f"# `{source_format}`\n")
    assert f"<!-- message: {source_format} shop" in text
    assert f"where source_format = '{source_format}'" in text
    for section in ("A message", "Mapping", "Order and identity", "Keys", "Limits"):
        assert f"\n## {section}\n" in text


def test_the_reference_lists_the_settings() -> None:
    variables = project_settings()["vars"]
    listed = rows_of_table(DOCS / "reference.md", "Settings")
    assert {name.strip("`") for name in listed} == set(variables)


def test_the_reference_lists_the_spark_settings_that_parsers_require() -> None:
    text = (DOCS / "reference.md").read_text("utf-8")
    listed = re.findall(r"^\| `(spark\.[\w.]+)` \| `(\w+)` \|", text, re.MULTILINE)
    assert dict(listed) == REQUIRED_CONF


def test_the_reference_lists_the_commands_with_their_options() -> None:
    listed = rows_of_table(DOCS / "reference.md", "Options of every command")
    of_every_command = {name.strip("`") for name in listed}
    assert of_every_command == {"--project-dir", "--profiles-dir", "--target"}
    assert of_every_command | {"--help"} == {*COMMAND_OPTIONS.OF_EVERY_COMMAND}
    text = (DOCS / "reference.md").read_text("utf-8")
    rows = re.findall(
        r"^\| `cdc-marts ([a-z ]+?)(?: \[?([A-Z]+…?)\]?)?` \|.*\| (.*) \|$", text, re.MULTILINE
    )
    listed = {name: set(re.findall(r"--[a-z-]+", options)) for name, _, options in rows}
    commands = COMMAND_OPTIONS.commands(typer.main.get_command(app))
    assert listed == {name: set(COMMAND_OPTIONS.own_options(c)) for name, c in commands}


def test_the_reference_describes_options_as_the_help_of_the_commands() -> None:
    text = (DOCS / "reference.md").read_text("utf-8")
    assert "### `cdc-marts land kafka`" in text
    assert COMMAND_OPTIONS.with_options(text) == text


def test_the_reference_lists_the_data_tests() -> None:
    listed = {name.strip("`") for name in rows_of_table(DOCS / "reference.md", "Data tests")}
    assert listed == {path.stem for path in (ROOT / "tests/generic").glob("*.sql")}


def test_the_operations_page_lists_the_reject_codes(manifest: Node) -> None:
    codes = next(
        node["test_metadata"]["kwargs"]["values"]
        for node in nodes_of(manifest, "test")
        if node["name"] == "reject_codes_are_known"
    )
    listed = rows_of_table(DOCS / "operations.md", "Reject codes")
    assert [name.strip("`") for name in listed] == codes


def test_the_column_of_reject_codes_describes_them_as_the_operations_page_does(
    manifest: Node,
) -> None:
    described = manifest["docs"]["doc.cdc_marts.reject_code"]["block_contents"]
    page = in_section(DOCS / "operations.md", "Reject codes")
    assert lines_of_table(described) == lines_of_table(page)


@pytest.mark.parametrize("page", [DOCS / "operations.md", DOCS / "zh/operations.md"], ids=name_of)
def test_the_operations_page_says_how_many_tables_an_erasure_builds_anew(
    manifest: Node, page: Path
) -> None:
    """Typed marts are left out: a project has its own."""
    [(count, source)] = re.findall(
        r"^Nothing .* builds (\d+) tables anew from ([\w.]+),",
        page.read_text("utf-8"),
        re.MULTILINE,
    )
    found, added = set(), {f"source.cdc_marts.{source}"}
    while added:
        found |= added
        added = {child for name in added for child in manifest["child_map"].get(name, ())} - found
    tables = [
        model["name"]
        for model in nodes_of(manifest, "model")
        if model["unique_id"] in found
        and model["config"]["materialized"] == "incremental"
        and "typed" not in model["fqn"]
    ]
    assert len(tables) == int(count)


def test_every_decision_is_listed_once_by_its_title() -> None:
    folder = DOCS / "decisions"
    titles = {
        page.name: page.read_text("utf-8").splitlines()[0].removeprefix("# ")
        for page in folder.glob("[0-9]*.md")
    }
    text = (folder / "README.md").read_text("utf-8")
    listed = re.findall(r"^- \[(.+)\]\((.+)\)$", text, re.MULTILINE)
    assert sorted(listed) == sorted((title, name) for name, title in titles.items())


def test_the_operations_page_lists_the_schemas_that_a_cluster_gets(manifest: Node) -> None:
    kinds = ("model", "seed", "source")
    written = {node["schema"] for kind in kinds for node in nodes_of(manifest, kind)}
    profiles = yaml.safe_load((ROOT / "profiles/profiles.yml").read_text("utf-8"))
    lock = profiles["cdc_marts"]["outputs"]["cluster"]["run_lock"].partition(".")[0]
    published = project_settings()["models"]["cdc_marts"]["published"]["+schema"]
    text = (DOCS / "operations.md").read_text("utf-8")
    [sentence] = re.findall(r"The target writes to the schemas (.*?)\. It creates", text, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", sentence)) == {*written, lock, published}


def test_outputs_and_messages_are_put_into_their_blocks() -> None:
    page = (
        "```sql\nselect 1\n```\n\n```text\nold\n```\n"
        "<!-- message: canal_json shop 0 11 payload -->\n```json\n{}\n```\n"
        "```json\nkept\n```\n"
    )
    message = {"schema": 1, "payload": {"status": "李雷"}}
    places = []

    def message_of(*place: Any) -> dict[str, Any]:
        places.append(place)
        return message

    assert EXAMPLES.generated(page, lambda query: f"of {query.strip()}", message_of) == (
        "```sql\nselect 1\n```\n\n```text\nof select 1\n```\n"
        '<!-- message: canal_json shop 0 11 payload -->\n```json\n{"status": "李雷"}\n```\n'
        "```json\nkept\n```\n"
    )
    assert places == [("canal_json", "shop", 0, 11)]


def test_outputs_of_programs_are_put_into_pages_and_notebooks() -> None:
    page = "```python\na = 1\n```\n\n```text\nold\n```\n```python\nkept\n```\n"
    assert EXAMPLES.with_outputs(page, lambda programs: [f"of {p}" for p in programs]) == (
        "```python\na = 1\n```\n\n```text\nof a = 1\n```\n```python\nkept\n```\n"
    )
    text = {"cell_type": "markdown", "source": ["kept"]}
    code = {"cell_type": "code", "source": ["a = 1\n", "a"], "outputs": ["old"]}
    notebook = json.loads(
        EXAMPLES.executed(json.dumps({"cells": [text, code]}), lambda cells: ["1\n2\n"])
    )
    assert notebook["cells"][0] == text
    assert notebook["cells"][1]["outputs"][0]["text"] == ["1\n", "2\n"]


def test_a_later_program_knows_the_names_of_an_earlier_one() -> None:
    assert EXAMPLES.outputs_of_programs(["a = 1", "print(a + 1)"]) == ["", "2\n"]


def test_a_message_is_laid_out_without_a_change() -> None:
    message = {"a": ["x" * 60, {"b": None, "c": 12345678901234567890}], "d": {}, "e": "y" * 50}
    text = EXAMPLES.laid_out(message)
    assert json.loads(text) == message
    assert max(map(len, text.splitlines())) <= 100
