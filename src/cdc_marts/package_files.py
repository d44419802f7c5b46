"""Where the files of the dbt package are: models, macros, seeds, profiles, `dbt_project.yml`."""

from pathlib import Path

_HERE = Path(__file__).parent
#: The wheel holds them inside the package (`force-include` in pyproject.toml).
_IN_WHEEL = _HERE / "dbt_package"

IS_INSTALLED = _IN_WHEEL.is_dir()

#: The folder of `dbt_project.yml`: the one in the wheel, or the clone.
PACKAGE_ROOT = _IN_WHEEL if IS_INSTALLED else _HERE.parents[1]

#: How a user of either runs dbt, as messages say it.
DBT = "dbt" if IS_INSTALLED else "./run dbt"
