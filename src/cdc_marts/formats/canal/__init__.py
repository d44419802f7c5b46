"""Modules that only the parser of Canal JSON needs."""
