// The timeline and the treemap. A colour is a role in both; hatching is padding.

const DRAWN = 1200; // more rectangles than this cannot be distinguished
const MARGIN = { left: 72, right: 12, top: 8, bottom: 22 };
const ROLE = { argument: "--argument", output: "--output", temporary: "--temporary" };
const FONT = "12px system-ui, sans-serif";
const zoom = { from: 0, to: data.length };
const lanes = [];
let selected = null;

function legend(...more) {
  const key = (kind, text, colour = "") => element("span", { className: "key" },
    Object.assign(element("i", { className: kind }), { style: colour }), ` ${text}`);
  return element("p", { className: "hint legend" },
    ...Object.entries(ROLE).map(([role, name]) => key("box", role, `background:var(${name})`)), key("hatched", "padding"),
    ...more.map(([kind, text]) => key(kind, text)));
}

function prepared(canvas, height) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || canvas.parentElement.clientWidth;
  canvas.width = width * ratio; canvas.height = height * ratio; canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.font = FONT;
  return [context, width, height];
}

function hatching(context) {
  const tile = element("canvas", { width: 6, height: 6 }), pen = tile.getContext("2d");
  pen.strokeStyle = style("--hatch"); pen.beginPath(); pen.moveTo(0, 6); pen.lineTo(6, 0); pen.stroke();
  return context.createPattern(tile, "repeat");
}

// The hatched part of a box is the padding's share of it.
function paint(context, hatch, box) {
  const buffer = box.buffer, padded = buffer.bytes_held ? box.h * buffer.padding_bytes / buffer.bytes_held : 0;
  context.fillStyle = style(ROLE[buffer.role]); context.fillRect(box.x, box.y, box.w, box.h);
  if (padded >= 1) { context.fillStyle = hatch; context.fillRect(box.x, box.y, box.w, padded); }
  if (box.w > 3 && box.h > 3) { context.strokeStyle = style("--ground"); context.lineWidth = 0.7;
    context.strokeRect(box.x, box.y, box.w, box.h); }
  if (buffer === selected) { context.strokeStyle = style("--ink"); context.lineWidth = 3;
    context.strokeRect(box.x + 1.5, box.y + 1.5, Math.max(1, box.w - 3), Math.max(1, box.h - 3)); }
}

function describe(buffer) {
  return [`${buffer.name}  ${buffer.shape}`,
    `${bytes(buffer.bytes_held)} allocated, ${bytes(buffer.bytes_meant)} payload, ${spaceName(buffer.memory_space)}`,
    buffer.padding, buffer.op_name, sourceOf(buffer)].filter(Boolean).join("\n");
}
const hitIn = (boxes, x, y) => {
  const hit = boxes.findLast((b) => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h);
  return hit && hit.buffer;
};

