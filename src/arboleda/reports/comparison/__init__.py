"""The page of a comparison of studies."""
