"""Secrets of a target stand in no error, and in nothing that dbt logs."""

from __future__ import annotations

import pytest
from dbt.adapters.spark_session import secrets
from dbt.adapters.spark_session.errors import message_of
from dbt_common.context import get_invocation_context, set_invocation_context

SETTINGS = {
    "spark.sql.catalog.lake.jdbc.password": "hunter-two",
    "spark.sql.catalog.lake.uri": "jdbc:postgresql://db/x?user=u&password=in-url&ssl=true",
    "spark.hadoop.proxy": "https://user:of-user@proxy:8080/",
    "spark.hadoop.fs.s3a.access.key": "abc",
    "spark.sql.shuffle.partitions": "4000",
}


@pytest.fixture(autouse=True)
def none_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_kept", set())
    set_invocation_context({})


@pytest.mark.parametrize(("name", "value"), SETTINGS.items())
def test_a_setting_is_a_secret_by_its_name_or_by_a_url_with_a_password(
    name: str, value: str
) -> None:
    assert secrets.is_secret(name, value) == ("shuffle" not in name)


def test_an_error_has_asterisks_in_place_of_secrets() -> None:
    secrets.keep_secrets(SETTINGS)
    said = " ".join(SETTINGS.values())

    message = message_of(RuntimeError(said))

    assert message == (
        "***** jdbc:postgresql://db/x?user=u&password=*****&ssl=true"
        # Too short to be left out wherever it stands.
        " https://user:*****@proxy:8080/ abc 4000"
    )


def test_a_password_in_a_url_that_no_setting_has_is_left_out_too() -> None:
    message = message_of(
        RuntimeError("No driver for jdbc:mysql://root:secret@db/x?password=other;a=1")
    )
    assert message == "No driver for jdbc:mysql://root:*****@db/x?password=*****;a=1"


def test_dbt_knows_what_to_leave_out_of_its_events() -> None:
    secrets.keep_secrets(SETTINGS)
    secrets.keep_secrets(SETTINGS)
    assert sorted(get_invocation_context().env_secrets) == ["hunter-two", "in-url", "of-user"]
