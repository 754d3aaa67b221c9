#if NATS
import Foundation

/// Creates the folder of a fleet, whose name contains its process.
func makeFolder() throws -> URL {
  for folder in abandonedFolders() { cleanUp(folder) }
  let folder = URL.temporaryDirectory.appending(path: "fleet-\(getpid())")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  return folder
}

/// Waits for the end of the fleet, even by `kill -9`, and cleans up after it.
func watch(_ folder: URL, of fleet: pid_t) async -> Never {
  await end(of: fleet)
  cleanUp(folder)
  exit(0)
}

/// Returns when the process that started this one has ended.
func end(of parent: pid_t) async {
  while getppid() == parent { try? await Task.sleep(for: .milliseconds(200)) }
}

/// Kills the server that stores in the folder, and removes the folder.
func cleanUp(_ folder: URL) {
  let deadline = ContinuousClock.now + .seconds(5)
  while ContinuousClock.now < deadline {
    let servers = servers(in: folder)
    if servers.isEmpty { break }
    for id in servers { kill(id, SIGKILL) }
    usleep(20_000)
  }
  try? FileManager.default.removeItem(at: folder)
}

/// Returns the folders of fleets that were killed together with their cleaners.
private func abandonedFolders() -> [URL] {
  let files = FileManager.default
  let names = (try? files.contentsOfDirectory(atPath: URL.temporaryDirectory.path)) ?? []
  return names.filter { name in
    guard name.hasPrefix("fleet-"), let id = pid_t(name.dropFirst("fleet-".count)) else {
      return false
    }
    if id == getpid() || !files.fileExists(atPath: "/proc/\(id)") { return true }
    // The program cannot be read if the fleet belongs to another user.
    let program = try? files.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe")
    return program?.split(separator: "/").last?.hasPrefix("fleet") == false
  }.map { URL.temporaryDirectory.appending(path: $0) }
}

/// Returns the servers, including a shell that is about to become a server.
private func servers(in folder: URL) -> [pid_t] {
  let ids = ((try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []).compactMap {
    pid_t($0)
  }
  return ids.filter { id in
    let data = FileManager.default.contents(atPath: "/proc/\(id)/cmdline") ?? Data()
    let arguments = data.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
    return zip(arguments, arguments.dropFirst()).contains { $0 == "-sd" && $1 == folder.path }
  }
}
#endif
