// The rows, by the identifier of the process.
const rows = new Map();
const levels = ["", "one", "two", "three", "four", "five"];
const columns = ["state", "process", "version", "host", "uptime", "memory", "processor", "replicas", "subscriptions", "trouble"];

function enter(id) {
  const element = make("tr", { tabIndex: -1 }), cells = {};
  element.setAttribute("role", "row");
  for (const column of columns) {
    const cell = cells[column] = make(column === "process" ? "th" : "td");
    cell.setAttribute("role", column === "process" ? "rowheader" : "cell");
    cell.dataset.label = column === "trouble" ? "last trouble" : column;
    element.append(cell);
  }
  cells.process.scope = "row";
  cells.version.className = "version";
  for (const name of ["uptime", "memory", "processor"]) cells[name].className = "number";
  const row = { id, element, cells, word: make("span", { className: "word" }), link: null,
    replicas: make("ul"), details: make("details"), total: make("summary"), list: make("ul") };
  cells.state.append(row.word);
  cells.replicas.append(row.replicas);
  row.details.append(row.total, row.list);
  row.details.ontoggle = () => showSubscriptions(row);
  cells.subscriptions.append(row.details);
  rows.set(id, row);
  return row;
}

// A report of another version may lack parts. The page's process has checked the types of the others.
function update(fresh, time) {
  const report = fresh.report = { unready: [], replicas: [], subscriptions: [], ...fresh.report };
  const row = rows.get(fresh.id) ?? enter(fresh.id);
  Object.assign(row, { fresh, heardAt: time - fresh.silence });
  row.element.className = levels[fresh.concern] ?? "";
  showName(row, report);
  write(row.cells.version, String(report.version));
  write(row.cells.host, `${report.host}, ${report.process}`);
  write(row.cells.memory, bytes(report.memory));
  write(row.cells.processor, `${(100 * (Number(report.processor) || 0)).toFixed(1)} %`);
  showReplicas(row, report.time);
  showSubscriptions(row);
  const trouble = report.trouble;
  write(row.cells.trouble, trouble ? `${trouble.text} (${span(report.time - trouble.time)} ago)` : "");
  for (const name of ["replicas", "trouble"]) {
    row.cells[name].className = row.cells[name].textContent ? "wide" : "none";
  }
  row.cells.subscriptions.className = "wide";
  row.key = `${report.name} ${report.host} ${row.id}`;
}

function showName(row, report) {
  if (report.isInspected && !row.link) {
    row.link = make("a", { href: address(`process/${row.id}/`) });
    row.cells.process.replaceChildren(row.link);
  }
  write(row.link ?? row.cells.process, String(report.name));
}

function showReplicas({ replicas, fresh: { report, differences = [] } }, time) {
  while (replicas.children.length > report.replicas.length) replicas.lastElementChild.remove();
  report.replicas.forEach((replica, index) => {
    const item = replicas.children[index] ?? replicas.appendChild(make("li"));
    const parts = [`${replica.name}: ${phase(replica.phase)}`, `at ${number(replica.sequence)}`];
    if (replica.behind) parts.push(`${number(replica.behind)} behind`);
    if (replica.pending) parts.push(`${number(replica.pending)} pending${replica.oldest ? `, oldest ${span(time - replica.oldest)}` : ""}`);
    if (replica.snapshot) parts.push(`snapshot ${span(time - replica.snapshot)} old`);
    if (replica.trouble) parts.push(String(replica.trouble).replace(/\.$/, ""));
    const differs = differences.includes(replica.name);
    if (differs) parts.push("differs from the others");
    item.className = differs ? "differs" : "";
    write(item, parts.join(", "));
  });
}

const total = (list, key) => list.reduce((sum, one) => sum + (Number(one[key]) || 0), 0);

function showSubscriptions({ details, total: head, list, fresh: { report } }) {
  const all = report.subscriptions;
  write(head, `${number(total(all, "rate"))}/s, ${number(total(all, "backlog"))} queued, ${number(total(all, "drops"))} dropped`);
  if (!details.open) return list.replaceChildren();
  while (list.children.length > all.length) list.lastElementChild.remove();
  all.forEach((one, index) => {
    const item = list.children[index] ?? list.appendChild(make("li"));
    write(item, `${one.name}${one.place ? ` (${one.place})` : ""}: ${number(one.rate)}/s, ${number(one.backlog)} queued, ${number(one.drops)} dropped`);
  });
  if (Number(report.omitted) > 0) list.append(make("li", { textContent: `and ${number(report.omitted)} more` }));
}

// Texts that change with time, without a report.
function age(row, time, isFaded) {
  const silence = time - row.heardAt, text = words({ ...row.fresh, silence });
  write(row.word, isFaded ? `was ${text}` : text);
  const restarts = row.fresh.restarts ? `, ${plural(row.fresh.restarts, "restart")}` : "";
  write(row.cells.uptime, span(row.fresh.report.time - row.fresh.report.started + silence) + restarts);
}
