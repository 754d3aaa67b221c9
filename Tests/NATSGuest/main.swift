#if NATS
import Foundation
import MiniRex
import MiniRexFleet
import MiniRexNATS
import MiniRexNATSStore

// A separate process that a test can kill. `nats-guest request URL SUBJECT` sends a request and
// waits indefinitely.
let arguments = CommandLine.arguments
var options = NATSOptions()
if arguments[1] == "trace" { options.propagation = .w3c }
let nats = NATSConnection(arguments[2], options: options)
let bag = SubscriptionBag()

switch arguments[1] {
case "request":
  nats.request(String.self, "", on: arguments[3], timeout: .seconds(600)).subscribe { _ in }
    .store(in: bag)
case "reply":
  // Reports the request and never answers.
  let asked = arguments[4]
  nats.reply(on: arguments[3]) { (_: Int) in
    PublishedTask<Int, Never> { () async -> Int in
      try? nats.publish("asked", on: asked)
      while !Task.isCancelled { try? await Task.sleep(for: .seconds(600)) }
      return 0
    }
  }.store(in: bag)
  try nats.publish("ready", on: asked)
case "trace":
  // Answers with the trace of each request, and reports the trace of each message.
  nats.reply(on: "traced") { (_: String) in
    PublishedTask<String, Never> { TraceContext.current?.traceID ?? "none" }
  }.store(in: bag)
  nats.broadcaster(of: String.self, on: "updates").subscribe { message in
    try? nats.publish("\(message.payload) \(TraceContext.current?.traceID ?? "none")", on: "seen")
  }.store(in: bag)
case "replica":
  try await followLedger(as: arguments[3], sending: Int(arguments[4]) ?? 0, over: nats, in: bag)
case "notes":
  try await sendNotes(as: arguments[3], keptIn: arguments[4], over: nats)
case "member":
  let member = FleetMember(
    of: arguments[3], over: nats, name: arguments[4], version: arguments[5])
  Subscription { withExtendedLifetime(member) {} }.store(in: bag)
case "work":
  // Takes one message and reports that on a subject, without an acknowledgment.
  nats.stream(arguments[3])
    .work(of: String.self, durable: "billing", ackWait: .milliseconds(500))
    .subscribe { try? nats.publish($0.payload, on: arguments[4]) }.store(in: bag)
case "exit":
  // Exits while the connection is being established.
  usleep(UInt32(arguments[3]) ?? 0)
  exit(0)
case "subscriptions":
  try haveSubscriptions(1_000, of: nats)
  let before = Leftovers()
  try haveSubscriptions(10_000, of: nats)
  await end(whenNoMoreThan: before, "10,000 subscriptions")
case "connections":
  // Starts all delivery threads of libnats.
  try haveSubscriptions(100, of: nats)
  try await haveConnections(5, to: arguments[2])
  let before = Leftovers()
  try await haveConnections(20, to: arguments[2])
  await end(whenNoMoreThan: before, "20 connections")
case "silence":
  try await haveSilence(5, at: arguments[2])
  let before = Leftovers()
  try await haveSilence(40, at: arguments[2])
  // The connection of this program also makes attempts.
  await end(whenNoMoreThan: before, slack: 8, "40 connections to a silent server")
default:
  print("Unknown command '\(arguments[1])'.")
  exit(2)
}
while true { try await Task.sleep(for: .seconds(600)) }
#endif
