import MiniRex
import TestSupport

/// An update in the model.
struct Update: Hashable {
  /// The position in the order of all updates, or 0 for a first value and for a duplicate, which no
  /// subscriber may receive.
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

/// A place in the table of subscribers.
///
/// The serial number 0 marks a free place.
struct Place: Hashable {
  var serial: UInt
  let subscriber: Int
}

/// A step of a thread.
///
/// The last frame of a thread is its next step.
enum Frame: Hashable {
  enum Code: Hashable {
    case thread(Int)
    case reaction(Int)
    case release(Int)
  }

  /// The remaining operations of a list.
  case operations(Code, next: Int)
  /// Entering without the lock, and under the lock if another thread is inside.
  case enter
  case send
  /// The lock-free reads of a turn's recipients: the newest serial number, whether a thread has
  /// signaled, the newest serial number at the signal, and the end of the table.
  case readNewest(Update)
  case readSignal(Update, newest: UInt)
  case readNewestAtSignal(Update)
  case readEnd(Update, newest: UInt)
  /// The visit of the places in one turn.
  case turn(Update, Ticket, position: Int, end: Int)
  /// A callback that is chosen and has not started.
  case claimed(Int, Update)
  case running(Int)
  /// The return of the subscription to a new subscriber.
  case subscribed(Int)
  /// The lock-free end of a turn, and of a turn that started without the lock.
  case leave
  case leaveUnsignaled
  /// The critical sections after a turn whose lock-free end failed.
  case proceed
  /// The Swift task that takes over, unless another thread already delivers.
  case takeOver
  /// The release of a callback, outside the lock.
  case release(Int)
  case wake([Int])
  /// Waiting for the end of a turn, before the cancellation of the given subscriber returns.
  case parked(Int)
  case woken(Int)
  case endModify(Int)

  var isDelivering: Bool {
    switch self {
    case .readNewest, .readSignal, .readNewestAtSignal, .readEnd: true
    case .turn, .leave, .leaveUnsignaled, .proceed: true
    default: false
    }
  }
}

/// The history of one subscriber, which most rules refer to.
struct Record: Hashable {
  var hasJoined = false
  var hasSubscription = false
  var hasEnded = false
  /// The threads that have canceled its subscription.
  var cancelers: Set<Int> = []
  var hasReacted = false
  var hasFirst = false
  var valueAtJoin = 0
  /// The number of the last update that it received, or that was sent before it joined.
  var last = 0
  var lastValue = 0
  /// The number of its callbacks that are chosen or running.
  var active = 0
  var startsAfterEnd = 0
  var releases = 0
}

/// Everything that determines the next steps.
struct MachineState: SearchedState {
  // The state of `DeliveryState`, `Turnstile`, and `PropertyStorage`.
  var delivery = DeliveryModel()
  /// The serial number of the newest subscriber, for threads that enter without the lock.
  var newest: UInt = 0
  var queue: [PendingUpdate] = []
  var places: [Place] = []
  var ended: [Int] = []
  var waiters: [Int] = []
  var value = 0
  var modifier: Int?

  // The state of the threads and the subscribers.
  var references = 0
  var threads: [[Frame]] = []
  var records: [Record] = []

  // The state that the rules are checked against.
  var sent = 0
  var sentValue = 0
  var lastTurn = 0
  var foreignUpdates = 0
  /// A Boolean value that indicates whether the delivering thread may visit places without the
  /// lock.
  var isVisited = false
  var sourceHasEnded = false
  var broken: String?
}
