/* The form: one field for each column. A cell is a text; an empty one is missing. */
const MOST_CHOICES = 12; // more categories are searched

class Form {
  constructor(spec, formats, onChange) {
    this.spec = spec;
    this.words = spec.words;
    this.formats = formats;
    this.onChange = onChange;
    this.encoder = new Encoder(spec);
    this.cells = spec.columns.map((column) => this.typical(column));
    this.fields = spec.columns.map((column, j) => this.makeField(column, j));
    this.element = el("div", { class: "fields" }, ...this.fields.map((field) => field.element));
  }

  typical(column) {
    if (column.typical === null || column.typical === undefined) return "";
    return column.kind === "category" ? column.levels[column.typical] : String(column.typical);
  }

  makeField(column, j) {
    const id = `field-${j}`;
    const field = { input: this.makeInput(column, j, id), slider: null, note: el("span", { class: "note", id: `${id}-note` }) };
    const control = el("div", { class: "control" }, field.input);
    if (column.kind === "number" && column.high > column.low) control.append(this.makeSlider(field, column, j));
    const missing = el("button", { type: "button", class: "missing", "aria-pressed": "false", "aria-label": fill(this.words.missing_of, { column: column.name }), onclick: () => this.set(j, "") }, this.words.missing);
    field.missing = missing;
    control.append(missing);
    field.input.setAttribute("aria-describedby", field.note.id);
    field.element = el("div", { class: "field" }, el("label", { for: id }, column.name), control, field.note);
    queueMicrotask(() => this.show(j));
    return field;
  }

  makeInput(column, j, id) {
    const change = (event) => this.set(j, event.target.value, event.target);
    const choose = (choices) => el("select", { id, onchange: change }, el("option", { value: "" }, `\u2014 ${this.words.missing}`),
      ...choices.map(([value, name]) => el("option", { value }, name)));
    if (column.kind === "boolean") return choose([["1", this.words.yes], ["0", this.words.no]]);
    if (column.kind === "category" && column.levels.length <= MOST_CHOICES) return choose(column.levels.map((level) => [level, level]));
    if (column.kind === "category") {
      const list = el("datalist", { id: `${id}-list` }, ...column.levels.map((level) => el("option", { value: level })));
      const input = el("input", { id, list: list.id, autocomplete: "off", spellcheck: "false", placeholder: this.words.search, oninput: change });
      document.body.append(list);
      return input;
    }
    if (column.kind === "date") {
      const hasClock = column.parts.some((part) => /hour|day$/.test(part) && !/^(days|day|weekday)$/.test(part));
      return el("input", { id, type: hasClock ? "datetime-local" : "date", oninput: change });
    }
    const isNumber = column.kind === "number";
    return el("input", { id, inputmode: isNumber ? "decimal" : "text", autocomplete: "off", spellcheck: "false", placeholder: this.words.missing, oninput: change });
  }

  /* A slider over the range, with the distribution behind it. */
  makeSlider(field, column, j) {
    const step = column.whole ? 1 : (column.high - column.low) / 1000;
    field.slider = el("input", {
      type: "range", min: column.low, max: column.high, step, "aria-label": fill(this.words.slider, { column: column.name }),
      oninput: (event) => this.set(j, column.whole ? event.target.value : String(+(+event.target.value).toPrecision(4)), event.target),
    });
    const bars = svg("svg", { viewBox: `0 0 ${column.bars.length} 100`, preserveAspectRatio: "none", "aria-hidden": "true" },
      ...column.bars.map((height, i) => svg("rect", { x: i + 0.08, y: 100 - height, width: 0.84, height })));
    return el("div", { class: "range" }, bars, field.slider);
  }

  set(j, text, source = null) {
    this.cells[j] = text;
    this.show(j, source);
    this.onChange();
  }

  setAll(cells) {
    this.cells = [...cells];
    this.cells.forEach((_, j) => this.show(j));
    this.onChange();
  }

  show(j, source = null) {
    const { input, slider, missing } = this.fields[j], text = this.cells[j], column = this.spec.columns[j];
    if (input !== source) {
      if (column.kind === "date") input.value = text && !text.includes("T") && input.type !== "date" ? `${text.slice(0, 10)}T${text.slice(11, 16) || "00:00"}` : text.slice(0, input.type === "date" ? 10 : 16);
      else input.value = column.kind === "boolean" && text !== "" ? String(this.truth(text)) : text;
    }
    if (slider && slider !== source && text !== "") slider.value = this.number(j, text);
    if (slider) slider.classList.toggle("off", text === "");
    missing.setAttribute("aria-pressed", String(text === ""));
    this.check(j);
  }

  truth(text) {
    return this.encoder.readTruth(text, () => "");
  }

  /* The number of a cell; NaN if it is missing or cannot be read. */
  number(j, text) { return this.encoder.read(j, text)[0] ?? NaN; }

  /* Shows what is unusual about a value: no number, outside of the range, an unknown category. */
  check(j) {
    const column = this.spec.columns[j], text = this.cells[j], { note, input } = this.fields[j];
    let found = "", wrong = false;
    if (text !== "" && column.kind === "number") {
      const [value] = this.encoder.read(j, text);
      if (value === null) [found, wrong] = [this.words.no_number, true];
      else if (column.high !== undefined && (value < column.low || value > column.high)) {
        found = fill(this.words.outside, { low: this.formats.number(column.low), high: this.formats.number(column.high) });
      }
    } else if (text !== "" && column.kind === "category" && !column.levels.includes(text)) found = this.words.unknown;
    note.textContent = found;
    input.setAttribute("aria-invalid", String(wrong));
  }

  get isInvalid() { return this.fields.some((field) => field.input.getAttribute("aria-invalid") === "true"); }

  /* Hides the fields whose names do not contain a text. */
  filter(text) {
    const wanted = text.trim().toLowerCase();
    this.fields.forEach((field, j) => { field.element.hidden = !this.spec.columns[j].name.toLowerCase().includes(wanted); });
  }
}
