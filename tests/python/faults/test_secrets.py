"""Secrets that are planted in a target are found in nothing that a failing run says or keeps."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cdc_marts.scaffold import DESCRIPTIONS
from tests.python.cluster.services import HOST, free_port
from tests.python.harness.copied_project import copy_without_tables

pytestmark = pytest.mark.thorough

#: What the settings of a catalog and a store hold, and the environment.
PLANTED = {
    "spark.sql.catalog.cdc.jdbc.password": "planted-password",
    "spark.hadoop.fs.s3a.secret.key": "planted-secret-key",
    "spark.hadoop.fs.azure.account.key.lake.dfs.core.windows.net": "planted-account-key",
    "spark.hadoop.fs.gs.auth.service.account.private.key": "planted-private-key",
    "spark.sql.catalog.other": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.other.type": "jdbc",
    "spark.sql.catalog.other.header.Authorization": "Bearer planted-in-header",
    "spark.sql.catalog.other.uri": "jdbc:postgresql://db/x?user=u&password=planted-in-url",
    "spark.sql.catalog.other.warehouse": "s3a://user:planted-of-user@store/x",
}
#: What a file of `--properties` holds; nothing answers where the broker would be.
OF_BROKER = """\
security.protocol=SASL_PLAINTEXT
sasl.mechanism=PLAIN
sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
  username="cdc" password="planted-of-broker";
ssl.key.password=planted-of-key
default.api.timeout.ms=2000
request.timeout.ms=1000
"""
#: Its catalog has no driver here, and the error names its URL.
LEAKY = "select * from other.schema.somebodys_table"
LANDING = """
import sys
from cdc_marts.cli import app
app(["land", "kafka", "--format", "canal_json", "--topics", "t", *sys.argv[1:]])
"""
SESSION = """
import subprocess, sys
from dbt.cli.main import dbtRunner
from typer.testing import CliRunner
from cdc_marts.cli import app

command = ["run", "--select", "leaky", "--target", "local", "--log-level", "debug"]
failed = dbtRunner().invoke(command)
print(subprocess.run(["ps", "-A", "-o", "args"], capture_output=True, text=True).stdout)
assert not failed.success
for command in (
    ["status"],
    ["report", "--output", "report.html"],
    ["sql", "select node_name, message from marts.model_runs"],
    ["sql", "select * from other.schema.somebodys_table"],
):
    print(CliRunner().invoke(app, command).output)
"""


def test_no_secret_is_told_or_kept(tmp_path: Path) -> None:
    project = copy_without_tables(tmp_path / "project")
    (project / DESCRIPTIONS).write_text("models: []\n", "utf-8")
    (project / "models" / "marts" / "leaky.sql").write_text(LEAKY, "utf-8")
    profiles = project / "profiles" / "profiles.yml"
    _plant(profiles)
    home = tmp_path / "home"
    environment = {
        **{name: value for name, value in os.environ.items() if name != "DBT_TARGET_PATH"},
        "CDC_MARTS_HOME": str(home),
        "DBT_PROFILES_DIR": str(profiles.parent),
        "CDC_MARTS_CATALOG_PASSWORD": "planted-in-environment",
    }

    properties = tmp_path / "client.properties"
    properties.write_text(OF_BROKER, "utf-8")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", *arguments],
            cwd=project,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    broker = f"{HOST}:{free_port()}"
    landing = run(LANDING, "--bootstrap-servers", broker, "--properties", str(properties))
    done = run(SESSION)

    output = "".join((landing.stdout, landing.stderr, done.stdout, done.stderr))
    assert landing.returncode == 1, output
    assert f"{broker}" in landing.stderr
    assert done.returncode == 0, output
    # The error was printed, and its node is in the history.
    assert "password=*****" in output
    assert "leaky" in output
    profiles.unlink()
    properties.unlink()
    kept = {
        str(path.relative_to(tmp_path)): path.read_bytes()
        for path in tmp_path.rglob("*")
        if path.is_file()
    }
    assert any(name.endswith("dbt.log") for name in kept)
    assert any("run_results" in name and name.endswith(".parquet") for name in kept)
    assert any(name.endswith("spark.log") for name in kept)
    assert "planted" not in output
    assert [name for name, content in kept.items() if b"planted" in content] == []


def _plant(profiles: Path) -> None:
    """As text: the file has templates and anchors."""
    text = profiles.read_text("utf-8")
    place = "        spark.master: local[*]\n"
    lines = yaml.safe_dump(PLANTED, width=1_000).splitlines()
    assert place in text
    planted = "".join(f"        {line}\n" for line in lines)
    profiles.write_text(text.replace(place, place + planted, 1), "utf-8")
