#if os(Linux)
import Foundation
import TestSupport

/// The disk under a journal, as `journal-model.py` specifies it.
///
/// After a power loss, each sector of a file has any content that it had since the last synchronization, or NULs. The
/// size is any size since then. A folder keeps any prefix of its operations since its last synchronization. A failed
/// synchronization marks sectors as clean, on the disk or not.
struct ModelDisk {
  final class File {
    var data: [UInt8]
    var disk: [UInt8]
    var dirty: [Int: [[UInt8]]] = [:]
    var sizes: [Int]

    init(_ bytes: Data = Data()) {
      data = Array(bytes)
      disk = data
      sizes = [data.count]
    }
  }

  private final class Folder {
    var names: [String: File] = [:]
    var disk: [String: File] = [:]
    var pending: [(String, File?)] = []

    func set(_ name: String, _ file: File?) {
      names[name] = file
      pending.append((name, file))
    }
  }

  /// A synchronized file.
  struct Content {
    let name: String
    let inode: UInt64
    let bytes: Data
  }

  enum Loss { case everythingUnsynchronized, nothing, random }

  let sector: Int
  private let top: String
  private var files: [UInt64: File] = [:]
  private var folders: [String: Folder] = [:]
  private var paths: [UInt64: String] = [:]
  /// The number in the last note.
  private(set) var durable = 0

  init(sector: Int, _ folder: TestSupport.Folder, content: [Content] = []) {
    self.sector = sector
    top = folder.url.path
    paths[inode(of: top)] = top
    folders[top] = Folder()
    for content in content {
      let file = File(content.bytes)
      files[content.inode] = file
      folders[top]?.names[content.name] = file
      folders[top]?.disk[content.name] = file
    }
  }

  mutating func apply(_ call: SystemCall, _ random: inout SeededGenerator) {
    let file = files[call.inode]
    switch call.kind {
    case "n": durable = call.bytes.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
    case "w": file.map { write(call.bytes, to: $0, at: call.number) }
    case "t": file.map { truncate($0, to: call.number) }
    case "s", "f":
      if let path = paths[call.inode] {
        folders[path]?.disk = folders[path]?.names ?? [:]
        folders[path]?.pending = []
      } else if let file {
        file.disk = call.kind == "s" ? synchronized(file) : reached(file, .random, &random)
        file.dirty = [:]
        file.sizes = [file.disk.count]
      }
    case "c":
      files[call.inode] = File()
      set(call.paths[0], files[call.inode])
    case "m":
      paths[call.inode] = call.paths[0]
      folders[call.paths[0]] = Folder()
      // An empty file in the place of the folder, which then has its name.
      set(call.paths[0], File())
    case "l": set(call.paths[1], file)
    case "r":
      let (name, other) = (call.paths[0], call.paths[1])
      let moved = folders[parent(name)]?.names[last(name)]
      // Both names change in one operation: the folder has one pending entry for them.
      folders[parent(name)]?.names[last(name)] = nil
      set(other, moved)
    case "u": set(call.paths[0], nil)
    default: break
    }
  }

  private func set(_ path: String, _ file: File?) {
    folders[parent(path)]?.set(last(path), file)
  }

  private func parent(_ path: String) -> String {
    URL(filePath: path).deletingLastPathComponent().path
  }

  private func last(_ path: String) -> String { URL(filePath: path).lastPathComponent }

  private func part(_ file: File, _ index: Int) -> [UInt8] {
    Array(
      file.data[min(index * sector, file.data.count)..<min((index + 1) * sector, file.data.count)]
    )
  }

  private func touch(_ file: File, _ start: Int, _ end: Int) {
    for index in (start / sector)..<((end + sector - 1) / sector) {
      file.dirty[index, default: []].append(part(file, index))
    }
    file.sizes.append(file.data.count)
  }

  private func write(_ bytes: Data, to file: File, at place: Int) {
    let end = place + bytes.count
    if file.data.count < end {
      file.data += [UInt8](repeating: 0, count: end - file.data.count)
    }
    file.data.replaceSubrange(place..<end, with: bytes)
    touch(file, place, end)
  }

  private func truncate(_ file: File, to size: Int) {
    let end = file.data.count
    file.data.removeLast(max(0, end - size))
    touch(file, size, max(size, end))
  }

  private func synchronized(_ file: File) -> [UInt8] {
    var disk = resized(file.disk, file.data.count)
    for index in file.dirty.keys {
      let part = part(file, index)
      // A truncation has removed the sector.
      if part.isEmpty { continue }
      disk.replaceSubrange((index * sector)..<(index * sector + part.count), with: part)
    }
    return disk
  }

  private func resized(_ bytes: [UInt8], _ size: Int) -> [UInt8] {
    Array(bytes.prefix(size)) + [UInt8](repeating: 0, count: max(0, size - bytes.count))
  }

  private func reached(_ file: File, _ loss: Loss, _ random: inout SeededGenerator) -> [UInt8] {
    switch loss {
    case .everythingUnsynchronized: return file.disk
    case .nothing: return file.data
    case .random: break
    }
    let size = file.sizes.randomElement(using: &random) ?? 0
    let last = (file.dirty.keys.max() ?? -1) + 1
    var disk = resized(file.disk, max(size, file.disk.count, last * sector))
    for (index, versions) in file.dirty.sorted(by: { $0.key < $1.key }) {
      let range = (index * sector)..<((index + 1) * sector)
      let choice = Int.random(in: -1...versions.count, using: &random)
      if choice < 0 { continue }
      disk.replaceSubrange(
        range, with: resized(versions[min(choice, versions.count - 1)], sector))
    }
    return Array(disk.prefix(size))
  }

  /// Writes the files that a power loss leaves.
  func write(
    to target: TestSupport.Folder, after loss: Loss, _ random: inout SeededGenerator
  ) throws {
    for (path, folder) in folders.sorted(by: { $0.key < $1.key }) {
      var names = folder.disk
      let kept =
        switch loss {
        case .everythingUnsynchronized: 0
        case .nothing: folder.pending.count
        case .random: Int.random(in: 0...folder.pending.count, using: &random)
        }
      for (name, file) in folder.pending.prefix(kept) { names[name] = file }
      let url = target.url.appending(path: String(path.dropFirst(top.count)))
      if path != top, (try? FileManager.default.removeItem(at: url)) == nil { continue }
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      for (name, file) in names {
        try Data(reached(file, loss, &random)).write(to: url.appending(path: name))
      }
    }
  }
}

func inode(of path: String) -> UInt64 {
  var status = stat()
  _ = unsafe stat(path, &status)
  return UInt64(status.st_ino)
}
#endif
