/* Exact Shapley values of sums of trees: Lundberg, Erion, Lee (2018), algorithm 2.
 *
 * Columns of one player share an element of the path. An unknown column follows both branches, with
 * the shares of their training rows.
 */
class TreeShap {
  constructor(trees, players, nPlayers) {
    this.trees = trees;
    this.players = players;
    this.nPlayers = nPlayers;
    this.weigh();
  }

  /* Adds the weights of leaves up to those of inner nodes; finds the depth. */
  weigh() {
    const { feature, kids, sizes, leafWeights, leaf } = this.trees, n = feature.length;
    this.weight = new Float64Array(n);
    const depth = new Int32Array(n);
    for (let i = n - 1; i >= 0; i--) {
      const right = kids[2 * i + 1];
      if (feature[i] < 0) this.weight[i] = leafWeights[leaf[i]];
      else {
        this.weight[i] = this.weight[i + 1] + this.weight[right];
        depth[i] = 1 + Math.max(depth[i + 1], depth[right]);
      }
    }
    this.depth = 0;
    this.work = 0; // steps of a row: leaves times the square of the depth
    for (let t = 0, root = 0; t < sizes.length; root += sizes[t++]) {
      this.depth = Math.max(this.depth, depth[root]);
      this.work += (sizes[t] * depth[root] * depth[root]) / 2;
    }
  }

  /* Expected scores if no column is known. */
  base() {
    const { sizes, values, width, outputs, start, divisor, leaf, feature } = this.trees;
    const found = Float64Array.from(start);
    for (let t = 0, root = 0; t < sizes.length; root += sizes[t++]) {
      for (let i = root; i < root + sizes[t]; i++) {
        if (feature[i] >= 0) continue;
        const share = this.weight[i] / this.weight[root];
        for (let j = 0; j < width; j++) found[outputs[t] + j] += share * values[leaf[i] * width + j];
      }
    }
    return found.map((x) => x / divisor);
  }

  /* Values of the players for one row: (players, outputs). */
  values(matrix) {
    const { trees } = this, k = trees.count, n = this.depth + 2;
    this.filled = trees.fillSlots(matrix);
    this.found = new Float64Array(this.nPlayers * k);
    // The paths of all depths, one after the other.
    const size = (n * (n + 1)) / 2 + n;
    this.path = { player: new Int32Array(size), zero: new Float64Array(size), one: new Float64Array(size), share: new Float64Array(size) };
    for (let t = 0, root = 0; t < trees.sizes.length; root += trees.sizes[t++]) {
      this.output = trees.outputs[t];
      this.visit(root, 0, 0, 1, 1, -1);
    }
    return this.found.map((x) => x / trees.divisor);
  }

  visit(node, length, before, zero, one, player) {
    const { feature, slot, kids } = this.trees, path = this.path, at = before + length;
    for (const part of Object.values(path)) part.copyWithin(at, before, before + length);
    this.extend(at, length, zero, one, player);
    if (feature[node] < 0) return this.addLeaf(node, at, length);
    const right = this.trees.side(node, this.filled[1 + slot[node]]);
    const hot = kids[2 * node + right], cold = kids[2 * node + 1 - right];
    const own = this.players[feature[node]];
    let zeros = 1, ones = 1, last = length;
    for (let i = 1; i <= length; i++) {
      if (path.player[at + i] !== own) continue;
      zeros = path.zero[at + i];
      ones = path.one[at + i];
      this.unwind(at, length, i);
      last = length - 1;
      break;
    }
    const total = this.weight[node];
    this.visit(hot, last + 1, at, total ? (zeros * this.weight[hot]) / total : 0, ones, own);
    this.visit(cold, last + 1, at, total ? (zeros * this.weight[cold]) / total : 0, 0, own);
    return undefined;
  }

  extend(at, length, zero, one, player) {
    const { share } = this.path;
    this.path.player[at + length] = player;
    this.path.zero[at + length] = zero;
    this.path.one[at + length] = one;
    share[at + length] = length ? 0 : 1;
    for (let i = length - 1; i >= 0; i--) {
      share[at + i + 1] += (one * share[at + i] * (i + 1)) / (length + 1);
      share[at + i] = (zero * share[at + i] * (length - i)) / (length + 1);
    }
  }

  unwind(at, length, place) {
    const { share, zero, one, player } = this.path;
    const z = zero[at + place], o = one[at + place];
    let next = share[at + length];
    for (let i = length - 1; i >= 0; i--) {
      if (o !== 0) {
        const kept = share[at + i];
        share[at + i] = (next * (length + 1)) / ((i + 1) * o);
        next = kept - (share[at + i] * z * (length - i)) / (length + 1);
      } else share[at + i] = z ? (share[at + i] * (length + 1)) / (z * (length - i)) : 0;
    }
    for (let i = place; i < length; i++) {
      player[at + i] = player[at + i + 1];
      zero[at + i] = zero[at + i + 1];
      one[at + i] = one[at + i + 1];
    }
  }

