"""Recovery: what went wrong, what is left of it, and what to do next. Pure: no I/O, no clock, no die."""
