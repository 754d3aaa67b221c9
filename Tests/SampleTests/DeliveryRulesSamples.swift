import MiniRex
import MiniRexTesting
import TestSupport
import Testing

@Suite(.light) struct DeliveryRulesSamples {
  @Test func `every subscriber receives a re-entrant send after the current update`() {
    let numbers = BroadcastSource<Int>()
    let first = Recorder(numbers.publisher) { if $0 == 1 { numbers.broadcast(2) } }
    let second = Recorder(numbers.publisher)

    numbers.broadcast(1)

    #expect(first.updates == [1, 2])
    #expect(second.updates == [1, 2])
  }

  @Test func `a server binds only configured addresses`() {
    let server = Server()
    let config = PublishedProperty(Config(host: "h1", port: 80))
    let address = combineLatest(config.publisher.map(\.host), config.publisher.map(\.port))
    let subscription = address.subscribe { host, port in server.bind(host, port) }
    config.value = Config(host: "h2", port: 443)

    config.value.port = 444
    #expect(server.bound.updates == ["h1:80", "h2:443", "h2:444"])
    withExtendedLifetime(subscription) {}
  }
}

private struct Config: Equatable {
  var host: String
  var port: Int
}

private struct Server: Sendable {
  private let bindings = BroadcastSource<String>()
  let bound: Recorder<String>

  init() {
    bound = Recorder(bindings.publisher)
  }

  func bind(_ host: String, _ port: Int) {
    bindings.broadcast("\(host):\(port)")
  }
}
