/* Sums of trees: nodes in preorder, in typed arrays.
 *
 * A node reads one slot of a row and compares it with a
 * number: values above it go right. A slot is a column whose missing values are replaced so that
 * the comparison sends them the right way:
 *
 *     missing values go left    NaN -> -Infinity
 *     missing values go right   NaN -> +Infinity
 *     only missing ones do      NaN -> 1, others -> 0, compared with 0.5
 *     categories                the code, or the number of categories; looked up in a bit set
 *
 * A leaf compares with NaN, which is never exceeded, and its left child is itself.
 */
const LEFT = 0, RIGHT = 1, ONLY = 2, CODE = 3;

class Trees {
  constructor(step, table) {
    const of = (name) => table(step[name]);
    this.start = of("start");
    this.divisor = step.divisor;
    this.width = step.width;
    this.sizes = of("sizes");
    this.outputs = of("outputs");
    this.values = of("values");
    this.count = this.start.length;
    this.readNodes(of);
    this.nodeValues = Float64Array.from(this.leaf, (leaf) => this.values[leaf * this.width]);
    this.linear = step.linear ? this.readTerms(step.linear, table) : null;
    this.leafWeights = of("weights");
  }

  readNodes(of) {
    const feature = of("feature"), right = of("right"), ways = of("ways");
    const at = of("at"), thresholds = of("thresholds");
    const n = feature.length;
    this.feature = feature;
    this.kids = new Int32Array(2 * n);
    this.slot = new Int32Array(n);
    this.cut = new Float64Array(n);
    this.leaf = new Int32Array(n);
    this.bitsAt = new Int32Array(n).fill(-1);
    this.slots = [];
    this.readLists(of, ways);
    const places = new Map();
    for (let i = 0, inner = 0, leaves = 0; i < n; i++) {
      if (feature[i] < 0) {
        this.kids[2 * i] = this.kids[2 * i + 1] = i;
        this.slot[i] = -1;
        this.cut[i] = NaN;
        this.leaf[i] = leaves++;
        continue;
      }
      this.kids[2 * i] = i + 1;
      this.kids[2 * i + 1] = i + right[inner];
      const way = this.wayOf(ways[inner], thresholds[at[inner]]);
      const key = 4 * feature[i] + way;
      if (!places.has(key)) {
        places.set(key, this.slots.length);
        this.slots.push([feature[i], way]);
      }
      this.slot[i] = places.get(key);
      this.cut[i] = way === ONLY ? 0.5 : thresholds[at[inner]];
      if (way === CODE) this.bitsAt[i] = this.nextList(ways[inner]);
      inner++;
    }
    this.listed = new Uint8Array(this.sizes.length);
    for (let t = 0, i = 0; t < this.sizes.length; t++) {
      for (const end = i + this.sizes[t]; i < end; i++) if (this.bitsAt[i] >= 0) this.listed[t] = 1;
    }
  }

  wayOf(ways, threshold) {
    if (ways & 2) return CODE;
    if (ways & 1) return LEFT;
    return threshold === Infinity ? ONLY : RIGHT;
  }

  /* Bit sets of the codes that go right; the code after the last stands for missing ones. */
  readLists(of, ways) {
    const categories = of("categories");
    this.listSizes = of("list_sizes");
    this.categories = categories;
    this.mostCodes = 1;
    for (const code of categories) if (code + 2 > this.mostCodes) this.mostCodes = code + 2;
    this.words = (this.mostCodes + 31) >> 5;
    this.bits = new Int32Array(this.words * this.listSizes.length);
    this.listNumber = this.listPlace = 0;
  }

  nextList(ways) {
    const first = this.listNumber * this.words;
    const end = this.listPlace + this.listSizes[this.listNumber++];
    const missingLeft = ways & 1;
    // Listed codes go to the side of which missing ones are not.
    if (!missingLeft) this.bits.fill(-1, first, first + this.words);
    for (; this.listPlace < end; this.listPlace++) {
      const code = this.categories[this.listPlace];
      this.bits[first + (code >> 5)] ^= 1 << (code & 31);
    }
    return first;
  }

  readTerms(linear, table) {
    const counts = table(linear.term_counts);
    const first = new Int32Array(counts.length + 1);
    for (let i = 0; i < counts.length; i++) first[i + 1] = first[i] + counts[i];
    const parts = { first };
    for (const name of ["term_features", "intercepts", "coefficient", "low", "high"]) {
      parts[name] = table(linear[name]);
    }
    return parts;
  }