  /* The sum of the shares of a path without an element. */
  unwoundSum(at, length, place) {
    const { share, zero, one } = this.path, z = zero[at + place], o = one[at + place];
    let next = share[at + length], total = 0;
    for (let i = length - 1; i >= 0; i--) {
      if (o !== 0) {
        const part = (next * (length + 1)) / ((i + 1) * o);
        total += part;
        next = share[at + i] - (part * z * (length - i)) / (length + 1);
      } else if (z) total += (share[at + i] * (length + 1)) / (z * (length - i));
    }
    return total;
  }

  addLeaf(node, at, length) {
    const { values, width, leaf, count } = this.trees, { player, zero, one } = this.path;
    for (let i = 1; i <= length; i++) {
      const change = this.unwoundSum(at, length, i) * (one[at + i] - zero[at + i]);
      const to = player[at + i] * count + this.output, from = leaf[node] * width;
      for (let j = 0; j < width; j++) this.found[to + j] += change * values[from + j];
    }
  }
}

/* The Shapley values of a model: the weighted sum of those of its sums of trees. */
class Explainer {
  constructor(model) {
    this.model = model;
    this.facts = model.spec.explanation;
    this.n = model.spec.columns.length;
    this.parts = this.facts.parts.map((part) => new TreeShap(model.constants[part.step], part.players, this.n));
    this.work = this.parts.reduce((sum, part) => sum + part.work, 0);
  }

  /* Values (columns, outputs) and expected scores for one row of numbers. */
  explain(numbers) {
    const k = this.facts.outputs.length, n = this.n;
    const values = new Float64Array(n * k), base = new Float64Array(k);
    const found = this.model.run({ r: 1, c: this.model.nColumns, d: numbers });
    this.facts.parts.forEach((part, p) => {
      const shap = this.parts[p], scores = shap.trees.count;
      const own = shap.values(found[this.model.spec.steps[part.step].of[0]]), expected = shap.base();
      part.outputs.forEach((to, i) => {
        for (let s = 0; s < scores; s++) {
          const factor = part.weight * part.matrix[s][i];
          for (let j = 0; j < n; j++) values[j * k + to] += factor * own[j * scores + s];
          base[to] += factor * expected[s];
        }
        base[to] += part.weight * part.offset[i];
      });
    });
    return { values, base };
  }
}

const MOST_PLAYERS = 10, MOST_SETS = 2000;

/* Shapley values of players: exact for few of them, otherwise the means over random orders.
 *
 * `score` computes the outputs of several sets of players at once. Every second order is the reverse
 * of the one before; the orders are the same each time.
 */
function compareRows(n, score) {
  if (n > MOST_PLAYERS) return sampleOrders(n, score);
  const count = 1 << n, sets = Array.from({ length: count }, (_, set) => Array.from({ length: n }, (__, i) => (set >> i) & 1));
  const { k, d } = score(sets), values = new Float64Array(n * k);
  const weights = [1 / Math.max(n, 1)]; // of sets by their size
  for (let size = 1; size < n; size++) weights.push((weights[size - 1] * size) / (n - size));
  sets.forEach((known, set) => {
    const weight = weights[known.reduce((sum, x) => sum + x, 0)];
    for (let i = 0; i < n; i++) {
      if (known[i]) continue;
      for (let o = 0; o < k; o++) values[i * k + o] += weight * (d[(set | (1 << i)) * k + o] - d[set * k + o]);
    }
  });
  return { values, base: d.slice(0, k), k, orders: 0 };
}

function sampleOrders(n, score) {
  const orders = [], sets = [];
  let state = 1;
  const draw = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  for (let r = 0; r < Math.max(4, Math.floor(MOST_SETS / n)); r++) {
    const order = r % 2 ? [...orders[r - 1]].reverse() : [...Array(n).keys()];
    if (r % 2 === 0) for (let i = n - 1; i > 0; i--) { const j = draw(i + 1); [order[i], order[j]] = [order[j], order[i]]; }
    const known = Array(n).fill(0);
    sets.push([...known]);
    for (const i of order) { known[i] = 1; sets.push([...known]); }
    orders.push(order);
  }
  const { k, d } = score(sets), values = new Float64Array(n * k);
  orders.forEach((order, r) => order.forEach((i, step) => {
    const at = (r * (n + 1) + step) * k;
    for (let o = 0; o < k; o++) values[i * k + o] += (d[at + k + o] - d[at + o]) / orders.length;
  }));
  return { values, base: d.slice(0, k), k, orders: orders.length };
}
