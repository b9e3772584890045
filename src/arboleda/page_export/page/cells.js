/* Cells of text: CSV files, and the numbers that the model reads. */
class CellError extends Error {
  constructor(column, text) {
    super(`${column}: ${text}`);
    this.column = column;
    this.text = text;
  }
}

const SECONDS_PER_DAY = 86400;

/* Encodes the cells of a row, one for each column of the form, as numbers of the matrix. */
class Encoder {
  constructor(spec) {
    this.missing = new Set(spec.missing_texts || ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]);
    const [lost, unknown] = [spec.missing_code ?? NaN, (n) => (spec.unknown_is_last ? n : NaN)];
    this.columns = spec.columns.map((column) => ({ ...column, encode: this.makeEncoder(column, lost, unknown) }));
    this.width = spec.n_columns;
  }

  isMissing(text) {
    return text === undefined || this.missing.has(text) || this.missing.has(text.trim());
  }

  /* Fills a row of the matrix. */
  encode(cells, out, first = 0) {
    let place = first;
    this.columns.forEach((column, j) => {
      place = column.encode(cells[j], out, place);
    });
    return out;
  }

  makeEncoder(column, lost, unknown) {
    const one = (read) => (text, out, place) => {
      out[place] = read(text);
      return place + 1;
    };
    const merged = new Map(column.merged || []);
    const fail = (text) => {
      if (column.has_words) return NaN;
      throw new CellError(column.name, text);
    };
    if (column.kind === "category") return one(this.categoryReader(column, merged, lost, unknown(column.levels.length)));
    if (column.kind === "text" || column.kind === "list") return this.textEncoder(column, merged);
    if (column.kind === "date") return this.dateEncoder(column, fail);
    if (column.kind === "boolean") return one((text) => this.readTruth(merged.get(text) ?? text, fail));
    return one((text) => this.readNumber(text, merged, fail));
  }

  readNumber(text, merged, fail) {
    const value = typeof text === "number" ? text : +text;
    if (value === value && value !== Infinity && value !== -Infinity && text !== "") {
      if (!merged.size) return value;
      for (const [from, to] of merged) if (+from === value) return +to;
      return value;
    }
    if (this.isMissing(text)) return NaN;
    const comma = text.trim().replace(",", ".");
    return Number.isFinite(+comma) && /\d/.test(comma) ? +comma : fail(text);
  }

  readTruth(text, fail) {
    if (this.isMissing(text)) return NaN;
    const folded = text.trim().toLowerCase();
    if (["1", "yes", "y", "true", "t", "on", "si", "sí", "oui", "ja", "verdadero"].includes(folded)) return 1;
    if (["0", "no", "n", "false", "f", "off", "non", "nein", "falso"].includes(folded)) return 0;
    return fail(text);
  }

  /* Exact labels first, then labels without the blanks around, then equal numbers. */
  categoryReader(column, merged, lost, unknown) {
    const codes = new Map();
    column.levels.forEach((label, code) => {
      if (label.trim() && Number.isFinite(+label) && !codes.has(+label)) codes.set(+label, code);
    });
    column.levels.forEach((label, code) => codes.has(label.trim()) || codes.set(label.trim(), code));
    column.levels.forEach((label, code) => codes.set(label, code));
    return (given) => {
      const text = merged.get(given) ?? given;
      if (text !== undefined && codes.has(text)) return codes.get(text);
      if (this.isMissing(text)) return lost;
      return codes.get(text.trim()) ?? (column.numeric_levels ? codes.get(+text) : undefined) ?? unknown;
    };
  }

  dateEncoder(column, fail) {
    return (text, out, place) => {
      const seconds = this.isMissing(text) ? NaN : readDate(text, column);
      if (seconds !== seconds && !this.isMissing(text)) fail(text);
      const parts = splitDate(seconds);
      for (const name of column.parts) out[place++] = seconds === seconds ? parts[name] : NaN;
      return place;
    };
  }

  /* Words or items with a flag each, after their number, the length and the last number inside. */
  textEncoder(column, merged) {
    const { kind, vocabulary, separator, has_number: hasNumber } = column.encoding;
    return (given, out, start) => {
      const text = merged.get(given) ?? given;
      const lost = this.isMissing(text), isList = kind === "list";
      const parts = lost ? [] : isList ? text.split(separator) : splitWords(text);
      const known = new Set(parts.map((part) => part.trim()).filter(Boolean));
      const count = lost ? NaN : parts.filter((part) => part.trim()).length;
      let place = start;
      if (!isList) out[place++] = lost ? NaN : [...text].length;
      out[place++] = count;
      if (hasNumber) {
        const found = lost ? null : /([0-9]{1,15})[^0-9]*$/.exec(text);
        out[place++] = found ? +found[1] : NaN;
      }
      for (const word of vocabulary) out[place++] = +known.has(word);
      return place;
    };
  }
}

