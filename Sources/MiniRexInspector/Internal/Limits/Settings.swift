package import MiniRex
package import MiniRexPageServer

/// The limits and intervals of an inspector.
struct Settings: Sendable {
  /// The interval between two events of a page.
  var interval = Duration.milliseconds(250)
  /// The minimum interval over which rates are measured.
  var rates = Duration.seconds(1)
  /// The maximum number of commits in the log of each store.
  var commits = 200
  /// The maximum size of the changes in the log of each store, in bytes.
  var bytes = 4 << 20
  /// The maximum number of commits of each store that are queued for encoding.
  var waitingCommits = 64
  /// The share of a processor for encoding the commits of a store, or `nil` for no limit.
  ///
  /// A store that exceeds it is recorded again after `pause`.
  var recordingShare: Double? = 0.005
  /// The processor time of queuing a commit and waking the queue, which counts as recording.
  ///
  /// An estimate, because measuring it would delay the sender.
  var handover = Duration.microseconds(10)
  /// The share of a processor for the events of pages, or `nil` for no limit.
  ///
  /// Beyond it, the interval of events is `rates`.
  var eventsShare: Double? = 0.005
  /// The processor time that either share may exceed in a burst.
  var burst = Duration.milliseconds(50)
  /// The time without recording a store that exceeds its share.
  var pause = Duration.seconds(1)
  /// The maximum number of paths of a state, or of a change, on the page.
  var paths = 2_000
  /// The maximum number of nodes in a picture.
  ///
  /// A larger graph is shown as text.
  var nodes = 2_000
  /// The number of equal subscriptions above which they are one node.
  var crowd = 100
  /// The maximum number of unfinished effects of a store on the page.
  var effects = 50
  /// The maximum number of effects of a store in the timeline.
  var spans = 100
  /// The maximum number of beginnings and ends of effects that are queued for the timeline.
  var waitingEffects = 1_024
  /// The maximum number of jobs of each place on the page.
  var jobs = 50
  /// The maximum number of lines in the tree of scopes.
  var scopes = 200
  var limits = Limits.ofPages
}

extension Limits {
  /// An inspector serves few pages.
  package static var ofPages: Limits {
    var limits = Limits()
    limits.connections = 64
    return limits
  }
}

/// An instrument that ignores all events, for the inspector's own sources and tasks.
package struct Unwatched: Instrument {
  package init() {}

  package func record(_ event: InstrumentEvent) {}
}
