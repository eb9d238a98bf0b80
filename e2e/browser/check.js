// Tries everything that a reader can do with a page; see run.sh.

import assert from "node:assert/strict";
import { readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch, open } from "./browser.js";

const [file, out] = process.argv.slice(2);
const url = pathToFileURL(file).href;
const axe = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const desk = { width: 1280, height: 900 };
const phone = { width: 390, height: 844 };
const browser = await launch();
let passed = 0;
let failed = 0;

// Opens the page, tries something, and demands that the page itself did not complain.
async function check(name, options, attempt) {
  const opened = await open(browser, url + (options.hash ?? ""), {
    viewport: desk, ...options.context,
  });
  try {
    if (!options.folded) await unfold(opened.page);
    await attempt(opened.page);
    assert.deepEqual(opened.complaints, []);
    passed += 1;
    console.log(`ok      ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}\n        ${error.message.replaceAll("\n", "\n        ")}`);
  } finally {
    await opened.context.close();
  }
}

// Opens every chapter, as a reader would who wants all of it.
const unfold = (page) => page.locator("details").evaluateAll(
  (all) => all.forEach((chapter) => { chapter.open = true; }));

// The first figure for which `selector` finds something.
const figureWith = (page, selector) => page.locator("figure.figure").filter({
  has: page.locator(selector),
}).first();
// Whether there is something to try; a page without it says so and passes.
async function isMissing(locator, what) {
  const isMissing = await locator.count() === 0;
  if (isMissing) console.log(`        (skipped: no ${what} in this page)`);
  return isMissing;
}

const chartOf = (figure) => figure.locator("svg.chart:visible");
const ticksOf = (figure) => chartOf(figure).locator(".y-tick, .x-tick").allTextContents();
const LIMIT_BYTES = 2_000_000;
const LOADS = 10;

async function save(page, figure, kind) {
  const download = page.waitForEvent("download");
  await figure.locator(`[data-save=${kind}]`).click();
  return readFile(await (await download).path(), "utf8");
}

await check("small enough to mail", {}, async () => {
  const { size } = await stat(file);
  console.log(`        ${size} bytes`);
  assert.ok(size < LIMIT_BYTES, `${size} bytes`);
});

// Told, not judged: a busy machine takes longer. The first load is of a browser just started.
await check("how long it takes to paint and to load", {}, async () => {
  const started = await launch();
  const painted = [];
  const loaded = [];
  for (let load = 0; load < LOADS; load += 1) {
    const { page, context } = await open(started, url, { viewport: desk });
    const [paint, whole] = await page.evaluate(async () => {
      const entry = await new Promise((resolve) => {
        new PerformanceObserver((list) => resolve(list.getEntriesByName("first-contentful-paint")[0]))
          .observe({ type: "paint", buffered: true });
      });
      return [entry.startTime, performance.getEntriesByType("navigation")[0].loadEventEnd];
    });
    painted.push(paint);
    loaded.push(whole);
    await context.close();
  }
  await started.close();
  for (const [what, times] of [["first paint", painted], ["loaded", loaded]]) {
    const [first, ...warm] = times.map(Math.round);
    warm.sort((a, b) => a - b);
    console.log(`        ${what} after ${first} ms at first, then ${warm[warm.length >> 1]} ms `
      + `(median of ${warm.length}, from ${warm[0]} to ${warm.at(-1)} ms)`);
  }
});

