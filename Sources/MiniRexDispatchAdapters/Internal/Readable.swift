internal import CLibrary
internal import Dispatch
package import MiniRex

/// Calls `receive` on a separate queue whenever the descriptor is readable, and closes it after the
/// cancellation.
///
/// The descriptor must have no other user and no end of file. See `DescriptorReader` for other
/// descriptors.
package func readable(
  _ descriptor: Int32, label: String, _ read: @escaping @Sendable () -> Void
) -> Subscription {
  // A dispatch source may be canceled on any thread, but its type is not `Sendable`.
  nonisolated(unsafe) let source = DispatchSource.makeReadSource(
    fileDescriptor: descriptor, queue: DispatchQueue(label: label))
  unsafe source.setEventHandler(handler: read)
  // Close in the cancel handler, because the source may use the descriptor until then.
  unsafe source.setCancelHandler { close(descriptor) }
  unsafe source.activate()
  return Subscription { unsafe source.cancel() }
}
