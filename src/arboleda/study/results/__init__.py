"""From fitted models to facts: scores, intervals, comparisons, calibration, explanations."""
