// An event of a watched file or folder on Linux.
#if os(Linux) || os(Android)
internal import CLibrary

struct InotifyEvent {
  /// Negative for an event of the entire queue.
  let watch: Int32
  let name: String?
  private let mask: UInt32

  /// - Parameter offset: The start of the event. It advances to the next event.
  fileprivate init(_ bytes: UnsafeRawBufferPointer, at offset: inout Int) {
    let header = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: inotify_event.self)
    watch = header.wd
    mask = header.mask
    let start = offset + MemoryLayout<inotify_event>.size
    offset = start + Int(header.len)
    // The name is padded with zeros.
    let name = unsafe bytes[start..<offset].prefix { $0 != 0 }
    self.name = unsafe name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
  }

  func has(_ flag: some BinaryInteger) -> Bool { mask & UInt32(flag) != 0 }

  /// The change, or `nil` if the event reports none.
  var change: FileChange? {
    let kind: FileChange.Kind
    switch true {
    case has(IN_CREATE), has(IN_MOVED_TO): kind = .created
    case has(IN_DELETE), has(IN_MOVED_FROM), has(IN_DELETE_SELF): kind = .removed
    case has(IN_MODIFY): kind = .written
    case has(IN_ATTRIB): kind = .attributes
    case has(IN_MOVE_SELF): kind = .moved
    default: return nil
    }
    return FileChange(kind, name: name)
  }
}

/// Returns the available events, or an empty array.
func nextEvents(from descriptor: Int32) -> [InotifyEvent] {
  // Enough for one event with the longest name, and for hundreds of typical events.
  var bytes = [UInt8](repeating: 0, count: 1 << 14)
  let count = unsafe read(descriptor, &bytes, bytes.count)
  var events: [InotifyEvent] = []
  if count > 0 {
    unsafe bytes.withUnsafeBytes { bytes in
      var offset = 0
      while offset < count { unsafe events.append(InotifyEvent(bytes, at: &offset)) }
    }
  }
  return events
}
#endif
