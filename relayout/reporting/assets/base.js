"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const byId = (id) => document.getElementById(id);
const isNarrow = () => matchMedia("(max-width: 760px)").matches;

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

// Rounds as the terminal does: three digits, and a half goes to the even digit.
function bytes(count) {
  let size = count, unit = 0;
  while (Math.abs(size) >= 1024 && unit < 4) { size /= 1024; unit += 1; }
  const large = Math.abs(size), scale = !unit || large >= 99.95 ? 1 : large >= 9.995 ? 10 : 100, scaled = size * scale;
  const rounded = Math.abs(scaled % 1) === 0.5 ? 2 * Math.round(scaled / 2) : Math.round(scaled);
  return `${rounded / scale} ${["B", "KiB", "MiB", "GiB", "TiB"][unit]}`;
}
const spaceName = (space) => data.spaces[space] || `S(${space})`;

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

// `#value` is the address of a buffer; the second one of a name is `#value~2`.
const byAnchor = new Map(), counts = new Map();
for (const buffer of buffers) {
  const count = (counts.get(buffer.name) || 0) + 1;
  counts.set(buffer.name, count);
  buffer.anchor = count > 1 ? `${buffer.name}~${count}` : buffer.name;
  byAnchor.set(buffer.anchor, buffer);
}

function showTotals() {
  byId("module").textContent = data.module;
  byId("subtitle").textContent = [data.target, data.totals.peak_is_bound ? "no schedule: the peak is a bound" : ""]
    .filter(Boolean).join(", ");
  const cards = [["peak", data.totals.main_memory_peak_bytes], ["arguments", data.totals.argument_bytes],
    ["outputs", data.totals.output_bytes], ["outputs that alias arguments", data.totals.alias_bytes],
    ...(data.totals.host_bytes ? [["on the host", data.totals.host_bytes]] : []),
    ...Object.entries(data.totals.temporary_bytes_by_memory_space).map(([s, b]) => [`temporaries, ${spaceName(s)}`, b]),
    ["padding at the peak", data.totals.padding_bytes],
    ...(data.tables.costs.rows.length ? [["accessed", data.totals.bytes_accessed]] : []),
    ...Object.entries(data.moved).filter(([, [count]]) => count).map(([name, [count, size]]) => [`${count} ${name}`, size])];
  byId("totals").append(...cards.map(([name, count]) => element("div", { className: "card", title: `${count} bytes` },
    element("b", { textContent: bytes(count) }), element("span", { textContent: name }))));
}
