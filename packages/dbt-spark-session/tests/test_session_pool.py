"""Sessions of dbt's threads are used again by the next command of the process."""

from __future__ import annotations

import pytest
from dbt.adapters.spark_session.increments import SNAPSHOT_PROPERTY
from dbt.adapters.spark_session.session_pool import SessionPool
from pyspark.sql import SparkSession


def test_the_next_command_gets_the_sessions_of_the_last_one(spark: SparkSession) -> None:
    pool = SessionPool()
    first = [pool.take(spark), pool.take(spark)]
    assert first[0].session is not first[1].session
    assert all(pool.is_valid(lease, spark) for lease in first)

    pool.end_command()
    second = [pool.take(spark) for _ in range(3)]

    assert not any(pool.is_valid(lease, spark) for lease in first)
    known = {id(lease.session) for lease in first}
    assert known < {id(lease.session) for lease in second}
    assert len({id(lease.session) for lease in second}) == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        (f"{SNAPSHOT_PROPERTY}read-to", "7"),
        ("spark.sql.sources.partitionOverwriteMode", "dynamic"),
    ],
)
def test_a_session_forgets_the_settings_of_models_of_the_last_command(
    spark: SparkSession, name: str, value: str
) -> None:
    pool = SessionPool()
    session = pool.take(spark).session
    before = session.conf.get(name, None)
    session.conf.set(name, value)

    pool.end_command()

    assert pool.take(spark).session is session
    assert session.conf.get(name, None) == before != value


def test_a_setting_of_the_profile_holds_for_the_next_command_too(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    name = "spark.sql.sources.partitionOverwriteMode"
    request.addfinalizer(lambda: spark.conf.unset(name))
    spark.conf.set(name, "dynamic")
    pool = SessionPool()
    session = pool.take(spark).session
    session.conf.set(name, "static")

    pool.end_command()

    assert pool.take(spark).session is session
    assert session.conf.get(name) == "dynamic"


def test_a_session_forgets_the_temporary_views_of_the_last_command(spark: SparkSession) -> None:
    pool = SessionPool()
    session = pool.take(spark).session
    session.range(1).createOrReplaceTempView("compiled_model")

    pool.end_command()

    assert pool.take(spark).session is session
    assert not session.catalog.tableExists("compiled_model")
