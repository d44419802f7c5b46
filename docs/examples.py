"""The output under each query of the README, from the demo as it is built.

    ./run python docs/examples.py           writes the outputs into README.md
    ./run python docs/examples.py --check   fails where they differ

A query stands in a block ```sql, its output in the block ```text right behind it.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path

from cdc_marts.project import spark_session

README = Path(__file__).parents[1] / "README.md"
_EXAMPLE = re.compile(r"```sql\n(?P<query>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)


def main() -> None:
    written = README.read_text("utf-8")
    with spark_session("demo") as session:

        def with_output(example: re.Match[str]) -> str:
            shown = io.StringIO()
            with contextlib.redirect_stdout(shown):
                session.sql(example["query"]).show(100, truncate=False)
            return f"```sql\n{example['query']}```\n\n```text\n{shown.getvalue().rstrip()}\n```"

        generated = _EXAMPLE.sub(with_output, written)
    if "--check" not in sys.argv:
        README.write_text(generated, "utf-8")
    elif generated != written:
        sys.exit("README.md shows other outputs than the demo gives: run docs/examples.py")


if __name__ == "__main__":
    main()
