/* What the page shows of a row: prediction, contributions, curve, map, and nearest rows. */
const MOST_BARS = 10, CURVE_POINTS = 81, MAP_POINTS = 28, MOST_LEVELS = 12;

class Prediction {
  constructor(page) {
    this.page = page;
    this.element = el("div", { class: "result" });
    this.status = el("p", { class: "hidden", role: "status", "aria-live": "polite" });
  }

  show(result) {
    const { spec, words } = this.page;
    const shown = spec.classes ? this.classes(result) : this.values(result);
    this.element.replaceChildren(...shown);
    clearTimeout(this.later); // a screen reader hears the last of several values
    this.later = setTimeout(() => { this.status.textContent = `${words.prediction}: ${this.summary}`; }, 600);
  }

  classes(result) {
    const { spec, words, formats } = this.page, p = result.probabilities;
    const name = spec.classes[result.label];
    this.summary = `${name}, ${formats.share.format(p[result.label])}`;
    const order = [...p.keys()].sort((i, j) => p[j] - p[i] || i - j).slice(0, 8);
    const bars = order.map((k) => {
      const bar = el("i");
      bar.style.width = `${100 * p[k]}%`;
      const inSet = result.set && result.set[k] ? el("span", { class: "tag" }, words.in_set) : null;
      return el("li", { class: k === result.label ? "first" : "" }, el("span", { class: "name" }, spec.classes[k], inSet), el("span", { class: "bar" }, bar), el("b", {}, formats.share.format(p[k])));
    });
    const found = [el("p", { class: "big" }, el("b", {}, name), el("span", {}, formats.share.format(p[result.label]))), el("ul", { class: "classes" }, ...bars)];
    if (result.decision) found.push(this.decision(result));
    if (result.set) found.push(el("p", { class: "note" }, fill(words.set_note, { share: spec.sets.share })));
    return found;
  }

  decision({ decision }) {
    const { spec, words, formats } = this.page, isRejected = decision.label === REJECTED;
    const name = isRejected ? words.rejected : spec.classes[decision.label];
    this.summary += `, ${words.decision}: ${name}`;
    return el("p", { class: isRejected ? "decision rejected" : "decision" }, `${words.decision}: `, el("b", {}, name),
      el("span", { class: "note" }, fill(words.cost, { cost: formats.number(decision.expected) })));
  }

  values(result) {
    const { spec, words, formats } = this.page;
    this.summary = formats.number(result.value);
    if (result.values.length > 1) {
      const names = spec.outputs || result.values.map((_, k) => String(k));
      return [el("dl", { class: "pairs" }, ...result.values.flatMap((value, k) => [el("dt", {}, names[k]), el("dd", {}, formats.number(value))]))];
    }
    const found = [el("p", { class: "big" }, el("b", {}, formats.number(result.value)))];
    if (result.lower !== undefined) {
      const ends = { low: formats.number(result.lower), high: formats.number(result.upper), share: spec.interval.share };
      this.summary += `, ${fill(words.interval, ends)}`;
      found.push(el("p", { class: "interval" }, fill(words.interval, ends)));
    }
    return found;
  }
}

/* The chosen output: of two classes the second, otherwise that of a list. */
function makeChooser(page, names, first, onChange) {
  if (names.length < 2) return null;
  const select = el("select", { onchange: () => onChange(+select.value) }, ...names.map((name, k) => el("option", { value: k }, name)));
  select.value = first;
  return el("label", { class: "chooser" }, `${page.words.output} `, select);
}

class Contributions {
  constructor(page) {
    this.page = page;
    const { spec, words } = page;
    this.facts = spec.explanation || { outputs: spec.classes || spec.outputs || [""], scale: spec.classes ? "probability" : "value" };
    this.chosen = spec.classes ? this.facts.outputs.length - 1 : 0;
    this.typical = spec.columns.map((column) => page.form.typical(column));
    this.list = el("ol", { class: "bars" });
    this.note = el("p", { class: "note" });
    this.chooser = makeChooser(page, this.facts.outputs, this.chosen, (k) => { this.chosen = k; this.draw(); });
    this.element = el("section", { class: "card" }, el("h2", {}, words.contributions), this.chooser, this.list, this.note);
    this.requests = new Latest((found) => { this.found = found; this.draw(); });
  }

