"""Clients that read the same stream from the same server, each in a process of its own; see `worker`."""
