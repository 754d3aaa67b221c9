#if NATS
import Bare
import Foundation

// The members of `--fleet`, in a process of their own.
if let place = CommandLine.arguments.firstIndex(of: "--members") {
  let words = CommandLine.arguments.dropFirst(place + 1)
  await beMembers(words.first.flatMap { Int($0) } ?? 1, words.last ?? "")
}

// The baseline is bare libnats in C, in the same process and over the same server.
let server = try BenchServer()
defer { server.stop() }
let isBrief = CommandLine.arguments.contains("--brief")
let rounds = isBrief ? 1 : 7

// For a profiler: repeats one operation of the bridge.
if let place = CommandLine.arguments.firstIndex(of: "--ours") {
  let what = CommandLine.arguments.dropFirst(place + 1).first
  for _ in 0..<5 {
    switch what {
    case "requests": print(median(await requests(5_000, server.url)) / 1_000, "µs")
    case "subscriptions": print(await subscription(10_000, server.url))
    default:
      let size = CommandLine.arguments.dropFirst(place + 2).first.flatMap { Int($0) } ?? 16
      let before = processor_seconds()
      let took = await seconds(of: Data(count: size), 400_000, server.url)
      let used = (processor_seconds() - before) / 400_000 * 1e9
      print(Int(400_000 / took), "messages a second,", Int(used), "ns of the processors for each")
    }
  }
  server.stop()
  exit(0)
}

// Alternates messages of both sides, with processor time per message: `--turns SIZE`.
if let place = CommandLine.arguments.firstIndex(of: "--turns") {
  let size = CommandLine.arguments.dropFirst(place + 1).first.flatMap { Int($0) } ?? 16
  let count = 400_000
  var times: [[Double]] = [[], []]
  var ratios: [Double] = []
  for _ in 0..<15 {
    let start = processor_seconds()
    let bare = bareSeconds(count, size, server.url)
    let middle = processor_seconds()
    let ours = await seconds(of: Data(count: size), count, server.url)
    times[0].append((middle - start) / Double(count) * 1e9)
    times[1].append((processor_seconds() - middle) / Double(count) * 1e9)
    ratios.append(bare / ours)
  }
  print("ns of the processors: C", Int(median(times[0])), "ours", Int(median(times[1])))
  print("messages a second, of C's:", ratios.sorted().map { String(format: "%.2f", $0) })
  server.stop()
  exit(0)
}

// Measures many connections of one process: `--scale CONNECTIONS SUBSCRIPTIONS`.
if let place = CommandLine.arguments.firstIndex(of: "--scale") {
  let numbers = CommandLine.arguments.dropFirst(place + 1).compactMap { Int($0) }
  await measureScale(
    connections: numbers.first ?? 100, subscriptions: numbers.dropFirst().first ?? 100, server.url)
  server.stop()
  exit(0)
}

// Measures the page of a fleet: `--fleet MEMBERS`.
if let place = CommandLine.arguments.firstIndex(of: "--fleet") {
  let count = CommandLine.arguments.dropFirst(place + 1).first.flatMap { Int($0) } ?? 1_000
  try await measureFleet(of: count, server.url, seconds: isBrief ? 5 : 30)
  server.stop()
  exit(0)
}

print("messages per second between two connections, median of \(rounds) rounds")
for (size, count) in [(16, 400_000), (1_024, 100_000)] {
  let count = isBrief ? count / 20 : count
  var (bare, ours): ([Double], [Double]) = ([], [])
  for _ in 0..<rounds {
    bare.append(Double(count) / bareSeconds(count, size, server.url))
    ours.append(Double(count) / (await seconds(of: Data(count: size), count, server.url)))
  }
  show("\(size) bytes", bare, ours, goal: "at least 0.85")
}
do {
  let count = isBrief ? 5_000 : 100_000
  var json: [Double] = []
  for _ in 0..<rounds {
    json.append(
      Double(count)
        / (await seconds(of: ConsumerState(sensor: 7, celsius: 21.5), count, server.url)))
  }
  print("  JSON        ours \(Int(median(json)))")
}

print("p50 of a request in microseconds, median of \(rounds) rounds")
do {
  var (bare, ours): ([Double], [Double]) = ([], [])
  for _ in 0..<rounds {
    bare.append(median(bareRequests(isBrief ? 200 : 3_000, server.url)) / 1_000)
    ours.append(median(await requests(isBrief ? 200 : 3_000, server.url)) / 1_000)
  }
  show("16 bytes", bare, ours, goal: "at most 1.15")
}

print("heap bytes per subscription, of 10,000")
do {
  let (bare, ours) = (bareSubscription(10_000, server.url), await subscription(10_000, server.url))
  print("  C \(Int(bare))  ours \(Int(ours))  more \(Int(ours - bare)) (at most 1024)")
}
server.stop()
#else
print("Build nats-bench with --traits NATS.")
#endif
