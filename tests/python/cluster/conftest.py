"""The servers of a cluster, and what a user sets to run on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from dbt.adapters.spark_session.folders import work_dir
from dbt.adapters.spark_session.java import use_java

from tests.python.cluster.services import (
    HOST,
    Standalone,
    free_port,
    postgres,
    postgres_programs,
    standalone,
)
from tests.python.harness.copied_project import copy_with_typed_marts
from tests.python.harness.processes import Commands, Home

USER, PASSWORD = "cdc", "not on any command line"
#: Nothing of the project runs as Python on executors.
NO_PYTHON = {"PYSPARK_PYTHON": "/nonexistent/python"}

#: What an administrator sets for all programs.
SPARK_DEFAULTS = """\
# Where the cluster is
spark.master            {master}
spark.driver.host       {host}
spark.driver.bindAddress={host}
spark.driver.memory     1g
spark.executor.memory   1g
spark.ui.port           {ui_port}
# For hundreds of messages, as the target demo has it.
spark.sql.shuffle.partitions     2
spark.sql.codegen.wholeStage     false
spark.sql.codegen.factoryMode    NO_CODEGEN
spark.driver.extraJavaOptions    {java_options}
spark.executor.extraJavaOptions  {java_options}
"""
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=256m"


@pytest.fixture(scope="module")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standalone]:
    """A master and two workers."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("JAVA_HOME", "")
        folder = work_dir(None)
        folder.mkdir(parents=True, exist_ok=True)
        use_java(folder)
        with standalone(tmp_path_factory.mktemp("spark"), NO_PYTHON, worker_count=2) as cluster:
            yield cluster


@pytest.fixture(scope="module")
def catalog_address() -> Iterator[str]:
    """An empty database of a PostgreSQL server."""
    programs = postgres_programs()
    if programs is None:
        pytest.fail("PostgreSQL's server is not installed (Debian package postgresql)")
    with postgres(programs, USER, PASSWORD) as address:
        yield address


@pytest.fixture(scope="module")
def ui_port() -> int:
    """Where the driver shows its jobs."""
    return free_port()


@pytest.fixture(scope="module")
def project_folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment variables of a project that has typed marts on all targets."""
    project = copy_with_typed_marts(tmp_path_factory.mktemp("project"))
    return {"DBT_PROJECT_DIR": str(project), "DBT_PROFILES_DIR": str(project / "profiles")}


@pytest.fixture(scope="module")
def environment(
    project_folders: dict[str, str],
    spark_cluster: Standalone,
    catalog_address: str,
    ui_port: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str]:
    """The environment variables of the target `cluster`; the master stands in a file."""
    conf_dir, warehouse = tmp_path_factory.mktemp("conf"), tmp_path_factory.mktemp("warehouse")
    settings = SPARK_DEFAULTS.format(
        master=spark_cluster.url, host=HOST, ui_port=ui_port, java_options=_JAVA_OPTIONS
    )
    (conf_dir / "spark-defaults.conf").write_text(settings)
    return {
        **NO_PYTHON,
        **project_folders,
        "SPARK_CONF_DIR": str(conf_dir),
        "CDC_MARTS_CATALOG_TYPE": "jdbc",
        "CDC_MARTS_CATALOG_URI": catalog_address,
        "CDC_MARTS_CATALOG_USER": USER,
        "CDC_MARTS_CATALOG_PASSWORD": PASSWORD,
        "CDC_MARTS_WAREHOUSE": warehouse.as_uri(),
    }


@pytest.fixture(scope="module")
def a_user(
    environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., Commands]]:
    """Makes somebody who uses the cluster: with `NAME=value` settings of their own."""
    users: list[Commands] = []

    def make(**settings: str) -> Commands:
        work = tmp_path_factory.mktemp("work")
        users.append(Commands("cluster", {**environment, **settings}, work))
        return users[-1]

    yield make
    for user in users:
        user.stop()


@pytest.fixture(scope="module")
def embedded(
    environment: dict[str, str],
    project_folders: dict[str, str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Home]:
    """The target `local`, whose marts those of the cluster are to equal."""
    # As quick: Spark reads the file there too, for what the target leaves open.
    conf_dir = environment["SPARK_CONF_DIR"]
    folders = (tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("work"))
    home = Home(*folders, SPARK_CONF_DIR=conf_dir, **project_folders)
    yield home
    home.stop()
