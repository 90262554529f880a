// The tables, and the details of one row.

const kinds = ["bytes", "code", "text", "number"];
const [sizes, code, text, number] = kinds.map((kind) => (name, title, width, brief = false) => (
  { name, title, kind, width, brief }));
const source = { name: "source_line", title: "source line", kind: "source", width: 15, brief: true };
const inAll = (title) => sizes("total_bytes", title, 9, true);
const times = { name: "trips", title: "times", kind: "trips", width: 7 };
const opName = text("op_name", "op name", 14);
// A view: its title, its columns, further facts of its details, and the words for a table without rows. The columns
// with `true` are those of a narrow window.
const VIEWS = {
  buffers: { title: "Buffers", empty: "The module holds no arrays.", columns: [code("name", "value", 15, true), source,
    sizes("bytes_held", "allocated", 8, true), sizes("padding_bytes", "padding", 8, true), code("shape", "shape", 20, true),
    text("role", "role", 8), { name: "memory_space", title: "memory", kind: "space", width: 11 }, number("start", "from", 5),
    number("end", "to", 5), opName],
  facts: [text("opcode", "op"), sizes("bytes_meant", "payload"), text("padding", "why padded"), text("function", "function")] },
  relayouts: { title: "Relayouts", empty: "No operation changes a layout or a memory space.", columns: [
    code("name", "op", 13, true), source, inAll("moved"), sizes("bytes_read", "read", 8), sizes("bytes_written", "written", 8),
    times, code("source", "before", 19, true), code("result", "after", 19, true), text("kind", "kind", 10)],
  facts: [text("before", "reads from"), text("after", "read by"), opName] },
  collectives: { title: "Collectives", empty: "No operation sends data to other devices.", columns: [
    code("name", "op", 13, true), source, inAll("sent"), sizes("bytes_sent", "each time", 8), times, text("kind", "kind", 12, true),
    code("operands", "operands", 22, true), text("groups", "devices", 14)], facts: [text("opcode", "opcode"), opName] },
  costs: { title: "Costs", empty: "Costs are known for operations of HLO only.", columns: [code("name", "op", 18, true), source,
    inAll("accessed"), sizes("bytes_accessed", "each time", 9), number("flops", "flops", 11, true),
    number("transcendentals", "transcendentals", 11), times, text("opcode", "kind", 10), opName], facts: [] },
  op_names: { title: "Op names", empty: "No buffer has an op name.", columns: [text("op_name", "op name", 44, true),
    number("buffers", "buffers", 9, true), sizes("bytes_held", "allocated", 9, true), sizes("bytes_meant", "payload", 9),
    sizes("padding_bytes", "padding", 9, true)], facts: [] },
  bitcasts: { title: "Bitcasts", empty: "No bitcast: no array is read as an array of another shape.", columns: [
    code("source", "before", 30, true), code("result", "after", 30, true), text("verdict", "verdict", 14, true),
    number("count", "count", 8, true)], facts: [text("names", "names")] },
  advice: { title: "Advice", empty: "No change is known that would save at least 1 % of the peak.", columns: [
    text("kind", "what", 13, true), code("subject", "value", 17, true), sizes("bytes_saved", "saves", 9, true),
    text("text", "how", 60, true)], facts: [] },
};

const sourceOf = (row) => (row.source_file ? `${row.source_file}:${row.source_line}` : "");

function shown(row, column) {
  const value = row[column.name];
  switch (column.kind) {
    case "bytes": return bytes(value);
    case "space": return spaceName(value);
    case "trips": return value === null ? "in a loop" : String(value);
    case "source": return sourceOf(row).split("/").slice(-2).join("/");
    default: return String(value ?? "");
  }
}
// Beside the details, and in a narrow window, a table has the columns with `true` only.
const isBrief = () => matchMedia("(max-width: 1000px)").matches || document.body.classList.contains("has-details");
const shownColumns = () => VIEWS[view].columns.filter((column) => column.brief || !isBrief());
const isNumeric = (column) => ["bytes", "number", "trips"].includes(column.kind);
const rowHeight = () => (isNarrow() ? 104 : 26);
let view = "buffers", opener = null, box = null;
const states = Object.fromEntries(Object.keys(VIEWS).map((name) => [name, { filter: "", column: null, down: true }]));
Object.assign(states.buffers, { column: "padding_bytes" });

function visibleRows() {
  const state = states[view], columns = VIEWS[view].columns, words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  let rows = tables[view];
  if (words.length) rows = rows.filter((row) => {
    const line = columns.map((column) => shown(row, column)).join(" ").toLowerCase();
    return words.every((word) => line.includes(word));
  });
  if (!state.column) return rows;
  const sign = state.down ? -1 : 1, isSource = state.column === "source_line";
  const key = (row) => (isSource ? `${row.source_file} ${String(row.source_line).padStart(9)}` : row[state.column] ?? -1);
  return [...rows].sort((a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : 0));
}

