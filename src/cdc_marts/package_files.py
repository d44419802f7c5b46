"""The place of the files of the dbt package: models, macros, seeds, profiles, `dbt_project.yml`."""

from pathlib import Path

_HERE = Path(__file__).parent
#: The wheel holds these files inside the package (`force-include` in pyproject.toml).
_IN_WHEEL = _HERE / "dbt_package"

IS_INSTALLED = _IN_WHEEL.is_dir()

#: The folder of `dbt_project.yml`: in the wheel, or the clone.
PACKAGE_ROOT = _IN_WHEEL if IS_INSTALLED else _HERE.parents[1]

#: The command in messages with which a user of either runs dbt.
DBT = "dbt" if IS_INSTALLED else "./run dbt"
#: The command in messages that installs the Python SDK of DataHub. In the clone, it also lands.
DATAHUB_SDK = (
    "pip install 'cdc-marts[datahub]'"
    if IS_INSTALLED
    else "./run --extra datahub cdc-marts land datahub …"
)
