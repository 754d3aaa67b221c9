// The picture of the graph. Nodes and edges arrive once, their numbers with each event.
let graph = null, shape = null, drawing = null, numbers = null, size = { width: 1, height: 1 };
let view = { x: 0, y: 0, scale: 1 }, hasMoved = false, isDrawn = false, showsText = innerWidth < 700;

function drawGraph() {
  const focus = document.activeElement?.dataset?.key;
  drawing = fold(shape);
  for (const node of drawing.nodes) {
    node.title = short(node.name, 36) + (node.size > 1 ? ` × ${node.size}` : "");
    node.line = node.place && (node.place.length > 40 ? `…${node.place.slice(-40)}` : node.place);
    // The note of a source is inside, that of another node is below.
    node.hasNote = node.role === "source" || node.role === "trace" || numbers.nodes[node.members[0]]?.runs !== undefined;
    node.lines = 1 + (node.line ? 1 : 0) + (node.hasNote ? 1 : 0);
    node.width = Math.max(96, 7.6 * node.title.length + 26, 6.2 * (node.line ?? "").length + 20);
    node.height = 16 + 15 * node.lines;
  }
  size = layOut(drawing);
  const tip = draw("marker", { id: "tip-mark", viewBox: "0 0 10 8", refX: 0, refY: 4, markerWidth: 10, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" }, draw("path", { d: "M0 0 L10 4 L0 8 z" }));
  const content = draw("g", { id: "content" });
  for (const edge of drawing.edges) {
    edge.text = draw("text", { x: edge.label.x, y: edge.label.y - 3 });
    edge.element = draw("g", { class: "edge" }, draw("path", { d: edge.curve, "marker-end": "url(#tip-mark)" }), edge.text);
    content.append(edge.element);
  }
  drawing.nodes.forEach((node, index) => {
    const top = node.y - 7.5 * (node.lines - 1) + 4;
    const texts = [draw("text", { x: node.x, y: top, class: "name" }, short(node.name, 36))];
    if (node.size > 1) texts[0].append(draw("tspan", { class: "count" }));
    if (node.size > 1) texts[0].lastChild.textContent = ` × ${node.size}`;
    if (node.line) texts.push(draw("text", { x: node.x, y: top + 15, class: "place" }, node.line));
    node.note = draw("text", { x: node.x, y: node.hasNote ? top + 15 * texts.length : node.y + node.height / 2 + 12, class: "note" });
    const corner = node.role === "source" ? node.height / 2 : node.role === "operation" ? 8 : 2;
    node.element = draw("g", { class: `node ${node.role}${node.isGroup ? " group" : ""}`, "data-index": index }, draw("rect", {
      x: node.x - node.width / 2, y: node.y - node.height / 2, width: node.width, height: node.height, rx: corner }), ...texts, node.note);
    if (node.isGroup) {
      node.element.dataset.key = node.origin;
      node.element.setAttribute("tabindex", "0");
      node.element.setAttribute("role", "button");
      node.element.setAttribute("aria-expanded", unfolded.has(node.origin));
      node.element.setAttribute("aria-label", `${node.name}${node.size > 1 ? `, ${node.size} equal branches` : ", one of several equal branches"}`);
    }
    content.append(node.element);
  });
  $("picture").replaceChildren(draw("svg", { role: "group", "aria-label": "Graph" }, draw("defs", {}, tip), content));
  if (focus) $("picture").querySelector(`[data-key="${focus}"]`)?.focus({ preventScroll: true });
  if (!hasMoved) fit(READABLE); else move();
  search();
}

function move() {
  $("content")?.setAttribute("transform", `translate(${view.x},${view.y}) scale(${view.scale})`);
}

// A large graph begins with its upper left part, because labels of less than 11 pixels are not readable.
const READABLE = 1;
function fit(smallest = 0) {
  const { clientWidth: width, clientHeight: height } = $("picture");
  if (!width) return;
  const scale = Math.max(Math.min((width - 24) / size.width, (height - 24) / size.height, 1.2), smallest);
  const middle = (room, length) => length * scale > room - 24 ? 12 : (room - length * scale) / 2;
  view = { scale, x: middle(width, size.width), y: middle(height, size.height) };
  hasMoved = false;
  move();
}

function zoom(factor, x = $("picture").clientWidth / 2, y = $("picture").clientHeight / 2) {
  const scale = Math.min(4, Math.max(.05, view.scale * factor)), real = scale / view.scale;
  view = { scale, x: x - (x - view.x) * real, y: y - (y - view.y) * real };
  hasMoved = true;
  move();
}

const sum = (members, list, key) => members.reduce((total, index) => total + (list[index]?.[key] ?? 0), 0);
const worst = members => Math.max(0, ...members.map(index => numbers.nodes[index]?.state ?? 0));
const states = ["", "slow", "stalled"];

function showNumbers() {
  const troubles = [];
  for (const node of drawing.nodes) {
    const subscribers = sum(node.members, numbers.nodes, "subscribers"), pending = sum(node.members, numbers.nodes, "pending");
    const runs = sum(node.members, numbers.nodes, "runs"), time = sum(node.members, numbers.nodes, "time");
    node.state = worst(node.members);
    let note = node.role === "source" || node.role === "trace" ? plural(subscribers, "subscriber") : "";
    if (runs) note = `${plural(runs, "run")}, ${time < .001 ? `${(time * 1e6).toFixed(1)} µs` : `${(time * 1e3).toFixed(1)} ms`}`;
    if (pending) note += `, ${pending} pending`;
    const loads = sum(node.members, numbers.nodes, "loads"), failures = sum(node.members, numbers.nodes, "failures");
    const seconds = node.members.length === 1 ? numbers.nodes[node.members[0]]?.age : undefined;
    if (loads) note += `, ${plural(loads, "load")}`;
    if (failures) note += `, ${failures} failed`;
    if (seconds !== undefined) note += `, ${seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`} old`;
    if (node.state) note = states[node.state];
    write(node.note, note);
    node.element.classList.toggle("trouble", node.state > 0);
    const bad = node.members.filter(index => numbers.nodes[index]?.state).length;
    if (node.state && node.place) troubles.push(`${bad > 1 ? `${bad} × ` : ""}${node.name} is ${states[node.state]}: ${node.place}`);
  }
  for (const edge of drawing.edges) {
    const counts = edge.members.map(index => numbers.edges[index]).filter(Boolean);
    const rate = counts.reduce((total, { rate }) => total + rate, 0), pending = counts.reduce((total, { pending }) => total + pending, 0);
    const parts = counts.some(({ count }) => count !== undefined) ? [`${counts.reduce((total, { count }) => total + (count ?? 0), 0)}`] : [];
    if (rate > 0) parts.push(`${rate >= 100 ? Math.round(rate) : Math.round(rate * 10) / 10}/s`);
    if (pending > 0) parts.push(`${pending} pending`);
    write(edge.text, parts.join(", "));
    const isBad = drawing.nodes[edge.to].state > 0 && edge.members.some(index => numbers.nodes[shape.edges[index][1]]?.state);
    edge.element.setAttribute("class", ["edge", counts.some(({ isActive }) => isActive) ? "" : "idle", rate > 0 ? "flows" : "", isBad ? "trouble" : "",
      edge.element.classList.contains("dim") ? "dim" : ""].join(" "));
  }
  write($("trouble"), short(troubles.join(" · "), 600));
  if (tipNode) describe();
}

function search() {
  const text = $("search").value.trim().toLowerCase();
  const isFound = node => !text || `${node.name} ${node.place ?? ""} ${node.role} ${states[node.state ?? 0]}`.toLowerCase().includes(text);
  let found = 0;
  for (const node of drawing?.nodes ?? []) {
    node.isFound = isFound(node);
    found += node.isFound ? node.size : 0;
    node.element.classList.toggle("dim", !node.isFound);
  }
  for (const edge of drawing?.edges ?? []) edge.element.classList.toggle("dim", !drawing.nodes[edge.from].isFound || !drawing.nodes[edge.to].isFound);
  if (!drawing) return;
  const total = shape.nodes.reduce((sum, { count }) => sum + count, 0);
  $("graph-counts").textContent = text ? `${found} of ${plural(total, "node")}` : `${plural(total, "node")}, ${plural(shape.edges.length, "edge")}`;
}

function showGraph(update) {
  graph = update;
  numbers = { nodes: update.nodes, edges: update.edges };
  isDrawn = update.isDrawn;
  if (update.shape) shape = update.shape;
  arrange();
  if (isDrawn && shape && (update.shape || !drawing)) drawGraph();
  if (!isDrawn) { drawing = shape = null; $("picture").replaceChildren(); $("graph-counts").textContent = ""; $("trouble").textContent = ""; }
  if (drawing) showNumbers();
  write($("tree"), update.tree || "The graph has no sources yet.");
}

function arrange() {
  $("as-text").hidden = !isDrawn;
  // These controls are for the picture only.
  for (const id of ["search", "smaller", "larger", "fit", "moving"]) $(id).hidden = !isDrawn || showsText;
  $("as-text").setAttribute("aria-pressed", showsText);
  $("picture").hidden = !isDrawn || showsText;
  $("legend").hidden = !isDrawn;
  $("text").hidden = isDrawn && !showsText;
}
$("as-text").onclick = () => { showsText = !showsText; arrange(); if (!hasMoved) fit(READABLE); };
$("smaller").onclick = () => zoom(.8);
$("larger").onclick = () => zoom(1.25);
$("fit").onclick = () => fit();
$("search").oninput = search;
new ResizeObserver(() => { if (!hasMoved) fit(READABLE); }).observe($("picture"));
