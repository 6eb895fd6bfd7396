"""Headway: a streaming runtime for LLM agents in which no broken stream can stop the work."""

__version__ = "0.1.0"
