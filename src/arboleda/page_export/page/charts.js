/* Drawings: a curve over one column, a map over two. */
const WIDTH = 640, HEIGHT = 360, BOTTOM = 34, TOP = 12, RIGHT_EDGE = 16;
const EDGE = 60, NAMES_EDGE = 124; // left of the axis, for numbers and for names

/* Round numbers within a range. */
function ticks(low, high, count = 5) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= raw);
  const found = [];
  for (let i = Math.ceil(low / step); i * step <= high; i++) found.push(i * step);
  return found;
}

function cutText(text, room) {
  return text.length > room ? `${text.slice(0, room - 1)}\u2026` : text;
}

function widen(low, high) {
  if (high > low) return [low, high];
  const margin = Math.abs(low) * 0.05 || 0.5;
  return [low - margin, high + margin];
}

/* A curve, or dots for categories, with the current value. */
function drawCurve({ points, values, now, labels, range, format, formatX, label }) {
  const [low, high] = range || widen(Math.min(...values, now.y), Math.max(...values, now.y));
  const first = labels ? -0.5 : points[0], last = labels ? points.length - 0.5 : points[points.length - 1];
  const x = (v) => EDGE + ((v - first) / (last - first || 1)) * (WIDTH - EDGE - RIGHT_EDGE);
  const y = (v) => TOP + ((high - v) / (high - low)) * (HEIGHT - TOP - BOTTOM);
  const made = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, class: "plot" });
  const text = (at, up, content, anchor) => {
    const added = svg("text", { x: at, y: up, "text-anchor": anchor });
    added.textContent = content;
    made.append(added);
  };
  for (const tick of ticks(low, high, 4)) {
    made.append(svg("line", { x1: EDGE, x2: WIDTH - RIGHT_EDGE, y1: y(tick), y2: y(tick), class: "grid" }));
    text(EDGE - 8, y(tick) + 4, format(tick), "end");
  }
  if (labels) {
    const room = Math.max(3, Math.floor(80 / points.length));
    points.forEach((_, i) => {
      text(x(i), HEIGHT - 12, cutText(labels[i], room), "middle");
      made.append(svg("line", { x1: x(i), x2: x(i), y1: y(low), y2: y(values[i]), class: "stem" }));
      made.append(svg("circle", { cx: x(i), cy: y(values[i]), r: 5, class: i === now.x ? "now" : "dot" }));
    });
    return { made, at: (share) => Math.round(first + share * (last - first)) };
  }
  for (const tick of ticks(first, last, 6)) text(x(tick), HEIGHT - 12, formatX(tick), "middle");
  made.append(svg("path", { d: values.map((v, i) => `${i ? "L" : "M"}${x(points[i])},${y(v)}`).join(""), class: "curve" }));
  if (now.x >= first && now.x <= last) {
    made.append(svg("line", { x1: x(now.x), x2: x(now.x), y1: TOP, y2: HEIGHT - BOTTOM, class: "here" }));
    made.append(svg("circle", { cx: x(now.x), cy: y(now.y), r: 5.5, class: "now" }));
  }
  return { made, at: (share) => first + share * (last - first) };
}

/* The share of the width of a drawing at which it was clicked, and that of the height from below. */
function findShares(event, box, edge) {
  const scale = box.width / WIDTH;
  return [
    (event.clientX - box.left - edge * scale) / (box.width - (edge + RIGHT_EDGE) * scale),
    1 - (event.clientY - box.top - TOP * scale) / (box.height - (TOP + BOTTOM) * scale),
  ].map((share) => Math.min(1, Math.max(0, share)));
}

/* A map of values over two axes, whose colours go from one to the other. */
function drawMap({ axes, values, format, label, now, range }) {
  const [low, high] = range || widen(Math.min(...values), Math.max(...values));
  const made = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, class: "plot" });
  const edge = axes[1].numbers ? EDGE : NAMES_EDGE;
  const width = WIDTH - edge - RIGHT_EDGE, height = HEIGHT - TOP - BOTTOM;
  const [n, m] = axes.map((axis) => axis.points.length);
  const dx = width / n, dy = height / m;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      const share = (values[i * m + j] - low) / (high - low);
      const cell = svg("rect", { x: edge + i * dx, y: TOP + (m - 1 - j) * dy, width: dx + 0.6, height: dy + 0.6 });
      cell.style.fill = `color-mix(in oklab, var(--high) ${(100 * share).toFixed(1)}%, var(--low))`;
      made.append(cell);
    }
  }
  axes.forEach((axis, k) => {
    const count = k ? m : n, shown = Math.min(count, axis.numbers ? 6 : 13);
    const room = k ? 14 : Math.max(3, Math.floor((axes[1].numbers ? 76 : 66) / shown));
    for (let s = 0; s < shown; s++) {
      const i = shown > 1 ? Math.round((s * (count - 1)) / (shown - 1)) : 0;
      const place = k ? { x: edge - 8, y: TOP + (m - i - 0.5) * dy + 4, "text-anchor": "end" } : { x: edge + (i + 0.5) * dx, y: HEIGHT - 12, "text-anchor": "middle" };
      const text = svg("text", place);
      text.textContent = cutText(axis.names[i], room);
      made.append(text);
    }
  });
  if (now.every((i) => i >= 0)) {
    made.append(svg("circle", { cx: edge + (now[0] + 0.5) * dx, cy: TOP + (m - now[1] - 0.5) * dy, r: 6, class: "spot" }));
  }
  return { made, edge, low: format(low), high: format(high), at: (shares) => [n, m].map((count, k) => Math.min(count - 1, Math.floor(shares[k] * count))) };
}
