"""A page that shows how a target stands: `facts` are asked of it, `figures` are drawn of them."""
