/* From the model's outputs to what is shown: label, probabilities, interval, set and decision. */
const REJECTED = -1;

class Rules {
  constructor(spec) {
    this.spec = spec;
  }

  /* The result of one row of outputs and of scores. */
  apply(outputs, scores) {
    const { classes, interval, costs, sets } = this.spec;
    if (!classes) return { value: outputs[0], values: [...outputs], ...(interval && this.findInterval(outputs[0])) };
    const label = scores.reduce((best, x, k) => (x > scores[best] ? k : best), 0);
    const result = { label, probabilities: [...outputs] };
    if (!costs && !sets) return result;
    const p = this.calibrate(outputs);
    if (costs) result.decision = this.decide(p);
    if (sets) result.set = p.map((x, k) => 1 - x <= sets.limit || k === label);
    return { ...result, calibrated: p };
  }

  findInterval(value) {
    const { cuts, reach } = this.spec.interval;
    const place = cuts.findIndex((cut) => cut >= value);
    const r = reach[place < 0 ? cuts.length : place];
    return { lower: value - r, upper: value + r };
  }

  /* The class of least expected cost, or REJECTED if even that is above the cost of rejection. */
  decide(p) {
    const { matrix, reject_cost: rejectCost } = this.spec.costs;
    const expected = p.map((_, k) => p.reduce((sum, x, i) => sum + x * matrix[i][k], 0));
    const best = expected.reduce((least, x, k) => (x < expected[least] ? k : least), 0);
    const rejected = rejectCost !== null && expected[best] > rejectCost;
    return { label: rejected ? REJECTED : best, expected: expected[best] };
  }

  /* Probabilities for decisions: the model's own, or calibrated on out-of-fold predictions. */
  calibrate(outputs) {
    const facts = this.spec.calibration, own = [...outputs];
    if (!facts || facts.method === "none") return own;
    const inside = own.map((p) => Math.min(Math.max(p, 2 ** -52), 1 - 2 ** -52));
    const values = own.length === 2 ? [Math.log(inside[1] / (1 - inside[1]))] : inside.map(Math.log);
    if (facts.method === "temperature") return softmaxOf(own.length === 2 ? [0, facts.beta * values[0]] : values.map((x) => facts.beta * x));
    const each = values.map((x, k) => this.calibrateScore(facts.parts[k], x));
    if (own.length === 2) return [1 - each[0], each[0]];
    const total = each.reduce((sum, x) => sum + x, 0);
    return each.map((x) => (total ? x / total : 1 / each.length));
  }

  calibrateScore(part, x) {
    if (part.slope !== undefined) return 1 / (1 + Math.exp(part.slope * x + part.start));
    const { x: at, y } = part;
    if (x <= at[0]) return y[0];
    const i = at.findIndex((edge) => edge >= x);
    if (i < 0) return y[y.length - 1];
    return y[i - 1] + ((x - at[i - 1]) * (y[i] - y[i - 1])) / (at[i] - at[i - 1]);
  }

  /* The columns that a CSV file gets, named as by `arboleda predict`. */
  header() {
    const { classes, interval, costs, sets, outputs, header } = this.spec;
    if (header) return header;
    if (!classes) {
      const names = outputs && outputs.length > 1 ? outputs.map((name) => `prediction: ${name}`) : ["prediction"];
      return interval ? [...names, `lower ${interval.share}`, `upper ${interval.share}`] : names;
    }
    const names = ["prediction", ...classes.map((name) => `probability of ${name}`)];
    return [...names, ...(sets ? [`set ${sets.share}`] : []), ...(costs ? ["decision"] : [])];
  }

  cells(result) {
    const { classes, interval, costs, sets } = this.spec;
    if (!classes) return interval ? [...result.values, result.lower, result.upper] : result.values;
    const cells = [classes[result.label], ...result.probabilities];
    if (sets) cells.push(classes.filter((_, k) => result.set[k]).join(" | "));
    if (costs) cells.push(result.decision.label === REJECTED ? "rejected" : classes[result.decision.label]);
    return cells;
  }
}

function softmaxOf(values) {
  const largest = Math.max(...values), found = values.map((x) => Math.exp(x - largest));
  const sum = found.reduce((a, b) => a + b, 0);
  return found.map((x) => x / sum);
}
