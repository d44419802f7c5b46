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


#: Options of Hadoop's file systems, Iceberg's catalogs and stores, Kafka's clients, and Spark.
SECRET_OPTIONS = [
    "spark.hadoop.fs.s3a.access.key",
    "spark.hadoop.fs.s3a.bucket.lake.secret.key",
    "spark.hadoop.fs.s3a.session.token",
    "spark.hadoop.fs.s3a.encryption.key",
    "spark.hadoop.fs.s3a.proxy.password",
    "spark.hadoop.fs.azure.account.key.lake.dfs.core.windows.net",
    "spark.hadoop.fs.azure.account.oauth2.client.secret.lake.dfs.core.windows.net",
    "spark.hadoop.fs.azure.sas.container.lake.blob.core.windows.net",
    "spark.hadoop.fs.azure.sas.fixed.token",
    "spark.hadoop.fs.gs.auth.service.account.private.key",
    "spark.hadoop.fs.gs.auth.service.account.private.key.id",
    "spark.hadoop.fs.gs.auth.refresh.token",
    "spark.hadoop.fs.oss.accessKeyId",
    "spark.hadoop.fs.oss.accessKeySecret",
    "spark.hadoop.fs.obs.secret.key",
    "spark.hadoop.javax.jdo.option.ConnectionPassword",
    "spark.sql.catalog.lake.jdbc.password",
    "spark.sql.catalog.lake.credential",
    "spark.sql.catalog.lake.token",
    "spark.sql.catalog.lake.header.Authorization",
    "spark.sql.catalog.lake.header.X-Api-Key",
    "spark.sql.catalog.lake.rest.auth.basic.password",
    "spark.sql.catalog.lake.rest.secret-access-key",
    "spark.sql.catalog.lake.nessie.authentication.token",
    "spark.sql.catalog.lake.s3.access-key-id",
    "spark.sql.catalog.lake.s3.secret-access-key",
    "spark.sql.catalog.lake.s3.session-token",
    "spark.sql.catalog.lake.s3.sse.key",
    "spark.sql.catalog.lake.adls.auth.shared-key.account.key",
    "spark.sql.catalog.lake.adls.sas-token.lake",
    "spark.sql.catalog.lake.adls.connection-string.lake",
    "spark.sql.catalog.lake.gcs.oauth2.token",
    "spark.sql.catalog.lake.gcs.decryption-key",
    "sasl.jaas.config",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "ssl.key.password",
    "ssl.keystore.key",
    "ssl.keystore.password",
    "ssl.truststore.password",
    "basic.auth.user.info",
    "spark.kafka.clusters.shop.ssl.truststore.password",
    "spark.authenticate.secret",
    "spark.ssl.keyStorePassword",
    "spark.kubernetes.authenticate.driver.oauthToken",
]
OPEN_OPTIONS = [
    "spark.hadoop.fs.s3a.aws.credentials.provider",
    "spark.hadoop.fs.s3a.encryption.algorithm",
    "spark.hadoop.fs.azure.account.auth.type.lake.dfs.core.windows.net",
    "spark.hadoop.fs.azure.account.keyprovider.lake.dfs.core.windows.net",
    "spark.hadoop.fs.azure.account.oauth2.client.endpoint",
    "spark.hadoop.fs.gs.auth.service.account.email",
    "spark.hadoop.fs.gs.auth.service.account.json.keyfile",
    "spark.hadoop.hadoop.security.credential.provider.path",
    "spark.hadoop.hive.metastore.token.signature",
    "spark.sql.catalog.lake.io.manifest.cache-enabled",
    "spark.sql.catalog.lake.jdbc.user",
    "spark.sql.catalog.lake.header.X-Iceberg-Access-Delegation",
    "spark.sql.catalog.lake.oauth2-server-uri",
    "spark.sql.catalog.lake.token-refresh-enabled",
    "spark.sql.catalog.lake.rest.signing-name",
    "spark.sql.catalog.lake.client.credentials-provider",
    "spark.sql.catalog.lake.client.refresh-credentials-endpoint",
    "spark.sql.catalog.lake.s3.path-style-access",
    "spark.sql.catalog.lake.s3.session-token-expires-at-ms",
    "spark.sql.catalog.lake.s3.sse.type",
    "spark.sql.catalog.lake.adls.auth.shared-key.account.name",
    "spark.sql.catalog.lake.gcs.oauth2.token-expires-at",
    "spark.sql.catalog.lake.table-default.encryption.key-id",
    "spark.sql.catalog.lake.table-default.write.parquet.bloom-filter-enabled.column.id",
    "spark.sql.catalog.lake.table-default.write.parquet.compression-codec",
    "key.converter",
    "key.deserializer",
    "sasl.mechanism",
    "sasl.oauthbearer.client.credentials.client.id",
    "sasl.oauthbearer.token.endpoint.url",
    "ssl.keystore.location",
    "basic.auth.credentials.source",
    "spark.kafka.clusters.shop.sasl.token.mechanism",
    "spark.security.credentials.hive.enabled",
    "spark.sql.shuffle.partitions",
    "spark.serializer",
]


@pytest.mark.parametrize("name", SECRET_OPTIONS)
def test_a_setting_is_a_secret_by_its_name(name: str) -> None:
    assert secrets.is_secret(name, "value")


@pytest.mark.parametrize("name", OPEN_OPTIONS)
def test_a_setting_about_secrets_is_none(name: str) -> None:
    assert not secrets.is_secret(name, "value")


@pytest.mark.parametrize(
    "value",
    [
        "jdbc:postgresql://db/x?user=u&password=in-url&ssl=true",
        "jdbc:postgresql://db/x?sslpassword=in-url",
        "jdbc:sqlserver://db;trustStorePassword=in-url;encrypt=true",
        "https://lake.blob.core.windows.net/c?sv=2024-11-04&sig=in-url",
        "https://user:of-user@proxy:8080/",
    ],
)
def test_a_setting_is_a_secret_by_a_url_with_a_password(value: str) -> None:
    assert secrets.is_secret("spark.sql.catalog.lake.uri", value)
    assert "in-url" not in secrets.without_secrets(value)
    assert "of-user" not in secrets.without_secrets(value)


def test_what_a_header_authenticates_with_is_left_out_too() -> None:
    secrets.keep_secrets({"spark.sql.catalog.lake.header.Authorization": "Bearer of-bearer"})
    assert secrets.without_secrets("401 for of-bearer, a Bearer") == "401 for *****, a Bearer"


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
