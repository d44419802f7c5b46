"""The outputs and messages that the pages show, from the demo as it is built.

    ./run python docs/examples.py           writes them into README*.md and the pages of docs/
    ./run python docs/examples.py --check   fails where a page shows something else

- A query stands in a block ```sql, its output in the block ```text right behind it.
- So does a program in a block ```python.  Those of a page are one program after the other: a later
  one knows the names of an earlier one.  Cells of notebooks are like them.
- A landed message stands in a block ```json behind a comment that names it by its format, topic,
  partition and offset: `<!-- message: canal_json shop 0 11 -->`.  With `payload` at the end it is
  shown without its schema.
"""

from __future__ import annotations

import base64
import functools
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cdc_marts.project import spark_session
from cdc_marts.sql.results import table_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
#: Their figures come from runs of their own, or they are not about the demo.
_OTHERS = ("decisions", "benchmarks")

_QUERY = re.compile(r"```sql\n(?P<query>.*?)```\n\n```text\n.*?```", re.DOTALL)
_PROGRAM = re.compile(r"```python\n(?P<program>.*?)```\n\n```text\n.*?```", re.DOTALL)
_MESSAGE = re.compile(
    r"(?P<comment><!-- message: (?P<source_format>\w+) (?P<topic>\S+) (?P<partition>\d+)"
    r" (?P<offset>\d+)(?P<payload> payload)? -->)\n```json\n.*?```",
    re.DOTALL,
)
_WIDTH = 100

#: What the programs read beside the demo's own tables.
PUBLISHED = ("change_events", "latest_state")

#: Runs programs given as a JSON list of texts, and writes what each prints as such a list.
_RUNNER = """
import contextlib, io, json, sys

names, outputs = {}, []
for program in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(program, names)
    outputs.append(printed.getvalue())
json.dump(outputs, sys.stdout)
"""


def pages(root: Path = ROOT) -> list[Path]:
    """All pages for readers: those of the root, and those of docs/ and its folders."""
    below_docs = (
        page
        for page in (root / "docs").rglob("*.md")
        if page.relative_to(root / "docs").parts[0] not in _OTHERS
    )
    return sorted([*root.glob("README*.md"), *below_docs])


def generated(
    page: str, output_of: Callable[[str], str], message_of: Callable[..., dict[str, Any]]
) -> str:
    """The text of a page with the outputs of its queries, and its messages, as they are now."""

    def with_output(example: re.Match[str]) -> str:
        return f"```sql\n{example['query']}```\n\n```text\n{output_of(example['query'])}\n```"

    def with_message(example: re.Match[str]) -> str:
        message = message_of(
            example["source_format"],
            example["topic"],
            int(example["partition"]),
            int(example["offset"]),
        )
        if example["payload"]:
            message = message["payload"]
        return f"{example['comment']}\n```json\n{laid_out(message)}\n```"

    return _MESSAGE.sub(with_message, _QUERY.sub(with_output, page))


def with_outputs(page: str, outputs_of: Callable[[Sequence[str]], Sequence[str]]) -> str:
    """The text of a page with the outputs of its programs as they are now."""
    programs = [example["program"] for example in _PROGRAM.finditer(page)]
    outputs = iter(outputs_of(programs) if programs else ())

    def with_output(example: re.Match[str]) -> str:
        output = next(outputs).rstrip()
        return f"```python\n{example['program']}```\n\n```text\n{output}\n```"

    return _PROGRAM.sub(with_output, page)


def executed(notebook: str, outputs_of: Callable[[Sequence[str]], Sequence[str]]) -> str:
    """The text of a notebook with the outputs of its cells as they are now."""
    content = json.loads(notebook)
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    outputs = outputs_of(["".join(cell["source"]) for cell in cells])
    for number, (cell, output) in enumerate(zip(cells, outputs, strict=True), start=1):
        stream = {
            "name": "stdout",
            "output_type": "stream",
            "text": output.splitlines(keepends=True),
        }
        cell["execution_count"], cell["outputs"] = number, [stream] if output else []
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def laid_out(value: Any, indent: str = "") -> str:
    """JSON in as few lines as a page has room for."""
    text = json.dumps(value, ensure_ascii=False)
    if len(indent + text) <= _WIDTH or not isinstance(value, dict | list) or not value:
        return text
    inner = indent + "  "
    if isinstance(value, dict):
        opening, closing = "{", "}"
        members = [
            f"{json.dumps(name, ensure_ascii=False)}: {laid_out(member, inner)}"
            for name, member in value.items()
        ]
    else:
        opening, closing = "[", "]"
        members = [laid_out(member, inner) for member in value]
    return f"{opening}\n{inner}" + f",\n{inner}".join(members) + f"\n{indent}{closing}"


