"""What DataWorks JSON and DataHub BLOB share: the StreamX envelope.

DataHub TUPLE has the same order, identity and pairs, without the envelope.
"""
