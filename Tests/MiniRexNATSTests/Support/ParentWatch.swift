#if NATS
import Foundation

/// Ends this process when its parent has ended, so that a killed `swift test` leaves no servers behind.
enum ParentWatch {
  static let isRunning: Bool = {
    let parent = getppid()
    Thread.detachNewThread {
      while getppid() == parent { sleep(1) }
      _exit(1)
    }
    return true
  }()
}
#endif
