"""Classes of Spark's Java process."""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import JavaClass, JavaMember
from py4j.protocol import STATIC_PREFIX
from pyspark.sql import SparkSession

#: PySpark's names for the classes whose static methods make columns -> their full names.
_MAKERS_OF_COLUMNS = {
    "functions": "org.apache.spark.sql.functions",
    "org.apache.spark.sql.functions": "org.apache.spark.sql.functions",
    "PythonUtils": "org.apache.spark.api.python.PythonUtils",
    "PythonSQLUtils": "org.apache.spark.sql.api.python.PythonSQLUtils",
}


class _RememberedClass(JavaClass):  # type: ignore[misc]
    """A Java class that is asked for each of its static methods once.

    Before each call of a method, py4j asks Java twice: for the class and for its method. That was
    half of the time in which a Python model describes its query.
    """

    def __getattr__(self, name: str) -> Any:
        member = super().__getattr__(name)
        if isinstance(member, JavaMember):
            setattr(self, name, member)
        return member


def remember_functions(session: SparkSession) -> None:
    """Ask Java for each function of Spark only once in this process."""
    jvm: Any = session._jvm
    gateway: Any = session.sparkContext._gateway
    for name, full_name in _MAKERS_OF_COLUMNS.items():
        setattr(jvm, name, _RememberedClass(full_name, gateway._gateway_client))


def java_class(session: SparkSession, name: str) -> Any:
    """Return the Java class of a full name, for which Java is asked once.

    The name goes to Java as a whole. An attribute of `jvm` for each of its parts would look for a
    class in all jars at each part, which took half the time of a run.
    """
    jvm: Any = session._jvm
    found = getattr(jvm, name)
    if type(found) is JavaClass:
        found = _RememberedClass(found._fqn, found._gateway_client)
        setattr(jvm, name, found)
    return found


def static_method(session: SparkSession, class_name: str, method: str) -> Any:
    """Return a static method of a Java class, which may have other methods of the same name.

    An attribute of the class is the first method of its name that Java finds, in no certain order.
    If that one is not static, py4j says that there is none.
    """
    gateway: Any = session.sparkContext._gateway
    return JavaMember(method, None, STATIC_PREFIX + class_name, gateway._gateway_client)
