"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const DRAWN = 1200; // more rectangles than this cannot be distinguished
const ROW = 26;
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const byId = (id) => document.getElementById(id);

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function bytes(count) {
  if (Math.abs(count) < 1024) return `${count} B`;
  let size = count, unit = 0;
  while (Math.abs(size) >= 1024 && unit < 4) { size /= 1024; unit += 1; }
  // A half goes to the even number, as in the terminal: 1000.5 MiB is `1000 MiB` in both.
  const whole = size % 1 === 0.5 ? 2 * Math.round(size / 2) : Math.round(size);
  return `${size >= 100 ? whole : size.toPrecision(3)} ${["B", "KiB", "MiB", "GiB", "TiB"][unit]}`;
}
const spaceName = (space) => ({ 0: "main memory", 5: "host" }[space] || `S(${space})`);
const spaceColour = (space) => style(`--space${space}`) || style("--other");

// A row is an array of cells in the order of `columns`; a text is its index in `data.strings`.
function rowsOf(table) {
  return table.rows.map((row) => {
    const made = {};
    table.columns.forEach((name, i) => { made[name] = table.text.includes(name) ? data.strings[row[i]] : row[i]; });
    return made;
  });
}
const tables = Object.fromEntries(Object.entries(data.tables).map(([name, table]) => [name, rowsOf(table)]));
const buffers = tables.buffers;
buffers.forEach((buffer, i) => { buffer.number = i; });

// Totals

function showTotals() {
  byId("module").textContent = data.module;
  byId("subtitle").textContent = [data.target, data.totals.peak_is_bound ? "no schedule: the peak is a bound" : ""]
    .filter(Boolean).join(", ");
  const cards = [["peak", data.totals.peak_bytes], ["arguments", data.totals.argument_bytes],
    ["outputs", data.totals.output_bytes], ["aliased", data.totals.alias_bytes],
    ...(data.totals.host_bytes ? [["on the host", data.totals.host_bytes]] : []),
    ...Object.entries(data.totals.temporary_bytes_by_memory_space).map(([s, b]) => [`temporaries, ${spaceName(s)}`, b]),
    ["padding at the peak", data.totals.padding_bytes]];
  byId("totals").append(...cards.map(([name, count]) => element("div", { className: "card", title: `${count} bytes` },
    element("b", { textContent: bytes(count) }), element("span", { textContent: name }))));
}

// Drawing

function prepared(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || canvas.parentElement.clientWidth;
  canvas.width = width * ratio; canvas.height = height * ratio; canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return [context, width, height];
}

function hatching(context) {
  const tile = element("canvas", { width: 6, height: 6 }), pen = tile.getContext("2d");
  pen.strokeStyle = style("--hatch"); pen.beginPath(); pen.moveTo(0, 6); pen.lineTo(6, 0); pen.stroke();
  return context.createPattern(tile, "repeat");
}

function paint(context, hatch, colour, box, padding) {
  context.fillStyle = colour; context.fillRect(box.x, box.y, box.w, box.h);
  const padded = box.h * padding;
  if (padded >= 1) { context.fillStyle = hatch; context.fillRect(box.x, box.y, box.w, padded); }
  if (box.w > 3 && box.h > 3) { context.strokeStyle = style("--ground"); context.lineWidth = 0.7;
    context.strokeRect(box.x, box.y, box.w, box.h); }
}
const paddingShare = (buffer) => (buffer.bytes_held ? buffer.padding_bytes / buffer.bytes_held : 0);

function describe(buffer) {
  const grown = buffer.padding ? `\n${buffer.padding}` : "";
  const from = buffer.op_name ? `\n${buffer.op_name}` : "";
  return `${buffer.name}  ${buffer.shape}\n${bytes(buffer.bytes_held)} held, ${bytes(buffer.bytes_meant)} meant, ` +
    `${spaceName(buffer.memory_space)}${grown}${from}`;
}

