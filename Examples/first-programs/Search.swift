import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// Searches while somebody types.
struct Search: Sendable {
  enum State: Equatable {
    case idle
    case searching
    case found([String])
    case failed(POSIXError.Code)
  }

  /// What the field says now; set it with each key.
  let text = PublishedProperty("")
  /// What to show below it.
  let state: PublishedValue<State>

  /// - Parameters:
  ///   - pause: How long nothing is typed before it searches.
  ///   - clock: The only source of time.
  ///   - find: Begins to search; it is left when somebody types on.
  init(
    pause: Duration = .milliseconds(300), clock: any Clock<Duration> = ContinuousClock(),
    find: @escaping @Sendable (String) -> PublishedTask<[String], POSIXError>
  ) {
    state = text.publisher
      .debounce(for: pause, clock: clock)
      .broadcaster
      .flatMapLatest { text -> Broadcaster<State> in
        if text.isEmpty { return .sequence([.idle]) }
        return find(text).broadcaster.map { result in
          switch result {
          case .success(let lines): .found(lines)
          case .failure(let error): .failed(error.code)
          }
        }
        .prepend(.searching)
      }
      .publishedValue(initial: .idle)
  }
}

/// The lines of a file that contain the text.
func lines(of file: URL, with text: String) -> PublishedTask<[String], POSIXError> {
  file.readTask().withoutProgress().map { data in
    String(decoding: data, as: UTF8.self)
      .split(separator: "\n").map(String.init).filter { $0.contains(text) }
  }
}
