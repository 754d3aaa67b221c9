import Foundation

/// Returns the number of open files, pipes, and sockets of this process.
///
/// Anonymous descriptors are not counted, because the platform opens them on first use.
package func openDescriptors() -> Int {
  #if canImport(Darwin)
  let folder = "/dev/fd"
  #else
  let folder = "/proc/self/fd"
  #endif
  let files = FileManager.default
  let names = (try? files.contentsOfDirectory(atPath: folder)) ?? []
  return names.count { name in
    let target = try? files.destinationOfSymbolicLink(atPath: "\(folder)/\(name)")
    return target?.hasPrefix("anon_inode:") != true
  }
}

/// Returns the peak memory of this process in bytes.
package func peakMemory() -> Int? {
  #if canImport(Darwin)
  var usage = rusage()
  return unsafe getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : nil
  #else
  // `getrusage` includes the memory of the parent process.
  let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
  return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
  #endif
}
