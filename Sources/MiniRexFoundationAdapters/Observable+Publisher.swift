public import MiniRex
public import Observation

/// Creates a published value from the properties of an observable object.
///
/// ```swift
/// let name = publishedValue(of: model, \.name)
/// let title = publishedValue(of: model) { "\($0.name), \($0.age)" }
/// ```
///
/// `read` runs now, and in a job on the calling actor after a change of a property that it read.
/// The value includes each change that is visible between two of these jobs, and always the latest.
/// Callbacks run on the actor. Each subscriber receives its first value inside `subscribe`. Values
/// that equal the previous one are skipped.
///
/// The object must change on that actor, as the compiler requires for types that are not
/// `Sendable`. The platform announces a change before it happens, not after.
///
/// The object is retained only from a change to the job that reads it. The publisher finishes when
/// the object is deallocated, or when `read` reads no observable property. The observation lasts
/// while the publisher or a subscription exists. A few bytes stay in the object until its next
/// change, because the platform cannot remove an observation.
///
/// - Parameters:
///   - object: The observable object.
///   - isolation: The actor of the object. Omit it.
///   - read: A closure that runs on that actor, or a key path.
///   - fileID: The file that instruments show.
///   - line: The line that instruments show.
public func publishedValue<Object: AnyObject & Observable, Value: Sendable>(
  of object: Object, isolation: isolated any Actor = #isolation,
  _ read: @escaping (Object) -> Value, fileID: String = #fileID, line: Int = #line
) -> PublishedValue<Value> {
  let observer = ObservationReader(of: object, on: isolation) { [weak object] in object.map(read) }
  let first = observer.observe() ?? read(object)
  let lineage = Lineage.ofSource("observed \(Object.self)", fileID, line)
  let changes = Broadcaster<Value>(watchedBy: lineage, value: .none) { receive in
    observer.begin(receive)
    return Subscription { observer.end() }
  }
  return changes.publishedValue(initial: first)
}
