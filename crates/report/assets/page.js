// Reading a chart: hover, keyboard, linked figures, files, and the state in the address.
// Switching series and scales needs no script: the style sheet follows the inputs.
"use strict";
(() => {
  const figures = document.getElementsByClassName("figure");

  // The numbers of a figure come from its table.
  const rowsOf = (figure) => [...figure.querySelectorAll(".numbers tbody tr")];
  const seriesOf = (figure) =>
    [...figure.querySelectorAll(".numbers thead th")].slice(1).map((head) => head.textContent);
  const isShown = (figure, series) =>
    figure.querySelector(`.legend input[value="${series}"]`)?.checked ?? true;
  const scaleOf = (figure) => figure.querySelector(".scale input:checked")?.value ?? "linear";
  const visibleChart = (figure) =>
    [...figure.querySelectorAll("svg.chart")].find((svg) => svg.getClientRects().length > 0);

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text) element.textContent = text;
    return element;
  }

  // Hover, tap and keyboard.

  function panelsOf(svg) {
    return [...svg.querySelectorAll(".panel")].map((element) => {
      const [left, top, width, height] = element.dataset.box.split(" ").map(Number);
      const at = element.dataset.at.split(" ").map(Number);
      const isRows = element.classList.contains("rows");
      const isCells = element.classList.contains("cells");
      const subject = element.dataset.subject;
      return { element, left, top, width, height, at, isRows, isCells, subject };
    });
  }

  function nearest(svg, event) {
    const rect = svg.getBoundingClientRect();
    const scale = svg.viewBox.baseVal.width / rect.width;
    const x = (event.clientX - rect.left) * scale;
    const y = (event.clientY - rect.top) * scale;
    const beyond = (value, from, length) => Math.max(from - value, 0, value - from - length);
    const distance = (panel) =>
      beyond(x, panel.left, panel.width) + beyond(y, panel.top, panel.height);
    const panel = panelsOf(svg).reduce((a, b) => (distance(b) < distance(a) ? b : a));
    const along = panel.isRows ? y : x;
    let index = -1;
    panel.at.forEach((place, candidate) => {
      const better = index < 0 || Math.abs(place - along) < Math.abs(panel.at[index] - along);
      if (!Number.isNaN(place) && better) index = candidate;
    });
    return { panel, index };
  }

  function clear() {
    document.querySelectorAll(".cross").forEach((line) => line.remove());
    document.querySelectorAll(".m.on").forEach((marker) => marker.classList.remove("on"));
    document.querySelectorAll(".tip").forEach((tip) => { tip.hidden = true; });
  }

  function point(svg, index, pointed) {
    if (pointed?.isCells) {
      pointed.element.querySelector(`.m[data-i="${index}"]`)?.classList.add("on");
      return;
    }
    for (const panel of panelsOf(svg)) {
      const at = panel.at[index];
      if (at === undefined || Number.isNaN(at)) continue;
      const cross = document.createElementNS(svg.namespaceURI, "path");
      cross.setAttribute("class", "cross");
      cross.setAttribute("d", panel.isRows
        ? `M${panel.left} ${at}h${panel.width}`
        : `M${at} ${panel.top}v${panel.height}`);
      panel.element.prepend(cross);
    }
    svg.querySelectorAll(`.m[data-i="${index}"]`).forEach((m) => m.classList.add("on"));
  }

  function fill(tip, figure, panel, index) {
    const row = rowsOf(figure)[index];
    const title = figure.querySelector(".numbers thead th").textContent;
    const labels = seriesOf(figure);
    const column = panel.isCells ? ` × ${labels[panel.subject]}` : "";
    tip.replaceChildren(make("strong", "", `${title} ${row.cells[0].textContent}${column}`));
    const list = make("div");
    const counts = new Set();
    [...row.cells].slice(1).forEach((cell, series) => {
      const isSubject = panel.subject === "" || panel.subject === String(series);
      if (!cell.textContent || !isSubject || !isShown(figure, series)) return;
      const label = make("span", "label");
      const swatch = figure.querySelector(`.legend input[value="${series}"] + svg`);
      if (swatch) label.append(swatch.cloneNode(true));
      label.append(labels.length > 1 && !panel.isCells ? labels[series] : "");
      const isDoubtful = "doubtful" in cell.dataset;
      const value = cell.firstChild.textContent.trim();
      const range = cell.querySelector("small")?.textContent ?? "no interval";
      list.append(
        label,
        make("b", isDoubtful ? "doubtful" : "", isDoubtful ? `▲ ${value}` : value),
        make("span", "range", range),
      );
      counts.add(`n = ${cell.dataset.n} processes, ${cell.dataset.samples} samples`);
    });
    const note = counts.size ? `95 % intervals; ${[...counts].join(" or ")}` : "nothing here";
    tip.append(list, make("small", "", note));
  }

  function place(tip, figure, svg, panel, index) {
    const plot = figure.querySelector(".plot");
    const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    const offset = svg.getBoundingClientRect().left - plot.getBoundingClientRect().left;
    tip.hidden = false;
    const at = panel.at[index] * scale;
    const room = plot.clientWidth - tip.offsetWidth;
    // Next to the cell, or next to the line across the plot.
    const [from, to] = panel.isCells
      ? [panel.left * scale, (panel.left + panel.width) * scale]
      : [at, at];
    const right = offset + to + 14;
    const nearby = right <= room ? right : offset + from - 14 - tip.offsetWidth;
    const x = panel.isRows && !panel.isCells ? room : nearby;
    // On a phone it would hide the chart, so it is placed below.
    const isPhone = matchMedia("(max-width: 700px)").matches;
    const y = isPhone ? svg.clientHeight : panel.isRows ? at + 16 : panel.top * scale + 6;
    tip.style.left = `${Math.max(0, Math.min(x, room))}px`;
    tip.style.top = `${y}px`;
  }

  function show(figure, svg, panel, index) {
    clear();
    if (index < 0) return;
    point(svg, index, panel);
    const tip = figure.querySelector(".tip");
    fill(tip, figure, panel, index);
    place(tip, figure, svg, panel, index);
    const key = figure.dataset.x;
    const level = rowsOf(figure)[index].dataset.x;
    for (const other of figures) {
      if (!key || other === figure || other.dataset.x !== key) continue;
      const chart = visibleChart(other);
      const same = rowsOf(other).findIndex((row) => row.dataset.x === level);
      if (chart && same >= 0) point(chart, same);
    }
  }

  function listen(figure) {
    const plot = figure.querySelector(".plot");
    const tip = make("div", "tip");
    tip.hidden = true;
    tip.setAttribute("role", "status");
    plot.append(tip);
    plot.tabIndex = 0;
    plot.setAttribute("role", "group");
    const title = figure.querySelector("h4").textContent;
    plot.setAttribute("aria-label", `${title}: arrow keys read the values`);
    let current = { panel: 0, index: -1 };
    const pointed = (event) => {
      const svg = visibleChart(figure);
      if (!svg) return;
      const { panel, index } = nearest(svg, event);
      current = { panel: panelsOf(svg).findIndex((p) => p.element === panel.element), index };
      show(figure, svg, panel, index);
    };
    plot.addEventListener("pointermove", pointed);
    plot.addEventListener("pointerdown", pointed);
    plot.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && clear());
    plot.addEventListener("blur", clear);
    plot.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 }[event.key];
      const svg = visibleChart(figure);
      const panels = panelsOf(svg);
      const count = rowsOf(figure).length;
      let { index } = current;
      if (step && panels[0]?.isCells && /Left|Right/.test(event.key)) {
        current.panel = Math.max(0, Math.min(panels.length - 1, current.panel + step));
      } else if (step) index += step;
      else if (event.key === "Home") index = 0;
      else if (event.key === "End") index = count - 1;
      else if (event.key === "Escape") return clear();
      else return;
      event.preventDefault();
      current.index = Math.max(0, Math.min(count - 1, index));
      show(figure, svg, panels[current.panel], current.index);
    });
  }

  // Files.

  function save(name, type, text) {
    const link = make("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function csv(figure) {
    const quoted = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
    const x = figure.querySelector(".numbers thead th").textContent;
    const lines = [[x, "series", "centre", "low", "high", "processes", "samples", "doubtful", "vague"]];
    const labels = seriesOf(figure);
    for (const row of rowsOf(figure)) {
      [...row.cells].slice(1).forEach((cell, series) => {
        const { c, low, high, n, samples } = cell.dataset;
        if (c === undefined) return;
        const is = (what) => (what in cell.dataset ? "yes" : "no");
        lines.push([row.dataset.x, labels[series], c, low, high, n, samples, is("doubtful"), is("vague")]);
      });
    }
    return lines.map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
  }

  // A standalone chart: the style sheet's values become attributes.
  function svgFile(figure) {
    clear();
    const kind = scaleOf(figure);
    const original = figure.querySelector(`svg.chart.${kind}`);
    const copy = original.cloneNode(true);
    const names = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity",
      "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-family",
      "font-size", "font-weight", "text-anchor"];
    const copies = [...copy.querySelectorAll("*")];
    [...original.querySelectorAll("*")].forEach((element, index) => {
      const style = getComputedStyle(element);
      for (const name of names) copies[index].setAttribute(name, style.getPropertyValue(name));
    });
    copy.querySelectorAll("[data-series]").forEach((group) => {
      if (!isShown(figure, group.dataset.series)) group.remove();
    });
    // The names of the series are below the lower edge: the page has them in its legend.
    const { width } = original.viewBox.baseVal;
    const drawn = original.getBBox();
    const height = Math.ceil(drawn.y + drawn.height + 4);
    copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const paper = document.createElementNS(copy.namespaceURI, "rect");
    paper.setAttribute("width", width);
    paper.setAttribute("height", height);
    paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
    copy.prepend(paper);
    return new XMLSerializer().serializeToString(copy);
  }

  document.addEventListener("click", (event) => {
    const kind = event.target.closest("[data-save]")?.dataset.save;
    const figure = event.target.closest("figure");
    if (kind === "csv") save(`${figure.id}.csv`, "text/csv", csv(figure));
    if (kind === "svg") save(`${figure.id}.svg`, "image/svg+xml", svgFile(figure));
  });

  // The state in the address: #place?figure=logarithmic,-2 (the third series off).

  const parts = () => location.hash.slice(1).split("?");

  function remember() {
    // Keep the state of figures that are not in the page yet.
    if (!document.documentElement.classList.contains("whole")) return;
    const state = new URLSearchParams();
    for (const figure of figures) {
      const chosen = figure.querySelector(".scale input:checked");
      const off = [...figure.querySelectorAll(".legend input:not(:checked)")];
      const words = off.map((input) => `-${input.value}`);
      if (chosen && !chosen.defaultChecked) words.unshift(chosen.value);
      if (words.length) state.set(figure.id, words.join(","));
    }
    const text = state.toString();
    const hash = `#${parts()[0]}${text && "?"}${text}`;
    if (hash !== (location.hash || "#")) history.replaceState(null, "", hash);
  }

  function restore(figure) {
    const words = new URLSearchParams(parts()[1]).get(figure.id)?.split(",") ?? [];
    figure.querySelectorAll("figcaption input").forEach((input) => {
      const isSeries = input.type === "checkbox";
      if (isSeries) input.checked = !words.includes(`-${input.value}`);
      else if (words.includes(input.value)) input.checked = true;
    });
  }

  for (const figure of figures) {
    listen(figure);
    restore(figure);
  }
  document.addEventListener("change", () => { clear(); remember(); });
  addEventListener("hashchange", () => {
    const [anchor, state] = parts();
    if (state === undefined) return remember();
    [...figures].forEach(restore);
    document.getElementById(anchor)?.scrollIntoView();
  });
  document.documentElement.classList.add("js");
})();
