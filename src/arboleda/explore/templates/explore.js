(() => {
  // Typing into a filter hides the rows of its table whose name lacks the text.
  for (const field of document.querySelectorAll("input[data-filters]")) {
    const rows = [...document.getElementById(field.dataset.filters).tBodies[0].rows];
    const told = field.parentElement.querySelector("output");
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = !row.cells[0].dataset.value.toLowerCase().includes(wanted);
        shown += !row.hidden;
      }
      told.textContent = wanted === "" ? "" : `${shown} of ${rows.length}`;
    });
  }
})();
