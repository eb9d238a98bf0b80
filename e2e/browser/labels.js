// Looks at pages and pictures as a reader does, at a desk, on a tablet and on a phone, light and dark: no two texts of
// a picture overlap, none is cut, and nothing that should be marked up is raw; see run.sh.

import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./browser.js";

const WIDTHS = [1280, 768, 390];
const SCHEMES = ["light", "dark"];
// More faults of a page are only counted.
const MOST_NAMED = 20;

const [out, ...files] = process.argv.slice(2);

// Everything that is wrong with the page as it is now, each fault once, in words. Runs in the page.
function faultsOfPage() {
  const faults = new Set();
  const isShown = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const name = (svg) => svg.getAttribute("aria-label") ?? "a picture";
  for (const svg of document.querySelectorAll("svg")) {
    if (!isShown(svg)) continue;
    const frame = svg.getBoundingClientRect();
    // Letters take three quarters of the height of a line.
    const texts = [...svg.querySelectorAll("text")].filter(isShown).map((text) => {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      const air = (bottom - top) / 8;
      return { words: text.textContent, left, right, top: top + air, bottom: bottom - air };
    }).filter((text) => text.right > text.left);
    texts.forEach((one, index) => {
      // The names below the lower edge are for readers who save the picture: the page has them in its legend.
      if (one.top > frame.bottom) return;
      const isOutside = one.left < frame.left - 1 || one.right > frame.right + 1
        || one.top < frame.top - 1 || one.bottom > frame.bottom + 1;
      if (isOutside) faults.add(`${name(svg)}: “${one.words}” is cut by the edge`);
      if (one.words.includes("…")) faults.add(`${name(svg)}: “${one.words}” is shortened`);
      for (const other of texts.slice(index + 1)) {
        const meet = one.left < other.right && other.left < one.right
          && one.top < other.bottom && other.top < one.bottom;
        if (meet) faults.add(`${name(svg)}: “${one.words}” overlaps “${other.words}”`);
      }
    });
  }
  if (document.contentType === "image/svg+xml") return [...faults];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) {
    faults.add(`the page is ${root.scrollWidth} px wide in a window of ${root.clientWidth} px`);
  }
  // A table that scrolls sideways hides its last columns.
  for (const region of document.querySelectorAll(".scroll")) {
    if (isShown(region) && region.scrollWidth > region.clientWidth + 1 && !region.closest(".numbers, .estimates")) {
      faults.add(`${region.getAttribute("aria-label")}: ${region.scrollWidth} px wide in ${region.clientWidth} px`);
    }
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const raw = [];
  while (walker.nextNode()) {
    const { parentElement: parent, textContent } = walker.currentNode;
    if (textContent.includes("`") && !parent.closest("script, style")) raw.push(textContent.trim().slice(0, 80));
  }
  if (raw.length > 0) faults.add(`raw backticks in ${raw.length} texts, the first: ${raw[0]}`);
  return [...faults];
}

const browser = await launch();
let failed = 0;
for (const file of files) {
  const name = basename(file).replace(/\.[a-z]+$/, "");
  // Each fault with the views that have it.
  const views = new Map();
  for (const width of WIDTHS) {
    for (const colorScheme of SCHEMES) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await context.newPage();
      await page.goto(pathToFileURL(file).href);
      if (await page.locator("script#parts").count() > 0) await page.waitForSelector("html.whole");
      const view = `${width} ${colorScheme}`;
      await page.screenshot({ path: join(out, `${name}-${view.replace(" ", "-")}.png`) });
      await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => { fold.open = true; }));
      for (const fault of await page.evaluate(faultsOfPage)) views.set(fault, [...views.get(fault) ?? [], view]);
      await context.close();
    }
  }
  if (views.size > 0) failed += 1;
  console.log(`${views.size === 0 ? "ok      " : "FAILED  "}${name}: no label overlaps or is cut, at any width, light and dark`);
  for (const [fault, where] of [...views].slice(0, MOST_NAMED)) {
    const all = where.length === WIDTHS.length * SCHEMES.length ? "everywhere" : where.join(", ");
    console.log(`        ${fault} (${all})`);
  }
  if (views.size > MOST_NAMED) console.log(`        and ${views.size - MOST_NAMED} more faults`);
}
await browser.close();
process.exit(failed === 0 ? 0 : 1);
