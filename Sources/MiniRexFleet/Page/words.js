"use strict";
const $ = id => document.getElementById(id);
const token = new URLSearchParams(location.search).get("token");
const address = path => token === null ? path : `${path}?token=${encodeURIComponent(token)}`;

// Reports come from other processes. A page shows them as text, and never as markup.
function make(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

// Write only texts that change, to keep the reader's selection.
const write = (element, text) => { if (element.textContent !== text) element.textContent = text; };

const number = value => (Number(value) || 0).toLocaleString("en");
const plural = (count, word) => `${number(count)} ${word}${count === 1 ? "" : word.endsWith("s") ? "es" : "s"}`;
const order = new Intl.Collator("en", { numeric: true });

function span(milliseconds) {
  const seconds = Math.max(0, Math.round((Number(milliseconds) || 0) / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${number(Math.floor(seconds / 86400))} days`;
}

function bytes(count) {
  const size = Number(count) || 0;
  return size < 1e9 ? `${number(Math.round(size / 1e5) / 10)} MB` : `${number(Math.round(size / 1e8) / 10)} GB`;
}

const phases = { current: "current", catchingUp: "catching up", offline: "offline", stopped: "stopped" };
const phase = name => Object.hasOwn(phases, name) ? phases[name] : "unknown";

// The state of a process in a few words.
function words({ concern, silence, isCopied, differences = [], report }) {
  const isIn = wanted => report.replicas.filter(({ phase }) => phase === wanted).map(({ name }) => name).join(", ");
  switch (concern) {
    case 5: return `lost for ${span(silence)}`;
    case 4: return [differences.length ? `${differences.join(", ")} differs` : "", isCopied ? "two processes have its identifier" : ""]
      .filter(Boolean).join(", ");
    case 3: return report.unready.length ? `not ready: ${report.unready.join(", ")}` : `${isIn("stopped")} stopped`;
    case 2: {
      const offline = isIn("offline"), late = isIn("catchingUp");
      return offline ? `${offline} offline` : late ? `${late} catching up` : "subscription does not keep up";
    }
    case 1: return "other version";
    default: return "fine";
  }
}
