#if NATS
import Foundation
import MiniRexTesting
import TestSupport
import Testing

/// Certificates and keys, created by `openssl` in a temporary folder.
///
/// They are `ca`, `server` and `expired` for the same host, `client`, and `stranger`, an authority
/// that has signed nothing.
struct Certificates {
  private let folder: Folder

  init(for host: String) async throws {
    folder = try Folder()
    try folder.write("subjectAltName=IP:\(host),DNS:nats.test\n", to: "names")
    let status = try await run(
      """
      set -e
      cd "$0"
      request() { openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" -keyout "$1.key" "${@:2}"; }
      sign() { openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial -days "$2" -out "$1.pem" "${@:3}"; }
      for name in ca stranger; do request $name -x509 -days 2 -out $name.pem; done
      for name in server expired client; do request $name -out $name.csr; done
      sign expired 0 -extfile names
      sign server 2 -extfile names
      sign client 2
      while openssl x509 -checkend 0 -noout -in expired.pem; do sleep 0.1; done
      """, folder.url.path)
    if status != 0 { throw POSIXError(.EIO) }
  }

  func path(_ name: String) -> String { folder.path(name) }

  /// Returns the configuration of a server with one of the certificates.
  ///
  /// With `verifies`, it requires a client certificate.
  func configuration(_ name: String = "server", verifies: Bool = false) -> String {
    """
    tls { cert_file: "\(path(name + ".pem"))", key_file: "\(path(name + ".key"))"
      ca_file: "\(path("ca.pem"))", verify: \(verifies) }
    """
  }
}

/// Runs a shell script without its output, and returns its status.
func run(_ script: String, _ arguments: String...) async throws -> Int32? {
  guard let input = FileHandle(forReadingAtPath: "/dev/null"),
    let output = FileHandle(forWritingAtPath: "/dev/null"),
    let errors = FileHandle(forWritingAtPath: "/dev/null")
  else { throw POSIXError(.ENOENT) }
  let process = try RunningProcess(
    ["/bin/bash", "-c", script] + arguments, streams: [input, output, errors])
  return await process.status()
}
#endif
