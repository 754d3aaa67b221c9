// The tip of a node, and the input of pointers and keys in the graph.
let tipNode = null, tipAt = null;
function describe() {
  const node = drawing.nodes[tipNode];
  if (!node) return hideTip();
  const flow = side => {
    const edges = drawing.edges.filter(edge => edge[side] === tipNode).flatMap(edge => edge.members);
    return { count: sum(edges, numbers.edges, "count"), rate: sum(edges, numbers.edges, "rate"), pending: sum(edges, numbers.edges, "pending"),
      dropped: sum(edges, numbers.edges, "dropped"), isCounted: edges.some(index => numbers.edges[index]?.count !== undefined) };
  };
  const [above, below] = [flow("to"), flow("from")];
  const lines = [make("p", {}, make("b", { textContent: node.name }), ` ${node.role === "operation" ? "operator" : node.role}${node.size > 1 ? ` × ${node.size}` : ""}`)];
  if (node.place) lines.push(make("p", { textContent: node.place }));
  const line = (text, className = "") => lines.push(make("p", { textContent: text, className }));
  if (above.isCounted) line(`in: ${above.count} updates, ${above.rate.toFixed(1)}/s`);
  if (below.isCounted) line(`out: ${below.count} updates, ${below.rate.toFixed(1)}/s`);
  if (above.pending || above.dropped) line(`${above.pending} queued, ${above.dropped} dropped`);
  if (node.state) line(node.state === 2 ? "stalled: it takes no update" : "slow: its queue grows or drops updates", "bad");
  if (node.isGroup) line(node.size > 1 ? "Click to show each branch" : "Click to fold the equal branches");
  $("tip").replaceChildren(...lines);
  $("tip").hidden = false;
  const { width, height } = $("tip").getBoundingClientRect();
  $("tip").style.left = `${Math.max(4, Math.min(tipAt.x + 14, innerWidth - width - 8))}px`;
  $("tip").style.top = `${tipAt.y + 18 + height > innerHeight ? Math.max(4, tipAt.y - height - 10) : tipAt.y + 18}px`;
}
function hideTip() { tipNode = null; $("tip").hidden = true; }
function showTip(element, at) {
  const index = element?.closest?.(".node")?.dataset.index;
  if (index === undefined) return hideTip();
  [tipNode, tipAt] = [Number(index), at];
  describe();
}
function toggle(element) {
  const key = element?.closest?.(".group")?.dataset.key;
  if (key === undefined) return false;
  const before = { ...view }, { scale } = before;
  const { x, y } = drawing.nodes[element.closest(".group").dataset.index];
  unfolded.has(key) ? unfolded.delete(key) : unfolded.add(key);
  hideTip();
  if (!unfolded.size) hasMoved = false;
  drawGraph();
  // The first branch takes the place of the folded ones, at the same scale.
  const now = drawing.nodes.find(node => node.origin === key);
  if (unfolded.size && now) {
    view = { scale, x: before.x + (x - now.x) * scale, y: before.y + (y - now.y) * scale };
    hasMoved = true;
    move();
  }
  showNumbers();
  return true;
}

let drag = null;
$("picture").onpointerdown = event => {
  if (event.button === 0) drag = { x: event.clientX, y: event.clientY, start: { ...view }, hasMoved: false, id: event.pointerId };
};
$("picture").onpointermove = event => {
  if (!drag) return event.pointerType === "mouse" ? showTip(event.target, { x: event.clientX, y: event.clientY }) : undefined;
  const [x, y] = [event.clientX - drag.x, event.clientY - drag.y];
  if (!drag.hasMoved && Math.hypot(x, y) < 5) return;
  if (!drag.hasMoved) { $("picture").setPointerCapture(drag.id); $("picture").classList.add("drags"); hideTip(); }
  drag.hasMoved = hasMoved = true;
  Object.assign(view, { x: drag.start.x + x, y: drag.start.y + y });
  move();
};
$("picture").onpointerup = event => {
  const ended = drag;
  drag = null;
  $("picture").classList.remove("drags");
  if (ended && !ended.hasMoved && !toggle(event.target) && event.pointerType !== "mouse") showTip(event.target, { x: event.clientX, y: event.clientY });
};
$("picture").onpointercancel = () => { drag = null; $("picture").classList.remove("drags"); };
$("picture").onpointerleave = () => { if (!drag) hideTip(); };
$("picture").onfocusin = event => {
  if (!event.target.matches?.(".group:focus-visible")) return;
  const { left, bottom } = event.target.getBoundingClientRect();
  showTip(event.target, { x: left, y: bottom - 18 });
};
$("picture").onfocusout = hideTip;
// Without a key, the wheel scrolls the page.
$("picture").addEventListener("wheel", event => {
  if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
  event.preventDefault();
  const { left, top } = $("picture").getBoundingClientRect();
  zoom(Math.exp(-(event.deltaY || event.deltaX) / 400), event.clientX - left, event.clientY - top);
}, { passive: false });
$("picture").onkeydown = event => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const step = (x, y) => () => { view.x += x; view.y += y; hasMoved = true; move(); };
  const action = { ArrowLeft: step(60, 0), ArrowRight: step(-60, 0), ArrowUp: step(0, 60), ArrowDown: step(0, -60), "+": () => zoom(1.25),
    "=": () => zoom(1.25), "-": () => zoom(.8), 0: () => fit(), Enter: () => toggle(event.target), " ": () => toggle(event.target) }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
};
