internal import MiniRex

extension Store {
  /// Returns a live query of jobs in the state.
  ///
  /// ```swift
  /// let failed = store.live(\.charges).filter { $0.status == .failed }
  /// ```
  ///
  /// The query retains the last state of the store, but not the store. A commit that does not change the jobs costs
  /// O(1), and a changed job O(log n).
  ///
  /// - Parameter jobs: The key path of the jobs, or a closure that returns them.
  public func live<Job>(
    _ jobs: @escaping @Sendable (State) -> Jobs<Job>
  ) -> LiveRows<JobEntry<Job>> {
    let inputs = PublishedValue<any LiveInput>(
      watchedBy: lineage, as: "live",
      value: .untracked { [backing] in
        switch backing {
        case .root(let storage): JobsInput(jobs(storage.current))
        case .scope(let scope): JobsInput(jobs(scope.state))
        }
      }
    ) { [backing] receive in
      let last = SerialState<JobTree<Job>?>(nil)
      return backing.subscribeToCommits { commit in
        let jobs = jobs(commit.state)
        if last.value?.root === jobs.nodes.root { return }
        last.value = jobs.nodes
        receive(JobsInput(jobs))
      }
    }
    return LiveRows(inputs, isStore: true) {
      let index = JobsIndex<Job>()
      let entry: (Int) -> JobEntry<Job> = { position in
        guard let tree = index.tree else { fatalError("A stage has a tree before it has rows.") }
        return tree[position].box.entry
      }
      return LiveStage(
        apply: { input in
          // Another source of the query has changed.
          guard let input = input as? JobsInput<Job> else { return LiveChange() }
          return index.apply(input.tree)
        },
        count: { index.tree?.count ?? 0 }, row: entry)
    }
  }
}
