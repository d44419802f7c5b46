"""Catalogs of the target `cluster`: by type, and by class; what other engines read of them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest
from pyiceberg.catalog import load_catalog

from cdc_marts.landing.envelopes import Message
from tests.python.cluster.object_store import object_store
from tests.python.cluster.rest_catalog import rest_catalog
from tests.python.end_to_end.readers import (
    Reader,
    of_duckdb,
    of_duckdb_with_rest_catalog,
    of_pyiceberg,
)
from tests.python.harness.processes import MARTS, Commands, take_shares
from tests.python.samples.files import samples

pytestmark = pytest.mark.long

PUBLISHED = tuple(mart.removeprefix("marts.") for mart in MARTS)
FORMATS = ("canal_json", "dataworks_json")

SQLITE = "org.xerial:sqlite-jdbc:3.50.3.0"
AWS = "org.apache.iceberg:iceberg-aws-bundle:1.12.0"

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
spark.driver.extraJavaOptions    -XX:TieredStopAtLevel=1 -XX:+UseSerialGC \
-XX:ReservedCodeCacheSize=256m
"""


@dataclass(frozen=True)
class CatalogCase:
    """A catalog: what a user sets to reach it, and the engines that read it."""

    settings: Mapping[str, str]
    readers: Sequence[Reader]
    #: further lines of spark-defaults.conf
    spark_defaults: Mapping[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module", params=["rest", "by_class", "object_store"])
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
                [
                    of_pyiceberg(load_catalog("cdc", type="rest", uri=uri)),
                    of_duckdb_with_rest_catalog(uri),
                ],
            )
        return
    by_class = {
        **settings,
        "CDC_MARTS_CATALOG_IMPL": "org.apache.iceberg.jdbc.JdbcCatalog",
        "CDC_MARTS_CATALOG_URI": f"jdbc:sqlite:{folder}/catalog.db?busy_timeout=60000",
        "CDC_MARTS_PACKAGES": SQLITE,
    }
    sql = {"type": "sql", "uri": f"sqlite:///{folder}/catalog.db"}
    if request.param == "by_class":
        catalog = load_catalog("cdc", **sql)
        yield CatalogCase(by_class, [of_pyiceberg(catalog), of_duckdb(catalog)])
        return
    with object_store(folder) as store:
        yield CatalogCase(
            {
                **by_class,
                "CDC_MARTS_WAREHOUSE": f"s3://{store.bucket}/warehouse",
                "CDC_MARTS_PACKAGES": f"{SQLITE},{AWS}",
            },
            # DuckDB would take the credentials of the store in a way of its own.
            [of_pyiceberg(load_catalog("cdc", **sql, **store.settings))],
            {
                "io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
                "s3.path-style-access": "true",
                "client.region": store.region,
                **store.settings,
            },
        )


@pytest.fixture(scope="module")
def user(case: CatalogCase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    conf_dir = tmp_path_factory.mktemp("conf")
    of_catalog = "".join(
        f"spark.sql.catalog.cdc.{name}  {value}\n" for name, value in case.spark_defaults.items()
    )
    (conf_dir / "spark-defaults.conf").write_text(SPARK_DEFAULTS + of_catalog)
    settings = {**case.settings, "SPARK_CONF_DIR": str(conf_dir)}
    user = Commands("cluster", settings, tmp_path_factory.mktemp("work"))
    yield user
    user.stop()


@pytest.fixture(scope="module")
def left(case: CatalogCase) -> dict[str, list[Message]]:
    """What has not landed in this catalog."""
    return {source_format: samples(source_format) for source_format in FORMATS}


@pytest.mark.parametrize("runs_left", [2, 1])
def test_the_models_run_and_other_engines_read_published_marts(
    case: CatalogCase, user: Commands, left: dict[str, list[Message]], runs_left: int
) -> None:
    """After a first build, and after an increment; upkeep in between changes no row."""
    user.land(take_shares(left, runs_left))
    user.finish(user.dbt("run", "--vars", json.dumps({"published_marts": PUBLISHED})))
    tables = [f"published.{mart}" for mart in PUBLISHED]
    rows = user.rows(*tables)
    user.finish(user.command("maintain", "--keep-days", "0"))
    for table in tables:
        assert rows[table] or runs_left > 1, table
        for read in case.readers:
            assert read(table) == rows[table], table


def test_a_row_is_erased_from_an_object_store(case: CatalogCase, user: Commands) -> None:
    """After the builds; Hadoop, which `erase` does without, has no file system for `s3`."""
    if not case.spark_defaults:
        pytest.skip("the warehouse is a local folder")
    [state, *_] = [
        row
        for row in map(json.loads, user.content("marts.latest_state")["marts.latest_state"])
        if row["source_format"] == FORMATS[0]
    ]
    options = ("--format", FORMATS[0], "--table", state["table_id"], "--key", state["row_key"])
    user.finish(user.command("erase", *options, "--yes"))
    assert "Erased." in user.output()
    left = user.content("marts.latest_state")["marts.latest_state"]
    keys = {(row["table_id"], row["row_key"]) for row in map(json.loads, left)}
    assert left
    assert (state["table_id"], state["row_key"]) not in keys
