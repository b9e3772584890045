"""What a study's folder keeps beside the facts: the fitted models, the layout, the rows."""
