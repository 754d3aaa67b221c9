import Foundation
import MiniRex
import MiniRexFoundationAdapters

/// A search that starts when typing pauses.
struct Search: Sendable {
  enum State: Equatable {
    case idle
    case searching
    case found([String])
    case failed(POSIXError.Code)
  }

  /// The text of the field.
  ///
  /// Set it after each key.
  let text = PublishedProperty("")
  /// The state to show below the field.
  let state: PublishedValue<State>

  /// - Parameters:
  ///   - pause: The time without typing after which the search starts.
  ///   - clock: The clock that measures the pause.
  ///   - find: Starts a search. Typing cancels it.
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

/// Finds the lines of a file that contain the text.
func lines(of file: URL, with text: String) -> PublishedTask<[String], POSIXError> {
  file.readTask().withoutProgress().map { data in
    String(decoding: data, as: UTF8.self)
      .split(whereSeparator: \.isNewline).map(String.init).filter { $0.contains(text) }
  }
}
