internal import CLibrary

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// A file descriptor that is closed with its last reference.
///
/// Child processes do not inherit it: it is opened close-on-exec in one step where the system
/// allows that, because another thread may start a process between two steps.
package final class Descriptor: Sendable {
  package let number: Int32

  /// - Parameter number: The result of a system call. A negative number means that the call failed.
  init(_ number: Int32) throws(POSIXError) {
    if number < 0 { throw .last }
    self.number = number
  }

  convenience init(duplicating number: Int32) throws(POSIXError) {
    try self.init(fcntl(number, F_DUPFD_CLOEXEC, 0))
  }

  /// - Parameter path: The path with its final zero, see `URL.systemPath`.
  convenience init(opening path: [CChar], _ flags: Int32) throws(POSIXError) {
    try self.init(unsafe open(path, flags | O_CLOEXEC))
  }

  deinit { close(number) }
}

#if !canImport(Darwin)
extension Descriptor {
  /// The path at which the system opens the file of a descriptor again, with its final zero.
  static func pathOfOpenFile(_ number: Int32) -> [CChar] {
    Array("/proc/self/fd/\(number)".utf8CString)
  }
}
#endif

/// The two ends of a new pipe.
package struct PipeEnds {
  package let reading: Descriptor
  package let writing: Descriptor

  package init() throws(POSIXError) {
    var numbers: [Int32] = [-1, -1]
    if makePipe(&numbers) != 0 { throw .last }
    reading = try Descriptor(numbers[0])
    writing = try Descriptor(numbers[1])
  }
}

private func makePipe(_ numbers: inout [Int32]) -> Int32 {
  #if !canImport(Darwin)
  if let pipe2 = unsafe SystemCall.pipe2 { return unsafe pipe2(&numbers, O_CLOEXEC) }
  #endif
  let result = unsafe pipe(&numbers)
  for number in numbers where result == 0 { _ = fcntl(number, F_SETFD, FD_CLOEXEC) }
  return result
}
