"use strict";
const $ = id => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token");
// The page of a fleet serves the inspectors of its processes in folders.
const folder = location.pathname.replace(/[^/]*$/, "");
const address = path => folder + path.slice(1) + (token === null ? "" : `?token=${encodeURIComponent(token)}`);

function make(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;

// Write only texts that change, to keep the reader's selection.
const write = (element, text) => { if (element.textContent !== text) element.textContent = text; };

const short = (text, count) => text.length > count ? `${text.slice(0, count)}…` : text;

// The title of an action, without the names of modules and without long payloads. The detail has the full text.
function title(cause) {
  const text = cause.replace(/\b\w+\.(?=[A-Z]\w*[(.])/g, ""), open = text.indexOf("(");
  return open < 0 || text.length <= 60 ? text : `${text.slice(0, open)}(${short(text.slice(open + 1), 36)})`;
}

const order = new Intl.Collator("en", { numeric: true });
const byPath = (one, other) => order.compare(one.path, other.path);
const clock = new Intl.DateTimeFormat("en-GB", { timeStyle: "medium" });

const SVG = "http://www.w3.org/2000/svg";
function draw(name, attributes, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function control(name, label, properties = {}) {
  const made = make(name, properties);
  made.setAttribute("aria-label", label);
  return made;
}

function difference({ old, new: now }) {
  const parts = [];
  if (old !== undefined) parts.push(make("del", {}, old));
  if (old !== undefined && now !== undefined) parts.push(" → ");
  if (now !== undefined) parts.push(make("ins", {}, now));
  return parts;
}
