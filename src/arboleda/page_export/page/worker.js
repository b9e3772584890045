/* The engine behind messages: it runs in workers, or on the page where there are none. */
class Engine {
  constructor(spec, buffer) {
    this.spec = spec;
    this.model = new Model(spec, buffer);
    this.rules = new Rules(spec);
    this.encoder = new Encoder(spec);
  }

  handle({ task, ...request }) {
    return this[task](request);
  }

  encodeRows(rows) {
    const c = this.spec.n_columns, numbers = new Float64Array(rows.length * c);
    rows.forEach((cells, i) => this.encoder.encode(cells, numbers, i * c));
    return numbers;
  }

  /* Results of rows of cells. */
  predict({ rows }) {
    const { outputs, scores } = this.model.predict(this.encodeRows(rows));
    const row = (part, i) => part.d.subarray(i * part.c, (i + 1) * part.c);
    return rows.map((_, i) => this.rules.apply(row(outputs, i), row(scores, i)));
  }

  /* Outputs of a row with other cells in one or two columns: (points, outputs). */
  vary({ cells, columns, points }) {
    const rows = points.map((point) => {
      const changed = [...cells];
      columns.forEach((column, k) => { changed[column] = point[k]; });
      return changed;
    });
    const [outputs] = this.model.compute(this.encodeRows(rows), [this.spec.output]);
    return { count: outputs.c, values: outputs.d };
  }

  /* Shapley values of the columns for a row; against another row if the model is no sum of trees. */
  explain({ cells, typical }) {
    if (!this.spec.explanation) return this.compare(cells, typical);
    this.explainer = this.explainer || new Explainer(this.model);
    return this.explainer.explain(this.encodeRows([cells]));
  }

  compare(cells, typical) {
    const players = [...cells.keys()].filter((j) => cells[j] !== typical[j]);
    const score = (sets) => {
      const rows = sets.map((known) => {
        const row = [...typical];
        players.forEach((j, i) => { if (known[i]) row[j] = cells[j]; });
        return row;
      });
      const [outputs] = this.model.compute(this.encodeRows(rows), [this.spec.output]);
      return { k: outputs.c, d: outputs.d };
    };
    const { values, base, k, orders } = compareRows(players.length, score);
    const found = new Float64Array(cells.length * k);
    players.forEach((j, i) => { for (let o = 0; o < k; o++) found[j * k + o] = values[i * k + o]; });
    return { values: found, base, orders };
  }

  /* Predicts the rows of a part of a CSV file; the result has its lines with what is predicted. */
  batch({ text, separator, places, width }) {
    const c = this.spec.n_columns, numbers = new Float64Array(BLOCK * c), out = [];
    const csv = new Csv(text, separator), encoder = new Encoder(this.spec, separator);
    let lines = [], rows = 0;
    const predict = () => {
      const { outputs, scores } = this.model.predict(numbers.subarray(0, lines.length * c));
      lines.forEach((line, i) => out.push(line + separator + this.writeResult(outputs, scores, i, separator)));
      lines = [];
    };
    while (csv.next()) {
      rows++;
      try {
        if (csv.count !== width) throw Object.assign(new CellError("", ""), { count: csv.count });
        encoder.encodeRow(csv, places, numbers, lines.length * c);
      } catch (error) {
        throw Object.assign(error, { row: rows });
      }
      lines.push(text.slice(csv.begin, csv.end));
      if (lines.length === BLOCK) predict();
    }
    if (lines.length) predict();
    return { part: new Blob([out.length ? `${out.join("\n")}\n` : ""]), rows };
  }

  writeResult(outputs, scores, i, separator) {
    const row = (part) => part.d.subarray(i * part.c, (i + 1) * part.c);
    return this.rules.cells(this.rules.apply(row(outputs), row(scores))).map((cell) => writeCell(cell, separator)).join(separator);
  }
}

/* A worker gets the spec and the bytes first, then requests with numbers. */
if (typeof document === "undefined" && typeof postMessage === "function") {
  let engine = null;
  globalThis.onmessage = ({ data }) => {
    if (data.spec) {
      engine = new Engine(data.spec, data.buffer);
      return;
    }
    try {
      postMessage({ id: data.id, result: engine.handle(data) });
    } catch (error) {
      postMessage({ id: data.id, error: { ...error, message: error.message } });
    }
  };
}
