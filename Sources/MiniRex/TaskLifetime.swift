/// What becomes of a task's work when nobody is subscribed any more.
public enum TaskLifetime: Sendable {
  /// It is cancelled, unless it has finished; the next subscriber starts it anew.
  case whileSubscribed
  /// It goes on, and its result is kept for the next subscriber.
  case keepsRunning
}
