"""What spark-defaults.conf says: the settings of a cluster that hold for all its programs."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from dbt.adapters.spark_session.errors import SessionError

_SETTING = re.compile(
    r"^[ \t]*(?P<name>[^#!\s=:][^\s=:]*)[ \t]*[=:]?[ \t]*(?P<value>.*?)\s*$", re.M
)
_CONTINUATION = re.compile(r"\\\r?\n[ \t]*")


def keep_conf_dir() -> None:
    """Have Spark find the settings of the machine's Spark, though the one of PySpark runs."""
    home = os.environ.get("SPARK_HOME")
    if home and "SPARK_CONF_DIR" not in os.environ and (Path(home) / "conf").is_dir():
        os.environ["SPARK_CONF_DIR"] = str(Path(home) / "conf")


def spark_defaults() -> dict[str, str]:
    """The settings of spark-defaults.conf in SPARK_CONF_DIR; none where there is no such file."""
    folder = os.environ.get("SPARK_CONF_DIR")
    path = Path(folder) / "spark-defaults.conf" if folder else None
    if path is None or not path.is_file():
        return {}
    text = _CONTINUATION.sub("", path.read_text("utf-8"))
    return {found["name"]: found["value"] for found in _SETTING.finditer(text)}


def check_required(required: Mapping[str, str], settings: Mapping[str, str]) -> None:
    """Raise where a target lacks settings.

    `required`: environment variable -> the setting that it is for, or nothing.  Of several, with
    ` or ` between them, one will do.
    `settings`: those of the target and of spark-defaults.conf.
    """
    missing = {
        variable: setting
        for variable, setting in required.items()
        if setting and not any(map(settings.get, setting.split(" or ")))
    }
    if missing:
        raise SessionError(
            f"The target lacks settings: set {', '.join(missing)} in the environment, or"
            f" {', '.join(missing.values())} in spark-defaults.conf."
        )
