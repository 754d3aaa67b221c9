// Folds equal branches of the graph and places the rest.
const unfolded = new Set();

// Returns 53 bits of a text, so that the key of a deep branch stays short.
function hash(text) {
  let [one, other] = [0xdeadbeef, 0x41c6ce57];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    one = Math.imul(one ^ unit, 2654435761);
    other = Math.imul(other ^ unit, 1597334677);
  }
  one = Math.imul(one ^ one >>> 16, 2246822507) ^ Math.imul(other ^ other >>> 13, 3266489909);
  other = Math.imul(other ^ other >>> 16, 2246822507) ^ Math.imul(one ^ one >>> 13, 3266489909);
  return (4294967296 * (2097151 & other) + (one >>> 0)).toString(36);
}

// Two nodes are equal if they have equal names, places, inputs, and branches below. They fold into one node.
function fold({ nodes, edges }) {
  const inputs = nodes.map(() => []), outputs = nodes.map(() => []);
  for (const [from, to] of edges) { inputs[to].push(from); outputs[from].push(to); }
  const memo = compute => {
    const known = [], isOpen = [];
    const key = index => {
      if (known[index] !== undefined) return known[index];
      if (isOpen[index]) return "cycle";
      isOpen[index] = true;
      return known[index] = compute(index, key);
    };
    return key;
  };
  const own = ({ role, name, place }) => JSON.stringify([role, name, place]);
  const below = memo((index, key) => hash(own(nodes[index]) + outputs[index].map(key).sort()));
  const origin = memo((index, key) => hash(own(nodes[index]) + inputs[index].map(key).sort()));
  const group = memo((index, key) => hash(own(nodes[index]) + below(index) + inputs[index].map(input => member(input, key)).sort()));
  const member = (index, key = group) => unfolded.has(origin(index)) ? `${key(index)}#${nodes[index].id}` : key(index);
  const sizes = new Map(), byKey = new Map(), folded = [], links = new Map();
  nodes.forEach((node, index) => sizes.set(group(index), (sizes.get(group(index)) ?? 0) + 1));
  nodes.forEach((node, index) => {
    const key = member(index);
    if (!byKey.has(key)) {
      byKey.set(key, folded.length);
      folded.push({ ...node, key, origin: origin(index), members: [], size: 0, isGroup: sizes.get(group(index)) > 1 });
    }
    const made = folded[byKey.get(key)];
    made.members.push(index);
    made.size += node.count;
  });
  edges.forEach(([from, to], index) => {
    const ends = [byKey.get(member(from)), byKey.get(member(to))], key = ends.join();
    if (!links.has(key)) links.set(key, { from: ends[0], to: ends[1], members: [] });
    links.get(key).members.push(index);
  });
  return { nodes: folded, edges: [...links.values()] };
}

// Lays out each connected component, and packs the components into rows.
function layOut({ nodes, edges }) {
  const parents = nodes.map((_, index) => index);
  const root = index => { while (parents[index] !== index) index = parents[index] = parents[parents[index]]; return index; };
  for (const { from, to } of edges) parents[root(to)] = root(from);
  const components = new Map();
  nodes.forEach((node, index) => {
    if (!components.has(root(index))) components.set(root(index), { nodes: [], edges: [] });
    const component = components.get(root(index));
    [node.component, node.local] = [component, component.nodes.length];
    component.nodes.push(node);
  });
  for (const edge of edges) nodes[edge.from].component.edges.push(edge);
  const placed = [...components.values()].map(component => ({ ...component, ...layOutComponent(component, index => nodes[index].local) }));
  // The rows fill about the shape of the picture.
  const space = 32, area = placed.reduce((sum, { width, height }) => sum + (width + space) * (height + space), 0);
  const limit = Math.max(...placed.map(({ width }) => width), Math.sqrt(area * 2.4));
  let [x, y, row, width] = [0, 0, 0, 0];
  for (const component of placed.sort((one, other) => other.height - one.height)) {
    if (x > 0 && x + component.width > limit) { [x, y, row] = [0, y + row + space, 0]; }
    for (const node of component.nodes) { node.x += x; node.y += y; }
    for (const edge of component.edges) drawCurve(edge, x, y);
    [x, row] = [x + component.width + space, Math.max(row, component.height)];
    width = Math.max(width, x - space);
  }
  return { width: Math.max(1, width), height: Math.max(1, y + row) };
}

