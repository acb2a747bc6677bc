// The search: shows the cases whose text holds every word. Without it the page lacks nothing else.
"use strict";
{
  const find = document.getElementById("find");
  // The command that runs a case again is the whole run's, and would be found in every case.
  const text = (one) => {
    const copy = one.cloneNode(true);
    copy.querySelectorAll(".again").forEach((again) => again.remove());
    return copy.textContent.toLowerCase();
  };
  const cases = [...document.querySelectorAll(".case")].map((one) => ({ one, text: text(one) }));
  const cells = [...document.querySelectorAll(".cell")];
  const parts = [...document.querySelectorAll(".group, .part")];
  const search = () => {
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = new Set();
    for (const { one, text } of cases) {
      one.hidden = !words.every((word) => text.includes(word));
      if (!one.hidden) found.add(`#${one.id}`);
    }
    for (const cell of cells) cell.hidden = !found.has(cell.firstElementChild.hash);
    for (const part of parts) {
      part.hidden = part.querySelector(".case:not([hidden]), .cell:not([hidden])") === null;
      if (part.localName === "details") part.open = words.length > 0;
    }
    document.getElementById("found").textContent = words.length > 0 ? `${found.size} of ${cases.length}` : "";
  };
  document.getElementById("search").hidden = false;
  find.addEventListener("input", search);
}
