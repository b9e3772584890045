// Evaluates an expression in the scripts of a page's engine, and writes the value as JSON:
// node calls.cjs FOLDER-OF-SCRIPTS "SCRIPTS" EXPRESSION < input.json; the expression reads `input`.
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [folder, names, expression] = process.argv.slice(2);
const source = names.split(" ").map((name) => fs.readFileSync(path.join(folder, name), "utf8")).join("");
const input = JSON.parse(fs.readFileSync(0, "utf8"));
const found = vm.runInNewContext(`${source}; (${expression})`, { input });
fs.writeFileSync(1, JSON.stringify(found, (_, value) => (typeof value === "number" && !Number.isFinite(value) ? String(value) : value)));