  /* Shows another output, if there are several. */
  choose(k) {
    if (!this.chooser || k >= this.facts.outputs.length) return;
    this.chooser.lastChild.value = this.chosen = k;
  }

  update(cells) {
    this.requests.start(() => this.page.compute.ask("explain", { cells, typical: this.typical }));
    this.cells = cells;
  }

  draw() {
    if (!this.found) return;
    const { spec, words, formats } = this.page, { outputs, scale } = this.facts;
    const k = outputs.length, values = spec.columns.map((_, j) => this.found.values[j * k + this.chosen]);
    if (!spec.explanation && !values.some((value) => value)) {
      this.list.replaceChildren();
      this.note.textContent = words.typical_note;
      return;
    }
    const order = [...values.keys()].sort((i, j) => Math.abs(values[j]) - Math.abs(values[i]) || i - j);
    const shown = order.slice(0, order.length > MOST_BARS + 1 ? MOST_BARS : order.length).filter((j, i) => values[j] || i < 3);
    const rest = order.slice(shown.length).reduce((sum, j) => sum + values[j], 0);
    const longest = Math.max(...shown.map((j) => Math.abs(values[j])), Math.abs(rest), 1e-300);
    const rows = shown.map((j) => this.row(spec.columns[j].name, this.shorten(j), values[j], longest));
    if (rest) rows.push(this.row(fill(words.others, { count: order.length - shown.length }), "", rest, longest));
    this.list.replaceChildren(...rows);
    const base = this.found.base[this.chosen], total = values.reduce((sum, x) => sum + x, base);
    const units = { margin: words.margin, probability: words.probability_unit, value: words.value_unit, path: words.path_unit, risk: words.risk.toLowerCase() };
    this.note.textContent = fill(this.describe(), { count: this.found.orders, base: formats.number(base), total: formats.number(total), unit: units[scale] })
      + (spec.classes ? ` ${fill(words.towards, { name: outputs[this.chosen] })}` : "");
  }

  describe() {
    const { spec, words } = this.page;
    if (spec.explanation) return words.contributions_note;
    return this.found.orders ? words.sampled_note : words.compared_note;
  }

  shorten(j) {
    const text = this.cells[j], { words, formats, spec } = this.page;
    if (text === "") return words.missing;
    if (spec.columns[j].kind === "boolean") return this.page.form.truth(text) ? words.yes : words.no;
    const value = spec.columns[j].kind === "number" ? this.page.form.number(j, text) : NaN;
    return value === value ? formats.number(value) : text;
  }

  row(name, value, amount, longest) {
    const bar = el("i", { class: amount < 0 ? "down" : "up" });
    bar.style.width = `${(50 * Math.abs(amount)) / longest}%`;
    return el("li", {}, el("span", { class: "name" }, name, value ? el("em", {}, value) : null), el("span", { class: "axis" }, bar), el("b", {}, this.page.formats.signed(amount)));
  }
}

/* The points of a column: numbers of its range, categories, or the two truth values. */
function makePoints(page, j, cell, count) {
  const { spec, words, formats } = page, column = spec.columns[j];
  if (column.kind === "boolean") return { cells: ["0", "1"], names: [words.no, words.yes] };
  if (column.kind === "category") {
    const codes = [...column.levels.keys()].sort((a, b) => (column.shares ? column.shares[b] - column.shares[a] : 0) || a - b);
    const levels = codes.slice(0, MOST_LEVELS).map((code) => column.levels[code]);
    if (cell !== "" && column.levels.includes(cell) && !levels.includes(cell)) levels.push(cell);
    return { cells: levels, names: levels };
  }
  const value = page.form.number(j, cell);
  let [low, high] = column.begin === undefined ? widen((value || 0) - 1, (value || 0) + 1) : widen(column.begin, column.end);
  if (column.begin !== undefined && value >= column.low && value <= column.high) [low, high] = [Math.min(low, value), Math.max(high, value)];
  const numbers = column.whole && high - low < count
    ? Array.from({ length: Math.round(high - low) + 1 }, (_, i) => Math.round(low) + i)
    : Array.from({ length: count }, (_, i) => low + ((high - low) * i) / (count - 1));
  return { cells: numbers.map(String), numbers, names: numbers.map((x) => formats.number(x, 3)) };
}

