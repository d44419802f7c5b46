"""Other engines on the same messages, each in its own environment and process.

A competitor is a script that builds the latest state of a file of messages and prints how many
seconds that took. It is left out if it can't be installed, or doesn't know a format.
"""