function interact(canvas, find) {
  canvas.onmousemove = (event) => {
    const buffer = find(event.offsetX, event.offsetY), tooltip = byId("tooltip");
    tooltip.hidden = !buffer;
    canvas.style.cursor = buffer ? "pointer" : "default";
    if (!buffer) return;
    tooltip.textContent = describe(buffer);
    tooltip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tooltip.offsetWidth - 8)}px`;
    tooltip.style.top = `${event.clientY + 14}px`;
  };
  canvas.onmouseleave = () => { byId("tooltip").hidden = true; };
  canvas.onclick = (event) => { const buffer = find(event.offsetX, event.offsetY); if (buffer) showBuffer(buffer); };
}

// Assigns offsets so that no buffers overlap: arguments first, then the largest, each at the lowest free offset.
function packed(list) {
  const placed = [];
  let top = 0;
  const order = { argument: 0, output: 1, temporary: 2 };
  for (const buffer of [...list].sort((a, b) => order[a.role] - order[b.role] || b.bytes_held - a.bytes_held)) {
    const near = placed.filter((p) => p.buffer.start <= buffer.end && buffer.start <= p.buffer.end)
      .sort((a, b) => a.offset - b.offset);
    let offset = 0;
    for (const other of near) {
      if (offset + buffer.bytes_held <= other.offset) break;
      offset = Math.max(offset, other.offset + other.buffer.bytes_held);
    }
    placed.push({ buffer, offset });
    top = Math.max(top, offset + buffer.bytes_held);
  }
  return [placed, top];
}

// The bytes that live, at each time where they change: [time, bytes].
function profile(list) {
  const change = new Map(), steps = [];
  for (const { start, end, bytes_held } of list) {
    change.set(start, (change.get(start) || 0) + bytes_held);
    change.set(end + 1, (change.get(end + 1) || 0) - bytes_held);
  }
  let held = 0;
  for (const time of [...change.keys()].sort((a, b) => a - b)) { held += change.get(time); steps.push([time, held]); }
  return steps;
}

const lanes = [];

function makeLanes() {
  const spaces = [...new Set(buffers.map((b) => b.memory_space))].sort((a, b) => a - b);
  let left = 0;
  for (const space of spaces) {
    const all = buffers.filter((b) => b.memory_space === space && b.bytes_held > 0);
    const drawn = [...all].sort((a, b) => b.bytes_held - a.bytes_held).slice(0, DRAWN);
    left += all.length - drawn.length;
    const [placed, reached] = packed(drawn), steps = profile(all);
    const top = steps.reduce((most, [, held]) => Math.max(most, held), reached);
    if (!top) continue;
    const canvas = element("canvas"), held = bytes(top);
    const label = element("div", { className: "lane-label" }, element("div", {},
      Object.assign(element("i"), { style: `background:${spaceColour(space)}` }), ` ${spaceName(space)}`), held);
    byId("timeline").append(element("div", { className: "lane" }, label, canvas));
    lanes.push({ space, placed, steps, top, canvas, height: space === 0 ? 340 : 90 });
  }
  byId("timeline-hint").textContent = "Buffers from left to right the schedule, from bottom to top memory; hatched is padding. " +
    "The line is the peak of main memory." + (left ? ` The grey area counts ${left} more buffers, which are not drawn.` : "");
}

function drawLane(lane) {
  const [context, width, height] = prepared(lane.canvas, lane.height), hatch = hatching(context);
  const sx = width / data.length, sy = height / lane.top;
  lane.boxes = lane.placed.map(({ buffer, offset }) => ({ buffer, x: buffer.start * sx,
    y: height - (offset + buffer.bytes_held) * sy, w: Math.max(1, (buffer.end - buffer.start + 1) * sx),
    h: Math.max(0.5, buffer.bytes_held * sy) }));
  context.fillStyle = style("--line"); context.beginPath(); context.moveTo(0, height);
  let level = height;
  for (const [time, held] of lane.steps) { context.lineTo(time * sx, level); level = height - held * sy;
    context.lineTo(time * sx, level); }
  context.lineTo(width, level); context.lineTo(width, height); context.fill();
  const colour = spaceColour(lane.space);
  lane.boxes.forEach((box) => paint(context, hatch, colour, box, paddingShare(box.buffer)));
  if (lane.space === 0) {
    context.strokeStyle = style("--ink"); context.setLineDash([4, 3]); context.beginPath();
    const x = (data.peak_time + 0.5) * sx; context.moveTo(x, 0); context.lineTo(x, height); context.stroke();
  }
  interact(lane.canvas, (x, y) => {
    const hit = lane.boxes.findLast((b) => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h);
    return hit && hit.buffer;
  });
}

// A squarified treemap (Bruls, Huizing and van Wijk): rows of boxes with sides of similar length.
function squarified(items, x, y, w, h) {
  const total = items.reduce((sum, item) => sum + item.bytes_held, 0), boxes = [];
  if (!total) return boxes;
  const scale = (w * h) / total;
  let rest = items.map((buffer) => ({ buffer, area: buffer.bytes_held * scale }));
  const worst = (row, side) => { const sum = row.reduce((s, r) => s + r.area, 0);
    return Math.max(...row.map((r) => Math.max((side * side * r.area) / (sum * sum), (sum * sum) / (side * side * r.area)))); };
  while (rest.length) {
    const side = Math.min(w, h);
    let count = 1;
    while (count < rest.length && worst(rest.slice(0, count + 1), side) <= worst(rest.slice(0, count), side)) count += 1;
    const row = rest.slice(0, count), sum = row.reduce((s, r) => s + r.area, 0), thick = sum / side;
    let along = 0;
    for (const { buffer, area } of row) {
      const length = area / thick;
      boxes.push(w >= h ? { buffer, x, y: y + along, w: thick, h: length } : { buffer, x: x + along, y, w: length, h: thick });
      along += length;
    }
    if (w >= h) { x += thick; w -= thick; } else { y += thick; h -= thick; }
    rest = rest.slice(count);
  }
  return boxes;
}

const ROLE = { argument: "--space0", output: "--space2", temporary: "--space1" };

function showLegend() {
  byId("treemap-hint").append(...Object.entries(ROLE).map(([role, name]) => element("span", { className: "key" },
    Object.assign(element("i"), { style: `background:var(${name})` }), ` ${role}`)), " hatched: padding");
}

function drawTreemap() {
  const canvas = byId("treemap").firstElementChild, [context, width, height] = prepared(canvas, 320);
  const live = buffers.filter((b) => b.is_at_peak && b.bytes_held).sort((a, b) => b.bytes_held - a.bytes_held);
  const boxes = squarified(live.slice(0, DRAWN), 0, 0, width, height), hatch = hatching(context);
  context.font = "12px system-ui, sans-serif"; context.textBaseline = "top";
  for (const box of boxes) {
    paint(context, hatch, style(ROLE[box.buffer.role]), box, paddingShare(box.buffer));
    if (box.w < 70 || box.h < 34) continue;
    context.save(); context.beginPath(); context.rect(box.x, box.y, box.w, box.h); context.clip();
    context.fillStyle = "#fff"; context.shadowColor = "rgba(0,0,0,.6)"; context.shadowBlur = 3;
    context.fillText(box.buffer.name, box.x + 6, box.y + 5);
    context.fillText(`${bytes(box.buffer.bytes_held)}  ${box.buffer.role}`, box.x + 6, box.y + 19); context.restore();
  }
  interact(canvas, (x, y) => {
    const hit = boxes.find((b) => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h);
    return hit && hit.buffer;
  });
}

// Tables

const [sizes, code, text, number] = ["bytes", "code", "text", "number"].map((kind) => (name, title) => ({ name, title, kind }));
const from = [text("op_name", "op name"), { name: "source_line", title: "source", kind: "source" }];
const VIEWS = {
  buffers: ["Buffers", [code("name", "value"), text("opcode", "op"), text("role", "role"), { name: "memory_space", title: "memory", kind: "space" },
    sizes("bytes_held", "held"), sizes("bytes_meant", "meant"), sizes("padding_bytes", "padding"), code("shape", "shape"),
    text("padding", "why"), number("start", "from"), number("end", "to"), ...from]],
  op_names: ["Op names", [text("op_name", "op name"), number("buffers", "buffers"), sizes("bytes_held", "held"),
    sizes("bytes_meant", "meant"), sizes("padding_bytes", "padding")]],
  relayouts: ["Relayouts", [code("name", "op"), text("kind", "kind"), sizes("bytes_read", "read"), sizes("bytes_written", "written"),
    { name: "trips", title: "times", kind: "trips" }, code("source", "before"), code("result", "after"),
    text("before", "reads from"), text("after", "read by"), ...from]],
  bitcasts: ["Bitcasts", [code("source", "before"), code("result", "after"), text("verdict", "verdict"), number("count", "count"),
    text("names", "names")]],
  advice: ["Advice", [text("kind", "what"), code("subject", "value"), sizes("bytes_saved", "saves"), text("text", "how")]],
};

function shown(row, column) {
  const value = row[column.name];
  switch (column.kind) {
    case "bytes": return bytes(value);
    case "space": return spaceName(value);
    case "trips": return value === null ? (row.depth ? "in a loop" : "1") : String(value);
    case "source": return row.source_file ? `${row.source_file}:${value}` : "";
    default: return String(value ?? "");
  }
}
const isNumeric = (column) => ["bytes", "number", "trips"].includes(column.kind);
let view = "buffers", selected = null;
const states = Object.fromEntries(Object.keys(VIEWS).map((name) => [name, { filter: "", column: null, down: true }]));
Object.assign(states.buffers, { column: "padding_bytes" });

function visibleRows() {
  const state = states[view], columns = VIEWS[view][1], words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  let rows = tables[view];
  if (words.length) rows = rows.filter((row) => {
    const line = columns.map((column) => shown(row, column)).join(" ").toLowerCase();
    return words.every((word) => line.includes(word));
  });
  if (!state.column) return rows;
  const sign = state.down ? -1 : 1;
  const key = (row) => row[state.column] ?? -1;
  return [...rows].sort((a, b) => (key(a) < key(b) ? -sign : key(a) > key(b) ? sign : 0));
}

function showTable() {
  const columns = VIEWS[view][1], state = states[view], rows = visibleRows();
  const count = element("span", { className: "hint", id: "count" });
  const filter = element("input", { className: "filter", placeholder: "filter: words in any column", value: state.filter,
    type: "search" });
  const head = element("tr", {}, ...columns.map((column) => {
    const mark = state.column === column.name ? (state.down ? " ▾" : " ▴") : "";
    const cell = element("th", { textContent: column.title + mark, className: isNumeric(column) ? "number" : "" });
    cell.onclick = () => { state.down = state.column === column.name ? !state.down : isNumeric(column);
      state.column = column.name; showTable(); };
    return cell;
  }));
  const body = element("tbody"), box = element("div", { className: "window" },
    element("table", {}, element("thead", {}, head), body));
  let current = rows;
  const draw = () => {
    count.textContent = `${current.length} of ${tables[view].length}`;
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 10), last = Math.min(current.length, first + 44);
    const spacer = (n) => element("tr", {}, element("td", { colSpan: columns.length, style: `height:${n * ROW}px;padding:0;border:0` }));
    body.replaceChildren(spacer(first), ...current.slice(first, last).map((row) => {
      const line = element("tr", { className: row === selected ? "selected" : "" }, ...columns.map((column) => {
        const value = shown(row, column);
        return element("td", { textContent: value, title: column.kind === "bytes" ? `${row[column.name]} bytes` : value,
          className: isNumeric(column) ? "number" : column.kind });
      }));
      line.dataset.row = "";
      line.onclick = () => showRow(row);
      return line;
    }), spacer(current.length - last));
  };
  box.onscroll = draw;
  filter.oninput = () => { state.filter = filter.value; current = visibleRows(); box.scrollTop = 0; draw(); };
  byId("table").replaceChildren(element("div", {}, filter, count), box);
  draw();
}

function showTabs() {
  byId("tabs").replaceChildren(...Object.entries(VIEWS).map(([name, [title]]) => {
    const tab = element("button", { type: "button", textContent: `${title} (${tables[name].length})` });
    tab.setAttribute("role", "tab"); tab.setAttribute("aria-selected", String(name === view)); tab.dataset.view = name;
    tab.onclick = () => { view = name; showTabs(); showTable(); };
    return tab;
  }));
}

// Details

function showRow(row) {
  if (view === "buffers") { showBuffer(row); return; }
  selected = row;
  showDetails(row.name || row.op_name || row.subject || row.source, VIEWS[view][1].map((c) => [c.title, shown(row, c)]),
    [row.source, row.result].filter(Boolean));
  showTable();
}

function showBuffer(buffer) {
  selected = buffer;
  if (view === "buffers") showTable();
  const facts = VIEWS.buffers[1].map((column) => [column.title, shown(buffer, column)]);
  showDetails(buffer.name, [...facts, ["op", Object.hasOwn(data.ops, buffer.name) ? data.ops[buffer.name] : ""], ["function", buffer.function]], [buffer.shape]);
}

function showDetails(title, facts, shapes) {
  const list = element("dl", {}, ...facts.filter(([, value]) => value !== "").flatMap(([name, value]) =>
    [element("dt", { textContent: name }), element("dd", { textContent: value })]));
  const pictures = shapes.filter((shape) => Object.hasOwn(data.layouts, shape)).flatMap((shape) => {
    const layout = data.layouts[shape], box = element("div", { className: "picture" });
    box.innerHTML = layout.picture;
    return [element("p", { className: "hint", textContent: `${shape}: ${layout.steps}` }), ...(layout.picture ? [box] : [])];
  });
  const close = element("button", { className: "close", type: "button", textContent: "×" });
  close.onclick = () => { byId("details").hidden = true; };
  byId("details").replaceChildren(close, element("h3", { textContent: title }), list, ...pictures);
  byId("details").hidden = false;
}

function draw() { lanes.forEach(drawLane); drawTreemap(); }
byId("theme").onclick = () => {
  const isDark = getComputedStyle(document.documentElement).colorScheme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = isDark ? "light" : "dark";
  draw();
};
document.addEventListener("keydown", (event) => { if (event.key === "Escape") byId("details").hidden = true; });
window.addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
showTotals(); showLegend(); makeLanes(); draw(); showTabs(); showTable();
