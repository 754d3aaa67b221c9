import Foundation
import TestSupport

/// The resources of a process that adapters must return.
struct Belongings: CustomStringConvertible {
  /// The number of descriptors of each kind.
  private let descriptors: [String: Int]
  private let threads: Int
  private let hiddenFiles: Int

  init(in folder: Folder) {
    let files = FileManager.default
    let numbers = (try? files.contentsOfDirectory(atPath: Belongings.descriptorFolder)) ?? []
    let kinds = numbers.map { number in
      let path = "\(Belongings.descriptorFolder)/\(number)"
      let target = try? files.destinationOfSymbolicLink(atPath: path)
      return target.map { String($0.prefix { $0 != "[" }) } ?? "other"
    }
    descriptors = Dictionary(kinds.map { ($0, 1) }, uniquingKeysWith: +)
    threads = Belongings.threadCount()
    let names = files.enumerator(atPath: folder.url.path)?.compactMap { $0 as? String } ?? []
    hiddenFiles = names.count { $0.hasPrefix(".") || $0.contains("/.") }
  }

  /// Returns the remaining resources once idle threads have had time to exit.
  static func settled(in folder: Folder, within before: Belongings) async -> Belongings {
    var after = Belongings(in: folder)
    let deadline = ContinuousClock.now + .seconds(30)
    while !after.fits(before), .now < deadline {
      try? await Task.sleep(for: .milliseconds(100))
      after = Belongings(in: folder)
    }
    return after
  }

  /// Returns `true` if no resource has increased.
  func fits(_ before: Belongings) -> Bool {
    descriptors.allSatisfy { $0.value <= before.descriptors[$0.key, default: 0] }
      && threads <= before.threads && hiddenFiles <= before.hiddenFiles
  }

  var description: String {
    let kinds = descriptors.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return "\(descriptors.values.reduce(0, +)) descriptors (\(kinds.joined(separator: ", "))), "
      + "\(threads) threads, \(hiddenFiles) hidden files"
  }

  #if canImport(Darwin)
  private static let descriptorFolder = "/dev/fd"

  private static func threadCount() -> Int {
    var list: thread_act_array_t?
    var count = mach_msg_type_number_t()
    guard unsafe task_threads(mach_task_self_, &list, &count) == KERN_SUCCESS else { return 0 }
    let size = vm_size_t(count) * vm_size_t(MemoryLayout<thread_t>.stride)
    unsafe vm_deallocate(mach_task_self_, vm_address_t(UInt(bitPattern: list)), size)
    return Int(count)
  }
  #else
  private static let descriptorFolder = "/proc/self/fd"

  private static func threadCount() -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task"))?.count ?? 0
  }
  #endif
}