function sortBy(column, down) {
  states[view].column = column; states[view].down = down;
  showTable();
}

const classesOf = (column, kind) => `${kind} of-${column.name}`;

function heading(column) {
  const state = states[view], isSorted = state.column === column.name, mark = isSorted ? (state.down ? " ▾" : " ▴") : "";
  const button = element("button", { type: "button", textContent: column.title + mark, className: "sort" });
  const cell = element("th", { scope: "col", className: classesOf(column, isNumeric(column) ? "number" : "") }, button);
  cell.setAttribute("aria-sort", isSorted ? (state.down ? "descending" : "ascending") : "none");
  button.onclick = () => {
    sortBy(column.name, isSorted ? !state.down : isNumeric(column));
    [...byId("table").querySelectorAll("th")][shownColumns().indexOf(column)].firstElementChild.focus();
  };
  return cell;
}

// Only a wide window has the headings that sort.
function sortChoice() {
  const choice = element("select", { className: "sort-choice" }, ...VIEWS[view].columns.map((column) => element("option", {
    value: column.name, textContent: `by ${column.title}`, selected: states[view].column === column.name })));
  choice.setAttribute("aria-label", "order of the rows");
  choice.onchange = () => sortBy(choice.value, isNumeric(VIEWS[view].columns.find((c) => c.name === choice.value)));
  return choice;
}

function lineOf(row, index) {
  const line = element("tr", { className: row === selected ? "selected" : "", tabIndex: 0 },
    ...shownColumns().map((column) => {
      const value = shown(row, column), cell = element("td", { textContent: value });
      cell.title = column.kind === "bytes" ? `${row[column.name]} bytes` : column.kind === "source" ? sourceOf(row) : value;
      cell.className = classesOf(column, isNumeric(column) ? "number" : column.kind);
      cell.dataset.name = column.title;
      return cell;
    }));
  line.dataset.row = index;
  line.onclick = () => showRow(row);
  return line;
}

function showTable() {
  const columns = shownColumns(), state = states[view], total = tables[view].length;
  const whole = columns.reduce((sum, column) => sum + column.width, 0);
  const count = element("span", { className: "hint", id: "count" }), words = element("p", { className: "hint empty" });
  const title = element("p", { className: "hint", textContent: data.titles[view] || "" });
  const filter = element("input", { className: "filter", placeholder: "filter: words in any column", value: state.filter,
    type: "search" });
  filter.setAttribute("aria-label", "words in any column");
  const body = element("tbody");
  const table = element("table", {}, element("colgroup", {}, ...columns.map((column) =>
    Object.assign(element("col"), { style: `width:${(100 * column.width) / whole}%` }))),
  element("thead", {}, element("tr", {}, ...columns.map(heading))), body);
  box = element("div", { className: "window" }, table);
  let current = visibleRows();
  const fill = () => {
    const height = rowHeight(), focused = document.activeElement?.dataset?.row;
    count.textContent = `${current.length} of ${total}`;
    words.textContent = total ? "No row has all these words." : VIEWS[view].empty;
    words.hidden = current.length > 0; table.hidden = !current.length;
    const first = Math.max(0, Math.floor(box.scrollTop / height) - 10), last = Math.min(current.length, first + 44);
    const spacer = (n) => element("tr", { className: "spacer" },
      element("td", { colSpan: columns.length, style: `height:${n * height}px` }));
    body.replaceChildren(spacer(first), ...current.slice(first, last).map((row, i) => lineOf(row, first + i)),
      spacer(current.length - last));
    if (focused !== undefined) body.querySelector(`[data-row="${focused}"]`)?.focus({ preventScroll: true });
  };
  const goTo = (index) => {
    const height = rowHeight(), top = index * height;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + 3 * height > box.scrollTop + box.clientHeight) box.scrollTop = top + 3 * height - box.clientHeight;
    fill();
  };
  box.onscroll = fill;
  box.onkeydown = (event) => {
    const index = Number(event.target.dataset.row), step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.target.dataset.row === undefined) return;
    if (event.key === "Enter") showRow(current[index], true);
    else if (step && current[index + step]) { goTo(index + step); body.querySelector(`[data-row="${index + step}"]`)?.focus(); }
    else return;
    event.preventDefault();
  };
  box.goToRow = (row) => { const index = current.indexOf(row); if (index >= 0) goTo(index); };
  filter.oninput = () => { state.filter = filter.value; current = visibleRows(); box.scrollTop = 0; fill(); };
  byId("table").replaceChildren(title, element("div", { className: "above" }, filter, sortChoice(), count), words, box);
  fill();
}