/* A chart with selected columns, drawn from predictions of varied rows. */
class Chart {
  constructor(page, title, count) {
    this.page = page;
    const { spec, words } = page;
    const usable = spec.columns.map((column, j) => [column, j]).filter(([column]) => ["number", "category", "boolean"].includes(column.kind));
    this.usable = usable.length >= count;
    this.selects = Array.from({ length: count }, (_, k) => el("select", { onchange: () => this.update(page.form.cells) },
      ...usable.map(([column, j]) => el("option", { value: j }, column.name))));
    this.selects.forEach((select, k) => { if (usable[k]) select.value = usable[k][1]; });
    this.output = spec.classes ? spec.classes.length - 1 : 0;
    const names = spec.classes || spec.outputs || [];
    this.chooser = makeChooser(page, names, this.output, (k) => { this.output = k; this.update(page.form.cells); });
    this.figure = el("figure");
    this.note = el("p", { class: "note" });
    const labels = this.selects.map((select, k) => el("label", { class: "chooser" }, `${k ? words.and_column : words.column} `, select));
    this.element = el("section", { class: "card" }, el("h2", {}, title), el("div", { class: "choosers" }, ...labels, this.chooser), this.figure, this.note);
    this.requests = new Latest((found) => this.draw(found));
  }

  get columns() { return this.selects.map((select) => +select.value); }

  /* Selects the columns with the largest contributions, until the reader selects others. */
  prefer(order) {
    this.selects.forEach((select, k) => { if (order[k] !== undefined && [...select.options].some((o) => +o.value === order[k])) select.value = order[k]; });
  }

  choose(k) {
    if (this.chooser) this.chooser.lastChild.value = this.output = k;
  }

  range() { return this.page.spec.classes ? [0, 1] : null; }

  format(value) { return this.page.spec.classes ? this.page.formats.share.format(value) : this.page.formats.number(value, 3); }

  ask(cells, columns, points) {
    return this.page.compute.ask("vary", { cells, columns, points: [...points, columns.map((j) => cells[j])] });
  }

  pick({ count, values }) { return Array.from({ length: values.length / count }, (_, i) => values[i * count + this.output]); }
}

class Curve extends Chart {
  constructor(page) {
    super(page, page.words.curve, 1);
    this.figure.addEventListener("click", (event) => this.pickPoint(event));
  }

  update(cells) {
    if (!this.usable) return;
    const [j] = this.columns;
    this.points = makePoints(this.page, j, cells[j], CURVE_POINTS);
    const { points } = this;
    this.requests.start(async () => ({ j, cells, points, found: await this.ask(cells, [j], points.cells.map((cell) => [cell])) }));
  }

  draw({ j, cells, points, found }) {
    const { spec, words, formats } = this.page, values = this.pick(found), y = values.pop();
    const x = points.numbers ? this.page.form.number(j, cells[j]) : points.cells.indexOf(cells[j]);
    const label = fill(words.curve_label, { column: spec.columns[j].name, low: this.format(Math.min(...values)), high: this.format(Math.max(...values)) });
    this.drawn = drawCurve({
      points: points.numbers || points.cells.map((_, i) => i), values, now: { x, y }, labels: points.numbers ? null : points.names,
      range: this.range(), format: (v) => this.format(v), formatX: (v) => formats.number(v, 4), label,
    });
    this.figure.replaceChildren(this.drawn.made);
    this.note.textContent = `${label} ${words.click}`;
    this.current = { j, points };
  }

