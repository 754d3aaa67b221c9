// The scopes in use, as a tree.
function showScopes(store, scopes) {
  write(store.scopes, `Scopes: ${scopes.reduce((total, { count }) => total + count, 0) || "none"}`);
  const lists = [make("ul")];
  for (const { depth, path, count } of scopes) {
    lists.length = Math.min(lists.length, depth + 1);
    const parent = lists.at(-1), item = make("li", {}, make("code", { textContent: path }), count > 1 ? ` × ${count}` : "");
    parent.append(item);
    const inner = make("ul");
    item.append(inner);
    lists.push(inner);
  }
  for (const list of lists[0].querySelectorAll("ul:empty")) list.remove();
  store.scopeList.replaceChildren(lists[0]);
}
