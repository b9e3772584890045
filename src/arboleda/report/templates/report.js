"use strict";
(() => {
  const key = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent.trim();

  // Numbers by size, before texts by the alphabet; what is missing comes last either way.
  const compare = (a, b, sign) => {
    if (a === "" || b === "") return (a === "") - (b === "");
    const x = Number(a), y = Number(b);
    if (Number.isNaN(x) !== Number.isNaN(y)) return sign * (Number.isNaN(x) - Number.isNaN(y));
    return sign * (Number.isNaN(x) ? a.localeCompare(b, "en", { numeric: true }) : x - y);
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
    all.textContent = open ? "Close all" : "Open all";
  });

  // A link to a model opens it: a closed section would hide what the reader asked for.
  const reveal = () => {
    const target = document.getElementById(location.hash.slice(1));
    const section = target?.closest("details");
    if (section) {
      section.open = true;
      section.scrollIntoView();
    }
  };
  addEventListener("hashchange", reveal);
  reveal();
})();
