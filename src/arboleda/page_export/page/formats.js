/* Numbers, dates and times of day as people write them, in the format that a study learned: the rules
 * of arboleda.tables.number_parsing and date_parsing. The lists of currencies, months and time zones
 * come with the page. */
const SECONDS_PER_DAY = 86400;
const PLAIN_NUMBER = /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i;

/* Trims a text, and replaces typographic blanks, minus signs and apostrophes by plain ones. */
function cleanText(text) {
  return text.replace(/[\u00a0\u2007\u2009\u202f]/g, " ").replace(/[\u2212\u2012\u2013]/g, "-").replace(/[\u2019\u02bc]/g, "'").trim();
}

/* Readers return a value, NaN if there is none, and the word that stands in the place of a value. */
class NumberFormat {
  constructor({ decimal, thousands, factors, currencies }, money) {
    const unit = "(?:(?![0-9])[\\p{L}\\p{N}])", mark = `[${thousands}]`, fraction = `(?:[${decimal}][0-9]*)?`;
    const grouped = thousands ? `|[1-9][0-9]{0,2}(?:${mark}[0-9]{2,3})*${mark}[0-9]{3}${fraction}` : "";
    this.digits = new RegExp(`^(?:[0-9]+${fraction}${grouped})$`);
    this.head = new RegExp(`^(\\()?\\s*([-+])?\\s*(${money})?\\s*([-+])?\\s*([.,])?$`, "u");
    this.tail = new RegExp(`^[.,]?(e[-+]?[0-9]{1,3})?\\s*(?:(${money})|(%|‰|°?${unit}*[23²³]?(?:/${unit}+)?)\\.?)\\s*(-)?\\s*(\\))?$`, "u");
    Object.assign(this, { decimal, thousands, factors, currencies });
  }

  read(text) {
    const cleaned = cleanText(text), parts = this.split(cleaned);
    const value = parts ? parts.value : NaN;
    if (!Number.isFinite(value)) return { value: NaN, word: cleaned };
    return { value, word: this.currencies.length > 1 ? parts.money : "" };
  }

