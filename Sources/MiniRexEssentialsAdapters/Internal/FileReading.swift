internal import CLibrary
internal import MiniRex

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension URL {
  /// Reads the file to its end on this thread, unless it is interrupted.
  ///
  /// - Parameter open: A closure that receives the number of bytes after `offset`, if it is known.
  func read(
    from offset: Int, until interruption: InterruptPipe, _ valve: SendValve,
    open: (_ size: Int?) -> Void,
    receive: (Data) -> Void
  ) throws(POSIXError) {
    do throws(POSIXError) {
      // The open must not wait for the writer of a pipe.
      let descriptor = try Descriptor(opening: systemPath, O_RDONLY | O_NONBLOCK)
      var status = stat()
      if unsafe fstat(descriptor.number, &status) < 0 { throw .last }
      let isFile = status.st_mode & S_IFMT == S_IFREG
      // The system refuses an offset far beyond the end, where an empty result is expected.
      let start = isFile ? min(offset, Int(status.st_size)) : offset
      if start > 0, lseek(descriptor.number, off_t(start), SEEK_SET) < 0 { throw .last }
      let size = isFile ? Int(status.st_size) - start : 0
      open(size > 0 ? size : nil)
      let reader = DescriptorReader(owning: descriptor)
      repeat {
        var hasMore = true
        while hasMore {
          // Taken inside the valve, so that a stalled reader holds no byte.
          var count: Int?
          _ = try valve.pass { () throws(POSIXError) in
            guard let piece = try interruption.take(from: reader, upTo: 262_144) else { return }
            if !piece.isEmpty { receive(piece) }
            count = piece.count
          }
          if count == 0 { return }
          hasMore = count != nil
        }
      } while interruption.wait(for: [descriptor]) != nil
    } catch {
      throw POSIXError(error.code, path: name)
    }
  }
}
