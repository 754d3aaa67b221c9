// Apple platforms watch an open file, through the kqueue source of Dispatch.
#if canImport(Darwin)
internal import Foundation
internal import MiniRex
internal import MiniRexDispatchAdapters

func watch(
  _ path: [CChar], _ connection: Connection<Result<FileChange, POSIXError>>
) throws(POSIXError) -> Subscription {
  let descriptor = unsafe open(path, O_EVTONLY | O_CLOEXEC)
  if descriptor < 0 { throw .last }
  // A dispatch source may be canceled on any thread, but its type is not `Sendable`.
  nonisolated(unsafe) let source = DispatchSource.makeFileSystemObjectSource(
    fileDescriptor: descriptor,
    eventMask: [.write, .extend, .attrib, .link, .rename, .delete, .revoke],
    queue: DispatchQueue(label: "MiniRex.changes"))
  unsafe source.setEventHandler {
    let events = unsafe source.data
    if !events.isDisjoint(with: [.write, .extend]) {
      connection.broadcast(.success(FileChange(.written)))
    }
    if !events.isDisjoint(with: [.attrib, .link]) {
      connection.broadcast(.success(FileChange(.attributes)))
    }
    if events.contains(.rename) { connection.broadcast(.success(FileChange(.moved))) }
    if !events.isDisjoint(with: [.delete, .revoke]) {
      connection.broadcast(.success(FileChange(.removed)))
      connection.broadcast(.failure(POSIXError(.ENOENT)))
      connection.end()
    }
  }
  unsafe source.setCancelHandler { close(descriptor) }
  unsafe source.activate()
  return Subscription { unsafe source.cancel() }
}
#endif
