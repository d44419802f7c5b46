"""Modules that DataWorks JSON and DataHub BLOB share: the StreamX envelope.

DataHub TUPLE has the same order, identity and pairs of halves, but no envelope.
"""
