/// The fate of a task's work after its last subscription is canceled.
public enum TaskLifetime: Sendable {
  /// Cancels unfinished work.
  ///
  /// The next subscriber starts a new run.
  case whileSubscribed
  /// Continues the work, and keeps its result for the next subscriber.
  case keepsRunning
}
