/* The model: its tables, and the operators that lead from a matrix of numbers to the prediction. */
const BLOCK = 256; // rows that pass all operators together

const TYPES = {
  f8: Float64Array, u1: Uint8Array, i1: Int8Array, u2: Uint16Array, i2: Int16Array, u4: Uint32Array, i4: Int32Array,
};

/* Returns the bytes of the tables, which are deflated and in base64. */
async function inflate(text) {
  const packed = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

class Model {
  constructor(spec, buffer) {
    this.spec = spec;
    const table = (number) => {
      const [type, length, start] = spec.tables[number];
      return new TYPES[type](buffer, start, length);
    };
    this.table = table;
    this.nColumns = spec.n_columns;
    this.constants = spec.steps.map((step) => {
      if (step.op === "Trees") return new Trees(step, table);
      if (step.op !== "Constant") return null;
      const d = Float64Array.from(table(step.table));
      return { r: step.rows, c: step.rows ? d.length / step.rows : 0, d };
    });
  }

  /* Computes all steps for some rows. */
  run(matrix) {
    const found = [];
    this.spec.steps.forEach((step, i) => {
      if (step.op === "Input") found.push(matrix);
      else if (step.op === "Constant") found.push(this.constants[i]);
      else if (step.op === "Trees") found.push(this.constants[i].sums(found[step.of[0]]));
      else found.push(OPERATORS[step.op](step.of.map((j) => found[j]), step, this.table));
    });
    return found;
  }

  /* Computes chosen steps for all rows of a matrix of numbers, block by block. */
  compute(numbers, steps) {
    const c = this.nColumns, rows = numbers.length / c;
    const out = steps.map(() => null);
    for (let first = 0; first < rows; first += BLOCK) {
      const r = Math.min(BLOCK, rows - first);
      const found = this.run({ r, c, d: numbers.subarray(first * c, (first + r) * c) });
      steps.forEach((step, k) => {
        const part = found[step];
        out[k] = out[k] || { r: rows, c: part.c, d: new Float64Array(rows * part.c) };
        for (let i = 0; i < r; i++) {
          for (let j = 0; j < part.c; j++) out[k].d[(first + i) * part.c + j] = part.d[(part.r > 1 ? i * part.c : 0) + j];
        }
      });
    }
    return out;
  }

  /* Returns probabilities or values, and the scores that decide between classes. */
  predict(numbers) {
    const [outputs, scores] = this.compute(numbers, [this.spec.output, this.spec.scores]);
    return { outputs, scores };
  }
}
