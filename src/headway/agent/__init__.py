"""The agent: a loop one can read in a minute, the tools it works with, and what keeps them safe."""
