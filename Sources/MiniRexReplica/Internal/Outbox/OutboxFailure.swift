internal import CLibrary
internal import MiniRexJournal

/// A failed operation on a file of a replica.
struct OutboxFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }

  init(failed operation: String, _ failure: JournalFailure) {
    if case .file(let code) = failure {
      description = "\(operation): \(unsafe String(cString: strerror(code.rawValue)))"
    } else {
      description = "\(operation): \(failure)"
    }
  }
}