  pickPoint(event) {
    const { j, points } = this.current, at = this.drawn.at(findShares(event, this.drawn.made.getBoundingClientRect(), EDGE)[0]);
    const column = this.page.spec.columns[j];
    this.page.form.set(j, points.numbers ? String(column.whole ? Math.round(at) : +at.toPrecision(4)) : points.cells[Math.min(points.cells.length - 1, Math.max(0, at))]);
  }
}

class PairMap extends Chart {
  constructor(page) {
    super(page, page.words.map, 2);
    this.figure.addEventListener("click", (event) => this.pickPoint(event));
  }

  update(cells) {
    if (!this.usable) return;
    const columns = this.columns, axes = columns.map((j) => makePoints(this.page, j, cells[j], MAP_POINTS));
    const points = axes[0].cells.flatMap((a) => axes[1].cells.map((b) => [a, b]));
    this.requests.start(async () => ({ columns, cells, axes, found: await this.ask(cells, columns, points) }));
  }

  draw({ columns, cells, axes, found }) {
    const { spec, words } = this.page, values = this.pick(found);
    values.pop();
    const now = axes.map((axis, k) => {
      const cell = cells[columns[k]];
      if (!axis.numbers) return axis.cells.indexOf(cell);
      const { numbers } = axis, step = numbers[1] - numbers[0];
      const place = Math.round((this.page.form.number(columns[k], cell) - numbers[0]) / step);
      return place >= 0 && place < numbers.length ? place : -1;
    });
    const [a, b] = columns.map((j) => spec.columns[j].name);
    const label = fill(words.map_label, { first: a, second: b, low: this.format(Math.min(...values)), high: this.format(Math.max(...values)) });
    this.drawn = drawMap({ axes: axes.map((axis) => ({ ...axis, points: axis.cells })), values, format: (v) => this.format(v), label, now });
    const legend = el("p", { class: "scale" }, this.drawn.low, el("i"), this.drawn.high);
    this.figure.replaceChildren(this.drawn.made, legend);
    this.note.textContent = `${label} ${words.click}`;
    this.current = { columns, axes };
  }

  pickPoint(event) {
    const at = this.drawn.at(findShares(event, this.drawn.made.getBoundingClientRect(), this.drawn.edge));
    const { columns, axes } = this.current, cells = [...this.page.form.cells];
    at.forEach((i, k) => { cells[columns[k]] = axes[k].numbers ? String(+axes[k].numbers[i].toPrecision(4)) : axes[k].cells[i]; });
    this.page.form.setAll(cells);
  }
}

/* The rows of the page that are nearest: shares of the range, and 1 for another category. */
class Nearest {
  constructor(page) {
    this.page = page;
    this.body = el("table");
    this.element = el("section", { class: "card wide" }, el("h2", {}, page.words.nearest), el("p", { class: "note" }, page.words.nearest_note), el("div", { class: "scroll", tabindex: "0" }, this.body));
  }

  update(cells) {
    const { spec, form } = this.page;
    const distance = (row) => spec.columns.reduce((sum, column, j) => {
      if (cells[j] === row[j]) return sum;
      const isNumber = column.kind === "number" && cells[j] !== "" && row[j] !== "" && column.high > column.low;
      return sum + (isNumber ? Math.min(1, Math.abs(form.number(j, cells[j]) - row[j]) / (column.high - column.low)) : 1);
    }, 0);
    const nearest = this.page.rows.map((row, i) => [distance(row), i]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).slice(0, 5);
    const head = el("tr", {}, ...spec.columns.map((column) => el("th", { scope: "col" }, column.name)), el("th"));
    const lines = nearest.map(([, i]) => el("tr", {}, ...this.page.rows[i].map((cell) => el("td", {}, cell)),
      el("td", {}, el("button", { type: "button", onclick: () => form.setAll(this.page.rows[i]) }, this.page.words.use_row))));
    this.body.replaceChildren(el("thead", {}, head), el("tbody", {}, ...lines));
  }
}
