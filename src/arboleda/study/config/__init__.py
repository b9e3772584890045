"""What a study is asked to do: options, their defaults, and ``study.toml``."""
