/* The page: reads the model, builds its parts, and updates them after each change. */

/* Requests of which only the last waits: while one runs, later ones replace each other. */
class Latest {
  constructor(show) { this.show = show; }

  async start(request) {
    this.next = request;
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.next) await this.run();
    } finally {
      this.busy = false;
    }
  }

  async run() {
    const request = this.next;
    this.next = null;
    try {
      const found = await request();
      if (!this.next) this.show(found);
    } catch (error) {
      if (error.column === undefined) throw error; // a cell is marked in the form
    }
  }
}

/* An engine in a worker, or on the page if the browser has no workers for files. */
class Compute {
  constructor(spec, buffer, source) {
    this.pending = new Map();
    this.count = 0;
    try {
      this.url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      this.worker = new Worker(this.url);
      this.worker.onmessage = ({ data }) => this.settle(data);
      this.worker.postMessage({ spec, buffer });
    } catch {
      this.engine = new Engine(spec, buffer);
    }
  }

  ask(task, request) {
    if (this.engine) return new Promise((resolve) => { setTimeout(resolve); }).then(() => this.engine.handle({ task, ...request }));
    return new Promise((resolve, reject) => {
      this.pending.set(++this.count, { resolve, reject });
      this.worker.postMessage({ id: this.count, task, ...request });
    });
  }

  settle({ id, result, error }) {
    const { resolve, reject } = this.pending.get(id);
    this.pending.delete(id);
    if (error) reject(Object.assign(new Error(error.message), error));
    else resolve(result);
  }

  end() {
    if (this.worker) this.worker.terminate();
    URL.revokeObjectURL(this.url);
  }
}

class Page {
  constructor(spec, buffer) {
    this.spec = spec;
    this.words = spec.words;
    this.formats = new Formats(spec.language);
    spec.outputs = spec.outputs && spec.outputs.map((name) => (typeof name === "string" ? name : fill(spec.words[name[0]], { value: name[1] })));
    this.rules = new Rules(spec);
    this.makeCompute = () => new Compute(spec, buffer, document.getElementById("engine").textContent);
    this.compute = this.makeCompute();
    this.rows = spec.rows || [];
    this.form = new Form(spec, this.formats, () => this.update());
    this.prediction = new Prediction(this);
    this.contributions = new Contributions(this);
    this.curve = new Curve(this);
    this.map = new PairMap(this);
    this.batch = new Batch(this);
    this.nearest = this.rows.length ? new Nearest(this) : null;
    this.requests = new Latest(([result]) => this.prediction.show(result));
  }

  update() {
    const cells = [...this.form.cells];
    document.body.classList.toggle("stale", this.form.isInvalid);
    this.requests.start(() => this.compute.ask("predict", { rows: [cells] }));
    for (const part of [this.contributions, this.curve, this.map, this.nearest]) if (part) part.update(cells);
  }

  build() {
    const { spec, words } = this;
    const target = spec.target ? el("p", { class: "meta" }, `${words.target} `, el("b", {}, spec.target)) : null;
    const head = el("header", {}, this.makeTheme(), el("p", { class: "brand" }, "arboleda"), el("h1", {}, spec.title), target,
      el("p", { class: "meta" }, fill(words.model, { model: spec.model, columns: spec.columns.length })),
      el("p", { class: "meta" }, this.rows.length ? fill(words.with_rows, { rows: this.rows.length }) : words.no_rows));
    const charts = [this.curve, this.map].filter((chart) => chart.usable);
    const main = el("main", { id: "main" },
      el("section", { class: "card form" }, el("h2", {}, words.row), this.makeTools(), this.form.element),
      el("div", { class: "side" }, el("section", { class: "card answer" }, el("h2", {}, words.prediction), this.prediction.element, this.prediction.status), this.contributions.element),
      el("div", { class: "charts" }, ...charts.map((chart) => chart.element)),
      this.nearest ? this.nearest.element : null, this.batch.element);
    const skip = el("a", { class: "skip", href: "#main" }, words.skip);
    document.getElementById("app").append(skip, head, main, el("footer", {}, fill(words.footer, { version: spec.version })));
  }

  makeTheme() {
    const button = el("button", { type: "button", class: "theme" });
    const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    const show = () => { button.textContent = isDark() ? this.words.light : this.words.dark; };
    button.addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; show(); });
    show();
    return button;
  }

  makeTools() {
    const { spec, words, form } = this;
    const button = (text, action) => el("button", { type: "button", onclick: action }, text);
    const typical = button(words.typical, () => form.setAll(spec.columns.map((column) => form.typical(column))));
    let next = 0;
    const example = this.rows.length ? button(words.example, () => form.setAll(this.rows[next++ % this.rows.length])) : null;
    const search = spec.columns.length > 12
      ? el("input", { type: "search", placeholder: words.find_column, "aria-label": words.find_column, oninput: (event) => form.filter(event.target.value) }) : null;
    return el("div", { class: "tools" }, typical, example, button(words.clear, () => form.setAll(spec.columns.map(() => ""))), search, this.makePaste());
  }

  /* A row of a CSV file, with its header line or without. */
  makePaste() {
    const { words, spec, form } = this;
    const area = el("textarea", { rows: 3, "aria-label": words.paste, spellcheck: "false", placeholder: words.paste_hint });
    const note = el("span", { class: "note", role: "status" });
    const names = spec.columns.map((column) => column.name.trim());
    const use = () => {
      const separator = findSeparator(area.value, names), rows = parseRows(area.value, separator);
      const header = (rows[0] || []).map((cell) => cell.trim());
      const isHeader = header.some((cell) => names.includes(cell)), row = rows[isHeader ? 1 : 0];
      note.textContent = row && (isHeader || row.length === names.length) ? "" : words.no_row;
      if (note.textContent) return;
      const encoder = new Encoder(spec, separator);
      form.setAll(names.map((name, j) => {
        const at = isHeader ? header.indexOf(name) : j;
        return encoder.toPlain(j, at < 0 ? "" : row[at] ?? "");
      }));
    };
    return el("details", {}, el("summary", {}, words.paste), area, el("button", { type: "button", onclick: use }, words.use_row), note);
  }

  /* Shows the predicted class, and the columns that matter most for the first row, in the charts. */
  async start() {
    this.build();
    const { classes } = this.spec;
    if (classes && classes.length > 2) {
      const [{ label }] = await this.compute.ask("predict", { rows: [this.form.cells] });
      for (const part of [this.contributions, this.curve, this.map]) part.choose(label);
    }
    if (this.spec.explanation) {
      const found = await this.compute.ask("explain", { cells: this.form.cells });
      const k = this.spec.explanation.outputs.length;
      const size = this.spec.columns.map((_, j) => Math.abs(found.values[j * k + this.contributions.chosen]));
      const order = [...size.keys()].sort((i, j) => size[j] - size[i] || i - j).filter((j) => this.spec.columns[j].kind !== "date");
      this.curve.prefer(order);
      this.map.prefer(order);
    }
    this.update();
  }
}

(async () => {
  const read = (id) => document.getElementById(id).textContent;
  const spec = JSON.parse(read("spec"));
  try {
    await new Page(spec, await inflate(read("tables"))).start();
  } catch (error) {
    document.getElementById("app").append(el("p", { role: "alert" }, `${spec.words.failed} ${error.message}`));
    throw error;
  }
})();
