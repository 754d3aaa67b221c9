import CBench
import Foundation
import MiniRex
import MiniRexFoundationAdapters
import MiniRexNetworkingAdapters

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The output of a program and the answers of a server.
///
/// Each operation is a process or a download.
extension Suite {
  func outside() {
    let seq = URL(filePath: "/usr/bin/seq")
    let lines = 100_000
    bench("process-lines", "minirex", units: Double(lines)) {
      let acc = Acc()
      return { k in
        for _ in 0..<k {
          let isOver = DispatchSemaphore(value: 0)
          let token = Process.task(seq, ["\(lines)"]).subscribe { update in
            switch update {
            case .progress(let line): acc.add(line.text.utf8.count)
            case .finished: isOver.signal()
            }
          }
          isOver.wait()
          withExtendedLifetime(token) {}
        }
      }
    }
    bench("process-lines", "Process", units: Double(lines)) {
      let acc = Acc()
      return { k in
        for _ in 0..<k { readLines(of: seq, ["\(lines)"]) { acc.add($0.utf8.count) } }
      }
    }
    let kilobytes = 16_384
    bench("download", "minirex", units: Double(kilobytes)) {
      let request = request(kilobytes)
      let session = URLSession(configuration: .ephemeral)
      return { k in
        for _ in 0..<k {
          let isOver = DispatchSemaphore(value: 0)
          let token = session.dataTask(for: request).subscribe { update in
            if case .finished(let result) = update {
              check(try? result.get(), kilobytes)
              isOver.signal()
            }
          }
          isOver.wait()
          withExtendedLifetime(token) {}
        }
      }
    }
    bench("download", "URLSession", units: Double(kilobytes)) {
      let request = request(kilobytes)
      let session = URLSession(configuration: .ephemeral)
      return { k in
        for _ in 0..<k {
          let isOver = DispatchSemaphore(value: 0)
          session.dataTask(with: request) { data, _, _ in
            check(data, kilobytes)
            isOver.signal()
          }.resume()
          isOver.wait()
        }
      }
    }
  }
}

/// The baseline with Foundation: reads the available bytes and splits them into lines.
private func readLines(of program: URL, _ arguments: [String], _ receive: (String) -> Void) {
  let process = Process()
  let pipe = Pipe()
  process.executableURL = program
  process.arguments = arguments
  process.standardOutput = pipe
  guard (try? process.run()) != nil else { return }
  var rest = Data()
  while true {
    let piece = pipe.fileHandleForReading.availableData
    if piece.isEmpty { break }
    rest.append(piece)
    let lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for line in lines.dropLast() { receive(String(decoding: line, as: UTF8.self)) }
    rest = Data(lines.last ?? Data())
  }
  process.waitUntilExit()
}

/// Returns a request to the local server for the given number of kilobytes.
private func request(_ kilobytes: Int) -> URLRequest {
  let port = cb_serve()
  guard let url = URL(string: "http://127.0.0.1:\(port)/\(kilobytes)") else {
    fatalError("This is no port: \(port)")
  }
  return URLRequest(url: url)
}

private func check(_ data: Data?, _ kilobytes: Int) {
  if data?.count != 1_024 * kilobytes { complain("A download brought \(data?.count ?? 0) bytes.") }
}
