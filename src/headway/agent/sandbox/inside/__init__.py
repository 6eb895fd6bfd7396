"""What runs on the other side: a supervisor in a process of its own, loaded as a package `inside`.

Its modules import one another as siblings, the standard library and nothing else: so it starts in milliseconds.
"""
