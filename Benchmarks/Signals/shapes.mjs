// Times one shape of the workloads `computed-*` with a library of JavaScript signals, and prints JSON.
//   node shapes.mjs FOLDER alien-signals|@preact/signals-core SHAPE REPS
// FOLDER has the library in its `node_modules`. `Workloads/Computing.swift` has the same shapes.
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, name, shape, reps] = process.argv.slice(2);
const library = await import(pathToFileURL(find(name)));

function find(name) {
  return createRequire(join(resolve(folder), "none.js")).resolve(name);
}

/// Both libraries with the same functions. A signal is a pair of functions.
const libraries = {
  "alien-signals": ({ signal, computed, effect }) => ({
    signal(value) {
      const signalOf = signal(value);
      return [signalOf, signalOf];
    },
    computed,
    effect,
  }),
  "@preact/signals-core": ({ signal, computed, effect }) => ({
    signal(value) {
      const signalOf = signal(value);
      return [() => signalOf.value, (next) => (signalOf.value = next)];
    },
    computed(compute) {
      const value = computed(compute);
      return () => value.value;
    },
    effect,
  }),
};
const { signal, computed, effect } = libraries[name](library);

let sink = 0;

/// Follows a value, as a subscriber does.
function follow(read) {
  effect(() => {
    sink += read();
  });
}

/// Each function makes a shape, and returns the loop of its operations.
const shapes = {
  "computed-read"() {
    const [a] = signal(1);
    const [b] = signal(2);
    const sum = computed(() => a() + b());
    return (count) => {
      for (let i = 0; i < count; i++) sink += sum();
    };
  },
  "computed-set"() {
    const [a, setA] = signal(1);
    const [b] = signal(2);
    follow(computed(() => a() + b()));
    return setting(setA);
  },
  "computed-diamond"() {
    const [head, setHead] = signal(0);
    const arms = Array.from({ length: 5 }, (_, j) => computed(() => head() + j));
    follow(computed(() => arms[0]() + arms[1]() + arms[2]() + arms[3]() + arms[4]()));
    return setting(setHead);
  },
  "computed-deep"() {
    const [head, setHead] = signal(0);
    let last = head;
    for (let j = 0; j < 50; j++) {
      const previous = last;
      last = computed(() => previous() + 1);
    }
    follow(last);
    return setting(setHead);
  },
  "computed-wide"() {
    const [head, setHead] = signal(0);
    for (let j = 0; j < 50; j++) {
      const first = computed(() => head() + j);
      follow(computed(() => first() + 1));
    }
    return setting(setHead);
  },
  "computed-dense": () => layers({ width: 1000, depth: 5, reads: 25, dynamic: false }),
  "computed-dynamic": () => layers({ width: 100, depth: 15, reads: 6, dynamic: true }),
};

function setting(set) {
  return (count) => {
    for (let i = 0; i < count; i++) set(i);
  };
}

/// The layered graphs of js-reactivity-benchmark: one source changes, then the last layer is read.
function layers({ width, depth, reads, dynamic }) {
  const sources = Array.from({ length: width }, (_, i) => signal(i));
  let layer = sources.map(([read]) => read);
  let random = 1;
  for (let row = 1; row < depth; row++) {
    const above = layer;
    layer = above.map((_, place) => {
      const inputs = Array.from({ length: reads }, (_, j) => above[(place + j) % width]);
      random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
      if (dynamic && random >= 2 ** 31) return computed(() => sumOfSome(inputs));
      return computed(() => {
        let sum = 0;
        for (const read of inputs) sum += read();
        return sum % 65536;
      });
    });
  }
  const leaves = layer;
  let next = 0;
  return (count) => {
    for (let i = 0; i < count; i++) {
      const place = next++ % width;
      sources[place][1](next + place);
      for (const read of leaves) sink += read();
    }
  };
}

/// Skips one input if the first is odd.
function sumOfSome(inputs) {
  let sum = inputs[0]();
  const skipped = sum & 1 ? 1 + (sum % (inputs.length - 1)) : 0;
  for (let j = 1; j < inputs.length; j++) {
    if (j !== skipped) sum += inputs[j]();
  }
  return sum % 65536;
}

function nanoseconds(run, count) {
  const start = process.hrtime.bigint();
  run(count);
  return Number(process.hrtime.bigint() - start);
}

/// The fastest of three, because other programs disturb a measurement.
function fastest(run, count) {
  return Math.min(...[1, 2, 3].map(() => nanoseconds(run, count)));
}

const run = shapes[shape]();
let count = 1;
// The optimizer compiles the loop before the first measurement.
while (fastest(run, count) < 6e6) count *= 2;
const times = Array.from({ length: Number(reps) }, () => nanoseconds(run, count) / count);
times.sort((a, b) => a - b);
console.log(JSON.stringify({ min: times[0], median: times[times.length >> 1], sink: sink % 2 }));
