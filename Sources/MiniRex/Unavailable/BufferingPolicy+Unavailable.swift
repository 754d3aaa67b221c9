extension BufferingPolicy where Kind == PublishedValueKind {
  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "A published value cannot wait. Use 'bufferingNewest(1)', which keeps the newest value."
  )
  public static func suspending(_ limit: Int) -> BufferingPolicy { .unbounded }

  /// Unavailable; see the message.
  @available(
    *, unavailable,
    message:
      "A published value cannot wait. Use 'bufferingNewest(1)', which keeps the newest value."
  )
  public static func suspending(
    _ limit: Int, timeout: Duration, clock: any Clock<Duration> = ContinuousClock()
  ) -> BufferingPolicy { .unbounded }
}
