"use strict";
(() => {
  const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();

  // Numbers by size, then texts alphabetically; missing values are last in both directions.
  const compare = (a, b, sign) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const x = Number(a), y = Number(b);
    if (Number.isNaN(x) !== Number.isNaN(y)) return sign * (Number.isNaN(x) - Number.isNaN(y));
    return sign * (Number.isNaN(x) ? a.localeCompare(b, document.documentElement.lang, { numeric: true }) : x - y);
  };

  const sort = (button) => {
    const head = button.closest("th");
    const column = head.cellIndex;
    const first = head.dataset.first ?? "ascending";
    const other = first === "ascending" ? "descending" : "ascending";
    const next = head.getAttribute("aria-sort") === first ? other : first;
    for (const cell of head.parentElement.cells) cell.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", next);
    const body = head.closest("table").tBodies[0];
    const sign = next === "ascending" ? 1 : -1;
    const rows = [...body.rows].sort((a, b) => compare(key(a, column), key(b, column), sign));
    body.append(...rows);
  };

  for (const button of document.querySelectorAll("th button")) {
    button.addEventListener("click", () => sort(button));
  }

  const sections = [...document.querySelectorAll("details.model")];
  const all = document.getElementById("open-all");
  all?.addEventListener("click", () => {
    const open = sections.some((section) => !section.open);
    for (const section of sections) section.open = open;
    for (const part of document.querySelectorAll("details.others")) part.open = open;
    all.textContent = open ? all.dataset.close : all.dataset.open;
  });

  // Typing into the field above a table hides the rows whose names do not contain the text.
  for (const field of document.querySelectorAll("[data-filter]")) {
    const rows = [...document.getElementById(field.dataset.filter).tBodies[0].rows];
    const output = field.closest(".filter").querySelector("output");
    field.closest(".filter").hidden = false;
    field.addEventListener("input", () => {
      const typed = field.value.trim().toLowerCase();
      for (const row of rows) {
        row.hidden = !row.querySelector("th").textContent.toLowerCase().includes(typed);
      }
      const shown = rows.filter((row) => !row.hidden).length;
      output.textContent = typed === "" ? "" : output.dataset.shown
        .replace("{shown}", shown).replace("{all}", rows.length);
    });
  }

  // The theme follows the system until the reader chooses one.
  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  let wanted = null;
  const paint = () => {
    const dark = wanted ?? system.matches;
    if (wanted !== null) {
      document.getElementById("dark").media = dark ? "screen" : "not all";
      document.documentElement.style.colorScheme = dark ? "dark" : "light";
    }
    theme.textContent = dark ? theme.dataset.light : theme.dataset.dark;
  };
  theme.addEventListener("click", () => {
    wanted = !(wanted ?? system.matches);
    paint();
  });
  system.addEventListener("change", paint);
  theme.hidden = false;
  paint();

  // Open collapsed sections for printing.
  const closed = () => [...document.querySelectorAll("details:not([open])")];
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = closed().filter((part) => part.closest(".model") === null);
    for (const part of opened) part.open = true;
  });
  addEventListener("afterprint", () => {
    for (const part of opened) part.open = false;
  });

  // A link opens the folded parts that hold its target.
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    const folded = target?.querySelector(":scope > details.fold");
    let part = folded ?? target?.closest("details");
    if (!part) return;
    for (; part; part = part.parentElement.closest("details")) part.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);

  const menu = document.querySelector("nav .menu");
  const closeMenu = () => { menu.open = false; };
  menu?.addEventListener("click", (event) => { if (event.target.closest("a")) closeMenu(); });
  menu?.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !menu.open) return;
    closeMenu();
    menu.querySelector("summary").focus();
  });
  reveal();
})();
