"""The errors of a study that the user can correct."""

__all__ = ["OptionError", "StudyError", "StudyFormatError", "TableError"]


class StudyError(ValueError):
    """Bad input or an unusable folder; the message is one sentence that names the remedy."""


class OptionError(StudyError):
    """An option has an invalid value, or options contradict each other.

    Examples
    --------
    >>> from arboleda import Study
    >>> try:
    ...     Study("iris", target="target", test_size=2)
    ... except OptionError as error:
    ...     print(error)
    test_size must be a fraction of the rows between 0 and 1, such as 0.2, got 2.
    """


class TableError(StudyError):
    """A table cannot be read or used: the file, a column or the target.

    Examples
    --------
    >>> from arboleda import Study
    >>> try:
    ...     Study("iris", target="species").run()
    ... except TableError as error:
    ...     print(str(error)[:36])
    The table iris has no column 'specie
    """


class StudyFormatError(StudyError):
    """A study's folder lacks a file, or a file in it is damaged or of another version.

    It is the common error of everything that reads a study: `Study.load` and its result,
    prediction, explanation, comparison, export, and a run that resumes in the folder. The message
    names the file, what is wrong with it and what to do.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from arboleda import Study
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "results.json").write_text('{"schema_version": 3}')
    ...     try:
    ...         Study.load(folder)
    ...     except StudyFormatError as error:
    ...         print(str(error).partition("results.json ")[2][:45])
    is damaged (arboleda_version is missing); run
    """