function splitWords(text) {
  return text.toLowerCase().replace(/\b(\p{L}{1,4})([0-9]+)\b/gu, "$1 $1$2").split(/[^\p{L}0-9]+/u);
}

/* Seconds since 1970, without a time zone; NaN if the text is no date. */
function readDate(text, column) {
  const trimmed = text.trim();
  if (column.epoch) return /^-?\d+(\.\d*)?$/.test(trimmed) ? +trimmed / column.epoch : NaN;
  const found = /^(\d{1,4})[-/.](\d{1,2})[-/.](\d{1,4})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?Z?$/.exec(trimmed);
  if (!found) return NaN;
  let [first, month, last] = [+found[1], +found[2], +found[3]];
  if (found[1].length < 4) {
    if (column.order === "mdy") [first, month] = [month, first];
    [first, last] = [last, first];
  }
  const clock = (+found[4] || 0) * 3600 + (+found[5] || 0) * 60 + (+found[6] || 0);
  const day = new Date(0);
  day.setUTCFullYear(first, month - 1, last);
  if (day.getUTCMonth() !== month - 1 || day.getUTCDate() !== last) return NaN;
  return day.getTime() / 1000 + clock;
}

/* The parts of a date that models read; the cycles of year, week and day are angles. */
function splitDate(seconds) {
  const date = new Date(seconds * 1000), year = date.getUTCFullYear();
  const clock = ((Math.floor(seconds) % SECONDS_PER_DAY) + SECONDS_PER_DAY) % SECONDS_PER_DAY;
  const days = Math.floor(seconds / SECONDS_PER_DAY);
  const weekday = (((days + 3) % 7) + 7) % 7;
  const start = Date.UTC(year, 0, 1) / 1000, end = Date.UTC(year + 1, 0, 1) / 1000;
  const inYear = (2 * Math.PI * (Math.floor(seconds) - start)) / (end - start);
  const inWeek = (2 * Math.PI * weekday) / 7, inDay = (2 * Math.PI * clock) / SECONDS_PER_DAY;
  return {
    days: seconds / SECONDS_PER_DAY, year, month: date.getUTCMonth() + 1, day: date.getUTCDate(),
    weekday, hour: Math.floor(clock / 3600),
    "sine of the year": Math.sin(inYear), "cosine of the year": Math.cos(inYear),
    "sine of the week": Math.sin(inWeek), "cosine of the week": Math.cos(inWeek),
    "sine of the day": Math.sin(inDay), "cosine of the day": Math.cos(inDay),
  };
}

/* The separator of a header line: the most frequent candidate outside of quotes. */
function findSeparator(line) {
  const plain = line.replace(/"[^"]*"/g, "");
  const count = (mark) => plain.split(mark).length;
  return [",", ";", "\t", "|"].reduce((best, mark) => (count(mark) > count(best) ? mark : best));
}

/* The lines of a text without quotes. */
function splitLines(text) {
  return text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line)).filter(Boolean);
}

/* Splits a text into rows of cells; quotes may hold separators and line ends. */
function parseRows(text, separator) {
  if (!text.includes('"')) return splitLines(text).map((line) => line.split(separator));
  const rows = [];
  let row = [], cell = "", quoted = false, started = false;
  for (let i = 0; i < text.length; i++) {
    const letter = text[i];
    if (quoted) {
      if (letter !== '"') cell += letter;
      else if (text[i + 1] === '"') { cell += '"'; i++; } else quoted = false;
    } else if (letter === '"' && !cell) quoted = started = true;
    else if (letter === separator) { row.push(cell); cell = ""; started = true; }
    else if (letter === "\n") {
      if (started || cell) rows.push([...row, cell]);
      row = []; cell = ""; started = false;
    } else if (letter !== "\r") cell += letter;
  }
  if (started || cell) rows.push([...row, cell]);
  return rows;
}

/* A cell of a CSV file; a spreadsheet must not run text as a formula. */
function writeCell(value, separator) {
  if (typeof value === "number") return separator === ";" ? String(value).replace(".", ",") : String(value);
  const safe = /^[=+\-@\t\r]/.test(value) && !Number.isFinite(+value) ? `'${value}` : value;
  return /["\r\n]/.test(safe) || safe.includes(separator) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
