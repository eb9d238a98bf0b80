// Deferred parts of the page, so that the rest appears immediately. Charts and further sentences are
// in noscript elements: plain text if scripts run, part of the document if they do not. The data and
// long tables are compressed. The parts are inserted one by one after the rest is shown.
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
  const later = [...document.querySelectorAll("noscript.later")];
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

  const putLater = (place) => put(place, place.textContent);
  const putFolded = (place) => put(place, parts[place.dataset.part]);
  const folded = () => document.querySelectorAll("[data-part]");

  async function putAll() {
    await turn();
    // The target of the address is inserted first. After the parts above it are inserted, the page
    // scrolls to it again, unless the reader has scrolled.
    const [anchor] = location.hash.slice(1).split("?");
    const go = () => isLed && document.getElementById(anchor)?.scrollIntoView();
    later.filter((place) => place.textContent.includes(`id="${anchor}"`)).forEach(putLater);
    go();
    for (const place of later) {
      putLater(place);
      await turn();
    }
    parts = JSON.parse(await unpacked("parts"));
    for (const place of folded()) {
      putFolded(place);
      await turn();
    }
    document.documentElement.classList.add("whole");
    go();
  }

  // Printing needs all parts immediately.
  addEventListener("beforeprint", () => {
    later.forEach(putLater);
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
