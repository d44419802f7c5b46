"""Classes of Spark's Java process."""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaMember
from py4j.protocol import STATIC_PREFIX
from pyspark.sql import SparkSession


def java_class(session: SparkSession, name: str) -> Any:
    """The Java class of a full name.

    The name goes to Java whole.  An attribute of `jvm` for each of its parts would
    look for a class in all jars at each part: that took half the time of a run.
    """
    return getattr(session._jvm, name)


def static_method(session: SparkSession, class_name: str, method: str) -> Any:
    """A static method of the Java class of a full name, which may have others of the same name.

    An attribute of the class is the first method of its name that Java finds, in no certain
    order: where that one is not static, py4j says that there is none.
    """
    gateway: Any = session.sparkContext._gateway
    return JavaMember(method, None, STATIC_PREFIX + class_name, gateway._gateway_client)
