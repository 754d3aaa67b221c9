internal import Foundation
internal import MiniRexStore

/// The graph and the logs of all stores at one instant.
struct SessionFile: Sendable, Encodable {
  /// A store with all changes in its log.
  ///
  /// The page computes earlier states by reverting changes, as the log does.
  struct Store: Sendable, Encodable {
    struct Commit: Sendable, Encodable {
      let commit: CommitLine
      /// The changes, or `nil` if they exceed the size limit.
      let changes: [ChangeLine]?
    }

    private let update: StoreUpdate
    private let commits: [Commit]
    private let state: [CommitDetail.Value]
    private let stateCount: Int

    init(_ update: StoreUpdate, _ log: CommitLog, _ limit: Int) {
      self.update = update.withoutCommits
      commits = log.entries.map { entry in
        let changes = entry.changes?.sorted { $0.key < $1.key }.prefix(limit)
        return Commit(
          commit: CommitLine(entry, causeUpTo: 2_000),
          changes: changes?.map { ChangeLine($0, $1, to: 2_000) })
      }
      let values = log.state?.values ?? [:]
      state = CommitDetail.values(values, limit)
      stateCount = values.count
    }
  }

  private let version = 1
  private let time: Double
  private let graph: GraphPicture.Contents
  private let stores: [Store]

  init(graph: GraphPicture.Contents, stores: [Store]) {
    time = Date().roundedTime
    self.graph = graph
    self.stores = stores
  }

  private enum CodingKeys: CodingKey { case version, time, graph, stores }
}
