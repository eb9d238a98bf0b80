// Chromium, kept off the network, and a page that reports whatever goes wrong in it.

import { chromium } from "playwright-core";

export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

// Opens `url` in a profile of its own. `complaints` collects console errors, exceptions and
// requests that leave the file.
export async function open(browser, url, options = {}) {
  const context = await browser.newContext({ acceptDownloads: true, ...options });
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(`exception: ${error.message}`));
  page.on("request", (request) => {
    const isOwn = request.url().split("#")[0] === url.split("#")[0];
    if (!isOwn && !/^(blob|data):/.test(request.url())) complaints.push(`fetched ${request.url()}`);
  });
  await page.goto(url);
  // The page's own script puts what is packed in its place.
  if (options.javaScriptEnabled !== false) await page.waitForSelector("html.whole");
  return { page, context, complaints };
}
