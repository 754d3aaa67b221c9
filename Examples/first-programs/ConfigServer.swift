import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// The address and the greeting of a server.
struct Settings: Decodable, Equatable {
  let host: String
  let port: UInt16
  let greeting: String

  /// The settings in a file, or `nil` before the first valid file.
  ///
  /// An invalid file does not change the settings.
  static func following(_ file: URL) -> PublishedValue<Settings?> {
    let name = file.lastPathComponent
    @Sendable func read() -> Settings? {
      (try? Data(contentsOf: file)).flatMap {
        try? JSONDecoder().decode(Settings.self, from: $0)
      }
    }
    let changes = file.deletingLastPathComponent().changes()
      .filter { (try? $0.get().name) ?? name == name }
      .map { _ in read() }
      .filter { $0 != nil }
    return PublishedValue(initial: { read() }, changes: changes).share()
  }
}

/// Greets each connection, and listens at another address when the settings change.
func greet(
  as settings: PublishedValue<Settings?>, log: @escaping @Sendable (String) -> Void
) -> Subscription {
  combineLatest(settings.map(\.?.host), settings.map(\.?.port))
    .broadcaster
    .flatMapLatest { host, port in
      if let host, let port { arrivals(at: host, port) } else { .never }
    }
    .withLatest(from: settings.map { $0?.greeting ?? "" })
    .subscribe { arrival, greeting in
      switch arrival {
      case .listening(let host, let port): log("listening on \(host):\(port)")
      case .failed(let error): log("cannot listen: \(error.localizedDescription)")
      case .connected(let visitor):
        visitor.send(greeting).subscribeOnce { _ in visitor.close() }
      }
    }
}
