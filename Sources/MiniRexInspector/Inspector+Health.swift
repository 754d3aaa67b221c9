public import MiniRex

extension Inspector {
  /// Adds a condition for `GET /ready`, which answers 200 if all conditions are `true`, and 503
  /// otherwise.
  ///
  /// ```swift
  /// inspector.ready(when: database.isConnected, name: "database")
  /// ```
  ///
  /// Without a condition, the answer is 200. An answer 503 lists the names of the conditions that
  /// are `false`. Each request reads the value, which runs the transforms between its source and
  /// the publisher, on the thread of the request. The inspector does not subscribe. It retains the
  /// publisher.
  ///
  /// - Parameters:
  ///   - isReady: The value that must be `true`.
  ///   - name: The name in the answer.
  public func ready(when isReady: PublishedValue<Bool>, name: String) {
    inspection.addReady(Condition(name: name) { isReady.current() == true })
  }

  /// Adds a condition for `GET /live`, which answers 200 if all conditions are `true`, and 503
  /// otherwise.
  ///
  /// Use it for a state that only a restart of the program repairs. Otherwise, it works like
  /// ``ready(when:name:)``.
  ///
  /// - Parameters:
  ///   - isLive: The value that must be `true`.
  ///   - name: The name in the answer.
  public func live(when isLive: PublishedValue<Bool>, name: String) {
    inspection.addLive(Condition(name: name) { isLive.current() == true })
  }
}
