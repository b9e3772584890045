/* Predictions of a CSV file: parts of it go to workers, and their lines become a new file. */
const PART = 1 << 21; // bytes
const MOST_WORKERS = 8;

class Batch {
  constructor(page) {
    this.page = page;
    this.names = page.spec.columns.map((column) => column.name.trim());
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
      URL.revokeObjectURL(this.url);
      const url = this.url = URL.createObjectURL(new Blob(parts, { type: "text/csv" }));
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
    const { words } = this.page, row = this.page.formats.whole.format(error.row);
    if (error.column === undefined) return error.message;
    if (error.count !== undefined) return fill(words.ragged, { row, count: error.count, width: error.width });
    if (error.row === undefined) return fill(words.lacks, { column: error.column });
    return fill(words.bad_cell, { column: error.column, row, text: error.text.slice(0, 60) });
  }

  /* Reads a file part by part; each ends with a row. */
  async *parts(file, encoding) {
    const decoder = new TextDecoder(encoding, { fatal: true, ignoreBOM: true });
    let rest = "", separator = "", isOldMac = false;
    for (let start = 0; start < file.size; start += PART) {
      const bytes = await file.slice(start, start + PART).arrayBuffer();
      const isLast = start + PART >= file.size;
      let text = rest + decoder.decode(bytes, { stream: !isLast });
      if (!start) isOldMac = !text.includes("\n") && text.includes("\r");
      if (isOldMac) text = text.replaceAll("\r", "\n");
      if (!start && text.includes("\0")) throw new Error(this.page.words.no_text);
      separator = separator || findSeparator(text, this.names);
      const end = isLast ? text.length : findEnd(text, separator);
      rest = text.slice(end);
      if (end) yield { text: text.slice(0, end), separator, share: Math.min(1, (start + PART) / file.size) };
    }
  }

  /* Files that are not in UTF-8 are those of spreadsheets: UTF-16 with a mark, or Windows-1252. */
  async findEncoding(file) {
    const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
    if (first === 0xff && second === 0xfe) return "utf-16le";
    return first === 0xfe && second === 0xff ? "utf-16be" : "utf-8";
  }

  async predict(file) {
    const encoding = await this.findEncoding(file);
    try {
      return await this.predictAs(file, encoding);
    } catch (error) {
      if (!(error instanceof TypeError) || encoding !== "utf-8") throw error;
      return this.predictAs(file, "windows-1252");
    }
  }

  async predictAs(file, encoding) {
    const { rules } = this.page;
    const workers = this.makeWorkers(file.size), waiting = [], out = [];
    let reading = null, rows = 0, number = 0;
    const finish = async ({ result, share }) => {
      try {
        const found = await result;
        out.push(found.part);
        rows += found.rows;
        this.bar.value = share;
      } catch (error) {
        throw error.row ? Object.assign(error, { row: rows + error.row, width: reading.width }) : error;
      }
    };
    try {
      for await (const { text, separator, share } of this.parts(file, encoding)) {
        let body = text;
        if (!reading) {
          reading = this.readHeader(text, separator);
          const added = rules.header().map((cell) => writeCell(cell, separator));
          out.push(`${[text.slice(0, reading.end), ...added].join(separator)}\n`);
          body = text.slice(reading.begin);
        }
        if (waiting.length >= 2 * workers.length) await finish(waiting.shift());
        const result = workers[number++ % workers.length].ask("batch", { ...reading, text: body });
        result.catch(() => {}); // it is awaited later
        waiting.push({ result, share });
      }
      while (waiting.length) await finish(waiting.shift());
    } finally {
      workers.slice(1).forEach((worker) => worker.end());
    }
    if (!rows) throw new Error(this.page.words.empty);
    return { parts: out, rows };
  }

  /* The page's own worker, and more for a large file. */
  makeWorkers(size) {
    const count = Math.min(MOST_WORKERS, navigator.hardwareConcurrency || 2, Math.ceil(size / PART));
    return [this.page.compute, ...Array.from({ length: count - 1 }, () => this.page.makeCompute())];
  }

  /* Finds the form's columns in the header line. */
  readHeader(text, separator) {
    const csv = new Csv(text, separator);
    if (!csv.next()) throw new Error(this.page.words.empty);
    const header = csv.cells.map((name) => name.trim());
    const places = this.names.map((name, j) => {
      const place = header.indexOf(name);
      return place < 0 ? header.indexOf(this.page.spec.columns[j].words_of) : place;
    });
    const lost = places.indexOf(-1), twice = places.findIndex((place) => header.includes(header[place], place + 1));
    if (lost >= 0) throw new CellError(this.names[lost], "");
    if (twice >= 0) throw new Error(fill(this.page.words.twice, { column: this.names[twice] }));
    return { separator, places, width: header.length, end: csv.end, begin: csv.at };
  }
}