function showTooltip(event, buffer) {
  const tooltip = byId("tooltip");
  tooltip.hidden = !buffer;
  if (!buffer) return;
  tooltip.textContent = describe(buffer);
  tooltip.style.left = `${Math.max(8, Math.min(event.clientX + 14, window.innerWidth - tooltip.offsetWidth - 8))}px`;
  const below = event.clientY + 14 + tooltip.offsetHeight < window.innerHeight;
  tooltip.style.top = `${below ? event.clientY + 14 : event.clientY - tooltip.offsetHeight - 8}px`;
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

function makeLanes() {
  const spaces = [...new Set(buffers.map((b) => b.memory_space))].sort((a, b) => a - b);
  let left = 0;
  for (const space of spaces) {
    const all = buffers.filter((b) => b.memory_space === space && b.bytes_held > 0);
    const drawn = [...all].sort((a, b) => b.bytes_held - a.bytes_held).slice(0, DRAWN);
    left += all.length - drawn.length;
    const [placed, reached] = packed(drawn), steps = profile(all);
    const most = steps.reduce((top, [, held]) => Math.max(top, held), 0), top = Math.max(most, reached);
    if (!top) continue;
    const canvas = element("canvas", { tabIndex: 0 }), selection = element("div", { className: "selection", hidden: true });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Buffers in ${spaceName(space)} along the schedule; the table of buffers has the ` +
      "same. Arrow keys move, plus and minus zoom, 0 shows the whole schedule.");
    byId("timeline").append(element("div", { className: "lane" },
      element("div", { className: "lane-label", textContent: `${spaceName(space)}: at most ${bytes(most)}` }),
      element("div", { className: "plot" }, canvas, selection)));
    const lane = { space, placed, steps, top, canvas, selection, height: space === 0 ? 340 : 110 };
    lanes.push(lane);
    interactWithLane(lane);
  }
  byId("timeline").before(legend(["dashed", "time of the peak"],
    ["rest", `sum of all buffers${left ? `, ${left} of which are not drawn` : ""}`]));
}

function byteTicks(top, count) {
  const rough = top / count, found = [];
  let unit = 1;
  while (rough >= unit * 1024 && unit < 2 ** 40) unit *= 1024;
  const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1024].map((each) => each * unit);
  const step = steps.find((each) => each >= rough && each <= top) || steps.findLast((each) => each <= top) || 1;
  for (let tick = 0; tick <= top; tick += step) found.push(tick);
  return found;
}

function timeTicks(from, to, count) {
  const rough = Math.max(1, (to - from) / count), power = 10 ** Math.floor(Math.log10(rough)), found = [];
  const step = power * [1, 2, 5, 10].find((each) => each * power >= rough);
  for (let tick = Math.ceil(from / step) * step; tick < to; tick += step) found.push(tick);
  return found;
}

function drawAxes(context, area, lane, sx, sy) {
  context.fillStyle = style("--dim"); context.strokeStyle = style("--line"); context.lineWidth = 1;
  context.textAlign = "right"; context.textBaseline = "middle";
  const line = (x1, y1, x2, y2) => { context.beginPath(); context.moveTo(x1, y1); context.lineTo(x2, y2); context.stroke(); };
  for (const tick of byteTicks(lane.top, Math.max(1, area.h / 50))) {
    const y = area.y + area.h - tick * sy;
    line(area.x, y, area.x + area.w, y);
    context.fillText(bytes(tick), area.x - 8, Math.max(y, 7));
  }
  context.textBaseline = "top"; context.textAlign = "center";
  for (const tick of timeTicks(zoom.from, zoom.to, area.w / 90)) {
    const x = area.x + (tick - zoom.from) * sx, half = context.measureText(String(tick)).width / 2;
    line(x, area.y + area.h, x, area.y + area.h + 4);
    context.fillText(String(tick), Math.min(x, area.x + area.w + MARGIN.right - half), area.y + area.h + 6);
  }
  line(area.x, area.y, area.x, area.y + area.h);
}

function drawLane(lane) {
  const [context, width, height] = prepared(lane.canvas, lane.height), hatch = hatching(context);
  const area = { x: MARGIN.left, y: MARGIN.top, w: width - MARGIN.left - MARGIN.right,
    h: height - MARGIN.top - MARGIN.bottom };
  const sx = area.w / (zoom.to - zoom.from), sy = area.h / lane.top, floor = area.y + area.h;
  const xOf = (time) => area.x + (time - zoom.from) * sx;
  drawAxes(context, area, lane, sx, sy);
  context.save(); context.beginPath(); context.rect(area.x, area.y, area.w, area.h); context.clip();
  lane.boxes = lane.placed.map(({ buffer, offset }) => ({ buffer, x: xOf(buffer.start),
    y: floor - (offset + buffer.bytes_held) * sy, w: Math.max(1, (buffer.end - buffer.start + 1) * sx),
    h: Math.max(0.5, buffer.bytes_held * sy) })).filter((box) => box.x < area.x + area.w && box.x + box.w > area.x);
  context.fillStyle = style("--sum"); context.beginPath(); context.moveTo(xOf(0), floor);
  let level = floor;
  for (const [time, held] of lane.steps) { context.lineTo(xOf(time), level); level = floor - held * sy;
    context.lineTo(xOf(time), level); }
  context.lineTo(xOf(data.length), level); context.lineTo(xOf(data.length), floor); context.fill();
  lane.boxes.forEach((box) => paint(context, hatch, box));
  if (lane.space === 0) {
    context.strokeStyle = style("--ink"); context.lineWidth = 1.5; context.setLineDash([4, 3]); context.beginPath();
    const x = xOf(data.peak_time + 0.5); context.moveTo(x, area.y); context.lineTo(x, floor); context.stroke();
  }
  context.restore();
  lane.timeAt = (x) => zoom.from + (Math.min(Math.max(x, area.x), area.x + area.w) - area.x) / sx;
}

function setZoom(from, to) {
  const span = Math.min(data.length, Math.max(1, to - from));
  zoom.from = Math.max(0, Math.min(from, data.length - span));
  zoom.to = zoom.from + span;
  const isWhole = span >= data.length;
  byId("whole").hidden = isWhole;
  byId("range").textContent = isWhole ? "" : `instructions ${Math.floor(zoom.from)} to ${Math.ceil(zoom.to) - 1}`;
  lanes.forEach(drawLane);
}

function interactWithLane(lane) {
  const { canvas, selection } = lane;
  let begin = null;
  const isDrag = (event) => begin !== null && Math.abs(event.offsetX - begin) > 5;
  canvas.onpointerdown = (event) => { begin = event.offsetX; canvas.setPointerCapture(event.pointerId); };
  canvas.onpointermove = (event) => {
    const dragging = isDrag(event), hit = dragging ? null : hitIn(lane.boxes, event.offsetX, event.offsetY);
    selection.hidden = !dragging;
    selection.style.left = `${Math.min(begin, event.offsetX)}px`;
    selection.style.width = `${Math.abs(event.offsetX - begin)}px`;
    canvas.style.cursor = hit ? "pointer" : "crosshair";
    showTooltip(event, hit);
  };
  canvas.onpointerup = (event) => {
    const hit = hitIn(lane.boxes, event.offsetX, event.offsetY);
    if (isDrag(event)) {
      const times = [lane.timeAt(begin), lane.timeAt(event.offsetX)].sort((a, b) => a - b);
      setZoom(Math.floor(times[0]), Math.ceil(times[1]));
    } else if (hit) showBuffer(hit, byId("timeline").parentElement);
    begin = null; selection.hidden = true;
  };
  canvas.onpointercancel = () => { begin = null; selection.hidden = true; };
  canvas.onpointerleave = () => { byId("tooltip").hidden = true; };
  canvas.ondblclick = () => setZoom(0, data.length);
  canvas.onkeydown = (event) => {
    const span = zoom.to - zoom.from, moves = { ArrowLeft: [-0.2, -0.2], ArrowRight: [0.2, 0.2], "+": [0.25, -0.25],
      "=": [0.25, -0.25], "-": [-0.5, 0.5], 0: [-Infinity, Infinity] };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    const [a, b] = moves[event.key];
    setZoom(event.key === "0" ? 0 : zoom.from + a * span, event.key === "0" ? data.length : zoom.to + b * span);
  };
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

// The text, or its first letters and dots; empty where fewer than four letters fit.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  let count = text.length - 1;
  while (count >= 4 && context.measureText(`${text.slice(0, count)}…`).width > width) count -= 1;
  return count >= 4 ? `${text.slice(0, count)}…` : "";
}

function drawLabel(context, box) {
  const lines = [box.buffer.name, `${bytes(box.buffer.bytes_held)} ${box.buffer.role}`]
    .map((line) => fitted(context, line, box.w - 20)).filter(Boolean);
  if (!lines.length || box.h < 16 * lines.length + 14) return;
  const wide = Math.max(...lines.map((line) => context.measureText(line).width));
  context.fillStyle = style("--ground"); context.fillRect(box.x + 5, box.y + 5, wide + 10, 16 * lines.length + 4);
  context.fillStyle = style("--ink"); context.textAlign = "left"; context.textBaseline = "top";
  lines.forEach((line, i) => context.fillText(line, box.x + 10, box.y + 9 + 16 * i));
}

function drawTreemap() {
  const canvas = byId("treemap").firstElementChild, [context, width, height] = prepared(canvas, 320);
  const live = buffers.filter((b) => b.is_at_peak && b.bytes_held).sort((a, b) => b.bytes_held - a.bytes_held);
  const boxes = squarified(live.slice(0, DRAWN), 0, 0, width, height), hatch = hatching(context);
  boxes.forEach((box) => { paint(context, hatch, box); drawLabel(context, box); });
  canvas.onmousemove = (event) => {
    const hit = hitIn(boxes, event.offsetX, event.offsetY);
    canvas.style.cursor = hit ? "pointer" : "default";
    showTooltip(event, hit);
  };
  canvas.onmouseleave = () => { byId("tooltip").hidden = true; };
  canvas.onclick = (event) => {
    const hit = hitIn(boxes, event.offsetX, event.offsetY);
    if (hit) showBuffer(hit, byId("treemap").parentElement);
  };
}

function draw() { lanes.forEach(drawLane); drawTreemap(); }
