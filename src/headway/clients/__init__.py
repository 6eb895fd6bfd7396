"""The programs that people already use, and how each is pointed at the gateway: a table, and what is made of it."""
