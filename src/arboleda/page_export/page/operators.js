/* Operators on matrices {r: rows, c: columns, d: numbers by row}; one row or column broadcasts. */
const OPERATORS = (() => {
  const make = (r, c) => ({ r, c, d: new Float64Array(r * c) });

  const each = (f) => ([a]) => {
    const out = make(a.r, a.c);
    for (let i = 0; i < out.d.length; i++) out.d[i] = f(a.d[i]);
    return out;
  };

  const pairwise = (f) => ([a, b]) => {
    const out = make(Math.max(a.r, b.r), Math.max(a.c, b.c));
    for (let i = 0, o = 0; i < out.r; i++) {
      const p = a.r > 1 ? i * a.c : 0, q = b.r > 1 ? i * b.c : 0;
      for (let j = 0; j < out.c; j++) out.d[o++] = f(a.d[p + (a.c > 1 ? j : 0)], b.d[q + (b.c > 1 ? j : 0)]);
    }
    return out;
  };

  const rowwise = (start, f, end = (x) => x) => ([a]) => {
    const out = make(a.r, 1);
    for (let i = 0; i < a.r; i++) {
      let found = start;
      for (let j = 0; j < a.c; j++) found = f(found, a.d[i * a.c + j]);
      out.d[i] = end(found, a.c);
    }
    return out;
  };

  const logistic = (z) => (z < 0 ? Math.exp(z) / (1 + Math.exp(z)) : 1 / (1 + Math.exp(-z)));

  const softmax = ([a]) => {
    const out = make(a.r, a.c);
    for (let i = 0; i < a.r; i++) {
      const row = a.d.subarray(i * a.c, (i + 1) * a.c), to = out.d.subarray(i * a.c, (i + 1) * a.c);
      const largest = row.reduce((x, y) => (y > x ? y : x), -Infinity);
      let sum = 0;
      for (let j = 0; j < a.c; j++) sum += to[j] = Math.exp(row[j] - largest);
      for (let j = 0; j < a.c; j++) to[j] /= sum;
    }
    return out;
  };

  const where = ([mask, a, b]) => {
    const parts = [mask, a, b];
    const out = make(Math.max(...parts.map((x) => x.r)), Math.max(...parts.map((x) => x.c)));
    const at = (x, i, j) => x.d[(x.r > 1 ? i * x.c : 0) + (x.c > 1 ? j : 0)];
    for (let i = 0, o = 0; i < out.r; i++) {
      for (let j = 0; j < out.c; j++) out.d[o++] = at(mask, i, j) ? at(a, i, j) : at(b, i, j);
    }
    return out;
  };

  const concat = (parts) => {
    const rows = Math.max(...parts.map((x) => x.r));
    const out = make(rows, parts.reduce((n, x) => n + x.c, 0));
    for (let i = 0, o = 0; i < rows; i++) {
      for (const x of parts) {
        for (let j = 0, p = x.r > 1 ? i * x.c : 0; j < x.c; j++) out.d[o++] = x.d[p + j];
      }
    }
    return out;
  };

  const gather = ([a, at], step) => {
    if (step.axis === 0) return each((i) => a.d[i])([at]);
    const out = make(a.r, at.d.length);
    for (let i = 0, o = 0; i < a.r; i++) {
      for (let j = 0; j < at.d.length; j++) out.d[o++] = a.d[i * a.c + at.d[j]];
    }
    return out;
  };

  const multiply = ([a, b]) => {
    const out = make(a.r, b.c);
    for (let i = 0; i < a.r; i++) {
      for (let k = 0; k < a.c; k++) {
        const x = a.d[i * a.c + k];
        for (let j = 0, p = k * b.c, o = i * b.c; j < b.c; j++) out.d[o++] += x * b.d[p++];
      }
    }
    return out;
  };

  const perRow = (f) => ([a]) => {
    const out = make(a.r, a.c);
    for (let i = 0; i < a.r; i++) f(a.d.subarray(i * a.c, (i + 1) * a.c), out.d.subarray(i * a.c, (i + 1) * a.c));
    return out;
  };

  // Equal values keep their order.
  const order = (row) => Float64Array.from(row.keys()).sort((i, j) => row[i] - row[j] || i - j);

  const lookup = ([a], step, table) => {
    const values = table(step.values), otherwise = table(step.otherwise)[0];
    const known = new Map();
    table(step.keys).forEach((key, i) => known.set(key, values[i]));
    return each((x) => (known.has(x) ? known.get(x) : otherwise))([a]);
  };

  const sum = (parts) => parts.reduce((a, b) => pairwise((x, y) => x + y)([a, b]));
  const least = (x, y) => (x !== x || y !== y ? NaN : Math.min(x, y));
  const most = (x, y) => (x !== x || y !== y ? NaN : Math.max(x, y));

  return {
    Abs: each(Math.abs), Exp: each(Math.exp), IsInf: each((x) => +(Math.abs(x) === Infinity)),
    IsNaN: each((x) => +(x !== x)), Log: each(Math.log), Neg: each((x) => -x),
    Relu: each((x) => (x > 0 ? x : x !== x ? NaN : 0)), Sigmoid: each(logistic), Sign: each(Math.sign),
    Sqrt: each(Math.sqrt), Tanh: each(Math.tanh),
    Add: pairwise((x, y) => x + y), Div: pairwise((x, y) => x / y), Mul: pairwise((x, y) => x * y),
    Sub: pairwise((x, y) => x - y), Max: pairwise(most), Min: pairwise(least),
    Equal: pairwise((x, y) => +(x === y)), Greater: pairwise((x, y) => +(x > y)),
    GreaterOrEqual: pairwise((x, y) => +(x >= y)), Less: pairwise((x, y) => +(x < y)),
    LessOrEqual: pairwise((x, y) => +(x <= y)),
    ReduceMax: rowwise(-Infinity, (x, y) => (y > x ? y : x)), ReduceSum: rowwise(0, (x, y) => x + y),
    ReduceMean: rowwise(0, (x, y) => x + y, (x, n) => x / n),
    ArgMax: ([a]) => rowwise([], (x, y) => [...x, y], (x) => x.reduce((best, y, j) => (y > x[best] ? j : best), 0))([a]),
    CumSum: perRow((row, out) => row.forEach((x, j) => (out[j] = x + (j ? out[j - 1] : 0)))),
    TopK: perRow((row, out) => out.set(Array.from(order(row), (j) => row[j]))),
    Order: perRow((row, out) => out.set(order(row))),
    GatherElements: ([a, at]) => each((j) => j)([{ r: a.r, c: 1, d: at.d.map((j, i) => a.d[i * a.c + j]) }]),
    Softmax: softmax, Where: where, Concat: concat, Gather: gather, MatMul: multiply, Map: lookup, Sum: sum,
  };
})();
