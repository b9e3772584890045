"""The one error a study raises for what the user can mend."""

__all__ = ["StudyError"]


class StudyError(ValueError):
    """Bad input or an unusable folder, told in one sentence that names the remedy."""
