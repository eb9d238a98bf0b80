// What the page holds compressed: the data, and parts that are folded away at first. Each part takes
// the place of the element that names it, one after the other, once the rest is shown.
"use strict";
(() => {
  async function unpacked(id) {
    const text = document.getElementById(id).textContent;
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(inflated).text();
  }

  const places = document.querySelectorAll("[data-part]");
  let parts;

  function put(place) {
    if (!place.isConnected) return;
    const template = document.createElement("template");
    template.innerHTML = parts[place.dataset.part];
    place.replaceWith(template.content);
  }

  async function putAll() {
    parts = JSON.parse(await unpacked("parts"));
    for (const place of places) {
      put(place);
      await new Promise((resolve) => setTimeout(resolve));
    }
    document.documentElement.classList.add("whole");
  }

  // Paper cannot wait.
  addEventListener("beforeprint", () => parts && places.forEach(put));
  addEventListener("load", putAll);

  document.querySelector("[data-save=json]").addEventListener("click", async () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([await unpacked("data")], { type: "application/json" }));
    link.download = "run.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
})();
