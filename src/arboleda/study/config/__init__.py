"""Settings of a study: options, their defaults, and ``study.toml``."""
