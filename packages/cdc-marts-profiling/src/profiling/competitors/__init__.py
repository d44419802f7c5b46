"""Other engines on the same messages, each in an environment and a process of its own.

A competitor is a script that builds the latest state of a file of messages and
prints how long that took, in seconds.  Where it can't be installed, or doesn't
know a format, it is left out.
"""
