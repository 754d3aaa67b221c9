#if NATS
import MiniRex
import MiniRexNATS

let arguments = CommandLine.arguments
let nats = NATSConnection(arguments.count > 2 ? arguments[2] : "nats://127.0.0.1:4222")
let (latest, log) = (nats.bucket("latest"), nats.stream("readings"))
let bag = SubscriptionBag()
nats.diagnostics.subscribe { print("diagnostic: \($0)") }.store(in: bag)

if arguments.dropFirst().first == "station" {
  // The server stores both from now on, even for late subscribers.
  _ = await (latest.create().result, log.create().result)
  nats.reply(on: "fahrenheit") { (celsius: Double) in
    PublishedTask<Double, Never>.success(celsius * 9 / 5 + 32)
  }.store(in: bag)
  for number in 1... {
    let celsius = 20 + Double(number % 10)
    _ = await latest.put(celsius, for: "roof").result
    if case .failure(let error)? = await log.append(celsius).result {
      print("not appended: \(error)")
    }
    try await Task.sleep(for: .seconds(1))
  }
} else {
  latest.publishedValue(of: Double.self, for: "roof").subscribe { celsius in
    print(celsius.map { "now \($0) °C" } ?? "no value yet")
  }.store(in: bag)
  log.broadcaster(of: Double.self, from: .beginning).subscribe {
    print("\($0.sequence): \($0.payload) °C")
  }.store(in: bag)
  switch await nats.request(Double.self, 21.5, on: "fahrenheit", timeout: .seconds(2)).result {
  case .success(let fahrenheit)?: print("21.5 °C are \(fahrenheit) °F")
  case .failure(let error)?: print("no answer: \(error)")
  case nil: break
  }
  while true { try await Task.sleep(for: .seconds(600)) }
}
#else
print("Build with the trait: swift run --traits NATS weather")
#endif
