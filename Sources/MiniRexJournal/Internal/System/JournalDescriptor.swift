internal import CLibrary

/// A file descriptor that is closed with its last reference.
///
/// A replay reads the file that it began with, while a compaction replaces the file.
package final class JournalDescriptor: Sendable {
  package let number: Int32

  package init(_ number: Int32) { self.number = number }

  deinit { close(number) }
}
