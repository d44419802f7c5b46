"""Catalogs of the target `cluster`: by type, and by class; what other engines read of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pytest
from pyiceberg.catalog import Catalog, load_catalog

from cdc_marts.landing.envelopes import Message
from tests.python.cluster.rest_catalog import rest_catalog
from tests.python.commands import Commands, take_shares
from tests.python.end_to_end.readers import of_duckdb, of_pyiceberg
from tests.python.samples.files import samples

pytestmark = pytest.mark.long

PUBLISHED = ("change_events", "latest_state", "row_history", "ddl_events", "source_tables")
FORMATS = ("canal_json", "dataworks_json")

#: On one machine, and for hundreds of messages.
SPARK_DEFAULTS = """\
spark.master                     local[2]
spark.driver.host                127.0.0.1
spark.driver.bindAddress         127.0.0.1
spark.driver.memory              2g
spark.ui.enabled                 false
spark.sql.shuffle.partitions     1
spark.sql.adaptive.enabled       false
spark.sql.codegen.wholeStage     false
spark.sql.codegen.factoryMode    NO_CODEGEN
spark.driver.extraJavaOptions    -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
"""


@dataclass(frozen=True)
class CatalogCase:
    """A catalog: what a user sets to reach it, and how PyIceberg opens it."""

    settings: Mapping[str, str]
    catalog: Catalog


@pytest.fixture(scope="module", params=["rest", "by_class"])
def case(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[CatalogCase]:
    folder = tmp_path_factory.mktemp("catalog")
    warehouse = (folder / "warehouse").as_uri()
    settings = {"CDC_MARTS_WAREHOUSE": warehouse}
    if request.param == "rest":
        with rest_catalog(folder, warehouse) as uri:
            yield CatalogCase(
                {**settings, "CDC_MARTS_CATALOG_TYPE": "rest", "CDC_MARTS_CATALOG_URI": uri},
                load_catalog("cdc", type="rest", uri=uri),
            )
        return
    yield CatalogCase(
        {
            **settings,
            "CDC_MARTS_CATALOG_IMPL": "org.apache.iceberg.jdbc.JdbcCatalog",
            "CDC_MARTS_CATALOG_URI": f"jdbc:sqlite:{folder}/catalog.db?busy_timeout=60000",
            "CDC_MARTS_PACKAGES": "org.xerial:sqlite-jdbc:3.50.3.0",
        },
        load_catalog("cdc", type="sql", uri=f"sqlite:///{folder}/catalog.db"),
    )


@pytest.fixture(scope="module")
def user(case: CatalogCase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    conf_dir = tmp_path_factory.mktemp("conf")
    (conf_dir / "spark-defaults.conf").write_text(SPARK_DEFAULTS)
    settings = {**case.settings, "SPARK_CONF_DIR": str(conf_dir)}
    user = Commands("cluster", settings, tmp_path_factory.mktemp("work"))
    yield user
    user.stop()


@pytest.fixture(scope="module")
def left() -> dict[str, list[Message]]:
    return {source_format: samples(source_format) for source_format in FORMATS}


@pytest.mark.parametrize("runs_left", [2, 1])
def test_the_models_run_and_other_engines_read_published_marts(
    case: CatalogCase, user: Commands, left: dict[str, list[Message]], runs_left: int
) -> None:
    """After a first build, and after an increment."""
    user.land(take_shares(left, runs_left))
    user.finish(user.dbt("run", "--vars", json.dumps({"published_marts": PUBLISHED})))
    tables = [f"published.{mart}" for mart in PUBLISHED]
    rows = user.rows(*tables)
    by_pyiceberg, by_duckdb = of_pyiceberg(case.catalog), of_duckdb(case.catalog)
    for table in tables:
        assert rows[table], table
        assert by_pyiceberg(table) == rows[table], table
        assert by_duckdb(table) == rows[table], table
