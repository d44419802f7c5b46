"""What a cluster's spark-defaults.conf says is read, and what is missing is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from dbt.adapters.spark_session import session
from dbt.adapters.spark_session.errors import SessionError
from dbt.adapters.spark_session.spark_defaults import (
    check_required,
    keep_conf_dir,
    spark_defaults,
)

REQUIRED = {"THE_MASTER": "spark.master", "THE_ADDRESS": "", "THE_WAREHOUSE": "a.warehouse"}


@pytest.fixture
def conf_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    return tmp_path


def test_settings_are_read_as_java_reads_them(conf_dir: Path) -> None:
    (conf_dir / "spark-defaults.conf").write_text(
        "# spark.master commented\n! so too\n\n"
        "spark.master   spark://there:7077  \n"
        "  spark.a=b = c\n"
        "spark.colon: d\n"
        "spark.long   one,\\\n             two\n"
        "spark.empty\n"
    )
    assert spark_defaults() == {
        "spark.master": "spark://there:7077",
        "spark.a": "b = c",
        "spark.colon": "d",
        "spark.long": "one,two",
        "spark.empty": "",
    }


def test_without_the_file_there_are_none(conf_dir: Path) -> None:
    assert spark_defaults() == {}


def test_the_file_of_the_machines_spark_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("spark.master yarn")
    monkeypatch.setenv("SPARK_CONF_DIR", "")
    monkeypatch.delenv("SPARK_CONF_DIR")
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    keep_conf_dir()
    assert spark_defaults() == {"spark.master": "yarn"}


def test_what_is_missing_is_told_as_variables_and_as_settings() -> None:
    with pytest.raises(SessionError) as raised:
        check_required(REQUIRED, {"spark.master": ""})
    assert str(raised.value).endswith(
        "set THE_MASTER, THE_WAREHOUSE in the environment, or spark.master, a.warehouse in"
        " spark-defaults.conf."
    )


def test_one_of_several_settings_will_do() -> None:
    required = {"THE_TYPE or THE_CLASS": "a.type or a.class"}
    check_required(required, {"a.class": "com.example.Catalog"})
    check_required(required, {"a.type": "rest"})
    with pytest.raises(SessionError, match="set THE_TYPE or THE_CLASS in the env"):
        check_required(required, {"a.type": ""})


def test_settings_may_come_from_the_file_alone(
    conf_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (conf_dir / "spark-defaults.conf").write_text("spark.master local[1]\na.warehouse file:/w\n")
    check_required(REQUIRED, spark_defaults())


def test_jars_of_the_file_stay_beside_ours() -> None:
    settings = session._runtime_settings(
        [Path("/ours.jar")], None, Path("/java"), {}, {"spark.jars": "/a.jar,/b.jar"}
    )
    assert settings["spark.jars"] == "/a.jar,/b.jar,/ours.jar"
