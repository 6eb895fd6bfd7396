"""Tools of MCP servers: programs and addresses that a person has named, spoken to by JSON-RPC over pipes or HTTP."""
