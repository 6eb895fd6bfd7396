"""Failures: reading any vendor's evidence, the table of what it means, and the classifier. Start at `classify`."""
