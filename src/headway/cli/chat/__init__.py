"""`headway chat`: the agent at a terminal. The reply goes into the scrollback once; what is open stands below it."""
