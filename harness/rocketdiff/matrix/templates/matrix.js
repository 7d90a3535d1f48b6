"use strict";
/* The page is complete without this: arrow keys walk over the cells of a table, and a client's part is unfolded before it is printed. */
(function () {
  document.querySelectorAll("table.clients").forEach(function (table) {
    var rows = Array.from(table.tBodies[0].rows).map(function (row) { return Array.from(row.querySelectorAll("td > a")); });
    var cells = rows.flat();
    if (!cells.length) { return; }
    cells.forEach(function (cell, number) { cell.tabIndex = number ? -1 : 0; });
    function go(cell) {
      cells.forEach(function (one) { one.tabIndex = one === cell ? 0 : -1; });
      cell.focus();
    }
    table.addEventListener("keydown", function (event) {
      var shown = rows.filter(function (row) { return row.length && row[0].offsetParent !== null; });
      var at = shown.findIndex(function (row) { return row.includes(event.target); });
      if (at < 0) { return; }
      var column = shown[at].indexOf(event.target);
      var row = shown[at];
      var next = {
        ArrowRight: row[column + 1], ArrowLeft: row[column - 1],
        ArrowDown: shown[at + 1] && shown[at + 1][column], ArrowUp: shown[at - 1] && shown[at - 1][column],
        Home: row[0], End: row[row.length - 1],
      }[event.key];
      if (next) { event.preventDefault(); go(next); }
    });
  });
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details").forEach(function (fold) { fold.open = true; });
  });
})();
