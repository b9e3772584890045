"""Formatting of numbers in reports and drawings, and in plain English on the terminal."""

import math
import unicodedata
from collections.abc import Callable, Iterable

from arboleda._locale import localize_number

__all__ = [
    "clip",
    "duration",
    "fixed",
    "format_duration",
    "format_mean_and_sd",
    "format_number",
    "integer",
    "number_format",
    "percent",
    "plain",
    "text_units",
]

NOTHING = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"


def plain(value: float | None, significant: int = 4) -> str:
    """Format a single number with few significant digits and no trailing zeros.

    Examples
    --------
    >>> plain(0.135842), plain(12345.678), plain(2017.0), plain(-2.0), plain(None)
    ('0.1358', '12,346', '2017', '−2', '–')
    >>> plain(1.5e-9), plain(3.2e12)
    ('1.5e-9', '3.2e12')
    """
    if value is None:
        return NOTHING
    if value == 0:
        return "0"
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    order = math.floor(math.log10(abs(value)))
    if order < -5 or order > 9:
        mantissa, exponent = f"{value:.{significant - 1}e}".split("e")
        text = f"{_trimmed(mantissa)}e{int(exponent)}"
    else:
        # Four digits have no separator, so that a year is not 2,017.
        apart = "," if order >= 4 else ""
        text = _trimmed(f"{value:{apart}.{max(0, significant - 1 - order)}f}")
    return localize_number(text.replace("-", _MINUS, 1) if value < 0 else text)


def fixed(value: float, decimals: int, *, grouped: bool = True) -> str:
    """Format a number with a fixed number of decimals, with thousands separators if ``grouped``.

    Examples
    --------
    >>> fixed(-1234.5, 2), fixed(-0.001, 2), fixed(2017, 0, grouped=False)
    ('−1,234.50', '0.00', '2017')
    """
    text = f"{value:{',' if grouped else ''}.{decimals}f}"
    # A rounded "-0.0000" has no sign.
    if float(text.replace(",", "")) == 0:
        text = text.lstrip("-")
    return localize_number(text.replace("-", _MINUS))


def number_format(values: Iterable[float | None], bounded: bool) -> Callable[[float | None], str]:
    """Return a formatter that gives all numbers of a column the same number of decimals.

    Parameters
    ----------
    values : iterable of float or None
        The column; the median magnitude determines the decimals, which is robust to outliers.
    bounded : bool
        Whether the numbers are scores of the order of 1 (accuracy, AUC), shown with four decimals.

    Examples
    --------
    >>> write = number_format([2143.71, 1880.2, None], bounded=False)
    >>> write(2143.71), write(-880.2), write(None)
    ('2,144', '−880', '–')
    >>> write(0.0239), number_format([0.97], bounded=True)(-48471.5836)
    ('0.0239', '−48,472')
    >>> number_format([0.97], bounded=True)(0.5)
    '0.5000'
    """
    sizes = sorted(abs(value) for value in values if value)
    order = math.floor(math.log10(sizes[len(sizes) // 2])) if sizes else 0
    decimals = 4 if bounded else max(0, 3 - order)

    def write(value: float | None) -> str:
        if value is None:
            return NOTHING
        # Numbers that would read as 0, or have too many digits, get their own decimals.
        hidden = not bounded and 0 < abs(value) < 0.5 * 10.0**-decimals
        if hidden or decimals > 8 or abs(value) >= (1e3 if bounded else 1e10):
            return plain(value, 3 if hidden else 4)
        return fixed(value, decimals)

    return write


def integer(value: int | None) -> str:
    """Format a count with thousands separators.

    Examples
    --------
    >>> integer(48842)
    '48,842'
    """
    return NOTHING if value is None else localize_number(f"{value:,}")


def percent(share: float | None, decimals: int = 1) -> str:
    """Format a share as a percentage; only exact 0 and 1 are shown as 0 % and 100 %.

    Examples
    --------
    >>> for share in [0.2408, 0.0, 0.00001, 0.99999]:
    ...     print(percent(share).replace("\N{NO-BREAK SPACE}", " "))
    24.1 %
    0 %
    <0.1 %
    >99.9 %
    """
    if share is None:
        return NOTHING
    step = 10.0**-decimals
    unit = "\N{NO-BREAK SPACE}%"
    if 0 < share * 100 < step:
        return localize_number(f"<{step:.{decimals}f}{unit}")
    if 100 - step < share * 100 < 100:
        return localize_number(f">{100 - step:.{decimals}f}{unit}")
    text = f"{share * 100:.{decimals}f}"
    return localize_number(f"{_trimmed(text) if share in (0, 1) else text}{unit}")


def confidence_level(level: float) -> str:
    r"""Return a confidence level as a percentage, with no more digits than it has.

    Examples
    --------
    >>> confidence_level(0.95).replace("\N{NO-BREAK SPACE}", " ")
    '95 %'
    """
    return localize_number(f"{100 * level:g}\N{NO-BREAK SPACE}%")


def duration(seconds: float | None) -> str:
    """Format a duration in a suitable unit.

    Examples
    --------
    >>> for seconds in [0.0042, 3.456, 125, 3780]:
    ...     print(duration(seconds).replace("\N{NO-BREAK SPACE}", " "))
    4 ms
    3.5 s
    2 min 05 s
    1 h 03 min
    """
    space = "\N{NO-BREAK SPACE}"
    if seconds is None:
        return NOTHING
    if seconds < 0.0005:
        return f"<1{space}ms"
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f}{space}ms"
    if seconds < 59.95:
        return localize_number(f"{seconds:.1f}{space}s")
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60}{space}min{space}{whole % 60:02d}{space}s"
    return f"{whole // 3600}{space}h{space}{whole % 3600 // 60:02d}{space}min"


def text_units(text: str) -> float:
    """Estimate a text's width in average letters: East Asian ones count double, narrow ones less.

    Examples
    --------
    >>> text_units("abc"), text_units("木"), text_units("ill") < 2
    (3.0, 2.0, True)
    """
    return float(sum(map(_units, text)))


def clip(text: str, units: float) -> str:
    """Truncate a text to a width in average letters, with an ellipsis.

    Examples
    --------
    >>> clip("mean concave points", 12), clip("age", 12)
    ('mean concav…', 'age')
    """
    if text_units(text) <= units:
        return text
    room, kept = units - 1.0, []
    for character in text:
        room -= _units(character)
        if room < 0:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def _units(character: str) -> float:
    if unicodedata.east_asian_width(character) in "WF":
        return 2.0
    if character in "iljtfI.,:;'|!()[] ":
        return 0.6
    return 1.4 if character in "mwMW@%" else 1.2 if character.isupper() else 1.0


def _trimmed(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text


def format_number(value: float | None) -> str:
    """Format four significant digits, or more for large numbers; a dash for None."""
    if value is None:
        return "-"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def format_mean_and_sd(mean: float, sd: float | None) -> str:
    """Format mean and standard deviation, the latter with two digits: 0.8613 ± 0.0013."""
    if sd is None:
        return format_number(mean)
    return (
        f"{format_number(mean)} ± {sd:,.0f}" if sd >= 100 else f"{format_number(mean)} ± {sd:.2g}"
    )


def format_duration(seconds: float) -> str:
    """Format a duration: 0.3 s, 40 s, 3 min 20 s."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
