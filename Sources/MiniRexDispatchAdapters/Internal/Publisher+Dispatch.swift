public import MiniRex

/// Enqueues a job on a queue of any kind.
@usableFromInline
package typealias Enqueue = @Sendable (_ job: @escaping @Sendable () -> Void) -> Void

extension Publisher {
  /// Dispatches each update to a job, in order and serially.
  @inlinable
  package func called(
    by function: String = #function, buffering policy: BufferingPolicy<Kind>, at place: CodePlace,
    in enqueue: @escaping Enqueue
  ) -> Publisher {
    Publisher(of: self, by: function, value: .none) { receive in
      let isNew = policy.changeTest(of: Update.self)
      let call: @Sendable (Update) -> Void =
        if let isNew { { if isNew($0) { receive($0) } } } else { receive }
      let dispatcher = Dispatcher<Update, @Sendable (Update) -> Void>(
        call, limit: policy.limit, at: place
      ) { dispatcher, _ in
        enqueue { dispatcher.run { $0($1) } }
      }
      return dispatcher.subscribe(to: self, by: function)
    }
  }

  /// Subscribes in a job.
  package func started(by function: String = #function, in enqueue: @escaping Enqueue) -> Publisher
  {
    Publisher(of: self, by: function, value: .none) { receive in
      let late = DeferredSubscription(of: self, receive)
      enqueue { late.start() }
      return late.subscription
    }
  }
}
