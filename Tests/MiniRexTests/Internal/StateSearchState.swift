import MiniRex

/// An update as the search sees it.
struct Update: Hashable {
  /// Its place in the one order; 0 for a first value, and for a duplicate, which nobody may see.
  var number: Int
  var value: Int
  var isFirst = false
}

struct PendingUpdate: Hashable {
  var update: Update
  var replaced: Int?
  var ticket: Ticket
  var sender: Int
}

/// The place of a subscriber in the table; the serial number 0 is nobody's.
struct Place: Hashable {
  var serial: UInt
  let subscriber: Int
}

/// What a thread is about to do; the last of its frames is next.
enum Frame: Hashable {
  enum Code: Hashable {
    case thread(Int)
    case reaction(Int)
    case release(Int)
  }

  /// The rest of a list of operations.
  case operations(Code, next: Int)
  /// Entering without the lock, then the same under it, if somebody is inside.
  case enter
  case send
  /// The reads, without the lock, of whom a turn is for: the newest, whether somebody has called, and
  /// if so who was there then, then where the table ends.
  case readNewest(Update)
  case readCall(Update, newest: UInt)
  case readNewestAtCall(Update)
  case readEnd(Update, newest: UInt)
  /// The visit of the places of one turn.
  case turn(Update, Ticket, position: Int, end: Int)
  /// A callback that has been chosen, and has not started.
  case claimed(Int, Update)
  case running(Int)
  /// The token of a new subscriber is about to be returned.
  case subscribed(Int)
  /// The lock-free end of a turn, and that of one that has begun without the lock.
  case leave
  case leaveUncalled
  /// The critical sections after a turn, when the lock-free end has failed.
  case proceed
  /// The Swift task that goes on, unless somebody else already does.
  case takeOver
  /// The release of a callback, outside the lock.
  case release(Int)
  case wake([Int])
  /// Waiting for a turn to be over, to return from the end of that subscriber.
  case parked(Int)
  case woken(Int)
  case endModify(Int)

  var isDelivering: Bool {
    switch self {
    case .readNewest, .readCall, .readNewestAtCall, .readEnd: true
    case .turn, .leave, .leaveUncalled, .proceed: true
    default: false
    }
  }
}

/// What one subscriber has seen, which is what most rules are about.
struct Person: Hashable {
  var hasJoined = false
  var hasToken = false
  var hasEnded = false
  /// The threads on which its token has been ended.
  var enders: Set<Int> = []
  var hasReacted = false
  var hasFirst = false
  var valueAtJoin = 0
  /// The number of the last update it got, or that was sent before it joined.
  var last = 0
  var lastValue = 0
  /// How many calls of it are claimed or running.
  var active = 0
  var startsAfterEnd = 0
  var releases = 0
}

/// Everything that the next step may depend on.
struct MachineState: Hashable {
  // As in `DeliveryState`, `Turnstile` and `PropertyStorage`.
  var schedule = Schedule()
  var phase: UInt = 0
  /// The last who has joined, for those who enter without the lock.
  var newest: UInt = 0
  var newestAtCall: UInt = 0
  var queue: [PendingUpdate] = []
  var places: [Place] = []
  var ended: [Int] = []
  var waiters: [Int] = []
  var value = 0
  var modifier: Int?

  // As in the threads and the subscribers.
  var references = 0
  var threads: [[Frame]] = []
  var people: [Person] = []

  // What the rules are held against.
  var sent = 0
  var sentValue = 0
  var lastTurn = 0
  var foreignUpdates = 0
  /// True while the deliverer may look at places without the lock.
  var isVisited = false
  var sourceHasEnded = false
  var broken: String?
}
