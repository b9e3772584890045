"""The texts of a page, in the current language. Placeholders are filled in by its scripts."""

from __future__ import annotations

from arboleda._locale import word


def make_words() -> dict[str, str]:
    """Return the texts of the page by their names in its scripts."""
    return {**_make_headings(), **_make_controls(), **_make_notes(), **_make_batch_texts()}


def _make_headings() -> dict[str, str]:
    return {
        "row": word("The row"),
        "prediction": word("Prediction"),
        "probability": word("Probability"),
        "decision": word("Decision"),
        "rejected": word("rejected"),
        "contributions": word("Contributions of the columns"),
        "curve": word("One column"),
        "map": word("Two columns"),
        "nearest": word("Nearest rows"),
        "batch": word("Predict a file"),
        "target": word("Prediction of"),
        "model": word("{model}, {columns} columns"),
        "footer": word(
            "Made with arboleda {version}. The page makes no request; it works offline."
        ),
    }


def _make_controls() -> dict[str, str]:
    return {
        "skip": word("Skip to the form"),
        "dark": word("Dark page"),
        "light": word("Light page"),
        "typical": word("Typical row"),
        "example": word("Next example"),
        "clear": word("Clear"),
        "paste": word("Paste a row"),
        "paste_hint": word("A row of a CSV file, with or without its header line"),
        "use_row": word("Use this row"),
        "find_column": word("Find a column"),
        "search": word("missing; type to search"),
        "missing": word("missing"),
        "missing_of": word("Set {column} to missing"),
        "slider": word("{column}: slider"),
        "yes": word("yes"),
        "no": word("no"),
        "output": word("Of"),
        "column": word("Column"),
        "and_column": word("and"),
        "choose_file": word("Choose a CSV file"),
    }


def _make_notes() -> dict[str, str]:
    return {
        "noscript": word("This page computes predictions by a script, which is switched off."),
        "failed": word("The model cannot be read by this browser; a newer one is needed."),
        "no_rows": word(
            "Everything is computed on this device. The page holds no row of the data."
        ),
        "with_rows": word(
            "Everything is computed on this device. Rows of the data in this page: {rows}."
        ),
        "no_number": word("This is not a number."),
        "outside": word("Outside of the data, which range from {low} to {high}."),
        "unknown": word("An unknown category, which counts as the model learned."),
        "interval": word("{low} to {high} ({share} interval)"),
        "in_set": word("in the set"),
        "set_note": word("The set holds the true class of {share} of new rows."),
        "cost": word(" at an expected cost of {cost}"),
        "typical_note": word(
            "Contributions compare the row with the typical row, which predicts the same: change a "
            "value to see what it contributes."
        ),
        "contributions_note": word(
            "Exact Shapley values: from {base}, the mean of the training rows, to {total} ({unit})."
        ),
        "towards": word("Bars to the right speak for {name}."),
        "compared_note": word(
            "Exact Shapley values against the typical row: from {base} to {total} ({unit})."
        ),
        "sampled_note": word(
            "Shapley values against the typical row, from {count} orders of the columns: from "
            "{base} to {total} ({unit})."
        ),
        "others": word("{count} other columns"),
        "margin": word("raw score"),
        "probability_unit": word("probability"),
        "value_unit": word("value"),
        "path_unit": word("path length; shorter ones are more unusual"),
        "risk": word("Risk"),
        "survival_at": word("No event by {value}"),
        "anomaly_score": word("Anomaly score"),
        "outlier": word("Outlier (1) or not (0)"),
        "curve_label": word(
            "With {column} alone changed, the prediction goes from {low} to {high}."
        ),
        "map_label": word("With {first} and {second} changed, it goes from {low} to {high}."),
        "click": word("Click to choose a value."),
        "nearest_note": word(
            "Distances add up shares of the range of numbers, and 1 for another category."
        ),
        "no_row": word("This is no row with the model's columns."),
    }


def _make_batch_texts() -> dict[str, str]:
    return {
        "batch_note": word(
            "The rows of a CSV file are predicted on this device and saved as a new file."
        ),
        "drop": word("or drop it on this page"),
        "reading": word("Predicting"),
        "done": word("Rows predicted: {rows}, in {seconds} s ({rate} a second)."),
        "save": word("Save {name}"),
        "lacks": word("The file lacks the column {column}: add it, with empty cells."),
        "twice": word("The file has two columns {column}: rename one of them."),
        "bad_cell": word("Column {column}, row {row}: '{text}' cannot be read; leave it blank."),
        "no_text": word("This is not a file of text: save the table as CSV."),
        "ragged": word(
            "Row {row} is not as long as the header ({count} cells instead of {width}): correct "
            "the row."
        ),
        "empty": word("The file has no rows."),
    }
