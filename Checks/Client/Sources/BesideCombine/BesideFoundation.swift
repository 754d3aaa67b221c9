import Foundation
import MiniRex

/// Uses names of the standard library and Foundation that MiniRex must not shadow.
package func besideFoundation() async throws -> [String] {
  let name = Notification.Name("changed")
  let data = try JSONEncoder().encode(["key": 1])
  let progress = Progress(totalUnitCount: 4)
  let operation: Operation = BlockOperation { progress.completedUnitCount = 4 }
  operation.start()
  let result: Result<Int, any Error> = Result { 5 }
  let property = PublishedProperty(Date(timeIntervalSince1970: 0))
  let years: PublishedValue<Int> = property.publisher
    .map { Calendar(identifier: .gregorian).component(.year, from: $0.addingTimeInterval(86_400)) }
  let year = await Task { years.current() }.value
  let children = await withTaskGroup(of: Int.self, returning: Int.self) { group in
    for number in 1...3 { group.addTask { number } }
    return await group.reduce(0, +)
  }
  return [
    name.rawValue, String(decoding: data, as: UTF8.self), "\(progress.fractionCompleted)",
    "\(try result.get())", "\(year ?? 0)", "\(children)",
  ]
}
