internal import CLibrary
internal import Dispatch
package import MiniRex

/// Calls whenever the descriptor can be read, on a queue of its own, and closes it in the end.
///
/// For a descriptor that nobody else has, and that is never at its end; see `DescriptorReader` for
/// others.
package func readable(
  _ descriptor: Int32, label: String, _ read: @escaping @Sendable () -> Void
) -> Subscription {
  // Any thread may cancel a source, but its type does not say so.
  nonisolated(unsafe) let source = DispatchSource.makeReadSource(
    fileDescriptor: descriptor, queue: DispatchQueue(label: label))
  unsafe source.setEventHandler(handler: read)
  // Not before: until then the source may look at the descriptor.
  unsafe source.setCancelHandler { close(descriptor) }
  unsafe source.activate()
  return Subscription { unsafe source.cancel() }
}
