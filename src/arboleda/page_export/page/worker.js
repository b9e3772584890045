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

  /* Predicts the rows of a part of a CSV file; returns the lines with what is predicted. */
  batch({ text, separator, places, firstRow }) {
    const rows = parseRows(text, separator);
    const cells = rows.map((row) => places.map((place) => (place < 0 ? "" : row[place])));
    const numbers = new Float64Array(rows.length * this.spec.n_columns);
    cells.forEach((row, i) => {
      try {
        this.encoder.encode(row, numbers, i * this.spec.n_columns);
      } catch (error) {
        throw Object.assign(error, { row: firstRow + i + 1 });
      }
    });
    const { outputs, scores } = this.model.predict(numbers);
    const row = (part, i) => part.d.subarray(i * part.c, (i + 1) * part.c);
    const write = (line) => line.map((cell) => writeCell(cell, separator)).join(separator);
    const given = text.includes('"') ? rows.map(write) : splitLines(text);
    const lines = given.map((line, i) => line + separator + write(this.rules.cells(this.rules.apply(row(outputs, i), row(scores, i)))));
    return { text: lines.length ? `${lines.join("\n")}\n` : "", rows: rows.length };
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
      postMessage({ id: data.id, error: { message: error.message, column: error.column, text: error.text, row: error.row } });
    }
  };
}
