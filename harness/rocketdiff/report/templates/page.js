"use strict";
/* The page is complete without this: it copies a command, opens what a link points into, and hides what conforms when asked. */
(function () {
  function copied(button, said) {
    var before = button.textContent;
    button.textContent = said;
    window.setTimeout(function () { button.textContent = before; }, 1600);
  }
  function copyByHand(text) {
    var area = document.createElement("textarea");
    area.value = text;
    document.body.appendChild(area);
    area.select();
    var done = document.execCommand("copy");
    area.remove();
    return done;
  }
  document.querySelectorAll("[data-copy]").forEach(function (button) {
    button.addEventListener("click", function () {
      var text = document.getElementById(button.dataset.copy).textContent;
      var hand = function () { copied(button, copyByHand(text) ? "Copied" : "Select and copy it"); };
      if (!navigator.clipboard) { hand(); return; }
      navigator.clipboard.writeText(text).then(function () { copied(button, "Copied"); }, hand);
    });
  });
  function unfold() {
    var target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    var fold = target && target.closest("details");
    if (fold && !fold.open) { fold.open = true; target.scrollIntoView(); }
  }
  window.addEventListener("hashchange", unfold);
  unfold();
  document.querySelectorAll("[data-filter]").forEach(function (button) {
    button.closest("[hidden]").hidden = false;
    button.addEventListener("click", function () {
      var only = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(only));
      document.body.classList.toggle("only-telling", only);
    });
  });
})();
