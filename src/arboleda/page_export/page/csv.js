/* CSV files: cells that are found in a text, and cells that are written. */
const QUOTE = 34, NEWLINE = 10, RETURN = 13, MINUS = 45, POINT = 46;
const MOST_DIGITS = 15, MOST_MORE_DIGITS = 18, SPLIT = 2 ** 27 + 1;

/* The rows of a text. Quotes, which may hold separators and line ends, count at the begin of a cell. */
class Csv {
  constructor(text, separator) {
    this.text = text;
    this.separator = separator.charCodeAt(0);
    this.at = +(text[0] === "\ufeff"); // after the mark of an encoding
    this.starts = [];
    this.ends = [];
    this.numbers = [];
  }

  /* Finds the next row that is not blank; false if there is none. */
  next() {
    while (this.at < this.text.length) {
      this.readRow();
      if (this.count > 1 || this.ends[0] > this.starts[0]) return true;
    }
    return false;
  }

  /* Finds the cells, with the numbers of those that are written with a sign, digits and a point at
   * most; the numbers of others are NaN. */
  readRow() {
    const { text, separator, starts, ends, numbers } = this, n = text.length;
    let i = this.begin = this.at, count = 0, letter = separator;
    for (; letter === separator; i++) {
      const start = i, isNegative = text.charCodeAt(i) === MINUS;
      let whole = 0, rest = 0, power = 1, digits = 0, point = 0;
      if (isNegative) i++;
      for (letter = NEWLINE; i < n; i++) {
        letter = text.charCodeAt(i);
        if (letter >= 48 && letter <= 57) {
          if (digits++ < MOST_DIGITS) whole = 10 * whole + letter - 48;
          else { rest = 10 * rest + letter - 48; power *= 10; }
        } else if (letter === POINT && !point) point = i + 1;
        else break;
      }
      const first = isNegative ? start + 1 : start, end = i;
      let value = digits ? toNumber(whole, power, rest, point ? i - point : 0, digits) : NaN;
      if (digits && value !== value) value = +text.slice(first, end);
      if (!digits || (i < n && letter !== separator && letter !== NEWLINE)) {
        i = text.charCodeAt(start) === QUOTE ? this.skipQuoted(start) : start;
        for (letter = NEWLINE; i < n; i++) {
          letter = text.charCodeAt(i);
          if (letter === separator || letter === NEWLINE) break;
        }
        if (i !== end + 1 || text.charCodeAt(end) !== RETURN) value = NaN;
      }
      starts[count] = start;
      ends[count] = i;
      numbers[count++] = isNegative ? -value : value;
    }
    this.at = i;
    this.isWhole = i <= n; // it ends with a line end
    this.end = i - 1;
    if (this.end > this.begin && text.charCodeAt(this.end - 1) === RETURN) this.end = --ends[count - 1];
    this.count = count;
  }

  skipQuoted(start) {
    for (let i = start + 1; ; i += 2) {
      i = this.text.indexOf('"', i);
      if (i < 0) return this.text.length;
      if (this.text.charCodeAt(i + 1) !== QUOTE) return i + 1;
    }
  }

  /* The text of a cell of the row, without its quotes. */
  cell(j) {
    const cell = this.text.slice(this.starts[j], this.ends[j]);
    if (cell.charCodeAt(0) !== QUOTE) return cell;
    return cell.replace(/^"((?:[^"]|"")*)"?/, (_, inner) => inner.replaceAll('""', '"'));
  }

  get cells() { return Array.from({ length: this.count }, (_, j) => this.cell(j)); }
}

/* Exact powers of ten. */
const POWERS = Float64Array.from({ length: 23 }, (_, i) => +`1e${i}`);

/* The number that is nearest to (whole * power + rest) / 10^scale; NaN if that is not clear.
 *
 * Up to 15 digits make an exact integer, and so do small powers of ten, so their quotient is the
 * nearest number, as Number() finds it. With more digits the quotient is corrected. */
function toNumber(whole, power, rest, scale, digits) {
  if (scale >= POWERS.length || digits > MOST_MORE_DIGITS) return NaN;
  return power === 1 ? whole / POWERS[scale] : divide(whole, power, rest, POWERS[scale]);
}

/* The number that is nearest to (whole * power + rest) / divisor; NaN if it is too close to the middle
 * of two. The parts of products that rounding loses are computed exactly (Dekker 1971). */
function divide(whole, power, rest, divisor) {
  const high = whole * power, low = lost(whole, power, high) + rest, first = high + low;
  const quotient = first / divisor, product = quotient * divisor;
  const left = first - product - lost(quotient, divisor, product) + (low - (first - high));
  const more = left / divisor, found = quotient + more * (1 + 2 ** -40);
  return found === quotient + more * (1 - 2 ** -40) ? found : NaN;
}

/* What the rounded product of two numbers lacks. */
function lost(x, y, product) {
  const a = x * SPLIT, b = y * SPLIT, x1 = a - (a - x), y1 = b - (b - y), x2 = x - x1, y2 = y - y1;
  return x2 * y2 - (product - x1 * y1 - x2 * y1 - x1 * y2);
}

/* The rows of a short text as lists of cells. */
function parseRows(text, separator) {
  const rows = [], csv = new Csv(text, separator);
  while (csv.next()) rows.push(csv.cells);
  return rows;
}

/* The end of the last row of a text that is complete. */
function findEnd(text, separator) {
  if (!text.includes('"')) return text.lastIndexOf("\n") + 1;
  const csv = new Csv(text, separator);
  let end = 0;
  while (csv.next() && csv.isWhole) end = csv.at;
  return end;
}

/* The separator of a text: that with which its first row has the most of some names, or so many
 * cells, or the most cells. */
function findSeparator(text, names) {
  const score = (mark) => {
    const csv = new Csv(text, mark), cells = csv.next() ? csv.cells.map((cell) => cell.trim()) : [];
    return 1e6 * names.filter((name) => cells.includes(name)).length + 1e5 * (cells.length === names.length) + cells.length;
  };
  return [",", ";", "\t", "|"].reduce((best, mark) => (score(mark) > score(best) ? mark : best));
}

/* A cell of a CSV file; a spreadsheet must not run text as a formula. */
function writeCell(value, separator) {
  if (typeof value === "number") return separator === ";" ? String(value).replace(".", ",") : String(value);
  const safe = /^[=+\-@\t\r]/.test(value) && !Number.isFinite(+value) ? `'${value}` : value;
  return /["\r\n]/.test(safe) || safe.includes(separator) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