  split(cleaned) {
    const found = /^([^0-9]{0,12})([0-9](?:[0-9.,' ]*[0-9])?)(.{0,20})$/.exec(cleaned);
    if (!found || !this.digits.test(found[2])) return null;
    const before = this.head.exec(found[1].toLowerCase()), after = this.tail.exec(found[3].toLowerCase());
    if (!before || !after || !before[1] !== !after[5]) return null;
    const signs = [before[2], before[4], after[4], before[1] && "-"].filter(Boolean);
    const money = (before[3] || after[2] || "").replace(/\.$/, "");
    const isForeign = money && !this.currencies.includes(money) && this.currencies.length < 2;
    const factor = isForeign ? undefined : this.factors[after[3] || ""];
    if (signs.length > 1 || factor === undefined) return null;
    const digits = found[2].replaceAll(this.thousands || " ", "").replace(this.decimal, ".");
    return { money, value: +`${before[5] ? "0." : ""}${digits}${after[1] || ""}` * factor * (signs[0] === "-" ? -1 : 1) };
  }
}

/* Times of day as hours. */
class ClockFormat {
  constructor(zones) { this.zones = zones; }

  read(text) {
    const cleaned = cleanText(text), value = readClock(cleaned.toLowerCase(), this.zones) / 3600;
    return { value, word: value === value ? "" : cleaned };
  }
}

/* Dates as seconds since 1970. */
class DateFormat {
  constructor({ order, epoch }, { months, zones }) {
    const day = "(\\d{1,2})(?:st|nd|rd|th)?", month = "(\\p{L}{3,10})\\.?", of = "[-/. ,]+(?:de[l]?\\s+)?", weekday = "(?:\\p{L}{2,10}\\.?,?\\s+)?";
    this.named = [
      [`${weekday}${day}${of}${month}${of}(\\d{2}|\\d{4})`, 3, 2, 1], [`${weekday}${month}[-. ]+${day},?[- ]+(\\d{4})`, 3, 1, 2],
      [`(\\d{4})[-/ ]${month}[-/ ](\\d{1,2})`, 1, 2, 3], [`${month}${of}(\\d{4})`, 2, 1, 0],
    ].map(([pattern, ...places]) => [new RegExp(`^${pattern}$`, "u"), places]);
    Object.assign(this, { order, epoch, months, zones });
  }

  read(text) {
    const cleaned = cleanText(text), value = this.epoch ? this.readEpoch(cleaned) : this.readMoment(cleaned);
    return { value, word: value === value ? "" : cleaned };
  }

  readEpoch(text) { return /^-?[0-9]{1,18}(\.[0-9]*)?$/.test(text) ? +text / this.epoch : NaN; }

  readMoment(text) {
    const read = (day, clock) => this.readDay(day.toLowerCase().replace(/^[ ,]+|[ ,]+$/g, "")) * SECONDS_PER_DAY + (clock ? readClock(clock.toLowerCase(), this.zones) : 0);
    const found = /^(.{6,30}?)(?:[T ,]+([0-9]{1,2}:[0-9]{2}.{0,25}))?$/.exec(text), value = found ? read(found[1], found[2]) : NaN;
    const reversed = value === value ? null : /^([0-9]{1,2}:[0-9]{2}.{0,16}?),? +([^:]{6,30})$/.exec(text);
    return reversed ? read(reversed[2], reversed[1]) : value;
  }

  /* Days since 1970; a month without a day is its first day. */
  readDay(text) {
    const fields = this.readNumeric(text) || this.readNamed(text);
    if (!fields) return NaN;
    const [short, month, day] = fields, year = short >= 100 ? short : short + (short >= 69 ? 1900 : 2000);
    const date = new Date(Date.UTC(year, month - 1, day));
    if (year < 1400 || year > 2399 || date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return NaN;
    return date.getTime() / 1000 / SECONDS_PER_DAY;
  }

  readNumeric(text) {
    let found = /^(\d{4})([-/. ]?)(\d{1,2})\2(\d{1,2})$/.exec(text);
    if (found) return found[2] || text.length === 8 ? [+found[1], +found[3], +found[4]] : null;
    found = /^(\d{1,4})([-/. ])(\d{1,2})\2(\d{2}|\d{4})$/.exec(text);
    if (found) {
      const [one, two, three] = [+found[1], +found[3], +found[4]];
      if (this.order === "ymd") return found[1].length === 2 ? [one, two, three] : null;
      if (this.order === "dmy") return [three, two, one];
      return found[2] === "." ? null : [three, one, two];
    }
    found = /^(\d{4})[-/](\d{1,2})$/.exec(text);
    if (found) return [+found[1], +found[2], 1];
    found = /^(\d{1,2})[-/](\d{4})$/.exec(text);
    return found ? [+found[2], +found[1], 1] : null;
  }

  readNamed(text) {
    for (const [pattern, [year, month, day]] of this.named) {
      const found = pattern.exec(text);
      if (!found) continue;
      const number = this.months[[...found[month]].slice(0, 3).join("")];
      return number ? [+found[year], number, day ? +found[day] : 1] : null;
    }
    return null;
  }
}

/* Seconds since midnight in UTC. */
function readClock(text, zones) {
  const found = /^(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*(?:([ap])\.?\s?m\.?)?\s*(?:([a-z]{1,4})|(?:utc|gmt)?([+-]\d{2}):?(\d{2})?)?$/.exec(text);
  if (!found) return NaN;
  let hour = +found[1], offset = 0;
  if (hour > 24 || +found[2] > 59 || +(found[3] || 0) > 60 || (found[5] && (hour < 1 || hour > 12))) return NaN;
  if (found[5]) hour = (hour % 12) + (found[5] === "p" ? 12 : 0);
  if (found[6]) offset = zones[found[6]] ?? NaN;
  else if (found[7]) offset = (found[7][0] === "-" ? -1 : 1) * (60 * Math.abs(+found[7]) + +(found[8] || 0));
  return 3600 * hour + 60 * (+found[2] - offset) + +(found[3] || 0) + +`0.${found[4] || 0}`;
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
