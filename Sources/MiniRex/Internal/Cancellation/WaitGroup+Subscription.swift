extension WaitGroup {
  /// The groups of `invalidateAndWait()`, by subscription.
  ///
  /// Only the group knows the work that the release of a callback canceled, so concurrent calls for
  /// one subscription share it.
  private static let ofTokens = Lock<[ObjectIdentifier: WaitGroup]>([:])

  /// Cancels the subscription and waits, even for an earlier call that has not returned.
  static func run(on token: Subscription) async {
    let group = WaitGroup()
    let id = ObjectIdentifier(token)
    let earlier = ofTokens.withLock { groups in
      let earlier = groups[id]
      if earlier == nil { groups[id] = group }
      return earlier
    }
    group.end(token)
    if let earlier { group.await(earlier) }
    await group.wait()
    if earlier == nil { ofTokens.withLock { $0[id] = nil } }
  }
}

extension Subscription {
  /// Cancels the subscription.
  ///
  /// A current wait group waits for the canceled work.
  func leave() {
    if let group = WaitGroup.current { group.end(self) } else { invalidate() }
  }
}
