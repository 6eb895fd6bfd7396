"""History: the rules a sendable conversation obeys, the smallest repair that obeys them, and its projection."""
