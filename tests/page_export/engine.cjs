// Runs the engines of pages in Node, for each folder that is given: of page.html and rows.f64, writes
// the outputs, the scores and the first sums of trees, and the Shapley values of some rows; or of
// cells.json, rows of texts, writes what the page shows of them as shown.json, and of rows.csv, if it
// exists, the lines that the page saves as saved.csv.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const SHAP_ROWS = 5;

async function run(folder) {
  const html = fs.readFileSync(path.join(folder, "page.html"), "utf8");
  const script = (id) => html.match(new RegExp(`<script[^>]* id="${id}">([^]*?)</script>`))[1];
  const source = `${script("engine")}; ({ inflate, Model, Explainer, Engine, parseRows })`;
  const globals = { atob, Blob, Response, DecompressionStream };
  const { inflate, Model, Explainer, Engine, parseRows } = vm.runInNewContext(source, globals);
  const spec = JSON.parse(script("spec")), buffer = await inflate(script("tables"));
  const cells = path.join(folder, "cells.json");
  if (fs.existsSync(cells)) {
    const engine = new Engine(spec, buffer);
    const rows = JSON.parse(fs.readFileSync(cells, "utf8"));
    const shown = engine.handle({ task: "predict", rows });
    const { values, base } = engine.handle({ task: "explain", cells: rows[0], typical: rows[1] });
    const explained = { values: [...values], base: [...base] };
    fs.writeFileSync(path.join(folder, "shown.json"), JSON.stringify({ shown, explained }));
    const file = path.join(folder, "rows.csv");
    if (fs.existsSync(file)) await predictFile(engine, parseRows, file, path.join(folder, "saved.csv"));
    return;
  }
  const model = new Model(spec, buffer);
  const bytes = fs.readFileSync(path.join(folder, "rows.f64"));
  const numbers = new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  const { output, scores, explanation, steps } = model.spec;
  const trees = Math.max(steps.findIndex((step) => step.op === "Trees"), 0);
  const found = model.compute(numbers, [output, scores, trees]);
  ["outputs", "scores", "sums"].forEach((name, k) => {
    fs.writeFileSync(path.join(folder, `${name}.f64`), Buffer.from(found[k].d.buffer));
  });
  if (!explanation) return;
  const explainer = new Explainer(model);
  const shap = Array.from({ length: SHAP_ROWS }, (_, i) => {
    const { values, base } = explainer.explain(numbers.slice(i * model.nColumns, (i + 1) * model.nColumns));
    return { values: [...values], base: [...base] };
  });
  fs.writeFileSync(path.join(folder, "shap.json"), JSON.stringify(shap));
}

async function predictFile(engine, parseRows, file, saved) {
  const text = fs.readFileSync(file, "utf8"), [header] = parseRows(text.split("\n")[0], ",");
  const places = engine.spec.columns.map(({ name, words_of: source }) => header.indexOf(header.includes(name) ? name : source));
  const body = text.slice(text.indexOf("\n") + 1);
  const { part } = engine.handle({ task: "batch", text: body, separator: ",", places, width: header.length });
  fs.writeFileSync(saved, `${[...header, ...engine.rules.header()].join(",")}\n${await part.text()}`);
}

(async () => {
  for (const folder of process.argv.slice(2)) await run(folder);
})();
