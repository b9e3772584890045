/* Cells of text: CSV files, and the numbers that the model reads. */
class CellError extends Error {
  constructor(column, text) {
    super(`${column}: ${text}`);
    this.column = column;
    this.text = text;
  }
}

/* Encodes the cells of a row, one for each column of the form, as numbers of the matrix.
 *
 * Cells of a file are written in the format that the study learned, where it learned one; those of
 * the form are plain numbers, or written so. A comma is a decimal mark unless it separates cells, or
 * the page is in English.
 */
class Encoder {
  constructor(spec, separator = null) {
    this.spec = spec;
    this.isFile = separator !== null;
    this.hasCommas = this.isFile ? separator !== "," : spec.language !== "en";
    this.missing = new Set(spec.missing_texts || ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "?"]);
    const [lost, unknown] = [spec.missing_code ?? NaN, (n) => (spec.unknown_is_last ? n : NaN)];
    this.columns = spec.columns.map((column) => ({
      encode: this.makeEncoder(column, lost, unknown),
      isPlain: column.kind === "number" && !column.format && !column.merged,
    }));
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

  /* Fills a row of the matrix with cells of the current row of a file, at some places. */
  encodeRow(csv, places, out, first) {
    let place = first;
    for (let j = 0; j < places.length; j++) {
      const column = this.columns[j], value = column.isPlain ? csv.numbers[places[j]] : NaN;
      if (value === value) out[place++] = value;
      else place = column.encode(csv.cell(places[j]), out, place);
    }
  }

  /* A cell of a file as the form has it: numbers without units, "" if missing. */
  toPlain(j, text) {
    if (this.isMissing(text)) return "";
    if (this.spec.columns[j].kind !== "number") return text.trim();
    const [value] = this.read(j, text);
    return value === null ? text.trim() : value === value ? String(value) : "";
  }

  /* The numbers of a cell; null for the first if it cannot be read. */
  read(j, text) {
    const found = [];
    try {
      this.columns[j].encode(text, found, 0);
      return found;
    } catch {
      return [null];
    }
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
    const format = this.makeFormat(column);
    if (column.kind === "category") {
      const read = this.categoryReader(column, merged, lost, unknown(column.levels.length));
      return one(format ? (text) => read(this.isMissing(text) ? "" : format.read(text).word) : read);
    }
    if (column.kind === "text" || column.kind === "list") return this.textEncoder(column, merged);
    if (column.kind === "date") return this.dateEncoder(column, format, fail);
    if (column.kind === "boolean") return one((text) => this.readTruth(merged.get(text) ?? text, fail));
    const numbers = new Map([...merged].map(([from, to]) => [+from, +to]));
    return one((text) => {
      const value = this.readNumber(text, format, fail);
      return numbers.get(value) ?? value;
    });
  }

  /* How the values of a column are written; null if plainly. */
  makeFormat({ kind, format }) {
    const { written } = this.spec;
    if (kind === "date" || (format && format.order)) return new DateFormat(format, written);
    if (!format) return null;
    return format.clock ? new ClockFormat(written.zones) : new NumberFormat(format, written.money);
  }

  readNumber(text, format, fail) {
    if (this.isMissing(text)) return NaN;
    if (!format || !this.isFile) {
      const plain = (this.hasCommas ? text.replaceAll(",", ".") : text).trim();
      if (PLAIN_NUMBER.test(plain)) return +plain;
    }
    const value = format ? format.read(text).value : NaN;
    return value === value ? value : fail(text);
  }

  readTruth(text, fail) {
    if (this.isMissing(text)) return NaN;
    const folded = text.trim().toLowerCase();
    if (["1", "yes", "y", "true", "t", "on", "si", "sí", "oui", "ja", "verdadero"].includes(folded)) return 1;
    if (["0", "no", "n", "false", "f", "off", "non", "nein", "falso"].includes(folded)) return 0;
    return PLAIN_NUMBER.test(folded) && (+folded === 0 || +folded === 1) ? +folded : fail(text);
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

  dateEncoder(column, format, fail) {
    return (text, out, place) => {
      const seconds = this.isMissing(text) ? NaN : format.read(text).value;
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
