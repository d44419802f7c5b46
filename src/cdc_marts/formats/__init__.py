"""One parser a format.  The formats are listed in `dbt_project.yml`, and nowhere else."""

from pathlib import Path

import yaml

_PROJECT = Path(__file__).parents[3] / "dbt_project.yml"

#: The names of the formats, as tables, models and options have them.
SOURCE_FORMATS = tuple(yaml.safe_load(_PROJECT.read_text("utf-8"))["vars"]["source_formats"])