  /* Fills the slots of each row of a matrix; the first place is padding for leaves, and three rows at
   * the end complete a group of four. */
  fillSlots(matrix) {
    const { r: rows, c: columns, d } = matrix, n = this.slots.length;
    const filled = new Float64Array(1 + (rows + 3) * n);
    for (let s = 0; s < n; s++) {
      const [feature, way] = this.slots[s];
      const absent = way === LEFT ? -Infinity : way === RIGHT ? Infinity : way === ONLY ? 1 : this.mostCodes - 1;
      for (let i = 0; i < rows; i++) {
        const value = d[i * columns + feature];
        let found = value !== value ? absent : way === ONLY ? 0 : value;
        if (way === CODE && !(found >= 0 && found < absent && found === Math.floor(found))) found = absent;
        filled[1 + i * n + s] = found;
      }
    }
    return filled;
  }

  sums(matrix) {
    const rows = matrix.r, k = this.count;
    const padded = new Float64Array((rows + 3) * k), out = padded.subarray(0, rows * k);
    for (let i = 0; i < rows; i++) out.set(this.start, i * k);
    const filled = this.fillSlots(matrix);
    const leaves = new Int32Array(rows), isSimple = this.width === 1 && !this.linear;
    for (let t = 0, root = 0; t < this.sizes.length; root += this.sizes[t++]) {
      if (isSimple && !this.listed[t]) this.addValues(root, filled, padded, this.outputs[t]);
      else {
        this.walk(root, filled, leaves);
        this.addLeaves(leaves, out, this.outputs[t], matrix);
      }
    }
    if (this.divisor !== 1) for (let i = 0; i < out.length; i++) out[i] /= this.divisor;
    return { r: rows, c: k, d: out };
  }

  /* Adds the leaves of a tree of numeric splits; rows pass it in groups of four, without branches. */
  addValues(root, filled, out, output) {
    const { kids, slot, cut, nodeValues: values, count: k } = this, n = this.slots.length, rows = out.length / k;
    for (let i = 0, o = output; i + 3 < rows; i += 4, o += 4 * k) {
      const p = 1 + i * n, q = p + n, r = q + n, s = r + n;
      let a = root, b = root, c = root, d = root;
      let u = slot[a], v = u, w = u, x = u;
      while ((u & v & w & x) >= 0) {
        a = kids[(a << 1) | (filled[p + u] > cut[a])];
        b = kids[(b << 1) | (filled[q + v] > cut[b])];
        c = kids[(c << 1) | (filled[r + w] > cut[c])];
        d = kids[(d << 1) | (filled[s + x] > cut[d])];
        u = slot[a]; v = slot[b]; w = slot[c]; x = slot[d];
      }
      out[o] += values[a]; out[o + k] += values[b];
      out[o + 2 * k] += values[c]; out[o + 3 * k] += values[d];
    }
  }

  walk(root, filled, leaves) {
    const n = this.slots.length;
    for (let i = 0; i < leaves.length; i++) {
      let a = root;
      while (this.slot[a] >= 0) a = this.kids[2 * a + this.side(a, filled[1 + i * n + this.slot[a]])];
      leaves[i] = this.leaf[a];
    }
  }

  /* The side of a value at a node: 0 left, 1 right. */
  side(node, value) {
    const at = this.bitsAt[node];
    if (at < 0) return +(value > this.cut[node]);
    return (this.bits[at + (value >> 5)] >>> (value & 31)) & 1;
  }

  addLeaves(leaves, out, output, matrix) {
    const { values, width, count: k, linear } = this;
    if (linear) {
      for (let i = 0; i < leaves.length; i++) out[i * k + output] += this.term(leaves[i], matrix, i);
    } else if (width === 1) {
      for (let i = 0, o = output; i < leaves.length; i++, o += k) out[o] += values[leaves[i]];
    } else {
      for (let i = 0; i < leaves.length; i++) {
        for (let j = 0, v = leaves[i] * width, o = i * k + output; j < width; j++) out[o++] += values[v++];
      }
    }
  }

  /* The value of a linear leaf; its constant one if a column of its terms is missing. */
  term(leaf, matrix, row) {
    const { first, term_features, intercepts, coefficient, low, high } = this.linear;
    if (first[leaf] === first[leaf + 1]) return this.values[leaf];
    let sum = intercepts[leaf];
    for (let i = first[leaf]; i < first[leaf + 1]; i++) {
      let value = matrix.d[row * matrix.c + term_features[i]];
      if (value !== value) return this.values[leaf];
      if (value < low[i]) value = low[i];
      if (value > high[i]) value = high[i];
      sum += coefficient[i] * (value - low[i]);
    }
    return sum;
  }
}
