"""`headway config`: make settings, see which are in force and why, and help editors with them."""
