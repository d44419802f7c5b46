"""One parser a format.  The formats are listed in `dbt_project.yml`, and nowhere else."""

import yaml

from cdc_marts.package_files import PACKAGE_ROOT

_PROJECT = PACKAGE_ROOT / "dbt_project.yml"

#: The names of the formats, as tables, models and options have them.
SOURCE_FORMATS = tuple(yaml.safe_load(_PROJECT.read_text("utf-8"))["vars"]["source_formats"])
