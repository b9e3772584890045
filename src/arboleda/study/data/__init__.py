"""From what the user names to a checked table, its target, its features and its splits."""
