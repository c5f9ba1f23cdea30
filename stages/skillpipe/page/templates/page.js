// The page works without this: it opens the step that a link leads to, opens and closes all steps, and names the cells of the map.
(() => {
  "use strict";
  const lead = () => {
    const id = decodeURIComponent(location.hash.slice(1));
    const found = id && document.getElementById(id);
    if (found instanceof HTMLDetailsElement) {
      found.open = true;
      found.scrollIntoView({ block: "start" });
      found.querySelector("summary").focus({ preventScroll: true });
    }
  };
  addEventListener("hashchange", lead);
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && (link.hash || link.getAttribute("href")) === location.hash) lead();
  });
  lead();

  const button = document.getElementById("open-all");
  const steps = [...document.querySelectorAll("details.step")];
  if (steps.length > 1) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const open = steps.some((step) => !step.open);
      for (const step of steps) step.open = open;
      button.textContent = open ? "Close all" : "Open all";
    });
  }

  const map = document.getElementById("map");
  if (map) {
    map.addEventListener("mouseover", (event) => {
      const cell = event.target.closest("tbody td");
      if (!cell || cell.title) return;
      const step = map.tHead.rows[0].cells[cell.cellIndex].textContent;
      cell.title = `${cell.parentNode.cells[0].textContent}, ${step}: ${cell.textContent}`;
    });
  }
})();
