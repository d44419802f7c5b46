"""The settings in spark-defaults.conf, which apply to all programs on a cluster."""

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
    """Let Spark find the settings of the machine's Spark, although PySpark's own Spark runs."""
    home = os.environ.get("SPARK_HOME")
    if home and "SPARK_CONF_DIR" not in os.environ and (Path(home) / "conf").is_dir():
        os.environ["SPARK_CONF_DIR"] = str(Path(home) / "conf")


def spark_defaults() -> dict[str, str]:
    """Return the settings of spark-defaults.conf in SPARK_CONF_DIR; none without that file."""
    folder = os.environ.get("SPARK_CONF_DIR")
    path = Path(folder) / "spark-defaults.conf" if folder else None
    if path is None or not path.is_file():
        return {}
    text = _CONTINUATION.sub("", path.read_text("utf-8"))
    return {found["name"]: found["value"] for found in _SETTING.finditer(text)}


def check_required(required: Mapping[str, str], settings: Mapping[str, str]) -> None:
    """Raise if a target lacks settings.

    `required`: environment variable -> its setting, or nothing. If ` or ` stands between several
    settings, one is enough. `settings`: the settings of the target and of spark-defaults.conf.
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
