import Foundation
import TestSupport

/// The content of a folder that a power failure leaves.
final class Disk: Sendable {
  private struct State: Sendable {
    /// The synchronized content of each file.
    var contents: [UInt64: Data] = [:]
    /// The files of the synchronized folder.
    var names: [String: UInt64] = [:]
    var hasPower = true
  }

  private let folder: Folder
  private let state = Shared(State())

  init(_ folder: Folder) { self.folder = folder }

  func ifPowered(_ body: @Sendable () -> Void) { state.change { if $0.hasPower { body() } } }

  /// Makes a file or the folder durable, and returns 0 with power.
  func synchronize(_ descriptor: Int32) -> Int32 {
    var status = stat()
    unsafe fstat(descriptor, &status)
    if status.st_mode & S_IFMT == S_IFDIR { return synchronizeNames() }
    return state.change { state in
      if !state.hasPower { return -1 }
      state.contents[UInt64(status.st_ino)] = content(of: descriptor)
      return 0
    }
  }

  @discardableResult
  func synchronizeNames() -> Int32 {
    state.change { state in
      if !state.hasPower { return -1 }
      state.names = inodes()
      return 0
    }
  }

  /// Makes some files durable, and perhaps the folder, as an operating system does at any time.
  func writeBack(using random: inout SeededGenerator) {
    for name in folder.names where Bool.random(using: &random) {
      if let file = try? FileHandle(forReadingFrom: folder.file(name)) {
        _ = synchronize(file.fileDescriptor)
      }
    }
    if Bool.random(using: &random) { synchronizeNames() }
  }

  /// Ends the power, and copies what the disk has, with or without the writes that were not synchronized.
  func fail(into copy: Folder, using random: inout SeededGenerator) throws {
    let hasNames = Bool.random(using: &random)
    let files = state.change { state in
      state.hasPower = false
      let now = inodes()
      let names = hasNames ? now : state.names
      return names.sorted { $0.key < $1.key }.map { name, inode in
        let durable = state.contents[inode] ?? Data()
        let current = now.first { $0.value == inode }
          .flatMap { FileManager.default.contents(atPath: folder.path($0.key)) }
        return (name, durable, current ?? durable)
      }
    }
    for (name, durable, current) in files {
      try Self.remains(of: current, durable, using: &random).write(to: copy.file(name))
    }
  }

  /// Returns the synchronized content, followed by none, some, or all of the later bytes.
  ///
  /// Zeros may replace the missing bytes.
  private static func remains(
    of current: Data, _ durable: Data, using random: inout SeededGenerator
  ) -> Data {
    let choice = Int.random(in: 0..<4, using: &random)
    if choice == 0 || !current.starts(with: durable) { return durable }
    if choice == 1 { return current }
    let count = Int.random(in: durable.count...current.count, using: &random)
    return current.prefix(count) + Data(count: choice == 2 ? 0 : current.count - count)
  }

  private func inodes() -> [String: UInt64] {
    folder.names.reduce(into: [:]) { names, name in
      let attributes = try? FileManager.default.attributesOfItem(atPath: folder.path(name))
      names[name] = (attributes?[.systemFileNumber] as? NSNumber)?.uint64Value
    }
  }

  private func content(of descriptor: Int32) -> Data {
    var data = Data()
    var piece = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = unsafe piece.withUnsafeMutableBytes {
        unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(data.count))
      }
      if count <= 0 { return data }
      data.append(contentsOf: piece[..<count])
    }
  }
}
