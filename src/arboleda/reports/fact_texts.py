"""The English sentences with values that facts contain, for translation; see `fact_messages`."""

from arboleda.reports.metric_names import PARAMETER_LABELS
from arboleda.reports.translation import N_

__all__ = ["FACT_MESSAGES", "FACT_SINGULARS"]

# Sentences with values, by code.
FACT_MESSAGES = {
    "not_finite": N_("{what} is no member: it does not say a finite number of every row."),
    "not_kept": N_("{what} is no member: its fitted model was not kept."),
    "classes": N_("{what} says classes alone, which count as probabilities of 0 and 1."),
    "decisions": N_(
        "{what} says no probabilities: the logistic function makes some of its decision values."
    ),
    "all_missing": N_("all values are missing in the {rows}"),
    "constant": N_("constant: the same value in every {row}"),
    "units_row": N_(
        "The first row holds {value} in the column {column}, which is no value: if the row holds "
        "units, leave it out with --where '{same} is not missing'."
    ),
    "header_row": N_(
        "Row {number} repeats the names of the columns, as in joined files; leave such rows out "
        "with --where '{same}'."
    ),
    "totals_row": N_(
        "The last row holds {value}: if it sums up the others, leave it out with --where '{same}'."
    ),
    "number": N_("decimal mark “{decimal}”"),
    "number_grouped": N_("decimal mark “{decimal}”, thousands separated by “{thousands}”"),
    "number_units": N_("decimal mark “{decimal}”, units {units}"),
    "number_grouped_units": N_(
        "decimal mark “{decimal}”, thousands separated by “{thousands}”, units {units}"
    ),
    "use_numeric": N_("a number"),
    "use_boolean": N_("true or false"),
    "use_datetime": N_("a date as {parts}"),
    "converted_date": N_("Converted to numbers: {parts}."),
    "use_category": N_("a category; levels: {count}"),
    "use_many": N_("a category; levels: {count}, for most models as means of the target"),
    "use_text": N_("length, number of words, and whether it has {words} (in all {count})"),
    "use_text_plain": N_("length and number of words"),
    "use_list": N_("number of items, and whether it has {words} (in all {count})"),
    "use_list_plain": N_("number of items"),
    "task": N_("The task is {why}."),
    "classes_hold": N_("classification: the target holds {what}"),
    "classes_few": N_(
        "classification: the target has {count} distinct values (--task regression treats "
        "them as quantities)"
    ),
    "regression_many": N_(
        "regression: the target is a number with {count} distinct values (--task "
        "classification treats them as classes)"
    ),
    "risk_low": N_("low risk"),
    "risk_medium": N_("medium risk"),
    "risk_high": N_("high risk"),
    "survival": N_("the time to an event, which {count} rows have had by the column {column}"),
    "ranking": N_("ranking within each of {count} queries of the column {column}"),
    "copies": N_("{count} of {rows} rows repeat an earlier row; they are kept."),
    "left_out": N_("Left out: {reason}."),
    "missing": N_("Missing in {count} rows ({share})."),
    "levels": N_(
        "{count} levels: if the training rows have more than {most} of them, the column "
        "is encoded by the target's mean per level, with cross-fitting."
    ),
    "rare_class": N_(
        "The class {label} has {count} rows, so some folds may lack it and its scores are "
        "uncertain."
    ),
    "rare_classes": N_(
        "{classes} classes have fewer than {least} rows ({label} has {count}), so some "
        "folds may lack one and their scores are uncertain."
    ),
    "given_test": N_("The test table is {name}, with {count} rows."),
    "test_columns": N_("Columns of {name} that {table} lacks are not used: {columns}."),
    "encoding": N_("The text is not valid UTF-8; it was read as {encoding}."),
    "approximated": N_("{what} (approximation by {points} points)"),
    "nystroem": N_(
        "{what} by a Nystroem map of {components} components and {how}: {rows} rows are "
        "too many for an exact kernel"
    ),
    "part": N_("learned from a random part of {rows} rows"),
    "sample": N_(
        "The table has {count} rows, too many for the memory that it may take: a random sample of "
        "{rows} rows is described and compared on, and boosting by histograms is fitted to all "
        "rows but those of the test before it is tested."
    ),
    "whole": N_("fitted to {rows} rows of the file for its test"),
    "only_sampled": N_("learned from the sample alone: {reason}"),
    "candidates_failed": N_("{failed} of {all} candidates failed: {error}"),
    "in_fits": N_("in {some} of {all} fits: {warning}"),
    "unfinished": N_("time was over before {some} of its candidates had all folds"),
    "too_long": N_("Stopped: it took more than {seconds} s, the limit of a fit"),
    "no_memory": N_(
        "Stopped: it ran out of memory, of which it may take {size} MB, the limit of a fit"
    ),
    "leak_class": N_(
        "The column {column} nearly determines the target on its own (balanced accuracy "
        "{score} on held-out rows): if it was derived from the target, or is known only "
        "after it, leave it out."
    ),
    "leak_value": N_(
        "The column {column} nearly determines the target on its own (R² {score} on "
        "held-out rows): if it was derived from the target, or is known only after it, leave "
        "it out."
    ),
    "twins": N_(
        "{count} of {all} test rows ({share} %) equal a training row in all columns of the table "
        "and in the target: if they are copies of the same cases, remove them, because the test "
        "then measures memorization."
    ),
    "twins_other": N_(
        "{count} of {all} test rows ({share} %) equal a training row in all columns of the table "
        "and in the target: if they are copies of the same cases, remove them, because the test "
        "then measures memorization. {other} more have the columns of a training row and another "
        "target; they are not copies."
    ),
    "twins_folds": N_(
        "{count} of {all} rows that the folds hold out ({share} %) equal a training row "
        "of their fold in all columns of the table and in the target: if they are copies of the "
        "same cases, remove them, because models are then selected by memorization."
    ),
    "twins_folds_other": N_(
        "{count} of {all} rows that the folds hold out ({share} %) equal a training row "
        "of their fold in all columns of the table and in the target: if they are copies of the "
        "same cases, remove them, because models are then selected by memorization. {other} more "
        "have the columns of a training row and another target; they are not copies."
    ),
    "dates": N_(
        "The column {column} holds dates, and each split has rows of all dates on both "
        "sides: if the model is to predict rows later than its training rows, test that "
        "with --time {same}."
    ),
    "order_class": N_(
        "The position of a row in the table improves predictions beyond all columns "
        "(balanced accuracy {gain} higher on held-out rows): neighbouring rows are alike. "
        "If the table is ordered by time or by groups, name that column with --time or "
        "--groups."
    ),
    "order_value": N_(
        "The position of a row in the table improves predictions beyond all columns (R² "
        "{gain} higher on held-out rows): neighbouring rows are alike. If the table is "
        "ordered by time or by groups, name that column with --time or --groups."
    ),
    "groups": N_(
        "The column {column} identifies {count} cases with several rows each, and each "
        "split has rows of the same case on both sides: if the model is to predict new "
        "cases, test that with --groups {same}."
    ),
    "groups_both": N_(
        "{count} groups of {column} have rows in both the test table and the first table, "
        "so the test does not measure predictions for new groups."
    ),
    "identifier": N_(
        "The column {column} holds {count} different whole numbers in {rows} training "
        "rows: if it identifies the rows, leave it out."
    ),
    "fold_constant": N_(
        "{some} of {all} folds hold only one class, so their scores mean little: choose "
        "fewer folds with --cv."
    ),
    "fold_lacking": N_(
        "{some} of {all} folds lack a class (such as {label}), so the scores of classes "
        "are uncertain: choose fewer folds with --cv, or merge classes."
    ),
    "few_tested": N_("Test rows of the class {label}: {count}; its scores are uncertain."),
    "few_tested_more": N_(
        "Test rows of the class {label}: {count}; {more} more classes have hardly more. "
        "Their scores are uncertain."
    ),
    "folds": N_(
        "Corrected resampled t test over {count} folds (Nadeau and Bengio 2003), which "
        "accounts for the training rows that folds share."
    ),
    "one_group": N_("The test rows are not compared: all have the same {column}."),
    "mcnemar": N_("McNemar's exact test on {rows} test rows that no selection has used."),
    "influence": N_(
        "Paired test of the difference, standard errors by each row's influence (Efron "
        "1982) on {rows} test rows that no selection has used."
    ),
    "influence_groups": N_(
        "Paired test of the difference, standard errors by each group's influence (Liang "
        "and Zeger 1986) on {rows} test rows that no selection has used."
    ),
}
# Sentences of explorations, explanations and comparisons.
FACT_MESSAGES |= PARAMETER_LABELS
FACT_MESSAGES |= {
    "would_leave_out": N_("A study would leave it out: {reason}."),
    "missing_of": N_("Missing in {count} of {all} rows."),
    "dominant": N_("One value fills {count} of {all} rows."),
    "many_levels": N_("{count} levels, {rare} of them in a single row."),
    "date_range": N_(
        "Dates from {first} to {last}: to predict the future, test on the latest rows, "
        "not on random ones."
    ),
    "one_to_one": N_(
        "Equivalent to the column {column}: each value of one corresponds to exactly one "
        "value of the other."
    ),
    "near_copy": N_(
        "Nearly a multiple of the column {column}: their correlation is {correlation}."
    ),
    "target_missing": N_("The target is missing in {count} rows; a study does not accept them."),
    "too_few": N_("The class {label} has {count} rows: too few for training and testing."),
    "too_few_more": N_(
        "The class {label} has {count} rows and {more} more classes have as few: too few "
        "for training and testing."
    ),
    "rare_share": N_(
        "The class {label} has {share} % of the rows: read scores per class beside the accuracy."
    ),
    "infinite": N_(
        "Infinite in {count} rows, the first of them data row {first}; treated as missing "
        "here; a study does not accept them."
    ),
    "fewer_rows": N_("the table has fewer than {count} rows"),
    "others": N_("{count} others"),
    "range": N_("{low} to {high}"),
    "few_shared": N_(
        "the test sets of the studies share only {count} rows: different seeds select "
        "different test rows"
    ),
    "same_groups": N_("all test rows have the same {column}"),
    "undefined": N_("{metric} is not defined for these predictions"),
    "own_metric": N_("{metric} is a Python function, which is not run for a comparison"),
}
# The same sentences for a ``count`` of 1.
FACT_SINGULARS = {
    "copies": N_("1 of {rows} rows repeats an earlier row; it is kept."),
    "missing": N_("Missing in 1 row ({share})."),
    "rare_class": N_(
        "The class {label} has 1 row, so some folds may lack it and its scores are uncertain."
    ),
    "given_test": N_("The test table is {name}, with 1 row."),
    "groups_both": N_(
        "1 group of {column} has rows in both the test table and the first table, so the test "
        "does not measure predictions for new groups."
    ),
    "missing_of": N_("Missing in 1 of {all} rows."),
    "target_missing": N_("The target is missing in 1 row; a study does not accept it."),
    "too_few": N_("The class {label} has 1 row: too few for training and testing."),
    "infinite": N_(
        "Infinite in 1 row, data row {first}; treated as missing here; a study does not accept it."
    ),
    "others": N_("1 other"),
    "few_shared": N_(
        "the test sets of the studies share only 1 row: different seeds select different test rows"
    ),
}