def _shown(session: SparkSession, query: str) -> str:
    return "\n".join(table_of(session.sql(query)))


def _landed(
    session: SparkSession, source_format: str, topic: str, partition: int, offset: int
) -> dict[str, Any]:
    """A landed message as an object; of DTS Avro its record, texts of columns decoded."""
    from pyspark.sql import functions as F

    value = F.col("value").cast("string")
    if source_format == "dts_avro":
        from pyspark.sql.avro.functions import from_avro

        from cdc_marts.formats.dts.schema import RECORD_SCHEMA, TRAILER

        options = {"enableStableIdentifiersForUnionType": "true"}
        record = from_avro(F.concat(F.col("value"), F.lit(TRAILER)), RECORD_SCHEMA, options)
        value = F.to_json(record.dropFields("tail"))
    landed = session.table(f"landing.{source_format}").where(
        (F.col("topic") == topic) & (F.col("partition") == partition) & (F.col("offset") == offset)
    )
    [(text,)] = landed.select(value).collect()
    message = json.loads(text)
    return _without_unions(message) if source_format == "dts_avro" else message


def _without_unions(value: Any) -> Any:
    """Members of Avro's unions without the names that Spark gives them."""
    if isinstance(value, list):
        return [_without_unions(member) for member in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"charset", "value"}:
        text = base64.b64decode(value["value"]).decode("utf-8")
        return {"charset": value["charset"], "value": text}
    if len(value) == 1 and next(iter(value)).startswith("member_"):
        return _without_unions(next(iter(value.values())))
    return {name: _without_unions(member) for name, member in value.items()}


def outputs_of_programs(programs: Sequence[str]) -> list[str]:
    """What programs print, each behind the one before it in one process, in the root folder."""
    ended = subprocess.run(
        [sys.executable, "-c", _RUNNER],
        cwd=ROOT,
        env={**os.environ, "TZ": "UTC"},
        input=json.dumps(programs),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(ended.stdout)


def _publish() -> None:
    """Have the demo's marts that programs read published; its other tables stay as they are."""
    models = [f"published_{mart}" for mart in PUBLISHED]
    variables = json.dumps({"published_marts": PUBLISHED})
    command = ("run", "--quiet", "--target", "demo", "--select", *models, "--vars", variables)
    code = "from dbt.cli.main import cli; cli()"
    subprocess.run([sys.executable, "-c", code, *command], cwd=ROOT, check=True)


def _install_extensions() -> None:
    """Have DuckDB find the extensions that PyPI has brought, without its own server."""
    import duckdb

    for name in ("avro", "iceberg"):
        files = importlib.metadata.files(f"duckdb-extension-{name}") or ()
        [extension] = (file for file in files if file.name == f"{name}.duckdb_extension")
        duckdb.install_extension(str(extension.locate()))


def _current_texts() -> dict[Path, str]:
    """Page or notebook -> its text as it should be."""
    _publish()
    _install_extensions()
    current = {page: with_outputs(page.read_text("utf-8"), outputs_of_programs) for page in pages()}
    with spark_session("demo", is_reader=True) as session:
        # Pages of two languages have the same queries.
        output_of = functools.cache(functools.partial(_shown, session))
        message_of = functools.cache(functools.partial(_landed, session))
        current = {page: generated(text, output_of, message_of) for page, text in current.items()}
    notebooks = (ROOT / "docs").glob("*.ipynb")
    return current | {
        notebook: executed(notebook.read_text("utf-8"), outputs_of_programs)
        for notebook in notebooks
    }


def main() -> None:
    outdated = []
    for page, current in _current_texts().items():
        if current == page.read_text("utf-8"):
            continue
        outdated.append(str(page.relative_to(ROOT)))
        if "--check" not in sys.argv:
            page.write_text(current, "utf-8")
    if outdated and "--check" in sys.argv:
        sys.exit(f"{', '.join(outdated)}: not what the demo gives; run docs/examples.py")


if __name__ == "__main__":
    main()
