"use strict";
(() => {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const names = read("columns");
  const rows = read("rows").map((values) => {
    const row = Object.fromEntries(names.map((name, k) => [name, values[k]]));
    row.texts = values[names.length];
    row.picture = values[names.length + 1];
    row.words = [row.source, row.format, row.output, row.topology, ...row.texts].join("\n").toLowerCase();
    return row;
  });
  const PAGE = 100;
  const SVG = "http://www.w3.org/2000/svg";

  const size = (bytes) => {
    if (bytes === null) return "";
    const units = ["B", "kB", "MB", "GB", "TB"];
    let k = 0;
    for (; bytes >= 1000 && k < units.length - 1; k++) bytes /= 1000;
    return `${k === 0 || bytes >= 100 ? Math.round(bytes) : bytes.toFixed(1)} ${units[k]}`;
  };
  const count = (number) => (number === null ? "" : number.toLocaleString("en"));
  const seconds = (number) => (number === null ? "" : number < 0.1 ? `${Math.round(number * 1000)} ms` : `${number.toFixed(1)} s`);

  const columns = [
    { title: "", cell: (row) => picture(row.picture), kind: "picture" },
    { title: "source", key: "source", cell: described, kind: "names" },
    { title: "state", key: "state", cell: (row) => element("span", { class: `mark ${row.state}` }, row.state) },
    { title: "format", key: "format", cell: (row) => row.format ?? "" },
    { title: "frames", key: "frames", cell: (row) => count(row.frames), kind: "number" },
    { title: "atoms", key: "atoms", cell: (row) => count(row.atoms), kind: "number" },
    { title: "size", key: "size", cell: (row) => size(row.size), kind: "number" },
    { title: "record", key: "output_size", cell: (row) => size(row.output_size), kind: "number" },
    { title: "time", key: "seconds", cell: (row) => seconds(row.seconds), kind: "number" },
    { title: "compared", key: "verified", cell: (row) => row.verified ?? "" },
  ];

  // ---------------------------------------------------------------- elements
  function element(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function drawn(name, attributes) {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  }

  function described(row) {
    const made = document.createDocumentFragment();
    made.append(element("code", {}, row.source));
    if (row.state === "done") made.append(element("span", {}, `→ ${row.output}`));
    if (row.topology) made.append(element("span", {}, `with ${row.topology}`));
    if (row.texts.length) made.append(element("ul", {}, ...row.texts.map((text) => element("li", {}, text))));
    return made;
  }

  // ---------------------------------------------------------------- pictures
  const COLOURS = { 0: "#c06ab0", 1: "#c9ced3", 6: "#4a5058", 7: "#3d62d8", 8: "#d8392f", 9: "#58b83c", 11: "#8d5bd6",
    12: "#4e9a2c", 13: "#a79aa0", 14: "#d0a15f", 15: "#e8842a", 16: "#d9bd22", 17: "#35b14a", 19: "#7b45c4", 20: "#5aa05a",
    26: "#c4662f", 29: "#b9713a", 30: "#7f83b5", 35: "#9a3324", 53: "#86219a", 78: "#9aa0ae", 79: "#d9a91c" };

  const colour = (kind) => COLOURS[kind] ?? `hsl(${(kind * 47) % 360} 45% 52%)`;
  const radius = (kind, atoms) => (kind === 1 ? 0.7 : 1) * Math.max(22, Math.min(100, 420 / Math.sqrt(atoms)));

  function picture(data) {
    const made = document.createDocumentFragment();
    if (data?.atoms) made.append(structure(data));
    if (data?.lines) made.append(course(data));
    return made;
  }

  function structure(data) {
    const made = drawn("svg", { viewBox: "-110 -110 1220 1220", role: "img", "aria-label": "the first frame" });
    const edges = data.cell ?? [];
    for (let k = 0; k < edges.length; k += 4) {
      const [x1, y1, x2, y2] = edges.slice(k, k + 4);
      made.append(drawn("line", { class: "cell", x1, y1, x2, y2 }));
    }
    for (let k = 0; k < data.atoms.length; k += 3) {
      const [cx, cy, kind] = data.atoms.slice(k, k + 3);
      made.append(drawn("circle", { cx, cy, r: radius(kind, data.atoms.length / 3), fill: colour(kind) }));
    }
    return made;
  }

  function course(data) {
    const label = `${data.label}, ${data.low.toPrecision(6)} to ${data.high.toPrecision(6)}`;
    const made = drawn("svg", { class: "course", viewBox: "-40 -40 1680 1080", role: "img", "aria-label": label });
    const title = drawn("title", {});
    title.textContent = label;
    made.append(title, drawn("rect", { class: "frame", x: 0, y: -20, width: 1600, height: 1040 }));
    data.lines.forEach((values, k) => {
      const step = 1600 / Math.max(1, values.length - 1);
      const points = values.map((y, n) => (y === null ? null : `${Math.round(n * step)},${y}`)).filter((text) => text !== null);
      made.append(drawn("polyline", { class: "line", stroke: `hsl(${(205 + 110 * k) % 360} 60% 48%)`, points: points.join(" ") }));
    });
    return made;
  }

  // ---------------------------------------------------------------- the table
  const table = document.getElementById("table");
  const body = table.tBodies[0];
  const controls = Object.fromEntries(["find", "state", "format", "told", "more", "count"].map((id) => [id, document.getElementById(id)]));
  let order = { key: "source", up: true };
  let found = rows;
  let shown = 0;

  function compare(a, b) {
    const one = a[order.key], other = b[order.key];
    if (one === other) return a.source < b.source ? -1 : 1;
    if (one === null) return 1; // what is not known stands last either way
    if (other === null) return -1;
    return (one < other ? -1 : 1) * (order.up ? 1 : -1);
  }

  function refresh() {
    const words = controls.find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const { value: state } = controls.state, { value: format } = controls.format, told = controls.told.checked;
    found = rows.filter((row) => (!state || row.state === state) && (!format || row.format === format)
      && (!told || row.texts.length > 0) && words.every((word) => row.words.includes(word)));
    found.sort(compare);
    shown = 0;
    body.replaceChildren();
    more();
    controls.count.textContent = found.length === rows.length ? count(rows.length) : `${count(found.length)} of ${count(rows.length)}`;
    for (const tile of document.querySelectorAll(".tile")) tile.setAttribute("aria-pressed", String(tile.dataset.state === state));
    for (const head of table.tHead.rows[0].cells) {
      const sorted = head.dataset.key === order.key;
      head.setAttribute("aria-sort", sorted ? (order.up ? "ascending" : "descending") : "none");
    }
  }

  function more() {
    for (const row of found.slice(shown, shown + PAGE)) {
      const cells = columns.map((column) => element("td", { class: column.kind ?? "" }, column.cell(row)));
      body.append(element("tr", { class: row.state }, ...cells));
    }
    shown = Math.min(found.length, shown + PAGE);
    controls.more.hidden = shown >= found.length;
  }

  for (const column of columns) {
    const head = element("th", { scope: "col" });
    if (column.key) {
      head.dataset.key = column.key;
      const button = element("button", { type: "button" }, column.title);
      button.addEventListener("click", () => {
        order = { key: column.key, up: order.key === column.key ? !order.up : true };
        refresh();
      });
      head.append(button);
    }
    table.tHead.rows[0].append(head);
  }
  for (const name of ["state", "format"]) {
    const values = [...new Set(rows.map((row) => row[name]).filter((value) => value !== null))].sort();
    controls[name].append(...values.map((value) => element("option", { value }, value)));
  }
  for (const tile of document.querySelectorAll(".tile")) {
    tile.addEventListener("click", () => {
      const { state } = tile.dataset;
      const known = [...controls.state.options].some((option) => option.value === state);
      controls.state.value = controls.state.value === state || !known ? "" : state;
      refresh();
      document.getElementById("files").scrollIntoView({ behavior: "smooth" });
    });
  }
  for (const name of ["find", "state", "format", "told"]) {
    for (const event of ["input", "change"]) controls[name].addEventListener(event, refresh);
  }
  controls.more.addEventListener("click", more);
  refresh();
})();
