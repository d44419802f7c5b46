"""Modules that only the parser of DTS Avro needs."""
