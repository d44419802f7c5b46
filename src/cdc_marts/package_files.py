"""Where the files of the dbt package are: models, macros, seeds, profiles, `dbt_project.yml`."""

from pathlib import Path

_HERE = Path(__file__).parent
#: The wheel holds them inside the package (`force-include` in pyproject.toml).
_IN_WHEEL = _HERE / "dbt_package"

#: The folder of `dbt_project.yml`: the one in the wheel, or the clone.
PACKAGE_ROOT = _IN_WHEEL if _IN_WHEEL.is_dir() else _HERE.parents[1]

#: How a user of either runs dbt, as messages say it.
DBT = "dbt" if PACKAGE_ROOT == _IN_WHEEL else "uv run dbt"
