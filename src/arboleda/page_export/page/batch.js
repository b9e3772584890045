/* Predictions of a CSV file: parts of it go to workers, and their lines become a new file. */
const PART = 1 << 20; // bytes
const MOST_WORKERS = 8;

class Batch {
  constructor(page) {
    this.page = page;
    const { words } = page;
    this.input = el("input", { type: "file", accept: ".csv,.tsv,.txt,text/csv", id: "file", class: "hidden", onchange: () => this.start(this.input.files[0]) });
    this.bar = el("progress", { max: 1, value: 0, "aria-label": words.batch });
    this.bar.hidden = true;
    this.status = el("p", { role: "status", "aria-live": "polite" });
    this.area = el("div", { class: "drop" }, el("label", { for: "file", class: "button" }, words.choose_file), this.input, el("span", { class: "note" }, words.drop), this.bar, this.status);
    this.element = el("section", { class: "card wide" }, el("h2", {}, words.batch), el("p", { class: "note" }, words.batch_note), this.area);
    this.listen();
  }

  listen() {
    const mark = (on) => (event) => { event.preventDefault(); this.area.classList.toggle("over", on); };
    addEventListener("dragover", mark(true));
    addEventListener("dragleave", mark(false));
    addEventListener("drop", (event) => {
      mark(false)(event);
      if (event.dataTransfer.files[0]) this.start(event.dataTransfer.files[0]);
    });
  }

  async start(file) {
    if (!file || this.running) return;
    const { words, formats } = this.page, began = performance.now();
    this.running = true;
    this.bar.hidden = false;
    this.status.replaceChildren(words.reading);
    try {
      const { parts, rows } = await this.predict(file);
      const seconds = (performance.now() - began) / 1000;
      const name = file.name.replace(/\.[^.]*$/, "") + "-predicted.csv";
      const url = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
      const done = fill(words.done, { rows: formats.whole.format(rows), seconds: formats.number(seconds, 2), rate: formats.whole.format(Math.round(rows / seconds)) });
      this.status.replaceChildren(`${done} `, el("a", { href: url, download: name, class: "button" }, fill(words.save, { name })));
    } catch (error) {
      this.status.replaceChildren(this.describe(error));
    }
    this.bar.hidden = true;
    this.running = false;
    this.input.value = "";
  }

  describe(error) {
    const { words } = this.page;
    if (error.column === undefined) return error.message;
    if (error.row === undefined) return fill(words.lacks, { column: error.column });
    return fill(words.bad_cell, { column: error.column, row: error.row, text: error.text.slice(0, 60) });
  }

  /* Reads a file part by part; each ends with a row. */
  async *parts(file) {
    const decoder = new TextDecoder();
    let rest = "";
    for (let start = 0; start < file.size; start += PART) {
      const bytes = await file.slice(start, start + PART).arrayBuffer();
      const isLast = start + PART >= file.size;
      const text = rest + decoder.decode(bytes, { stream: !isLast });
      const end = isLast ? text.length : findEnd(text);
      rest = text.slice(end);
      if (end) yield { text: text.slice(0, end), share: Math.min(1, (start + PART) / file.size) };
    }
    if (rest) yield { text: rest, share: 1 };
  }

  async predict(file) {
    const { spec, rules } = this.page;
    const workers = this.makeWorkers(file.size), waiting = [], out = [];
    let reading = null, rows = 0, number = 0, firstRow = 0;
    const finish = async (task) => {
      const found = await task.result;
      out[task.number] = found.text;
      rows += found.rows;
      this.bar.value = task.share;
    };
    try {
      for await (const { text, share } of this.parts(file)) {
        let body = text;
        if (!reading) {
          const end = text.indexOf("\n") < 0 ? text.length : findHeaderEnd(text);
          reading = this.readHeader(text.slice(0, end));
          out.push([...reading.header, ...rules.header()].map((cell) => writeCell(cell, reading.separator)).join(reading.separator) + "\n");
          number = 1;
          body = text.slice(end);
        }
        if (waiting.length >= 2 * workers.length) await finish(waiting.shift());
        // The row of an error is counted from the lines before; quoted line ends are rare.
        const request = { text: body, separator: reading.separator, places: reading.places, firstRow };
        firstRow += body.split("\n").length - 1;
        waiting.push({ number, share, result: workers[number % workers.length].ask("batch", request) });
        number++;
      }
      while (waiting.length) await finish(waiting.shift());
    } finally {
      waiting.forEach((task) => task.result.catch(() => {}));
      workers.forEach((worker) => worker !== this.page.compute && worker.end());
    }
    if (!spec.columns.length || !out.length) throw new Error(this.page.words.empty);
    return { parts: out, rows };
  }

  /* One worker is enough for a small file. */
  makeWorkers(size) {
    const count = Math.min(MOST_WORKERS, navigator.hardwareConcurrency || 2, Math.ceil(size / PART));
    if (count < 2) return [this.page.compute];
    return Array.from({ length: count }, () => this.page.makeCompute());
  }

  /* Finds the form's columns in the header line. */
  readHeader(text) {
    const line = text.replace(/^\ufeff/, "").replace(/\r?\n$/, "");
    const separator = findSeparator(line), [header] = parseRows(line, separator);
    const names = (header || []).map((name) => name.trim());
    const places = this.page.spec.columns.map((column) => {
      const place = names.indexOf(column.name.trim());
      return place < 0 && column.words_of ? names.indexOf(column.words_of) : place;
    });
    const lost = places.findIndex((place) => place < 0);
    if (lost >= 0) throw new CellError(this.page.spec.columns[lost].name, "");
    return { header, separator, places };
  }
}

/* The end of the last row that is complete: a line end outside of quotes. */
function findEnd(text) {
  if (!text.includes('"')) return text.lastIndexOf("\n") + 1;
  let end = 0;
  for (let i = 0, quoted = false; i < text.length; i++) {
    if (text[i] === '"') quoted = !quoted;
    else if (text[i] === "\n" && !quoted) end = i + 1;
  }
  return end;
}

function findHeaderEnd(text) {
  for (let i = 0, quoted = false; i < text.length; i++) {
    if (text[i] === '"') quoted = !quoted;
    else if (text[i] === "\n" && !quoted) return i + 1;
  }
  return text.length;
}
