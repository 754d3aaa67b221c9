package import Foundation
package import MiniRex
package import MiniRexPageServer
package import MiniRexStore

/// An inspector that listens at no port, because another process serves its page.
package final class InspectorWithoutPort: Sendable {
  /// The page, which a server in the folder of the other answers must serve.
  package static var page: Data { Data(InspectorPage.html) }

  private let inspection: InspectorCore

  package init(of graph: LiveGraph) {
    inspection = InspectorCore(of: graph, Settings())
  }

  deinit { inspection.end() }

  /// Shows the commits of a store, as ``Inspector/watch(_:name:earlierCommits:alwaysRecords:)`` does.
  package func watch<State, Action>(_ store: Store<State, Action>, name: String?) {
    inspection.watch(store, name: name, earlierCommits: 0, alwaysRecorded: false)
  }

  package func ready(when isReady: PublishedValue<Bool>, name: String) {
    inspection.addReady(Condition(name: name) { isReady.current() == true })
  }

  /// Answers `GET` for a path, without changing anything.
  package func answer(get path: String) -> Reply {
    withInstrument(Unwatched()) { inspection.answer(get: path) }
  }
}