for (const colorScheme of ["light", "dark"]) {
  for (const [name, viewport] of [["desk", desk], ["phone", phone]]) {
    await check(`${name}, ${colorScheme}: no sideways scrolling, no barrier`, {
      context: { viewport, colorScheme }, folded: true,
    }, async (page) => {
      await page.screenshot({ path: join(out, `${name}-${colorScheme}.png`), fullPage: true });
      await page.screenshot({ path: join(out, `${name}-${colorScheme}-first.png`) });
      const [content, window] = await page.evaluate(() => [
        document.documentElement.scrollWidth, document.documentElement.clientWidth]);
      assert.ok(content <= window, `${content} px wide in a window of ${window} px`);
      await page.evaluate(axe);
      for (const look of [() => {}, unfold]) {
        await look(page);
        const { violations } = await page.evaluate(() => globalThis.axe.run());
        const reported = violations
          .map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map((n) => n.html).join("\n")}`);
        assert.deepEqual(reported, []);
      }
    });
  }
}

// The pictures, what is unusual and the settings are what a reader sees without scrolling, or on two screens of a phone.
for (const [name, viewport, screens] of [
  ["desk", { width: 1280, height: 800 }, 1], ["phone", phone, 2],
]) {
  await check(`${name}: the machine at a glance is in sight`, {
    context: { viewport }, folded: true,
  }, async (page) => {
    const glance = page.locator("#glance");
    if (await isMissing(glance, "picture at a glance")) return;
    const end = await glance.evaluate((part) => part.getBoundingClientRect().bottom);
    assert.ok(end <= screens * viewport.height, `it ends at ${end} px`);
  });
}

await check("text in the charts is large enough to read on a phone", {
  context: { viewport: phone },
}, async (page) => {
  const sizes = await page.locator("svg.chart:visible").evaluateAll((charts) => charts.map(
    (svg) => Number(svg.getAttribute("font-size")) * svg.getBoundingClientRect().width
      / svg.viewBox.baseVal.width));
  assert.ok(sizes.length > 0 && sizes.every((size) => size >= 10), `sizes in px: ${sizes}`);
});

await check("hover shows the value of a point and its interval", {}, async (page) => {
  const figure = figureWith(page, ".panel:not(.rows)");
  if (await isMissing(figure, "figure with curves")) return;
  const marker = chartOf(figure).locator(".panel .m").first();
  await marker.hover({ force: true });
  const tip = await figure.locator(".tip").innerText();
  const index = await marker.getAttribute("data-i");
  const cell = figure.locator(`.numbers tbody tr:nth-child(${Number(index) + 1}) td`).first();
  const value = (await cell.evaluate((td) => td.firstChild.textContent)).trim();
  assert.ok(tip.includes(value), `${value} is not in: ${tip}`);
  assert.match(tip, /n = \d+ processes/);
});

await check("hover points at the same place in figures that share the axis", {}, async (page) => {
  const keys = await page.locator("figure.figure").evaluateAll(
    (all) => all.map((figure) => figure.dataset.x));
  const shared = keys.findIndex((key, i) => key && keys.indexOf(key) !== i);
  if (shared < 0) {
    console.log("        (skipped: no two figures share an axis in this page)");
    return;
  }
  await chartOf(page.locator("figure.figure").nth(shared)).locator(".panel .m").last()
    .hover({ force: true });
  const first = page.locator("figure.figure").nth(keys.indexOf(keys[shared]));
  assert.ok(await chartOf(first).locator(".cross").count() > 0);
});

await check("arrow keys read the values", {}, async (page) => {
  const figure = page.locator("figure.figure").first();
  await figure.locator(".plot").focus();
  await page.keyboard.press("End");
  const last = await figure.locator(".tip").innerText();
  await page.keyboard.press("ArrowLeft");
  const before = await figure.locator(".tip").innerText();
  assert.notEqual(before, last);
  await page.keyboard.press("Escape");
  assert.ok(await figure.locator(".tip").isHidden());
});

await check("a tap shows a value on a phone", {
  context: { viewport: phone, hasTouch: true, isMobile: true },
}, async (page) => {
  const figure = page.locator("figure.figure").first();
  await chartOf(figure).tap();
  assert.ok((await figure.locator(".tip").innerText()).length > 0);
});

await check("what is held back comes to its place", {}, async (page) => {
  assert.equal(await page.locator("[data-part], noscript").count(), 0);
  for (const table of await page.locator(".estimates").all()) {
    const count = await table.getAttribute("data-rows");
    const rows = table.locator("tbody tr:not(.metric, .reason)");
    assert.equal(await rows.count(), Number(count));
  }
  for (const figure of await page.locator("figure.figure").all()) {
    const scales = Math.max(1, await figure.locator(".scale input").count());
    assert.equal(await figure.locator("svg.chart").count(), scales);
  }
});

await check("an address leads to its figure, wherever it stands", {}, async (page) => {
  for (const id of await page.locator("figure.figure").evaluateAll(
    (all) => [all[0], all[all.length >> 1], all.at(-1)].map((figure) => figure.id))) {
    for (const hash of [`#${id}`, `#${id}?${id}=-1`]) {
      const { page: led, context } = await open(browser, url + hash, { viewport: desk });
      const top = () => led.locator(`[id="${id}"]`).evaluate(
        (figure) => figure.getBoundingClientRect().top);
      const isAtEnd = await led.evaluate(
        () => scrollY + innerHeight >= document.documentElement.scrollHeight - 1);
      assert.ok(isAtEnd || Math.abs(await top()) < 100, `${hash} is at ${await top()} px`);
      await context.close();
    }
  }
});

await check("the legend switches a series off and on", {}, async (page) => {
  const figure = figureWith(page, ".legend");
  if (await isMissing(figure, "figure with a legend")) return;
  const line = chartOf(figure).locator('.series[data-series="0"]').first();
  await figure.locator('.legend input[value="0"]').uncheck();
  assert.ok(await line.isHidden());
  await figure.locator('.legend input[value="0"]').check();
  assert.ok(await line.isVisible());
});

