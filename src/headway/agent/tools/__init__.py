"""What an agent can do: one module a tool, and what the tools stand on. `builtin` names them all."""
