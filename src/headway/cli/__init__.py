"""The command line: thin shells over the core. Nothing below this package prints or reads the environment."""
