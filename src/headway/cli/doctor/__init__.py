"""`headway doctor`: is everything there that an answer needs, and what to do next where it is not."""
