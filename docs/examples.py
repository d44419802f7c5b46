"""The outputs and messages that the pages show, from the demo as it is built.

    ./run python docs/examples.py           writes them into README*.md and the pages of docs/
    ./run python docs/examples.py --check   fails where a page shows something else

- A query stands in a block ```sql, its output in the block ```text right behind it.
- A landed message stands in a block ```json behind a comment that names it by its format, topic,
  partition and offset: `<!-- message: canal_json shop 0 11 -->`.  With `payload` at the end it is
  shown without its schema.
"""

from __future__ import annotations

import base64
import functools
import json
import re
import sys
from collections.abc import Callable
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
_MESSAGE = re.compile(
    r"(?P<comment><!-- message: (?P<source_format>\w+) (?P<topic>\S+) (?P<partition>\d+)"
    r" (?P<offset>\d+)(?P<payload> payload)? -->)\n```json\n.*?```",
    re.DOTALL,
)
_WIDTH = 100


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

        from cdc_marts.parsing.dts_schema import RECORD_SCHEMA, TRAILER

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


def main() -> None:
    outdated = []
    with spark_session("demo", is_reader=True) as session:
        # Pages of two languages have the same queries.
        output_of = functools.cache(functools.partial(_shown, session))
        message_of = functools.cache(functools.partial(_landed, session))
        for page in pages():
            written = page.read_text("utf-8")
            current = generated(written, output_of, message_of)
            if current == written:
                continue
            outdated.append(str(page.relative_to(ROOT)))
            if "--check" not in sys.argv:
                page.write_text(current, "utf-8")
    if outdated and "--check" in sys.argv:
        sys.exit(f"{', '.join(outdated)}: not what the demo gives; run docs/examples.py")


if __name__ == "__main__":
    main()
