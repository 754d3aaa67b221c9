internal import CLibrary
internal import MiniRex

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A permanent interruption of waits for descriptors, from any thread.
package final class InterruptPipe: Sendable {
  private let waking: Descriptor
  /// The writing end until the interruption.
  ///
  /// Closing it wakes the waiting threads.
  private let writing: Lock<Descriptor?>

  package init() throws(POSIXError) {
    let ends = try PipeEnds()
    waking = ends.reading
    writing = Lock(ends.writing)
  }

  /// No bytes are taken after this method returns.
  package func interrupt() {
    // The descriptor is closed after the lock, when this function returns.
    _ = writing.withLock { $0.take() }
  }

  /// Waits until a descriptor is readable or at its end.
  ///
  /// - Returns: Whether each descriptor is readable, or `nil` after the interruption.
  package func wait(for descriptors: [Descriptor]) -> [Bool]? {
    var requests = (descriptors + [waking]).map {
      pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0)
    }
    while unsafe poll(&requests, nfds_t(requests.count), -1) < 0, errno == EINTR {}
    let isReady = requests.map { $0.revents != 0 }
    return isReady.last == true ? nil : isReady.dropLast()
  }

  /// Takes the available bytes, or returns `nil` if there are none, or after the interruption.
  ///
  /// It holds the lock, so that bytes that arrive after the interruption stay for the next reader.
  func take(from reader: DescriptorReader, upTo limit: Int) throws(POSIXError) -> Data? {
    try writing.withLock { writing throws(POSIXError) in
      writing == nil ? nil : try reader.read(upTo: limit)
    }
  }
}
