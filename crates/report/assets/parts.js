// The compressed parts of the page: its data, long tables, and charts on another scale. They
// are put in their places one by one after the rest is shown.
"use strict";
(() => {
  async function unpacked(id) {
    const text = atob(document.getElementById(id).textContent);
    const bytes = new Uint8Array(text.length);
    for (let index = 0; index < text.length; index += 1) bytes[index] = text.charCodeAt(index);
    const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(inflated).text();
  }

  const turn = () => new Promise((resolve) => setTimeout(resolve));
  let parts;
  // A reloaded page restores its scroll position.
  let isLed = performance.getEntriesByType("navigation")[0].type === "navigate";
  for (const kind of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(kind, () => { isLed = false; }, { once: true, passive: true });
  }

  function put(place, html) {
    if (!place.isConnected) return;
    const template = document.createElement("template");
    template.innerHTML = html;
    const parent = place.parentElement;
    place.replaceWith(template.content);
    parent.dispatchEvent(new Event("put", { bubbles: true }));
  }

  const putFolded = (place) => put(place, parts[place.dataset.part]);
  const folded = () => document.querySelectorAll("[data-part]");

  async function putAll() {
    await turn();
    // A reader who follows an address to a folded place wants to see it. After the parts above it are
    // inserted, the page scrolls to it again, unless the reader has scrolled.
    const [anchor] = location.hash.slice(1).split("?");
    const go = () => isLed && document.getElementById(anchor)?.scrollIntoView();
    unfold();
    parts = JSON.parse(await unpacked("parts"));
    for (const place of folded()) {
      putFolded(place);
      await turn();
    }
    document.documentElement.classList.add("whole");
    go();
  }

  // The folded parts around the place that the address names, or in it.
  function unfold() {
    const [anchor] = location.hash.slice(1).split("?");
    const place = document.getElementById(anchor);
    const within = place?.querySelector(":scope > details");
    if (within) within.open = true;
    for (let part = place?.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
  }
  addEventListener("hashchange", unfold);

  // A print of all chapters includes what is folded in them.
  document.getElementById("print-all").addEventListener("change", (event) => {
    if (event.target.checked) document.querySelectorAll(".fold").forEach((part) => { part.open = true; });
  });
  // Printing needs all parts immediately.
  addEventListener("beforeprint", () => {
    if (parts) folded().forEach(putFolded);
  });
  addEventListener("load", putAll);

  document.querySelector("[data-save=json]").addEventListener("click", async () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([await unpacked("data")], { type: "application/json" }));
    link.download = "run.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
})();
