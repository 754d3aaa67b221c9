#if NATS
import Foundation
import TestSupport
import Testing

/// A `nats-server` process with a separate address and folder.
///
/// The variable `MINIREX_NATS_SERVER` is the path of the program, by default `nats-server`. The process
/// ends with the test process, even after a crash: a shell waits for the end of a pipe. It ends also with
/// the shell, on Linux.
final class NATSServer: Sendable {
  let folder: Folder
  let address: Address
  private let arguments: [String]
  private let program: String
  private let shell = Shared<(RunningProcess, FileHandle)?>(nil)

  /// The path of the program that the tests use.
  static var program: String {
    ProcessInfo.processInfo.environment["MINIREX_NATS_SERVER"] ?? "nats-server"
  }

  /// - Parameters:
  ///   - configuration: The server's configuration, in which `FOLDER` represents the folder.
  ///   - program: The path of the program.
  init(
    _ configuration: String = "", at address: Address? = nil, program: String = NATSServer.program
  ) async throws {
    self.program = program
    folder = try Folder()
    self.address = try address ?? Address()
    let text = configuration.replacingOccurrences(of: "FOLDER", with: folder.url.path)
    try folder.write(text, to: "server.conf")
    arguments = [
      "-a", self.address.host, "-p", "\(self.address.port)", "-P", folder.path("pid"),
      "-l", folder.path("log"), "-c", folder.path("server.conf"),
    ]
    try await start()
  }

  deinit {
    send(SIGKILL)
  }

  var url: String { address.url }

  var log: String { (try? String(contentsOf: folder.file("log"), encoding: .utf8)) ?? "" }

  /// Starts the server again after `stop`, and returns when it accepts connections.
  func start() async throws {
    precondition(ParentWatch.isRunning)
    try? FileManager.default.removeItem(at: folder.file("pid"))
    let (input, output) = (Pipe(), FileHandle(forWritingAtPath: "/dev/null"))
    _ = fcntl(input.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
    guard let output else { throw POSIXError(.ENOENT) }
    // A signal for the process group ends `cat`, and not the shell before it has killed the server.
    let script = #"""
      trap : HUP INT TERM
      command -v setpriv >/dev/null && set -- --pdeathsig KILL "$0" "$@" && set -- setpriv "$@" ||
        set -- "$0" "$@"
      "$@" <&- & child=$!; cat >/dev/null; kill -9 $child 2>&-; wait
      """#
    let process = try RunningProcess(
      ["/bin/sh", "-c", script, program] + arguments,
      streams: [input.fileHandleForReading, output])
    shell.value = (process, input.fileHandleForWriting)
    await until { processID != nil && address.isTaken }
  }

  var processID: pid_t? {
    (try? String(contentsOf: folder.file("pid"), encoding: .utf8)).flatMap {
      pid_t($0.trimmingCharacters(in: .whitespacesAndNewlines))
    }
  }

  func send(_ signal: Int32) {
    if let id = processID { kill(id, signal) }
    if signal == SIGKILL, let (_, input) = shell.change({ $0.take() }) { try? input.close() }
  }

  /// Enters lame duck mode, and returns when the process has ended.
  func retire() async {
    guard let id = processID else { return }
    kill(id, SIGUSR2)
    // A process that has ended has no arguments, even before its parent reaps it.
    await until {
      (try? String(contentsOfFile: "/proc/\(id)/cmdline", encoding: .utf8))?.isEmpty ?? true
    }
  }

  /// Kills the server, and returns when the port is free.
  func stop() async {
    send(SIGKILL)
    await until { !address.isTaken }
  }
}

extension NATSServer {
  /// Creates a server with JetStream in its folder.
  ///
  /// - Parameter limits: Further lines in the block of JetStream.
  static func keeping(
    _ configuration: String = "", limits: String = "", at address: Address? = nil,
    program: String = NATSServer.program
  ) async throws -> NATSServer {
    try await NATSServer(
      "jetstream { store_dir: \"FOLDER\"\n\(limits) }\n" + configuration, at: address,
      program: program)
  }
}
#endif