await check("the scale switch changes the ticks of the axis", {}, async (page) => {
  const figure = figureWith(page, ".scale");
  if (await isMissing(figure, "figure with a scale switch")) return;
  const before = await ticksOf(figure);
  const other = figure.locator(".scale input:not(:checked)");
  await other.check({ force: true });
  assert.notDeepEqual(await ticksOf(figure), before);
});

await check("the address keeps the state and brings it back", {}, async (page) => {
  const figure = figureWith(page, ".legend");
  if (await isMissing(figure, "figure with a legend")) return;
  const id = await figure.getAttribute("id");
  await figure.locator('.legend input[value="1"]').uncheck();
  const other = figure.locator(".scale input:not(:checked)");
  const scale = await other.getAttribute("value");
  await other.check({ force: true });
  await page.locator('nav a[href="#machine"]').click();
  // The state is put in after the browser has gone to the place.
  await page.waitForURL((address) => address.hash.startsWith("#machine?"));
  const address = page.url();
  const again = await page.context().newPage();
  await again.goto(address);
  const restored = again.locator(`[id="${id}"]`);
  assert.equal(await restored.locator('.legend input[value="1"]').isChecked(), false);
  assert.equal(await restored.locator('.legend input[value="0"]').isChecked(), true);
  assert.equal(await restored.locator(".scale input:checked").getAttribute("value"), scale);
});

await check("a state that makes no sense is ignored", {
  hash: "#nowhere?nothing=logarithmic,-7&%5B=-0",
}, async (page) => {
  assert.ok(await page.locator("svg.chart:visible").count() > 0);
});

await check("numbers are saved as CSV", {}, async (page) => {
  const figure = page.locator("figure.figure").first();
  const lines = (await save(page, figure, "csv")).trim().split("\r\n");
  const cells = await figure.locator(".numbers td[data-c]").count();
  assert.equal(lines.length, cells + 1);
  assert.match(lines[0], /series,centre,low,high,processes,samples,doubtful$/);
});

await check("a chart is saved as SVG that needs no style sheet", {}, async (page) => {
  const svg = await save(page, page.locator("figure.figure").first(), "svg");
  assert.match(svg, /^<svg /);
  assert.ok(!svg.includes("var(--"));
  const alone = await page.context().newPage();
  await alone.setContent(svg);
  await alone.locator("svg").screenshot({ path: join(out, "saved-chart.png") });
  assert.equal(await alone.locator("parsererror").count(), 0);
});

await check("the data is saved as JSON", {}, async (page) => {
  const data = JSON.parse(await save(page, page.locator("footer"), "json"));
  assert.ok(data.experiments.length > 0);
});

await check("without JavaScript: findings, charts, numbers and legend", {
  context: { javaScriptEnabled: false },
}, async (page) => {
  assert.ok(await page.locator("#findings li, #findings p").count() > 0);
  assert.ok(await page.locator("svg.chart:visible").count() > 0);
  assert.equal(await page.locator(".js-only:visible").count(), 0);
  for (const figure of await page.locator("figure.figure").all()) {
    assert.ok(await chartOf(figure).count() === 1 && await figure.locator("td[data-c]").count() > 0);
  }
  const figure = figureWith(page, ".legend");
  if (await isMissing(figure, "figure with a legend")) return;
  await figure.locator('.legend input[value="0"]').uncheck();
  assert.ok(await chartOf(figure).locator('.series[data-series="0"]').first().isHidden());
});

await check("it prints: the summary, chapters on wish, and what was unfolded of them", {
  folded: true,
}, async (page) => {
  const pdf = await page.pdf({ path: join(out, "print.pdf"), format: "A4" });
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  await page.emulateMedia({ media: "print" });
  assert.equal(
    await page.locator("svg.glance:visible").count(), await page.locator("#glance figure").count());
  const chapters = page.locator("section.group");
  assert.ok(await chapters.first().isHidden(), "a summary has no chapters");
  assert.ok(await page.locator("#settings").isVisible());
  await page.emulateMedia({ media: "screen" });
  await page.locator("#print-all").check();
  await page.emulateMedia({ media: "print" });
  assert.ok(await chapters.first().isVisible(), "all was asked for");
  assert.ok(await chartOf(page.locator("figure.figure").first()).count() > 0);
  const last = page.locator(".estimates td").last();
  assert.ok(await last.isHidden());
  await unfold(page);
  assert.ok(await last.isVisible(), "an unfolded table is lost");
});

await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
