"use strict";
/* The page is complete without this: the filters hide what is of another client, release, scenario or verdict, and say how much is left. */
(function () {
  var form = document.querySelector(".filters");
  if (!form) { return; }
  form.hidden = false;
  var choosers = Array.from(form.querySelectorAll("[data-choose]"));
  var rows = Array.from(document.querySelectorAll("[data-row]"));
  function show() {
    var all = Array.from(document.querySelectorAll("[data-client], [data-release], [data-scenario], [data-verdict]"));
    all.forEach(function (one) {
      var isAway = choosers.some(function (chooser) {
        var has = one.getAttribute("data-" + chooser.dataset.choose);
        return chooser.value && has !== null && !has.includes("|" + chooser.value + "|");
      });
      one.toggleAttribute("data-away", isAway);
    });
    var left = rows.filter(function (row) { return !row.hasAttribute("data-away"); }).length;
    form.querySelector("output").textContent = left === rows.length ? "" : left + " of " + rows.length + " entries";
  }
  form.addEventListener("change", show);
  form.addEventListener("reset", function () { window.setTimeout(show); });
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  show();
  /* What an anchor names is shown, whatever is chosen. */
  window.addEventListener("hashchange", function () {
    var target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.closest("[data-away]")) { form.reset(); window.setTimeout(function () { target.scrollIntoView(); }, 50); }
  });
})();
