"""A page on the state of a target: `facts` are read from it, and `figures` are drawn from these."""
