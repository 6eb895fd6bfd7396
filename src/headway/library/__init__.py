"""What `import headway` offers: a client, its turns and agents, and the same without `async`."""