function drawCurve(edge, x, y) {
  const points = edge.points.map(point => ({ x: point.x + x, end: point.end + x, y: point.y + y }));
  let path = `M${points[0].x},${points[0].y}`, last = points[0];
  for (const point of points.slice(1)) {
    const isEnd = point === points.at(-1), end = point.x - (isEnd ? 10 : 0), middle = (last.x + end) / 2;
    path += ` C${middle},${last.y} ${middle},${point.y} ${end},${point.y}`;
    [edge.label, last] = [{ x: (last.x + end) / 2, y: (last.y + point.y) / 2 }, point];
    if (!isEnd) { path += ` L${point.end},${point.y}`; last = { x: point.end, y: point.y }; }
  }
  edge.curve = path;
}

// Layers by the longest path, ordered by the mean position of their neighbors.
function layOutComponent({ nodes, edges }, local) {
  const gap = 120, layers = [], out = nodes.map(() => []), marks = [];
  for (const edge of edges) out[local(edge.from)].push(edge);
  const rank = nodes.map(() => 0), order = [];
  const visit = index => {
    marks[index] = 1;
    for (const edge of out[index]) {
      const to = local(edge.to);
      edge.isBack = marks[to] === 1;
      if (!marks[to]) visit(to);
    }
    marks[index] = 2;
    order.push(index);
  };
  nodes.forEach((_, index) => { if (!marks[index]) visit(index); });
  for (const index of order.reverse()) for (const edge of out[index]) if (!edge.isBack) rank[local(edge.to)] = Math.max(rank[local(edge.to)], rank[index] + 1);
  const items = nodes.map((node, index) => ({ node, rank: rank[index], up: [], down: [], height: node.height, y: 0 }));
  for (const edge of edges) {
    const [from, to] = [local(edge.from), local(edge.to)];
    if (edge.isBack) { edge.path = [items[from], items[to]]; continue; }
    edge.path = [items[from]];
    for (let step = rank[from] + 1; step < rank[to]; step++) {
      const bend = { rank: step, up: [], down: [], height: 12, y: 0 };
      items.push(bend);
      edge.path.push(bend);
    }
    edge.path.push(items[to]);
    for (let index = 1; index < edge.path.length; index++) {
      edge.path[index - 1].down.push(edge.path[index]);
      edge.path[index].up.push(edge.path[index - 1]);
    }
  }
  for (const item of items) (layers[item.rank] ??= []).push(item);
  const place = layer => { let y = 0; for (const item of layer) { item.y = y + item.height / 2; y += item.height + 16; } };
  layers.forEach(place);
  const mean = (item, side) => item[side].length ? item[side].reduce((sum, other) => sum + other.y, 0) / item[side].length : item.y;
  for (let sweep = 0; sweep < 8; sweep++) {
    const side = sweep % 2 ? "down" : "up";
    for (const layer of sweep % 2 ? [...layers].reverse() : layers) {
      for (const item of layer) item.goal = mean(item, side);
      layer.sort((one, other) => one.goal - other.goal);
      let y = -Infinity;
      for (const item of layer) { item.y = Math.max(item.goal, y + item.height / 2); y = item.y + item.height / 2 + 16; }
      // Overlaps push down, so that the layer moves back by half of the mean push.
      const push = layer.reduce((sum, item) => sum + item.y - item.goal, 0) / layer.length;
      for (const item of layer) item.y -= push;
    }
  }
  let x = 0;
  for (const layer of layers) {
    const width = Math.max(...layer.map(item => item.node?.width ?? 0));
    for (const item of layer) [item.left, item.right, item.x] = [x, x + width, x + width / 2];
    x += width + gap;
  }
  const top = Math.min(0, ...items.map(item => item.y - item.height / 2));
  for (const item of items) item.y -= top;
  nodes.forEach((node, index) => [node.x, node.y] = [items[index].x, items[index].y]);
  for (const edge of edges) {
    edge.points = edge.path.map((item, index) => ({ y: item.y,
      x: item.node ? item.x + (index ? -1 : 1) * item.node.width / 2 : item.left, end: item.right }));
  }
  return { width: Math.max(1, x - gap), height: Math.max(1, ...items.map(item => item.y + item.height / 2)) };
}