function showView(name) { view = name; showTabs(); showTable(); }

function showTabs() {
  const names = Object.keys(VIEWS);
  byId("tabs").replaceChildren(...names.map((name, i) => {
    const tab = element("button", { type: "button", textContent: `${VIEWS[name].title} (${tables[name].length})` });
    tab.setAttribute("role", "tab"); tab.setAttribute("aria-selected", String(name === view)); tab.dataset.view = name;
    tab.tabIndex = name === view ? 0 : -1;
    tab.onclick = () => showView(name);
    tab.onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      showView(names[(i + step + names.length) % names.length]);
      byId("tabs").querySelector('[aria-selected="true"]').focus();
    };
    return tab;
  }));
}

// Details

function showRow(row, byKey = false) {
  if (view === "buffers") { showBuffer(row, byId("table"), byKey); return; }
  const { columns, facts } = VIEWS[view], within = VIEWS[view].title;
  selected = row;
  showDetails(row.name || row.op_name || row.subject || row.source, [...columns, ...facts].map((c) => [c.title, shown(row, c)]),
    [row.source, row.result].filter(Boolean), byId("table"), byKey, within);
}

function showBuffer(buffer, section, byKey = false) {
  const facts = [...VIEWS.buffers.columns, ...VIEWS.buffers.facts].map((column) => [column.title, shown(buffer, column)]);
  const operation = Object.hasOwn(data.ops, buffer.name) ? data.ops[buffer.name] : "";
  selected = buffer;
  showDetails(buffer.name, [...facts, ["operation", operation]], [buffer.shape], section, byKey, "Buffer");
  history.replaceState(null, "", `#${encodeURIComponent(buffer.anchor)}`);
}

function showDetails(title, facts, shapes, section, byKey, kind) {
  const list = element("dl", {}, ...facts.filter(([, value]) => value !== "").flatMap(([name, value]) =>
    [element("dt", { textContent: name }), element("dd", { textContent: value })]));
  const pictures = shapes.filter((shape) => Object.hasOwn(data.layouts, shape)).flatMap((shape) => {
    const layout = data.layouts[shape], picture = element("div", { className: "picture" });
    picture.innerHTML = layout.picture;
    return [element("p", { className: "hint", textContent: `${shape}: ${layout.steps}` }), ...(layout.picture ? [picture] : [])];
  });
  const close = element("button", { className: "close", type: "button", textContent: "×" }), panel = byId("details");
  close.setAttribute("aria-label", "close"); close.onclick = hideDetails;
  panel.replaceChildren(close, element("h3", { textContent: title }), list, ...pictures);
  panel.setAttribute("aria-label", `${kind} ${title}`);
  opener = document.activeElement;
  // In a narrow window the panel is a part of the page, below the picture or table that it belongs to.
  const top = section.getBoundingClientRect().top;
  section.after(panel);
  panel.hidden = false; document.body.classList.add("has-details");
  redraw();
  // The text above may wrap beside the panel: what was clicked stays below the pointer.
  window.scrollBy(0, section.getBoundingClientRect().top - top);
  if (isNarrow()) panel.scrollIntoView({ block: "nearest" });
  if (byKey) close.focus();
}

function hideDetails() {
  byId("details").hidden = true; document.body.classList.remove("has-details");
  selected = null;
  if (location.hash) history.replaceState(null, "", location.pathname + location.search);
  redraw();
  if (opener?.dataset?.row !== undefined) byId("table").querySelector(`[data-row="${opener.dataset.row}"]`)?.focus();
}

function redraw() {
  const top = box ? box.scrollTop : 0, focused = document.activeElement?.dataset?.row;
  draw(); showTable();
  box.scrollTop = top;
  if (focused !== undefined) byId("table").querySelector(`[data-row="${focused}"]`)?.focus({ preventScroll: true });
}

// Opens the buffer that the address names after `#`.
function openAddress() {
  let name = "";
  try { name = decodeURIComponent(location.hash.slice(1)); } catch { return; }
  const buffer = byAnchor.get(name);
  if (!buffer) return;
  states.buffers.filter = "";
  showView("buffers");
  showBuffer(buffer, byId("table"));
  box.goToRow(buffer);
}

byId("theme").onclick = () => {
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = isDark ? "light" : "dark";
  draw();
};
byId("whole").onclick = () => setZoom(0, data.length);
document.addEventListener("keydown", (event) => { if (event.key === "Escape" && !byId("details").hidden) hideDetails(); });
window.addEventListener("resize", redraw);
window.addEventListener("hashchange", openAddress);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
showTotals(); makeLanes(); byId("treemap").before(legend()); showTabs(); showTable(); draw(); openAddress();
