"""The gateway: three wires for clients, any wire upstream, and one continuous stream in between."""
